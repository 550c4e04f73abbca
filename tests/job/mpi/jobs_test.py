# SPDX-License-Identifier: MIT
"""Kinds of jobs: MPI calls inside chunks, bound ranks, large stacks, two programs in one job, one machine as two nodes,
MPI_Abort from a loop."""
import os

from job import CORES, PROGRAMS, expect, expect_lines, finish, likely, preload, repeated, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()

for how in 'serve', 'thread':
    for env in {}, {'WS_CHAOS': '2'}:
        run('mpi_in_chunks', how, env=env, steals=True)

run('guests', 'cpu', options=('-bind-to', 'core'), steals=True)
run('guests', 'cpu', options=('-bind-to', 'core'), env={'WS_CHAOS': '2'}, steals=True)
run('guests', 'stack', 7, prefix=('sh', '-c', 'ulimit -s 8192 && exec "$@"', 'sh'), steals=True)
run('guests', 'stack', 80, prefix=('sh', '-c', 'ulimit -s unlimited && exec "$@"', 'sh'), steals=True)
run('guests', 'stack', 12, prefix=('sh', '-c', 'ulimit -s 8192 && exec "$@"', 'sh'), env={'WS_STACKSIZE': '16 m'}, steals=True)
run('guests', 'stack', 5, prefix=('sh', '-c', 'ulimit -s unlimited; ulimit -v 8000000 && exec "$@"', 'sh'), steals=True)  # no room for large ones

# A guest that comes to the end of its stack says how to get a larger one, and dies; other faults are left to the program.
TOLD = r'^workshare: error: a helper thread of rank 0 ran out of its stack of %s MiB in the ws loop [^:\n]*guests\.c:\d+:main; mpirun -workshare-stacksize or'
for how, megabytes, stack in (('ulimit -s 8192', 12, 8), ('ulimit -s 8192', 200, 8), ('ulimit -s unlimited; export WS_STACKSIZE=32M', 33, 32)):
    result = run('guests', 'stack', megabytes, prefix=('sh', '-c', how + ' && exec "$@"', 'sh'), code='error', limit=30)
    expect_lines(result, result.err, TOLD % stack)
for when in 'before', 'late':
    run('guests', 'handler', when, limit=30)
result = run('guests', 'fault', code='error', limit=30)
expect(result, 'a stack is named', 'ran out of' not in result.err)

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


@repeated
def aborts():
    result = run('death', 'abort', limit=20, code=3)
    likely(result, 'slow', result.seconds < 10)


aborts()
finish()
