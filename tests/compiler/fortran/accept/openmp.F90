! SPDX-License-Identifier: MIT
! OpenMP in the same file is the user's business: off without -fopenmp, on with it. Also the preprocessor: macros in
! directives, #include and include with directives in them, the sentinel of conditional compilation.
#define REDUCE(op, name) reduction(op: name)
#define SIZE 200
program openmp
    use check
    implicit none
    integer :: i, n, total, threads, conditional
    integer :: values(SIZE)
#ifdef EXPECT_OPENMP
    logical, parameter :: expected = .true.
#else
    logical, parameter :: expected = .false.
#endif
    logical :: macro

    call begin

    call test('off or on')
    macro = .false.
#ifdef _OPENMP
    macro = .true.
#endif
    call expect(macro .eqv. expected, '_OPENMP')
    conditional = 0
!$  conditional = 1
    !$ conditional = conditional + &
    !$ & 1
    call expect(conditional == merge(2, 0, expected), 'conditional compilation')
    threads = 0
!$omp parallel num_threads(3)
!$omp atomic
    threads = threads + 1
!$omp end parallel
    call expect(threads == merge(3, 1, expected), 'a parallel region')

    call test('omp in ws')
    total = 0
    n = 0
    !$ws do REDUCE(+, total)
    do i = 1, SIZE
        call work
        total = total + i
        !$omp atomic
        n = n + 1
        !$omp critical
        values(i) = i
        !$omp end critical
    end do
    call expect(total == SIZE * (SIZE + 1) / 2, 'sum')
    call expect(n == SIZE .or. .not. expected, 'atomic')

    call test('ws in omp')
    n = 0
    !$omp parallel do num_threads(2) private(i)
    do total = 1, 4
        !$ws do
        do i = 1, SIZE
            !$ws atomic
            n = n + 1
        end do
        !$ws end do
    end do
    !$omp end parallel do
    call expect(n == 4 * SIZE, 'atomic')

    call test('included')
    values = 0
#include "included.h"
    do i = 1, SIZE
        call work
        values(i) = values(i) + i
    end do
    include 'included.inc'
    call expect(all(values == [(2 * i, i = 1, SIZE)]), 'loops')

    call finish
end program
