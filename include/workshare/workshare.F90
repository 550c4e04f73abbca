! SPDX-License-Identifier: MIT
!
! Functions of ws.h in Fortran: `use workshare`. Link with libws, as mpifort does with -lws or -fws.
!
module workshare
    use iso_c_binding, only: c_double, c_int, c_int64_t, c_size_t
    implicit none
    private
    public :: ws_wait_begin, ws_wait_end, ws_phase_begin, ws_phase_end, ws_enable, ws_metrics, ws_metrics_t

    ! struct ws_metrics of ws.h, which describes each component.
    type, bind(C) :: ws_metrics_t
        integer(c_int64_t) :: size
        real(c_double) :: elapsed_s, computing_s, mpi_s, blocked_s, lent_s, borrowed_s, close_wait_s
        real(c_double) :: iterations_stolen, node_ranks, load_balance, parallel_efficiency, transfer_efficiency
    end type

    interface
        subroutine ws_wait_begin() bind(C, name='ws_wait_begin')
        end subroutine
        subroutine ws_wait_end() bind(C, name='ws_wait_end')
        end subroutine
        ! Blanks at the end of the name do not count.
        subroutine ws_phase_begin(name)
            character(len=*), intent(in) :: name
        end subroutine
        subroutine ws_phase_end()
        end subroutine
        integer function ws_enable(on)
            integer, intent(in) :: on
        end function
        ! call with size = c_sizeof(metrics)
        integer(c_int) function ws_metrics(metrics, size) bind(C, name='ws_metrics')
            import
            type(ws_metrics_t), intent(out) :: metrics
            integer(c_size_t), value :: size
        end function
    end interface
end module
