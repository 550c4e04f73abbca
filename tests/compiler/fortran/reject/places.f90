! SPDX-License-Identifier: MIT
! Directives where none may stand.
module places
    implicit none
!$ws do
contains
    pure subroutine in_pure(n, a)
        integer, intent(in) :: n
        real, intent(inout) :: a(n)
        integer :: i
!$ws do
        do i = 1, n
            a(i) = i
        end do
    end subroutine

    elemental subroutine in_elemental(a)
        real, intent(inout) :: a
!$ws atomic
        a = a + 1
    end subroutine

    subroutine end_of_nothing(a)
        real, intent(inout) :: a
!$ws end do
!$ws end critical
        a = a + 1
    end subroutine
end module
