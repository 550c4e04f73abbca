! SPDX-License-Identifier: MIT
! An atomic capture has two statements.
subroutine capture(a)
    implicit none
    real, intent(inout) :: a
!$ws atomic capture
    a = a + 1
!$ws end atomic
end subroutine
