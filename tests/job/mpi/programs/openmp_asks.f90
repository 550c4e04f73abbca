! SPDX-License-Identifier: MIT
!
! Counts by thread number, for openmp_fortran.f90, which does not see this.
module ask_counts
  integer, allocatable :: counts(:)
  integer :: wrong
end module

subroutine ask_start()
  use ask_counts
  use omp_lib
  implicit none
  if (allocated(counts)) deallocate (counts)
  allocate (counts(0:omp_get_max_threads() - 1))
  counts = 0
  wrong = 0
end subroutine

subroutine ask_one()
  use ask_counts
  use omp_lib
  implicit none
  interface
    subroutine usleep(us) bind(c)
      integer, value :: us
    end subroutine
  end interface
  integer :: me, seen
  me = omp_get_thread_num()
  if (me < 0 .or. me >= omp_get_num_threads() .or. omp_get_num_threads() > size(counts)) wrong = wrong + 1
  if (omp_get_num_threads() > 1 .and. .not. (omp_in_parallel() .and. omp_get_ancestor_thread_num(omp_get_level()) == me &
      .and. omp_get_team_size(omp_get_level()) == omp_get_num_threads())) wrong = wrong + 1
  seen = counts(me)
  call usleep(50)
  counts(me) = seen + 1
end subroutine

integer function ask_counted()
  use ask_counts
  implicit none
  ask_counted = sum(counts) + wrong
end function
