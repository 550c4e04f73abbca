# SPDX-License-Identifier: MIT
"""What a program sets in its environment after MPI_Init, before libomp reads it, counts with -workshare as it does without.

Arguments: mpirun, the folder of the program, its name."""
import sys

from job import expect, finish, run

PROGRAM = sys.argv[3]

for threads in '1', '2':
    for options in ('-workshare-openmp=off',), (), ('-workshare-openmp=share',):
        result = run(PROGRAM, options=options, env={'OMP_NUM_THREADS': threads}, limit=60)
        for rank in range(2):
            expect(result, f'not what rank {rank} has set, with {options} and {threads} threads before',
                   f'rank {rank} threads 3 most 3 limit 7 chunk 5\n' in result.out)
finish()
