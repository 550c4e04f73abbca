! SPDX-License-Identifier: MIT
!
! The functions of ws.h that Fortran programs call: `use workshare`. Link with -lws.
module workshare
    implicit none
    private
    public :: ws_wait_begin, ws_wait_end

    interface
        subroutine ws_wait_begin() bind(C, name='ws_wait_begin')
        end subroutine
        subroutine ws_wait_end() bind(C, name='ws_wait_end')
        end subroutine
    end interface
end module
