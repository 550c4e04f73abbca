! SPDX-License-Identifier: MIT
!
! The functions of xmpi.h in Fortran 2008, beside `use mpi_f08`. The same arguments, and ierror. An array is a variable of
! TYPE(C_PTR), made by XMPI_Alloc and used through C_F_POINTER, again after each move; a column of Fortran is a row of XMPI_ROWS.
!
module xmpi
    use, intrinsic :: iso_c_binding, only: c_ptr
    use mpi_f08, only: MPI_Comm, MPI_Info, MPI_Datatype, MPI_COUNT_KIND
    implicit none
    private
    public :: XMPI_Get_wsize, XMPI_Get_counts, XMPI_Register, XMPI_Register_csr, XMPI_Deregister, XMPI_Set_work
    public :: XMPI_Resize, XMPI_Set_comm, XMPI_Set_goal, XMPI_GOAL_NONE, XMPI_GOAL_TIME, XMPI_GOAL_EFFICIENCY
    public :: XMPI_Monitor_begin, XMPI_Monitor_end, XMPI_Monitor_end_begin, XMPI_Monitor_end_finish
    public :: XMPI_Partition_free, XMPI_Alloc, XMPI_Free, XMPI_PARTITION_NULL, XMPI_ROWS, XMPI_COLUMNS

    integer, parameter :: XMPI_PARTITION_NULL = 0, XMPI_ROWS = 0, XMPI_COLUMNS = 1
    integer, parameter :: XMPI_GOAL_NONE = 0, XMPI_GOAL_TIME = 1, XMPI_GOAL_EFFICIENCY = 2

    interface
        subroutine XMPI_Get_wsize(comm, rows, info, partition, count, displ, ierror)
            import
            type(MPI_Comm), intent(in) :: comm
            integer(MPI_COUNT_KIND), intent(in) :: rows
            type(MPI_Info), intent(in) :: info
            integer, intent(out) :: partition
            integer(MPI_COUNT_KIND), intent(out) :: count, displ
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Get_counts(partition, counts, displs, ierror)
            import
            integer, intent(in) :: partition
            integer(MPI_COUNT_KIND), intent(out) :: counts(*), displs(*)
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Register(partition, address, width, type, layout, ierror)
            import
            integer, intent(in) :: partition
            type(c_ptr), intent(inout), asynchronous, target :: address
            integer(MPI_COUNT_KIND), intent(in) :: width
            type(MPI_Datatype), intent(in) :: type
            integer, intent(in) :: layout
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Register_csr(partition, starts, start_type, columns, column_type, values, value_type, ierror)
            import
            integer, intent(in) :: partition
            type(c_ptr), intent(inout), asynchronous, target :: starts, columns, values
            type(MPI_Datatype), intent(in) :: start_type, column_type, value_type
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Deregister(partition, address, ierror)
            import
            integer, intent(in) :: partition
            type(c_ptr), intent(inout), asynchronous, target :: address
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Set_work(partition, work, ierror)
            import
            integer, intent(in) :: partition
            double precision, intent(in) :: work
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Resize(partition, processes, ierror)
            import
            integer, intent(in) :: partition, processes
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Set_comm(comm, partition, ierror)
            import
            type(MPI_Comm), intent(in) :: comm
            integer, intent(inout) :: partition
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Set_goal(partition, goal, value, ierror)
            import
            integer, intent(in) :: partition, goal
            double precision, intent(in) :: value
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Monitor_begin(partition, ierror)
            import
            integer, intent(in) :: partition
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Monitor_end(partition, count, displ, moved, ierror)
            import
            integer, intent(in) :: partition
            integer(MPI_COUNT_KIND), intent(out) :: count, displ
            logical, intent(out) :: moved
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Monitor_end_begin(partition, ierror)
            import
            integer, intent(in) :: partition
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Monitor_end_finish(partition, count, displ, moved, ierror)
            import
            integer, intent(in) :: partition
            integer(MPI_COUNT_KIND), intent(out) :: count, displ
            logical, intent(out) :: moved
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Partition_free(partition, ierror)
            import
            integer, intent(inout) :: partition
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Alloc(bytes, address, ierror)
            import
            integer(MPI_COUNT_KIND), intent(in) :: bytes
            type(c_ptr), intent(out) :: address
            integer, optional, intent(out) :: ierror
        end subroutine
        subroutine XMPI_Free(address, ierror)
            import
            type(c_ptr), intent(inout) :: address
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface
end module
