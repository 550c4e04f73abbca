! SPDX-License-Identifier: MIT
! Loops and variables that are not what a directive or a clause needs: what gfortran finds afterwards.
subroutine loops(n, a)
    implicit none
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i, j, k
    integer, parameter :: constant = 3
    real :: s
    character(3) :: text
    type pair
        integer :: x, y
    end type
    type(pair) :: p

!$ws do
    do while (a(1) > 3)
        a(1) = a(1) - 1
    end do
!$ws do
    do concurrent (i = 1:n)
        a(i) = 0
    end do
!$ws do
    do
        a(1) = a(1) - 1
    end do
!$ws do
    do s = 1, 3
        a(1) = s
    end do
!$ws do collapse(2)
    do i = 1, n
        a(i) = i
    end do
!$ws do schedule(dynamic, 2.5)
    do i = 1, n
        a(i) = i
    end do
!$ws do schedule(dynamic, a)
    do i = 1, n
        a(i) = i
    end do
!$ws do steal_schedule(dynamic, 'text')
    do i = 1, n
        a(i) = i
    end do
!$ws do steal_schedule(dynamic, undeclared)
    do i = 1, n
        a(i) = i
    end do
!$ws do private(nothing)
    do i = 1, n
        a(i) = i
    end do
!$ws do private(loops)
    do i = 1, n
        a(i) = i
    end do
!$ws do private(constant)
    do i = 1, n
        a(i) = i
    end do
!$ws do private(k) firstprivate(k)
    do i = 1, n
        a(i) = i
    end do
!$ws do private(k, k)
    do i = 1, n
        a(i) = i
    end do
!$ws do reduction(+: text)
    do i = 1, n
        a(i) = i
    end do
!$ws do reduction(.and.: k)
    do i = 1, n
        a(i) = i
    end do
!$ws do reduction(+: p)
    do i = 1, n
        a(i) = i
    end do
!$ws do shared(i)
    do i = 1, n
        a(i) = k
    end do
!$ws do reduction(+: i)
    do i = 1, n
        a(i) = k
    end do
!$ws end do
end subroutine
