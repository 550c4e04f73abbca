! SPDX-License-Identifier: MIT
!
! The functions of mpix.h in Fortran: beside `use mpi` also `use mpix`, beside `use mpi_f08` also `use mpix_f08` (this file with
! -DWITH_MPI_F08). The same arguments, and ierror; in MPIX_Load_active activecomm may be left out, and then the call is not collective.
!
#ifdef WITH_MPI_F08
#define COMM type(MPI_Comm)
#define INFO type(MPI_Info)
#define IERROR integer, optional
module mpix_f08
    use mpi_f08, only: MPI_Comm, MPI_Info
#else
#define COMM integer
#define INFO integer
#define IERROR integer
module mpix
#endif
    implicit none
    private
    public :: MPIX_Load_create, MPIX_Dist_load_create, MPIX_Load_graph_create, MPIX_Load_active, MPIX_Load_imbalance
    public :: MPIX_LOADS_MEASURED

    type :: mpix_measured
        integer :: unused = 0
    end type
    ! For `loads`.
    type(mpix_measured), parameter :: MPIX_LOADS_MEASURED = mpix_measured()

    interface MPIX_Load_create
        subroutine MPIX_Load_create(comm, loads, info, newcomm, ierror)
            import
            COMM, intent(in) :: comm
            double precision, intent(in) :: loads(*)
            INFO, intent(in) :: info
            COMM, intent(out) :: newcomm
            IERROR, intent(out) :: ierror
        end subroutine
        subroutine MPIX_Load_create_measured(comm, loads, info, newcomm, ierror)
            import
            COMM, intent(in) :: comm
            type(mpix_measured), intent(in) :: loads
            INFO, intent(in) :: info
            COMM, intent(out) :: newcomm
            IERROR, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Dist_load_create
        subroutine MPIX_Dist_load_create(comm, count, ranks, loads, info, newcomm, ierror)
            import
            COMM, intent(in) :: comm
            integer, intent(in) :: count, ranks(*)
            double precision, intent(in) :: loads(*)
            INFO, intent(in) :: info
            COMM, intent(out) :: newcomm
            IERROR, intent(out) :: ierror
        end subroutine
        subroutine MPIX_Dist_load_create_measured(comm, count, ranks, loads, info, newcomm, ierror)
            import
            COMM, intent(in) :: comm
            integer, intent(in) :: count, ranks(*)
            type(mpix_measured), intent(in) :: loads
            INFO, intent(in) :: info
            COMM, intent(out) :: newcomm
            IERROR, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Load_graph_create
        subroutine MPIX_Load_graph_create(comm, loads, indegree, sources, sourceweights, outdegree, &
                destinations, destweights, info, newcomm, ierror)
            import
            COMM, intent(in) :: comm
            double precision, intent(in) :: loads(*)
            integer, intent(in) :: indegree, sources(*), sourceweights(*), outdegree, destinations(*), destweights(*)
#ifndef WITH_MPI_F08
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: sourceweights, destweights ! MPI_UNWEIGHTED is a scalar
#endif
            INFO, intent(in) :: info
            COMM, intent(out) :: newcomm
            IERROR, intent(out) :: ierror
        end subroutine
        subroutine MPIX_Load_graph_create_measured(comm, loads, indegree, sources, sourceweights, outdegree, &
                destinations, destweights, info, newcomm, ierror)
            import
            COMM, intent(in) :: comm
            type(mpix_measured), intent(in) :: loads
            integer, intent(in) :: indegree, sources(*), sourceweights(*), outdegree, destinations(*), destweights(*)
#ifndef WITH_MPI_F08
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: sourceweights, destweights ! MPI_UNWEIGHTED is a scalar
#endif
            INFO, intent(in) :: info
            COMM, intent(out) :: newcomm
            IERROR, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Load_active
        subroutine MPIX_Load_active(comm, active, activecomm, ierror)
            import
            COMM, intent(in) :: comm
            logical, intent(out) :: active
            COMM, intent(out) :: activecomm
            IERROR, intent(out) :: ierror
        end subroutine
        subroutine MPIX_Load_is_active(comm, active, ierror)
            import
            COMM, intent(in) :: comm
            logical, intent(out) :: active
            IERROR, intent(out) :: ierror
        end subroutine
    end interface

    interface
        subroutine MPIX_Load_imbalance(comm, max_over_mean, ierror)
            import
            COMM, intent(in) :: comm
            double precision, intent(out) :: max_over_mean
            IERROR, intent(out) :: ierror
        end subroutine
    end interface
end module
