! SPDX-License-Identifier: MIT
!
! Every function of the module workshare_task: sums of squares, results of any type and rank, a future, priorities, counts and errors.
! What the functions write through pointers had another value before, which gfortran must not use after the call.
module tasks
    use iso_c_binding
    use workshare_task
    implicit none
    integer(c_int) :: plain, inputs, group  ! kinds
contains
    integer(c_int) function square(task) bind(C)
        type(ws_task), intent(in) :: task
        integer(c_int64_t), pointer :: n
        call c_f_pointer(task%data, n)
        square = ws_task_set_result(task, n * n, c_sizeof(n))
    end function
    subroutine add(into, from, context) bind(C)
        integer(c_int64_t), intent(inout) :: into
        integer(c_int64_t), intent(in) :: from
        type(c_ptr), value :: context
        if (.not. c_associated(context)) into = into + from
    end subroutine
    ! its data and its result are arrays
    integer(c_int) function doubled(task) bind(C)
        type(ws_task), intent(in) :: task
        real(c_double), pointer :: of(:)
        integer(c_int), pointer :: runs
        call c_f_pointer(task%context, runs)
        runs = runs + 1
        call c_f_pointer(task%data, of, [task%bytes / 8])
        doubled = ws_task_set_result(task, 2 * of, task%bytes)
    end function
    ! waits for a square, and for its double, which has it as an input
    integer(c_int) function waits(task) bind(C)
        type(ws_task), intent(in) :: task
        integer(c_int64_t), target :: of(2)
        integer(c_int64_t) :: n, twice
        integer(c_size_t) :: bytes
        n = 5
        of = 0
        waits = ws_pool_put(task%pool, plain, n, c_sizeof(n), ws_task_options(future=c_loc(of(1)), has_rank=1, rank=0))
        waits = waits + ws_pool_put(task%pool, inputs, n, 0_c_size_t, &
            ws_task_options(future=c_loc(of(2)), inputs=c_loc(of(1)), inputs_count=1, group=group))
        waits = waits + ws_pool_drop_result(task%pool, of(1))
        waits = waits + ws_task_wait(task, of(2), twice, c_sizeof(twice), bytes)
        if (twice /= 50 .or. bytes /= 8) waits = waits + 1000
        waits = waits + ws_pool_cancel(task%pool, group) + ws_task_is_cancelled(task)   ! it has none
    end function
    integer(c_int) function twice_input(task) bind(C)
        type(ws_task), intent(in) :: task
        type(c_ptr) :: data
        integer(c_size_t) :: bytes
        integer(c_int64_t), pointer :: n
        twice_input = ws_task_get_input(task, 0_c_size_t, data, bytes)
        call c_f_pointer(data, n)
        if (ws_task_is_cancelled(task) == 0) twice_input = twice_input + ws_task_set_result(task, 2 * n, bytes)
    end function
    integer(c_int) function wrong(task) bind(C)
        type(ws_task), intent(in) :: task
        wrong = 7 + task%kind
    end function
end module

program squares
    use mpi
    use tasks
    implicit none
    character(kind=c_char, len=7), target :: name = 'square' // c_null_char, other = 'double' // c_null_char
    character(kind=c_char, len=6), target :: third = 'wrong' // c_null_char, fourth = 'waits' // c_null_char
    type(ws_task_kind) :: description
    type(ws_task_options) :: options
    type(ws_pool_counts) :: counts
    type(c_ptr) :: pool, never
    integer(c_int) :: number, arrays, fails, waiting, errors
    integer(c_int64_t) :: i, total
    integer(c_int64_t), target :: future
    integer(c_int), target :: runs, all_runs    ! tasks of doubled, here and on all ranks
    integer(c_size_t) :: bytes
    real(c_double) :: of(3), both(3)
    integer :: error, level, rank

    ! before MPI_Init: EINVAL
    if (ws_pool_create(MPI_COMM_WORLD, never) == 0) error stop 'squares: a pool before MPI_Init'
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    if (ws_pool_create(MPI_COMM_NULL, never) == 0) error stop 'squares: a pool of no communicator'
    errors = ws_pool_create(MPI_COMM_WORLD, pool)
    description%name = c_loc(name)
    description%run = c_funloc(square)
    description%result = 8
    description%combine = c_funloc(add)
    errors = errors + ws_pool_register(pool, description, number)
    description = ws_task_kind(name=c_loc(other), run=c_funloc(doubled), result=c_sizeof(of), context=c_loc(runs))
    errors = errors + ws_pool_register(pool, description, arrays)
    description = ws_task_kind(name=c_loc(third), run=c_funloc(wrong))
    errors = errors + ws_pool_register(pool, description, fails)
    description = ws_task_kind(name=c_loc(fourth), run=c_funloc(square), result=8)
    errors = errors + ws_pool_register(pool, description, plain)
    description%run = c_funloc(twice_input)
    errors = errors + ws_pool_register(pool, description, inputs)
    description = ws_task_kind(name=c_loc(fourth), run=c_funloc(waits))
    errors = errors + ws_pool_register(pool, description, waiting)
    errors = errors + ws_pool_add_group(pool, group)
    runs = 0
    if (rank == 0) then
        errors = errors + ws_pool_put(pool, waiting, i, 0_c_size_t)
        do i = 1, 1000
            options%priority = int(mod(i, 8_c_int64_t), c_int)
            errors = errors + ws_pool_put(pool, number, i, c_sizeof(i), options)
        end do
        of = [1, 2, 3]
        future = 0
        options = ws_task_options(future=c_loc(future))
        errors = errors + ws_pool_put(pool, arrays, of, c_sizeof(of), options)
    end if
    errors = errors + ws_pool_run(pool)
    errors = errors + ws_pool_get_total(pool, number, total, c_sizeof(total))
    errors = errors + ws_pool_get_counts(pool, counts)
    call MPI_Allreduce(runs, all_runs, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (all_runs /= 1) error stop 'squares: a wrong context'
    if (rank == 0) then
        errors = errors + ws_pool_get_result(pool, future, both, c_sizeof(both), bytes)
        if (bytes /= 24 .or. any(nint(both) /= [2, 4, 6])) error stop 'squares: a wrong array'
        if (counts%put < 1002 .or. counts%put > 1004) error stop 'squares: wrong counts'
        errors = errors + ws_pool_put(pool, fails, c_null_char, 1_c_size_t)
    end if
    if (ws_pool_run(pool) == 0) error stop 'squares: no error of a task that fails'
    errors = errors + ws_pool_free(pool)
    if (errors /= 0 .or. total /= 333833500_c_int64_t) error stop 'squares: wrong'
    if (rank == 0) print '(A)', 'right'
    call MPI_Finalize(error)
end program
