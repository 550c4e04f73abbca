! SPDX-License-Identifier: MIT
!
! Without an active request, the index is MPI_UNDEFINED: one more in upstream's MPICH 4.0.2 with the module mpi, and in 4.2.1 with mpi_f08.
subroutine with_mpi(right)
    use mpi
    implicit none
    logical :: right, done
    integer :: requests(2), index, status(MPI_STATUS_SIZE), error
    requests = MPI_REQUEST_NULL
    call MPI_Waitany(2, requests, index, status, error)
    right = index == MPI_UNDEFINED
    call MPI_Testany(2, requests, index, done, status, error)
    right = right .and. index == MPI_UNDEFINED .and. done
end subroutine

subroutine with_mpi_f08(right)
    use mpi_f08
    implicit none
    logical :: right, done
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status
    integer :: index
    requests = MPI_REQUEST_NULL
    call MPI_Waitany(2, requests, index, status)
    right = index == MPI_UNDEFINED
    call MPI_Testany(2, requests, index, done, status)
    right = right .and. index == MPI_UNDEFINED .and. done
end subroutine

program fixed_fortran
    use mpi
    implicit none
    logical :: old, new
    integer :: error
    call MPI_Init(error)
    call with_mpi(old)
    call with_mpi_f08(new)
    call MPI_Finalize(error)
    if (.not. (old .and. new)) error stop 'an index is not MPI_UNDEFINED'
end program
