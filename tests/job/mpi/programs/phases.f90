! SPDX-License-Identifier: MIT
!
! Phases in Fortran: blanks at the end of a name do not count; the metrics are those of C.
program phases
    use mpi
    use iso_c_binding, only: c_sizeof
    use workshare
    implicit none
    character(len=12) :: name
    type(ws_metrics_t) :: metrics
    integer :: ierror, i, was, failures = 0
    character(len=8) :: enabled
    logical :: active
    call get_environment_variable('WS_ENABLE', enabled)
    active = enabled == '1'
    call MPI_Init(ierror)
    do i = 1, 3
        name = 'solve'
        call ws_phase_begin(name)
        call ws_phase_begin('solve ')
        call ws_phase_end()
        call ws_phase_end()
    end do
    was = ws_enable(0)
    if ((was == 1) .neqv. active) failures = failures + 1
    if (ws_enable(1) /= 0) failures = failures + 1
    was = ws_metrics(metrics, c_sizeof(metrics))
    if ((was == 0) .neqv. active) failures = failures + 1
    if (active) then
        if (metrics%size /= c_sizeof(metrics) .or. metrics%elapsed_s <= 0 .or. metrics%node_ranks < 1) failures = failures + 1
    end if
    call MPI_Finalize(ierror)
    if (failures /= 0) then
        print *, failures, 'failures'
        stop 1
    end if
end program
