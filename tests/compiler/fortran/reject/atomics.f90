! SPDX-License-Identifier: MIT
! Statements that are no atomic operation.
subroutine atomics(n, a, text)
    implicit none
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    character(3), intent(inout) :: text
!$ws atomic
    a(1) = a(2)
!$ws atomic read
    a(1) = a(1) + 1
!$ws atomic
    text = text // 'a'
!$ws atomic
    a = a + 1
!$ws atomic
    a(1) = a(1) + a(1)
end subroutine
