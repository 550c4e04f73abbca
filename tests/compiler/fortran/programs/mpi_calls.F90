! SPDX-License-Identifier: MIT
! A loop whose iterations send to the rank itself and to the others, and write with MPI-IO, in the module's way to call MPI.
! Prints whether chunks ran on two threads at once.
program mpi_calls
#ifdef WITH_MPI_F08
    use mpi_f08
#else
    use mpi
#endif
    use, intrinsic :: iso_fortran_env, only: int64, real64
    implicit none
    integer, parameter :: n = 400
    integer :: i, rank, level, error, wrong
    real(real64) :: got
#ifdef WITH_MPI_F08
    type(MPI_Status) :: status
#else
    integer :: status(MPI_STATUS_SIZE)
#endif

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Query_thread(level, error)
    wrong = 0
    if (rank == 0) then
        !$ws do private(got, status, error) schedule(dynamic, 2) reduction(+: wrong)
        do i = 1, n
            call busy
            call MPI_Sendrecv(real(i, real64), 1, MPI_DOUBLE_PRECISION, 0, i, got, 1, MPI_DOUBLE_PRECISION, 0, i, &
                              MPI_COMM_SELF, status, error)
            if (nint(got) /= i .or. error /= MPI_SUCCESS) wrong = wrong + 1
        end do
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
    if (rank == 0) print '(a, i0, a, l1)', 'wrong ', wrong, ', multiple ', level == MPI_THREAD_MULTIPLE
    call MPI_Finalize(error)

contains

    subroutine busy()
        integer(int64) :: start, now, rate
        call system_clock(start, rate)
        do
            call system_clock(now)
            if ((now - start) * 1000000 > rate * 30) return
        end do
    end subroutine

end program
