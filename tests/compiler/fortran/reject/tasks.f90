! SPDX-License-Identifier: MIT
! Wrong directives of tasks.
subroutine tasks(n, x)
    integer, intent(in) :: n
    integer, intent(inout) :: x
    integer :: i

!$ws task depend(mutexinoutset: x)
    x = 1
!$ws end task
!$ws task detach(x)
    x = 1
!$ws end task
!$ws task nogroup
    x = 1
!$ws end task
!$ws taskwait depend(in: x)
!$ws taskloop grainsize(2) num_tasks(3)
    do i = 1, n
        x = i
    end do
!$ws taskgroup nowait
    x = 1
!$ws end taskgroup
!$ws task
    x = 1
!$ws end task nowait
!$ws end tasks
end subroutine
