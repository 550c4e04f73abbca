! SPDX-License-Identifier: MIT
!
! Waits outside of MPI, in Fortran: rank 1 has the loop.
program waits_fortran
    use mpi
    use workshare
    implicit none
    integer :: rank, error, i, token
    integer(8) :: total

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    total = 0
    if (rank == 1) then
        !$ws do reduction(+: total)
        do i = 1, 1000
            total = total + i
        end do
        call MPI_Send(1, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, error)
        if (total == 500500) print *, 'fine'
    else
        call ws_wait_begin()
        call execute_command_line('sleep 0.1')
        call ws_wait_begin()
        call ws_wait_end()
        call MPI_Recv(token, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        call ws_wait_end()
    end if
    call MPI_Finalize(error)
end program
