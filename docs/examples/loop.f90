! SPDX-License-Identifier: MIT
!
! A loop in Fortran: the program of app.c.
!
! Compile: mpifort -fws -O3 loop.f90 -o loop
! Run:     mpirun -workshare -n 2 ./loop
! Prints:  15719.152364
program triangle
    use mpi_f08
    implicit none
    integer, parameter :: rows = 4000
    integer :: me, ranks, i, j
    real(8) :: total

    total = 0
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
!$ws do reduction(+ : total) private(j)
    do i = rows * me / ranks, rows * (me + 1) / ranks - 1
        do j = 0, 50 * i - 1
            total = total + 1.0d0 / (i + j + 1)
        end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    if (me == 0) print '(f0.6)', total
    call MPI_Finalize()
end program
