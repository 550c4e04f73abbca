! SPDX-License-Identifier: MIT
!
! Rank 0 has a shared loop; the others wait for it in calls of Fortran, with the interface that FORM names: 1 mpi_f08, 2 mpi, 3 mpif.h. Prints of each
! kind of call rank 0's best time by the time that the loop takes without help.
program waits
  use, intrinsic :: iso_c_binding
#if FORM == 1
  use mpi_f08
#elif FORM == 2
  use mpi
#endif
  implicit none
#if FORM == 3
  include 'mpif.h'
#endif
#if FORM == 1
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  interface
    function loop_of_rank_0() bind(c)
      import :: c_double
      real(c_double) :: loop_of_rank_0
    end function
  end interface
  character(len=9), parameter :: kinds(6) = [character(len=9) :: 'Barrier', 'Recv', 'Wait', 'Sendrecv', 'Allreduce', 'Bcast']
  integer :: rank, ranks, error, kind, turn, to, mine(2), all(2)
  real(c_double) :: best
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do kind = 1, 6
    best = 1d9
    do turn = 1, 4
      mine = [rank, turn]
      all = -1
      call MPI_Barrier(MPI_COMM_WORLD, error)
      if (rank == 0) best = min(best, loop_of_rank_0())
      if (kind == 1) then
        call MPI_Barrier(MPI_COMM_WORLD, error)
        all = turn
      else if (kind == 4) then
        call MPI_Sendrecv(mine, 2, MPI_INTEGER, mod(rank + 1, ranks), 4, all, 2, MPI_INTEGER, mod(rank + ranks - 1, ranks), 4, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      else if (kind == 5) then
        call MPI_Allreduce(mine, all, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
      else if (kind == 6) then
        all = mine
        call MPI_Bcast(all, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
      else if (rank == 0) then
        do to = 1, ranks - 1
          call MPI_Send(mine, 2, MPI_INTEGER, to, kind, MPI_COMM_WORLD, error)
        end do
        all = turn
      else if (kind == 2) then
        call MPI_Recv(all, 2, MPI_INTEGER, 0, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      else
        call MPI_Irecv(all, 2, MPI_INTEGER, 0, kind, MPI_COMM_WORLD, request, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
      end if
      if (all(2) /= turn) print '(a)', 'wrong'
    end do
    if (rank == 0) print '(a,f6.3)', trim(kinds(kind)), best
  end do
  call MPI_Finalize(error)
end program
