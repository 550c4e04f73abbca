! SPDX-License-Identifier: MIT
!
! OpenMP's loops of Fortran, compiled with -fws=openmp: rank 0 counts, in openmp_elsewhere.cpp, and the other waits.
! openmp_fortran WHAT [THREADS]     numbers; asks, the same by what openmp_asks.f90 counts; or plain after omp_set_num_threads(THREADS)
program openmp_fortran
  use mpi
  use omp_lib
  implicit none
  interface
    subroutine start_counting() bind(c)
    end subroutine
    subroutine add_one() bind(c)
    end subroutine
    integer(8) function counted() bind(c)
    end function
    subroutine ask_start()
    end subroutine
    subroutine ask_one()
    end subroutine
    integer function ask_counted()
    end function
    subroutine usleep(us) bind(c)
      integer, value :: us
    end subroutine
  end interface
  integer, parameter :: n = 120
  character(10) :: what, threads
  integer :: error, rank, round, i, wrong, seen(n), number
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, what)
  if (command_argument_count() > 1) then
    call get_command_argument(2, threads)
    read (threads, *) number
    call omp_set_num_threads(number)
  end if
  wrong = 0
  do round = 1, 3
    if (rank == 0 .and. what == 'numbers') then
      call start_counting()
      !$omp parallel do
      do i = 1, n
        call usleep(300)
        call add_one()
      end do
      if (counted() /= n) wrong = wrong + 1
    else if (rank == 0 .and. what == 'asks') then
      call ask_start()
      !$omp parallel do
      do i = 1, n
        call usleep(300)
        call ask_one()
      end do
      if (ask_counted() /= n) wrong = wrong + 1
    else if (rank == 0) then
      seen = 0
      !$omp parallel do schedule(dynamic)
      do i = 1, n
        call usleep(300)
        seen(i) = seen(i) + 1
      end do
      if (any(seen /= 1)) wrong = wrong + 1
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
  if (wrong > 0) error stop 1
end program
