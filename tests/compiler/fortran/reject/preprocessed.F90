! SPDX-License-Identifier: MIT
! Lines of what the preprocessor has read.
#define MANY_LINES \
    integer :: i
subroutine preprocessed(n, a)
    implicit none
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    MANY_LINES
#ifdef NOTHING
!$ws nothing
#endif
!$ws do private(missing)
    do i = 1, n
        a(i) = i
    end do
!$ws do schedule(dynamic, 'text')
    do i = 1, n
        a(i) = i
    end do
end subroutine
