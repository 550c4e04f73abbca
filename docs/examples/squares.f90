! SPDX-License-Identifier: MIT
!
! A pool of tasks in Fortran: the program of squares.c.
!
! Compile: mpifort -O3 squares.f90 -o squares -lws
! Run:     mpirun -workshare -n 2 ./squares
! Prints:  333332833333500000
module squaring
    use iso_c_binding
    use workshare_task
    implicit none
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
        if (.not. c_associated(context)) into = into + from     ! none was given
    end subroutine
end module

program squares
    use mpi_f08
    use squaring
    implicit none
    character(kind=c_char, len=7), target :: name = 'square' // c_null_char
    type(ws_task_kind) :: kind
    type(c_ptr) :: pool
    integer(c_int) :: number
    integer(c_int64_t) :: i, sum
    integer :: level, rank

    call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call check(ws_pool_create(MPI_COMM_WORLD%MPI_VAL, pool))
    kind%name = c_loc(name)
    kind%run = c_funloc(square)
    kind%combine = c_funloc(add)
    kind%result = c_sizeof(sum)
    call check(ws_pool_register(pool, kind, number))
    if (rank == 0) then
        do i = 1, 999999
            call check(ws_pool_put(pool, number, i, c_sizeof(i)))
        end do
    end if
    call check(ws_pool_run(pool))
    call check(ws_pool_get_total(pool, number, sum, c_sizeof(sum)))     ! the same on all ranks
    call check(ws_pool_free(pool))
    if (rank == 0) print '(I0)', sum
    call MPI_Finalize()
contains
    subroutine check(error)
        integer(c_int), intent(in) :: error
        if (error /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine
end program
