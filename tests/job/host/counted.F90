! SPDX-License-Identifier: MIT
!
! The same from Fortran, with the interface that FORM names: 1 mpi_f08, 2 mpi, 3 mpif.h.
program counted
#if FORM == 1
  use mpi_f08
  implicit none
  type(MPI_Comm) :: comm
#elif FORM == 2
  use mpi
  implicit none
  integer :: comm
#else
  implicit none
  include 'mpif.h'
  integer :: comm
#endif
  integer :: rank, error, turn, into(1), out(1)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  into(1) = rank + 1
  do turn = 1, 5
    if (rank == 0) call sleep(0)
    call MPI_Barrier(comm, error)
    call MPI_Allreduce(into, out, 1, MPI_INTEGER, MPI_SUM, comm, error)
    call PMPI_Allreduce(into, out, 1, MPI_INTEGER, MPI_SUM, comm, error)
    if (rank == 0) then
      call MPI_Send(into, 1, MPI_INTEGER, 1, 1, comm, error)
      call PMPI_Send(into, 1, MPI_INTEGER, 1, 1, comm, error)
    else if (rank == 1) then
      call PMPI_Recv(out, 1, MPI_INTEGER, 0, 1, comm, MPI_STATUS_IGNORE, error)
      call MPI_Recv(out, 1, MPI_INTEGER, 0, 1, comm, MPI_STATUS_IGNORE, error)
    end if
  end do
  call MPI_Comm_free(comm, error)
  print '(a,i0,a,i0)', 'rank ', rank, ': ', out(1)
  call MPI_Finalize(error)
end program
