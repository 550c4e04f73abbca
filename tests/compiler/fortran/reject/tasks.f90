! SPDX-License-Identifier: MIT
! Directives of tasks are for C and C++.
subroutine tasks(n)
    integer, intent(inout) :: n

!$ws taskgroup
!$ws task shared(n)
    n = 1
!$ws end task
!$ws taskwait
!$ws taskloop
    do i = 1, n
    end do
end subroutine
