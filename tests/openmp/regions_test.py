# SPDX-License-Identifier: MIT
"""Parallel regions of unmodified programs under -workshare-openmp=help: right in every case, shared where it says so, and OpenMP's own
elsewhere. Two ranks; iterations sleep.

Arguments: mpirun, the folder of the programs, a program."""
import sys

from job import expect, finish, run

PROGRAM = sys.argv[3]
HELP = '-workshare-openmp=help',
SHARED = ('plain', 'chunks', 'dynamic', 'dynamic_chunks', 'guided', 'auto', 'runtime', 'down', 'two_loops', 'variables', 'last_of_dynamic',
          'exclusion', 'uncombined', 'without_waiting', 'numbers', 'asks_late', 'parts', 'single', 'late_barrier', 'late_copyprivate',
          'late_tasks', 'empty_first')
OWN = 'three', 'one', 'barriers', 'tasks', 'in_order', 'nested'
ONE = {'OMP_NUM_THREADS': '1'}


def job(*kinds, turns=7, env=ONE, **how):
    result = run(PROGRAM, turns, *kinds, options=HELP, env=env, limit=120, **how)
    expect(result, 'not every kind was run', result.out.count(' right') >= len(kinds))
    return result


for kind in SHARED:
    job(kind, steals=True, title=f'{kind} is shared')
expect(job('plain'), 'nothing was told', 'told 16' in job('plain').out)
expect(result := job(*OWN, title='what is not shared'), 'something was shared', result.stats.get('chunks_stolen', 0) == 0)
expect(result := job('spinning', turns=3, title='spinning'), 'it was never shared', result.stats.get('regions', 0) > 0)
# What the program says itself holds.
for env in {**ONE, 'OMP_THREAD_LIMIT': '1'}, {**ONE, 'OMP_THREAD_LIMIT': '5'}:
    result = job('plain', 'numbers', env=env, title='a thread limit')
    expect(result, 'another number was told', f'told {env["OMP_THREAD_LIMIT"]}' in result.out)
job('all', env={'OMP_NUM_THREADS': '3'}, title='three threads of its own')
for n, schedule in enumerate(('static', 'static,3', 'dynamic,2', 'guided')):
    job('runtime', env={**ONE, 'OMP_SCHEDULE': schedule}, title=f'runtime {schedule}')
    job('all', env={**ONE, 'WS_CHAOS': str(n + 1)}, title=f'chaos {n + 1}')
job('all', env={**ONE, 'WS_STEAL_ALL': '1'}, title='everything is left to helpers')
job('all', ranks=3, env={**ONE, 'WS_CORES': '3'}, title='three ranks')
job('all', ranks=1, title='one rank')
result = run(PROGRAM, 3, 'all', env=ONE, limit=60, title='without the option')
expect(result, 'more threads were told than there are', 'told 1\n' in result.out)
finish()
