! SPDX-License-Identifier: MIT
!
! The same in Fortran, whose calls all come from the binding: in each turn a message to each of three peers, four ranks.
program peers
    use mpi
    implicit none
    integer :: rank, ierr, turn, turns, peer, k, sent, got
    character(len=20) :: text
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call get_command_argument(1, text)
    read (text, *) turns
    do turn = 1, turns
        do k = 1, 3
            peer = ieor(rank, k)
            sent = rank * 1000 + turn + k
            call MPI_Sendrecv(sent, 1, MPI_INTEGER, peer, 0, got, 1, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
            if (got /= peer * 1000 + turn + k) stop 1
        end do
    end do
    call MPI_Finalize(ierr)
end program peers
