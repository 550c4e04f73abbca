! SPDX-License-Identifier: MIT
! Errors in an included file are in that file, those after it at the right lines.
subroutine included(n, a)
    implicit none
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i
    include 'wrong.inc'
!$ws do nonsense
    do i = 1, n
        a(i) = i
    end do
end subroutine
