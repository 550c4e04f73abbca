! SPDX-License-Identifier: MIT
! The end of a critical section names another, or is missing.
subroutine criticals(a)
    implicit none
    real, intent(inout) :: a
!$ws critical (one)
    a = a + 1
!$ws end critical (two)
end subroutine
