! SPDX-License-Identifier: MIT
!
! The functions of mpix.h through use mpix, or use mpix_f08 (-DWITH_MPI_F08): every rank ends with the load that its number says.
program reorder
#ifdef WITH_MPI_F08
    use mpi_f08
    use mpix_f08
#else
    use mpi
    use mpix
#endif
    implicit none
#ifdef WITH_MPI_F08
#define COMM type(MPI_Comm)
#define INFO type(MPI_Info)
#else
#define COMM integer
#define INFO integer
#endif
    COMM :: newcomm, active_comm
    INFO :: keys
    integer :: ierror, rank, ranks, new_rank, new_ranks, i, in, out, error_class, kind
    integer :: neighbours(2), weights(2), from(2), from_weights(2), to(2), to_weights(2)
    logical :: active, weighted
    double precision, allocatable :: loads(:)
    double precision :: imbalance

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    allocate(loads(ranks))
    loads = [(dble(i * i), i = 1, ranks)]

    call MPIX_Load_create(MPI_COMM_WORLD, loads, MPI_INFO_NULL, newcomm, ierror)
    call check(newcomm)
    call MPIX_Dist_load_create(MPI_COMM_WORLD, 1, [rank], loads(rank + 1:rank + 1), MPI_INFO_NULL, newcomm, ierror)
    call check(newcomm)

    neighbours = [mod(rank + 1, ranks), mod(rank + ranks - 1, ranks)]
    weights = [3, 4]
    call MPIX_Load_graph_create(MPI_COMM_WORLD, loads, 2, neighbours, MPI_UNWEIGHTED, 2, neighbours, MPI_UNWEIGHTED, &
        MPI_INFO_NULL, newcomm, ierror)
    call MPI_Dist_graph_neighbors_count(newcomm, in, out, weighted, ierror)
    if (in /= 2 .or. out /= 2 .or. weighted) error stop 'an unweighted graph'
    call check(newcomm)
    call MPIX_Load_graph_create(MPI_COMM_WORLD, loads, 2, neighbours, weights, 2, neighbours, weights, &
        MPI_INFO_NULL, newcomm, ierror)
    call MPI_Topo_test(newcomm, kind, ierror)
    if (kind /= MPI_DIST_GRAPH) error stop 'no graph'
    call MPI_Comm_rank(newcomm, new_rank, ierror)
    call MPI_Dist_graph_neighbors(newcomm, 2, from, from_weights, 2, to, to_weights, ierror)
    if (any(to /= [mod(new_rank + 1, ranks), mod(new_rank + ranks - 1, ranks)])) error stop 'neighbours'
    if (any(to_weights /= weights)) error stop 'weights'
    call check(newcomm)

    call MPI_Info_create(keys, ierror)
    call MPI_Info_set(keys, 'ws_load_spare', '1', ierror)
    call MPIX_Load_create(MPI_COMM_WORLD, loads(:ranks - 1), keys, newcomm, ierror)
    call MPI_Comm_rank(newcomm, new_rank, ierror)
    call MPIX_Load_active(newcomm, active, active_comm, ierror)
    if (active .neqv. new_rank < ranks - 1) error stop 'active'
    if (active) then
        call MPI_Comm_size(active_comm, new_ranks, ierror)
        if (new_ranks /= ranks - 1) error stop 'the communicator of the active'
        call MPI_Comm_free(active_comm, ierror)
    end if
    call MPIX_Load_active(newcomm, active, ierror)
    if (active .neqv. new_rank < ranks - 1) error stop 'active alone'
    call check(newcomm)
    call MPI_Info_free(keys, ierror)

    ! Measured, or an error where nothing is measured.
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call MPIX_Load_create(MPI_COMM_WORLD, MPIX_LOADS_MEASURED, MPI_INFO_NULL, newcomm, ierror)
    if (ierror == MPI_SUCCESS) then
        call check(newcomm)
        call MPIX_Load_imbalance(MPI_COMM_WORLD, imbalance, ierror)
        if (ierror /= MPI_SUCCESS .or. imbalance < 1) error stop 'imbalance'
        if (rank == 0) print '(a)', 'measured'
    else
        call MPI_Error_class(ierror, error_class, i)
        if (error_class /= MPI_ERR_UNSUPPORTED_OPERATION) error stop 'another error'
        if (newcomm /= MPI_COMM_NULL) error stop 'a communicator in spite of the error'
        if (rank == 0) print '(a)', 'not measured'
    end if
    loads(1) = -1
    call MPIX_Load_create(MPI_COMM_WORLD, loads, MPI_INFO_NULL, newcomm, ierror)
    call MPI_Error_class(ierror, error_class, i)
    if (error_class /= MPI_ERR_ARG) error stop 'a negative load'
#ifdef WITH_MPI_F08
    call MPIX_Dist_load_create(MPI_COMM_WORLD, 0, [integer ::], MPIX_LOADS_MEASURED, MPI_INFO_NULL, newcomm) ! no ierror
    if (newcomm /= MPI_COMM_NULL) call MPI_Comm_free(newcomm)
#endif
    call MPI_Finalize(ierror)

contains

    ! All processes, each once; frees it.
    subroutine check(comm)
        COMM, intent(inout) :: comm
        integer :: sum
        if (ierror /= MPI_SUCCESS) error stop 'an error'
        call MPI_Comm_rank(comm, new_rank, ierror)
        call MPI_Comm_size(comm, new_ranks, ierror)
        call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
        if (new_ranks /= ranks .or. sum /= ranks * (ranks - 1) / 2) error stop 'not all ranks'
        call MPI_Comm_free(comm, ierror)
    end subroutine
end program
