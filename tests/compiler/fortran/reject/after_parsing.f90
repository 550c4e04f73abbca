! SPDX-License-Identifier: MIT
! What is found only when the whole program is understood.
subroutine after_parsing(n, a)
    implicit none
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i, k
    integer, parameter :: chunk = -1

!$ws do schedule(dynamic, 0) steal_schedule(dynamic, chunk)
    do i = 1, n
        a(i) = i
    end do
    k = 3
    !$ws do &
    !$ws default(none)
    do i = 1, n
        a(i) = k
    end do
!$ws do
    do i = 1, n
        if (a(i) > 3) return
    end do
!$ws do
    do i = 1, n
        if (a(i) > 3) goto 10
    end do
10  continue
!$ws critical
    if (n > 3) return
!$ws end critical
end subroutine
