! SPDX-License-Identifier: MIT
!
! The functions of task.h in Fortran: `use workshare_task`. Link with -lws. task.h describes each function, argument and component.
!
! - They are functions with the same arguments, and return 0 or an errno value.
! - `comm` is a handle of `use mpi`; of `use mpi_f08`, it is comm%MPI_VAL.
! - `data`, `result` and similar arguments are variables or arrays of any type, without a descriptor: contiguous ones.
! - Procedures of a kind have bind(C), and are given by c_funloc(). Their names end with c_null_char and must stay.
! - Arguments that may contain pointers (c_loc) are `target` here. Otherwise gfortran assumes that nothing is written through
!   these pointers: a future that was 0 before ws_pool_put would stay 0 in the program.
! - Ask for MPI_THREAD_MULTIPLE in MPI_Init_thread. Otherwise tasks do not run on the cores of other ranks of the node.
!
module workshare_task
    use, intrinsic :: iso_c_binding, only: c_funptr, c_int, c_int64_t, c_null_funptr, c_null_ptr, c_ptr, c_size_t
    implicit none
    private
    public :: ws_task, ws_task_kind, ws_task_options, ws_pool_counts
    public :: ws_pool_create, ws_pool_register, ws_pool_add_group, ws_pool_put, ws_pool_cancel, ws_pool_run
    public :: ws_task_set_result, ws_task_get_input, ws_task_wait, ws_task_is_cancelled
    public :: ws_pool_get_total, ws_pool_get_result, ws_pool_drop_result, ws_pool_get_counts, ws_pool_free

    type, bind(C) :: ws_task
        type(c_ptr) :: pool, data
        integer(c_size_t) :: bytes
        type(c_ptr) :: context
        integer(c_int) :: kind, origin
        type(c_ptr) :: reserved(4)
    end type
    type, bind(C) :: ws_task_kind
        type(c_ptr) :: name = c_null_ptr
        type(c_funptr) :: run = c_null_funptr
        type(c_ptr) :: context = c_null_ptr
        integer(c_size_t) :: result = 0
        type(c_funptr) :: combine = c_null_funptr, packed = c_null_funptr, pack = c_null_funptr
        type(c_funptr) :: unpack = c_null_funptr, release = c_null_funptr
        integer(c_int64_t) :: reserved(4) = 0
    end type
    type, bind(C) :: ws_task_options
        integer(c_int) :: priority = 0, pinned = 0, takes = 0
        type(c_ptr) :: future = c_null_ptr  ! c_loc of an integer(c_int64_t)
        type(c_ptr) :: inputs = c_null_ptr  ! c_loc of an array of these
        integer(c_size_t) :: inputs_count = 0
        integer(c_int) :: group = 0, has_rank = 0, rank = 0, reserved = 0
    end type
    type, bind(C) :: ws_pool_counts
        integer(c_int64_t) :: put, run, moved_out, moved_in, bytes_out, bytes_in, letters
        integer(c_int64_t) :: kept_worth, kept_room, kept_moved, kept_none
    end type

    interface
        integer(c_int) function ws_pool_create(comm, pool) bind(C, name='ws_pool_create_f')
            import
            integer(c_int), value :: comm
            type(c_ptr), intent(out) :: pool
        end function
        integer(c_int) function ws_pool_register(pool, description, number) bind(C, name='ws_pool_register')
            import
            type(c_ptr), value :: pool
            type(ws_task_kind), intent(in), target :: description
            integer(c_int), intent(out) :: number
        end function
        integer(c_int) function ws_pool_put(pool, number, data, bytes, options) bind(C, name='ws_pool_put')
            import
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: data
            type(c_ptr), value :: pool
            integer(c_int), value :: number
            type(*), intent(in), target :: data(*)
            integer(c_size_t), value :: bytes
            type(ws_task_options), intent(in), optional, target :: options
        end function
        integer(c_int) function ws_pool_add_group(pool, group) bind(C, name='ws_pool_add_group')
            import
            type(c_ptr), value :: pool
            integer(c_int), intent(out) :: group
        end function
        integer(c_int) function ws_pool_cancel(pool, group) bind(C, name='ws_pool_cancel')
            import
            type(c_ptr), value :: pool
            integer(c_int), value :: group
        end function
        integer(c_int) function ws_task_get_input(task, index, data, bytes) bind(C, name='ws_task_get_input')
            import
            type(ws_task), intent(in), target :: task
            integer(c_size_t), value :: index   ! from 0 on
            type(c_ptr), intent(out) :: data
            integer(c_size_t), intent(out) :: bytes
        end function
        integer(c_int) function ws_task_wait(task, future, result, capacity, bytes) bind(C, name='ws_task_wait')
            import
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            type(ws_task), intent(in), target :: task
            integer(c_int64_t), value :: future
            type(*), intent(inout) :: result(*)
            integer(c_size_t), value :: capacity
            integer(c_size_t), intent(out) :: bytes
        end function
        integer(c_int) function ws_task_is_cancelled(task) bind(C, name='ws_task_is_cancelled')
            import
            type(ws_task), intent(in), target :: task
        end function
        integer(c_int) function ws_task_set_result(task, result, bytes) bind(C, name='ws_task_set_result')
            import
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            type(ws_task), intent(in), target :: task
            type(*), intent(in) :: result(*)
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function ws_pool_run(pool) bind(C, name='ws_pool_run')
            import
            type(c_ptr), value :: pool
        end function
        integer(c_int) function ws_pool_get_total(pool, number, result, bytes) bind(C, name='ws_pool_get_total')
            import
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            type(c_ptr), value :: pool
            integer(c_int), value :: number
            type(*), intent(inout) :: result(*)
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function ws_pool_get_result(pool, future, result, capacity, bytes) bind(C, name='ws_pool_get_result')
            import
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result
            type(c_ptr), value :: pool
            integer(c_int64_t), value :: future
            type(*), intent(inout) :: result(*)
            integer(c_size_t), value :: capacity
            integer(c_size_t), intent(out) :: bytes
        end function
        integer(c_int) function ws_pool_drop_result(pool, future) bind(C, name='ws_pool_drop_result')
            import
            type(c_ptr), value :: pool
            integer(c_int64_t), value :: future
        end function
        integer(c_int) function ws_pool_get_counts(pool, counts) bind(C, name='ws_pool_get_counts')
            import
            type(c_ptr), value :: pool
            type(ws_pool_counts), intent(out) :: counts
        end function
        integer(c_int) function ws_pool_free(pool) bind(C, name='ws_pool_free')
            import
            type(c_ptr), intent(inout) :: pool
        end function
    end interface
end module
