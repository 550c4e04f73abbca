# SPDX-License-Identifier: MIT
"""Fortran jobs under mpirun with the real libws, through `use mpi` and `use mpi_f08`: the programs of accept/, with each
rank slow in turn and under several seeds of delays, and MPI calls in loops.

usage: mpi_test.py MPIRUN PROGRAMS"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../job/mpi'))
from job import CORES, expect, expect_lines, finish, run  # noqa: E402

for program in ('loops', 'data', 'sync', 'fixed', 'tasks', 'openmp', 'openmp_on'):
    for ranks, seed in (2, 0), (2, 1), (2, 2), (1, 0), (3, 3):
        result = run(f'fortran_{program}', ranks=ranks, env={'WS_CHAOS': str(seed)} if seed else {},
                     steals=1 < ranks <= CORES and program in ('loops', 'data', 'sync'))
        expect_lines(result, result.out, '^ok, [0-9]+ tests$')
    result = run(f'fortran_{program}', workshare=False)
    expect_lines(result, result.out, '^ok, [0-9]+ tests$')
for program in ('mpi_calls', 'mpi_calls_f08'):
    for seed in '', '4':
        result = run(f'fortran_{program}', env={'WS_CHAOS': seed} if seed else {}, steals=CORES > 1)
        expect(result, f'said {result.out!r}', result.out == 'wrong 0, multiple T\n')
    result = run(f'fortran_{program}', workshare=False)
    expect(result, f'said {result.out!r}', result.out == 'wrong 0, multiple F\n')
for program in ('reorder', 'reorder_f08'):
    for workshare in (False, True):
        result = run(f'fortran_{program}', ranks=3, workshare=workshare)
        expect(result, f'said {result.out!r}', result.out == ('measured\n' if workshare else 'not measured\n'))
finish()
