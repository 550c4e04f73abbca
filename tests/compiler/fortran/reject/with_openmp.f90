! SPDX-License-Identifier: MIT
! -fopenmp: each message names what the user wrote. options: -fopenmp
subroutine with_openmp(n, a)
    implicit none
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i
!$omp parallel do
!$ws do
    do i = 1, n
        a(i) = i
    end do
!$ws do
!$omp parallel do
    do i = 1, n
        a(i) = i
    end do
!$omp parallel do num_threads(2.5)
    do i = 1, n
        a(i) = i
    end do
!$ws do steal_schedule(dynamic, 2.5)
    do i = 1, n
        if (a(i) > 3) exit
    end do
end subroutine
