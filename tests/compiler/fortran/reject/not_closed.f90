! SPDX-License-Identifier: MIT
subroutine not_closed(a)
    implicit none
    real, intent(inout) :: a
!$ws critical
    a = a + 1
end subroutine
