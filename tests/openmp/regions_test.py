# SPDX-License-Identifier: MIT
"""Parallel regions of unmodified programs under -workshare-openmp=help, and as they are shared where nothing is said: right in every
case, shared where it says so, and OpenMP's own elsewhere. Two ranks; iterations sleep.

Arguments: mpirun, the folder of the programs, a program; unseen: where nothing is said."""
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
          'late_order', 'late_tasks', 'late_tasks_of_all', 'late_nest_locks', 'late_conditional', 'late_task_reduction', 'three', 'empty_first',
          'numbers_in_a_row', 'number_after_loop', 'nameless_phases')
OWN = 'one', 'nest_locks', 'tasks', 'in_order', 'nested', 'settings'
# Where nothing is said, shared and not: schedule(static, n) deals by thread numbers with GCC.
UNSEEN = ('plain', 'dynamic', 'guided', 'runtime', 'down', 'two_loops', 'variables', 'exclusion', 'uncombined', 'without_waiting', 'parts', 'single',
          'nameless_phases', 'late_barrier', 'late_copyprivate')
SEEN = ('numbers', 'numbers_in_a_row', 'number_after_loop', 'asks_late', 'barriers', 'phases', 'late_nest_locks', 'spinning', 'pipeline', 'threads_counted',
        'nested', 'tasks', 'in_order', 'nest_locks', 'one', 'settings')
ONE = {'OMP_NUM_THREADS': '1'}


def job(*kinds, turns=7, env=ONE, options=HELP, **how):
    result = run(PROGRAM, turns, *kinds, options=options, env=env, limit=120, **how)
    expect(result, 'not every kind was run', result.out.count(' right') >= len(kinds))
    return result


def all_of_a_language():
    for n, more in enumerate(({}, {'WS_CHAOS': '1'}, {'WS_CHAOS': '2'}, {'WS_STEAL_ALL': '1'}, {'OMP_NUM_THREADS': '3'})):
        job('all', env={**ONE, **more}, steals=n == 0, title=f'all kinds, {more}')
    for more in {}, {'WS_STEAL_ALL': '1'}:
        expect(result := job('all', env={**ONE, **more}, options=(), title=f'all kinds, nothing is said, {more}'), 'more threads were told than there are',
               'told 1\n' in result.out)


def nothing_is_said():
    if not os.path.exists(os.path.join(os.path.dirname(MPIRUN), '../lib/workshare/code.so')):
        skip('which regions ask for thread numbers is not known: built without capstone')
        return
    for kind in UNSEEN:
        result = job(kind, options=(), steals=True, title=f'{kind} is shared unasked')
        expect(result, 'more threads were told than there are', 'told 1\n' in result.out)
    # A region that is executed once, where its code shows all.
    for kind in 'plain', 'dynamic', 'uncombined', 'nameless_phases':
        job(kind, options=(), turns=1, steals=True, title=f'{kind}, once')
    for threads in '1', '3':
        result = job(*SEEN, options=(), env={'OMP_NUM_THREADS': threads}, title=f'what is not shared unasked, {threads} threads')
        expect(result, 'something was shared', result.stats.get('chunks_stolen', 0) == 0)
        expect(result, 'another number was told', f'told {threads}\n' in result.out)
    expect(result, 'no reason', 'it may ask for thread numbers' in result.err)
    result = job('plain', options=(), env={**ONE, 'OMP_THREAD_LIMIT': '1'}, title='a limit of one thread')
    expect(result, 'something was shared', result.stats.get('chunks_stolen', 0) == 0)
    for more in {}, {'OMP_NUM_THREADS': '3'}, {'WS_CHAOS': '5'}, {'WS_STEAL_ALL': '1'}, {'WS_CHECK': '1'}:
        job('all', options=(), env={**ONE, **more}, title=f'all kinds, nothing is said, {more}')
    result = job('all', ranks=1, options=(), title='one rank, nothing is said')
    expect(result, 'its regions were looked at', 'parallel regions' not in result.err)


if sys.argv[4:] == ['unseen']:
    nothing_is_said()
    finish()
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
result = run(PROGRAM, 3, 'all', env=ONE, options=('-workshare-openmp=none',), limit=60, title='without sharing')
expect(result, 'more threads were told than there are', 'told 1\n' in result.out)
expect(result, 'something was shared', result.stats.get('chunks_stolen', 0) == 0)
finish()
