! SPDX-License-Identifier: MIT
! MPI that cannot be called in a loop, by the names that MPI's Fortran bindings have for the linker.
subroutine mpi_calls(n, comm)
    implicit none
    integer, intent(in) :: n, comm
    integer :: i, error
    external :: MPI_Allreduce_f08ts
!$ws do
    do i = 1, n
        call MPI_Barrier(comm, error)
    end do
!$ws do
    do i = 1, n
        call helper
    end do
!$ws do
    do i = 1, n
        call MPI_Allreduce_f08ts(i, comm, error)
    end do
!$ws do
    do i = 1, n
        call MPI_Send(i, 1, 2, 3, 4, comm, error)
        call MPI_Finalize(error)
    end do
contains
    subroutine helper()
        call MPI_Win_fence(0, comm, error)
    end subroutine
end subroutine
