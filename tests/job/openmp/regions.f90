! SPDX-License-Identifier: MIT
!
! Parallel regions as Fortran has them, each with an exact result; called as regions.c is, with TURNS only: all kinds.
program regions
    use, intrinsic :: iso_c_binding, only: c_int
    use mpi
    use omp_lib
    implicit none
    interface
        integer(c_int) function nap(microseconds) bind(c, name='usleep')
            import :: c_int
            integer(c_int), value :: microseconds
        end function
    end interface
    integer, parameter :: n = 240
    integer :: done(n), turn, turns, told, me, ranks, provided, error, wrong
    character(len=8) :: argument

    told = omp_get_max_threads()
    call get_command_argument(1, argument)
    read (argument, *) turns
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    wrong = 0
    do turn = 0, turns - 1
        if (me + 1 < ranks .or. ranks == 1) then
            call check('loops', loops())
            call check('schedules', schedules())
            call check('arrays', arrays())
            call check('numbers', numbers())
            call check('parts', parts())
            call check('whole_arrays', whole_arrays())
            call check('copied', copied())
            call check('in_order', in_order())
        end if
        call MPI_Barrier(MPI_COMM_WORLD, error)
    end do
    if (me == 0) print '(a, i0)', merge('all right, told ', 'all wrong, told ', wrong == 0), told
    call MPI_Finalize(error)
    if (wrong /= 0) stop 1

contains
    subroutine check(name, right)
        character(len=*), intent(in) :: name
        logical, intent(in) :: right
        if (.not. right) then
            wrong = wrong + 1
            print '(a, a, i0)', name, ' is wrong in turn ', turn
        end if
    end subroutine

    subroutine work(i)
        integer, intent(in) :: i
        integer(c_int) :: ignored
        ignored = nap(100_c_int)
        !$omp atomic
        done(i) = done(i) + 1
    end subroutine

    logical function loops()
        integer :: i, last, most
        integer(8) :: total
        done = 0
        total = 0
        most = 0
        !$omp parallel do lastprivate(last) reduction(+ : total) reduction(max : most)
        do i = 1, n
            call work(i)
            last = i
            most = max(most, i)
            total = total + i
        end do
        !$omp end parallel do
        loops = all(done == 1) .and. last == n .and. most == n .and. total == n * (n + 1) / 2
    end function

    logical function schedules()
        integer :: i, j
        integer(8) :: k
        done = 0
        !$omp parallel private(i, j, k)
        !$omp do schedule(static, 7)
        do i = n, 1, -1
            call work(i)
        end do
        !$omp end do nowait
        !$omp do schedule(dynamic, 2) collapse(2)
        do i = 1, n / 10
            do j = 1, 10
                !$omp atomic
                done(10 * (i - 1) + j) = done(10 * (i - 1) + j) + 1
            end do
        end do
        !$omp end do nowait
        !$omp do schedule(guided)
        do k = 1, 2 * n, 2
            !$omp atomic
            done((k + 1) / 2) = done((k + 1) / 2) + 1
        end do
        !$omp end do
        !$omp end parallel
        schedules = all(done == 3)
    end function

    logical function arrays()
        integer :: i, sums(5)
        real(8), allocatable :: scratch(:)
        done = 0
        sums = 0
        !$omp parallel private(scratch) reduction(+ : sums)
        allocate(scratch(1000))
        scratch = 1
        !$omp do
        do i = 1, n
            call work(i)
            scratch = scratch * 2 / 2
            sums(mod(i, 5) + 1) = sums(mod(i, 5) + 1) + nint(sum(scratch)) / 1000
        end do
        !$omp end do
        deallocate(scratch)
        !$omp end parallel
        arrays = all(done == 1) .and. all(sums == n / 5)
    end function

    logical function numbers()
        integer :: number, threads, i, marks(0:told - 1)
        marks = 0
        done = 0
        !$omp parallel private(number, threads, i)
        number = omp_get_thread_num()
        threads = omp_get_num_threads()
        !$omp atomic
        marks(number) = marks(number) + 1
        do i = number + 1, n, threads
            call work(i)
        end do
        !$omp end parallel
        numbers = all(done == 1) .and. all(marks == 1)
    end function

    logical function parts()
        integer :: i, critical_ones
        done = 0
        critical_ones = 0
        !$omp parallel sections private(i)
        !$omp section
        do i = 1, n / 2
            call work(i)
        end do
        !$omp section
        do i = n / 2 + 1, n
            call work(i)
            !$omp critical
            critical_ones = critical_ones + 1
            !$omp end critical
        end do
        !$omp end parallel sections
        parts = all(done == 1) .and. critical_ones == n - n / 2
    end function

    logical function whole_arrays()
        integer :: a(n), b(n), i
        done = 0
        !$omp parallel
        !$omp workshare
        a = 3
        b = a * 2
        where (b > 5) a = 1
        !$omp end workshare
        !$omp do
        do i = 1, n
            call work(i)
            b(i) = b(i) + a(i)
        end do
        !$omp end do
        !$omp end parallel
        whole_arrays = all(done == 1) .and. all(b == 7) .and. all(a == 1)
    end function

    logical function copied()
        integer :: value, i, bad
        done = 0
        bad = 0
        !$omp parallel private(value, i) reduction(+ : bad)
        value = -1
        !$omp single
        value = turn
        !$omp end single copyprivate(value)
        bad = bad + merge(0, 1, value == turn)
        !$omp do
        do i = 1, n
            call work(i)
        end do
        !$omp end do
        !$omp end parallel
        copied = all(done == 1) .and. bad == 0
    end function

    logical function in_order()
        integer :: i, next
        done = 0
        next = 1
        !$omp parallel do ordered schedule(dynamic)
        do i = 1, n
            call work(i)
            !$omp ordered
            if (next == i) next = next + 1
            !$omp end ordered
        end do
        !$omp end parallel do
        in_order = all(done == 1) .and. next == n + 1
    end function
end program
