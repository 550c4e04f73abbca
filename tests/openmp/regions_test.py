# SPDX-License-Identifier: MIT
"""Parallel regions of unmodified programs under -workshare-openmp=help: right in every case, shared where it says so, and OpenMP's own
elsewhere. Two ranks; iterations sleep.

Arguments: mpirun, the folder of the programs, a program."""
import atexit
import glob
import os
import re
import shutil
import sys
import tempfile

from job import MPIRUN, expect, finish, run, skip

PROGRAM = sys.argv[3]
LANGUAGE = PROGRAM.split('.')[1].split('_')[0]  # cxx, fortran; else C
HELP = '-workshare-openmp=help',
SHARED = ('plain', 'chunks', 'dynamic', 'dynamic_chunks', 'guided', 'auto', 'runtime', 'down', 'two_loops', 'variables', 'last_of_dynamic',
          'exclusion', 'uncombined', 'without_waiting', 'numbers', 'asks_late', 'parts', 'single', 'barriers', 'phases', 'lock_over_barrier', 'late_barrier', 'late_copyprivate',
          'late_order', 'late_tasks', 'late_tasks_of_all', 'late_nest_locks', 'late_conditional', 'late_task_reduction', 'three', 'empty_first')
OWN = 'one', 'nest_locks', 'tasks', 'in_order', 'nested', 'settings'
ONE = {'OMP_NUM_THREADS': '1'}


def job(*kinds, turns=7, env=ONE, **how):
    result = run(PROGRAM, turns, *kinds, options=HELP, env=env, limit=120, **how)
    expect(result, 'not every kind was run', result.out.count(' right') >= len(kinds))
    return result


def all_of_a_language():
    for n, more in enumerate(({}, {'WS_CHAOS': '1'}, {'WS_CHAOS': '2'}, {'WS_STEAL_ALL': '1'}, {'OMP_NUM_THREADS': '3'})):
        job('all', env={**ONE, **more}, steals=n == 0, title=f'all kinds, {more}')


if LANGUAGE == 'errno':  # code with barriers that may keep where errno is
    expect(result := job('barriers'), 'something was shared', result.stats.get('chunks_stolen', 0) == 0)
    expect(result, 'no reason', 'beside errno' in result.err)
    for chaos in {}, {'WS_CHAOS': '3'}, {'WS_STEAL_ALL': '1'}:
        job('late_barrier', 'late_copyprivate', 'late_order', env={**ONE, **chaos}, steals=not chaos, title=f'barriers on their own threads, {chaos}')
    finish()
if LANGUAGE in ('cxx', 'fortran'):
    all_of_a_language()
    if LANGUAGE == 'fortran':  # libomp has libgomp's functions, too
        if libraries := sorted(glob.glob('/usr/lib/llvm-*/lib/libomp.so')):
            folder = tempfile.mkdtemp(dir='/tmp')
            atexit.register(shutil.rmtree, folder)
            os.symlink(libraries[-1], os.path.join(folder, 'libgomp.so.1'))
            ONE['LD_LIBRARY_PATH'] = folder
            all_of_a_language()
        else:
            skip('there is no libomp')
    finish()

for kind in SHARED:
    job(kind, steals=True, title=f'{kind} is shared')
expect(job('plain'), 'nothing was told', 'told 16' in job('plain').out)
expect(result := job(*OWN, title='what is not shared'), 'something was shared', result.stats.get('chunks_stolen', 0) == 0)
if os.path.exists(os.path.join(os.path.dirname(MPIRUN), '../lib/workshare/names.so')):
    expect(result, 'its regions have no names', re.search(r'not regions\.c:\d+(:\w+)? \(.*, regions\.c:', result.err))
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
