# SPDX-License-Identifier: MIT
"""Kinds of jobs: MPI calls inside chunks, bound ranks, large stacks, two programs in one job, one machine as two nodes,
MPI_Abort from a loop."""
import os

from job import CORES, PROGRAMS, expect, finish, preload, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()

for how in 'serve', 'thread':
    for env in {}, {'WS_CHAOS': '2'}:
        run('mpi_in_chunks', how, env=env, steals=True)

run('guests', 'cpu', options=('-bind-to', 'core'), steals=True)
run('guests', 'cpu', options=('-bind-to', 'core'), env={'WS_CHAOS': '2'}, steals=True)
run('guests', 'stack', 7, prefix=('sh', '-c', 'ulimit -s 8192 && exec "$@"', 'sh'), steals=True)
run('guests', 'stack', 40, prefix=('sh', '-c', 'ulimit -s unlimited && exec "$@"', 'sh'), steals=True)

# The program that waits was never compiled with -fws.
result = run('waiter', ':', '-n', 1, os.path.join(PROGRAMS, 'imbalance'), 'late', ranks=1, steals=True)
expect(result, 'wrong', result.out == 'right\n')

for env in {}, {'WS_CHAOS': '3'}:
    result = run('oracle', 5, 100, ranks=4, env={**env, 'MPIR_CVAR_NUM_CLIQUES': '2'})
    expect(result, 'not two nodes', result.stats.get('nodes') == 2)

# Guests that take their time to start: many thieves ask for guests meanwhile, and there must be one for each.
slow = preload('slow_threads.so')
for seed in range(1, 5):
    run('oracle', seed, 100, ranks=8, options=slow, limit=30, title=f'oracle {seed}, slow threads')

result = run('death', 'abort', limit=20, code=3)
expect(result, 'slow', result.seconds < 10)
finish()
