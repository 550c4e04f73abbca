! SPDX-License-Identifier: MIT
! Nests of loops that are none: newer versions of gfortran take them.
subroutine nests(n, a)
    implicit none
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i, j
!$ws do collapse(2)
    do i = 1, n
        a(i) = 3
        do j = 1, n
            a(j) = i
        end do
    end do
!$ws do collapse(2)
    do i = 1, n
        do j = 1, i
            a(j) = i
        end do
    end do
end subroutine
