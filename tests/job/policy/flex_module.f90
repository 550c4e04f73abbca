! SPDX-License-Identifier: MIT
!
! XMPI in Fortran: columns of a Fortran matrix move, a column is a row of XMPI_ROWS.
program flex_module
    use, intrinsic :: iso_c_binding
    use mpi_f08
    use xmpi
    implicit none
    integer :: partition, error, i, w, moves = 0, wrong = 0, ranks
    integer(MPI_COUNT_KIND) :: count, displ, j
    integer(MPI_COUNT_KIND), allocatable :: counts(:), displs(:)
    integer(MPI_COUNT_KIND), parameter :: rows = 200, width = 5
    logical :: moved
    type(c_ptr) :: memory, extra
    double precision, pointer :: a(:, :)

    call MPI_Init()
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call XMPI_Get_wsize(MPI_COMM_WORLD, rows, MPI_INFO_NULL, partition, count, displ, error)
    if (error /= MPI_SUCCESS) wrong = wrong + 1
    call XMPI_Alloc(8 * width * count, memory)
    call c_f_pointer(memory, a, [width, count])
    do j = 1, count
        do w = 1, int(width)
            a(w, j) = dble((displ + j) * 10 + w)
        end do
    end do
    call XMPI_Register(partition, memory, width, MPI_DOUBLE_PRECISION, XMPI_ROWS)
    do i = 1, 30
        call XMPI_Monitor_begin(partition)
        call XMPI_Set_work(partition, dble(count))
        if (i == 15) call XMPI_Set_goal(partition, XMPI_GOAL_NONE, 0d0)
        if (i == 12) call XMPI_Set_comm(MPI_COMM_WORLD, partition, error)
        if (i == 15) call XMPI_Resize(partition, 1)
        if (i == 20) call XMPI_Resize(partition, ranks, error)
        if (mod(i, 2) == 0) then
            call XMPI_Monitor_end(partition, count, displ, moved)
        else
            call XMPI_Monitor_end_begin(partition)
            call XMPI_Monitor_end_finish(partition, count, displ, moved, error)
        end if
        if (.not. moved) cycle
        if (i /= 15 .and. i /= 20) moves = moves + 1
        call c_f_pointer(memory, a, [width, count])
        do j = 1, count
            do w = 1, int(width)
                if (a(w, j) /= dble((displ + j) * 10 + w)) wrong = wrong + 1
            end do
        end do
    end do
    allocate(counts(ranks), displs(ranks))
    call XMPI_Get_counts(partition, counts, displs)
    if (sum(counts) /= rows) wrong = wrong + 1
    ! Errors are told.
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call XMPI_Alloc(-1_MPI_COUNT_KIND, extra, error)
    if (error == MPI_SUCCESS) wrong = wrong + 1
    call XMPI_Deregister(partition, memory)
    call XMPI_Free(memory)
    if (c_associated(memory)) wrong = wrong + 1
    call XMPI_Partition_free(partition)
    if (partition /= XMPI_PARTITION_NULL) wrong = wrong + 1
    print '(a, i0, a, i0)', 'moves ', moves, ' wrong ', wrong
    call MPI_Finalize()
    if (wrong /= 0) error stop 1
end program
