! SPDX-License-Identifier: MIT
!
! What the programs of accept/ check themselves with. Each is a list of tests; with -DWITH_MPI every rank runs them all, and
! for each test another rank is the slow one, for which the others wait and whose loop they then help with.
module check
#if defined(WITH_MPI) && defined(WITH_MPI_F08)
    use mpi_f08
#elif defined(WITH_MPI)
    use mpi
#endif
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    private
    public :: begin, test, work, expect, finish

    integer :: tests = 0, failures = 0, rank = 0, ranks = 1
    logical :: slow = .false.
    character(64) :: name = ''

contains

    subroutine begin()
#ifdef WITH_MPI
        integer :: error
        call MPI_Init(error)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
#endif
    end subroutine

    subroutine test(what)
        character(*), intent(in) :: what
#ifdef WITH_MPI
        integer :: error
        call MPI_Barrier(MPI_COMM_WORLD, error)
#endif
        name = what
        slow = ranks > 1 .and. mod(tests, ranks) == rank
        tests = tests + 1
    end subroutine

    ! Some microseconds in the slow rank.
    subroutine work()
        integer(int64) :: start, now, rate
        if (.not. slow) return
        call system_clock(start, rate)
        do
            call system_clock(now)
            if ((now - start) * 1000000 > rate * 20) return
        end do
    end subroutine

    subroutine expect(right, what)
        logical, intent(in) :: right
        character(*), intent(in) :: what
        if (right) return
        failures = failures + 1
        print '(a, i0, 4a)', 'rank ', rank, ': ', trim(name), ': ', what
    end subroutine

    subroutine finish()
#ifdef WITH_MPI
        integer :: error, mine
        mine = failures
        call MPI_Allreduce(mine, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call MPI_Finalize(error)
#endif
        if (failures > 0) stop 1
        if (rank == 0) print '(a, i0, a)', 'ok, ', tests, ' tests'
    end subroutine

end module
