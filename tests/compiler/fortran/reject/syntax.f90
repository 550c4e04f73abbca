! SPDX-License-Identifier: MIT
! Directives in order, but a loop or a clause's argument is not: what gfortran finds when it reads the lines.
subroutine syntax(n, a)
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
    a(1) = 3
!$ws do
    do i = 1, n
        if (a(i) > 3) exit
    end do
!$ws do collapse(n)
    do i = 1, n
        a(i) = i
    end do
!$ws do collapse(0)
    do i = 1, n
        a(i) = i
    end do
!$ws do schedule(dynamic, n +)
    do i = 1, n
        a(i) = i
    end do
!$ws do private(p%x)
    do i = 1, n
        a(i) = i
    end do
!$ws do reduction(nand: k)
    do i = 1, n
        a(i) = i
    end do
!$ws do reduction(/: s)
    do i = 1, n
        a(i) = i
    end do
!$ws do
    do i = 1, n
        i = i + 1
    end do
!$ws do
!$ws do
    do i = 1, n
        a(i) = i
    end do
!$ws do
end subroutine
