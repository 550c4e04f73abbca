# SPDX-License-Identifier: MIT
"""MPI calls in shared loops: on both cores, as the owner; MPI_Init gives the thread level they need, and only then."""
import os
import tempfile

from job import CORES, expect, finish, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()

result = run('mpi_calls', 'level')
expect(result, f'level {result.out!r} under -workshare', result.out == 'multiple\n')
result = run('mpi_calls', 'level', workshare=False)
expect(result, f'level {result.out!r} without -workshare', result.out == 'single\n')

for env in {}, {'WS_CHAOS': '6'}:
    for ranks in 2, 3:
        for how in 'ring', 'nonblocking':
            run('mpi_calls', how, ranks=ranks, env=env, steals=True)
    run('mpi_calls', 'self', env=env, steals=True)
    with tempfile.TemporaryDirectory() as folder:
        run('mpi_calls', 'files', os.path.join(folder, 'data'), env=env, steals=True)
for how in 'ring', 'nonblocking', 'self':
    run('mpi_calls', how, workshare=False)

# Not seen by the compiler: MPI_Init gives what was asked, and the guests are safe all the same.
for level in range(4):
    for env in {}, {'WS_CHAOS': '7'}:
        run('unseen_calls', level, env=env, steals=True)
finish()
