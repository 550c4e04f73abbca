! SPDX-License-Identifier: MIT
!
! A pool of tasks from Fortran, by the C binding of workshare/task.h: the sum of the first 1000 squares. An example, and a test.
module tasks
    use iso_c_binding
    implicit none

    type, bind(C) :: ws_task            ! as struct ws_task
        type(c_ptr) :: pool, data
        integer(c_size_t) :: bytes
        type(c_ptr) :: context
        integer(c_int) :: kind, origin
        type(c_ptr) :: reserved(4)
    end type
    type, bind(C) :: ws_task_kind       ! as struct ws_task_kind
        type(c_ptr) :: name = c_null_ptr
        type(c_funptr) :: run = c_null_funptr
        type(c_ptr) :: context = c_null_ptr
        integer(c_size_t) :: result = 0
        type(c_funptr) :: combine = c_null_funptr, packed = c_null_funptr, pack = c_null_funptr, unpack = c_null_funptr, &
            release = c_null_funptr
        integer(c_int64_t) :: reserved(4) = 0
    end type

    interface
        integer(c_int) function ws_pool_create(comm, pool) bind(C)     ! MPICH's handles are the same in C and in Fortran
            import
            integer(c_int), value :: comm
            type(c_ptr), intent(out) :: pool
        end function
        integer(c_int) function ws_pool_register(pool, description, number) bind(C, name='ws_pool_register')
            import
            type(c_ptr), value :: pool
            type(ws_task_kind), intent(in) :: description
            integer(c_int), intent(out) :: number
        end function
        integer(c_int) function ws_pool_put(pool, number, data, bytes, options) bind(C)
            import
            type(c_ptr), value :: pool, options
            integer(c_int), value :: number
            integer(c_int64_t), intent(in) :: data
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function ws_task_set_result(task, result, bytes) bind(C)
            import
            type(ws_task), intent(in) :: task
            integer(c_int64_t), intent(in) :: result
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function ws_pool_run(pool) bind(C)
            import
            type(c_ptr), value :: pool
        end function
        integer(c_int) function ws_pool_get_total(pool, number, result, bytes) bind(C)
            import
            type(c_ptr), value :: pool
            integer(c_int), value :: number
            integer(c_int64_t), intent(out) :: result
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function ws_pool_free(pool) bind(C)
            import
            type(c_ptr), intent(inout) :: pool
        end function
        subroutine ws_uses(features) bind(C)
            import
            integer(c_int), value :: features
        end subroutine
    end interface
contains
    integer(c_int) function square(task) bind(C)
        type(ws_task), intent(in) :: task
        integer(c_int64_t), pointer :: n
        call c_f_pointer(task%data, n)
        square = ws_task_set_result(task, n * n, 8_c_size_t)
    end function
    subroutine add(into, from, context) bind(C)
        integer(c_int64_t), intent(inout) :: into
        integer(c_int64_t), intent(in) :: from
        type(c_ptr), value :: context
        if (.not. c_associated(context)) into = into + from
    end subroutine
end module

program squares
    use mpi
    use tasks
    implicit none
    character(kind=c_char, len=7), target :: name = 'square' // c_null_char
    type(ws_task_kind) :: description
    type(c_ptr) :: pool
    integer(c_int) :: number, errors
    integer(c_int64_t) :: i, total
    integer :: error, rank

    call ws_uses(2)     ! as the C header does: tasks may call MPI
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    errors = ws_pool_create(MPI_COMM_WORLD, pool)
    description%name = c_loc(name)
    description%run = c_funloc(square)
    description%result = 8
    description%combine = c_funloc(add)
    errors = errors + ws_pool_register(pool, description, number)
    if (rank == 0) then
        do i = 1, 1000
            errors = errors + ws_pool_put(pool, number, i, 8_c_size_t, c_null_ptr)
        end do
    end if
    errors = errors + ws_pool_run(pool)
    errors = errors + ws_pool_get_total(pool, number, total, 8_c_size_t)
    errors = errors + ws_pool_free(pool)
    if (errors /= 0 .or. total /= 333833500_c_int64_t) error stop 'squares: wrong'
    if (rank == 0) print '(A)', 'right'
    call MPI_Finalize(error)
end program
