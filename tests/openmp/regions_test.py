# SPDX-License-Identifier: MIT
"""Parallel regions of unmodified programs under -workshare-openmp=help, and as they are shared where nothing is said: right in every
case, shared where it says so, and OpenMP's own elsewhere. Two ranks; iterations sleep, so that several jobs run side by side.

Arguments: mpirun, the folder of the programs, a program; unseen: where nothing is said; --soak: more of what is random."""
import atexit
import glob
import os
import re
import shutil
import sys
import tempfile

from job import MPIRUN, expect, finish, run, side_by_side, skip

PROGRAM = sys.argv[3]
SEEDS = range(3, 20) if '--soak' in sys.argv else ()
LANGUAGE = PROGRAM.split('.')[1].split('_')[0]  # cxx, fortran; else C
HELP = '-workshare-openmp=help',
SHARED = ('plain', 'chunks', 'rounds', 'dynamic', 'dynamic_chunks', 'guided', 'auto', 'runtime', 'runtime_chunks', 'down', 'two_loops', 'variables', 'last_of_dynamic',
          'exclusion', 'uncombined', 'without_waiting', 'numbers', 'asks_late', 'parts', 'single', 'barriers', 'phases', 'lock_over_barrier', 'late_barrier', 'late_copyprivate',
          'late_order', 'late_tasks', 'late_tasks_of_all', 'late_nest_locks', 'late_conditional', 'late_task_reduction', 'three', 'empty_first',
          'numbers_in_a_row', 'number_after_loop', 'nameless_phases')
OWN = 'one', 'nest_locks', 'tasks', 'in_order', 'nested', 'settings'
# Where nothing is said, shared and not.
UNSEEN = ('plain', 'chunks', 'rounds', 'dynamic', 'guided', 'runtime', 'down', 'two_loops', 'variables', 'exclusion', 'uncombined', 'without_waiting', 'parts', 'single',
          'nameless_phases', 'late_barrier', 'late_copyprivate')
SEEN = ('numbers', 'numbers_in_a_row', 'number_after_loop', 'asks_late', 'barriers', 'phases', 'late_nest_locks', 'spinning', 'pipeline', 'threads_counted',
        'nested', 'tasks', 'in_order', 'nest_locks', 'one', 'settings')
ONE = {'OMP_NUM_THREADS': '1'}


def job(*kinds, turns=7, env=ONE, options=HELP, **how):
    result = run(PROGRAM, turns, *kinds, options=options, env=env, limit=120, **how)
    expect(result, 'not every kind was run', result.out.count(' right') >= len(kinds))
    return result


def expect_own(result):
    expect(result, 'something was shared', result.stats.get('chunks_stolen', 0) == 0)


def expect_told(result, number):
    expect(result, f'another number than {number} was told', f'told {number}\n' in result.out)


def later(call, *args, **how):
    """For side_by_side."""
    return lambda: call(*args, **how)


def all_kinds(*environments, **how):
    return [later(job, 'all', env={**ONE, **more}, title=f'all kinds, {more}', **how) for more in environments]


def all_unseen(more):
    result = job('all', options=(), env={**ONE, **more}, title=f'all kinds, nothing is said, {more}')
    if 'OMP_NUM_THREADS' not in more:
        expect_told(result, 1)


def chaos(*seeds):
    return [{'WS_CHAOS': str(seed)} for seed in seeds]


def of_a_language():
    side_by_side(later(job, 'all', steals=True, title='all kinds'), *all_kinds(*chaos(1, *SEEDS), {'WS_STEAL_ALL': '1'}, {'OMP_NUM_THREADS': '3'}),
                 later(all_unseen, {}), later(all_unseen, {'WS_STEAL_ALL': '1'}))


def unseen(kind, turns=7):
    """Shared unasked; once: where its code shows all."""
    expect_told(job(kind, options=(), turns=turns, steals=True, title=f'{kind} is shared unasked, {turns} turns'), 1)


def seen(threads):
    result = job(*SEEN, options=(), env={'OMP_NUM_THREADS': threads}, title=f'what is not shared unasked, {threads} threads')
    expect_own(result)
    expect_told(result, threads)
    if threads == '3':
        expect(result, 'no reason', 'it may ask for thread numbers' in result.err)


def limit_of_one_unseen():
    expect_own(job('plain', options=(), env={**ONE, 'OMP_THREAD_LIMIT': '1'}, title='a limit of one thread'))


def one_rank_unseen():
    result = job('all', ranks=1, options=(), title='one rank, nothing is said')
    expect(result, 'its regions were looked at', 'parallel regions' not in result.err)


def nothing_is_said():
    if not os.path.exists(os.path.join(os.path.dirname(MPIRUN), '../lib/workshare/code.so')):
        skip('which regions ask for thread numbers is not known: built without capstone')
        return
    side_by_side(*(later(all_unseen, more) for more in ({}, {'OMP_NUM_THREADS': '3'}, *chaos(5, *SEEDS), {'WS_STEAL_ALL': '1'}, {'WS_CHECK': '1'})),
                 one_rank_unseen, later(seen, '1'), later(seen, '3'), limit_of_one_unseen, *(later(unseen, kind) for kind in UNSEEN),
                 *(later(unseen, kind, turns=1) for kind in ('plain', 'chunks', 'dynamic', 'uncombined', 'nameless_phases')))


def errno():
    """Code with barriers that may keep where errno is."""
    expect_own(result := job('barriers'))
    expect(result, 'no reason', 'beside errno' in result.err)
    for more in {}, {'WS_CHAOS': '3'}, {'WS_STEAL_ALL': '1'}:
        job('late_barrier', 'late_copyprivate', 'late_order', env={**ONE, **more}, steals=not more, title=f'barriers on their own threads, {more}')


def fortran():
    of_a_language()
    if libraries := sorted(glob.glob('/usr/lib/llvm-*/lib/libomp.so')):     # it has libgomp's functions, too
        folder = tempfile.mkdtemp(dir='/tmp')
        atexit.register(shutil.rmtree, folder)
        os.symlink(libraries[-1], os.path.join(folder, 'libgomp.so.1'))
        ONE['LD_LIBRARY_PATH'] = folder
        of_a_language()
    else:
        skip('there is no libomp')


def own():
    expect_own(result := job(*OWN, title='what is not shared'))
    if os.path.exists(os.path.join(os.path.dirname(MPIRUN), '../lib/workshare/names.so')):
        expect(result, 'its regions have no names', re.search(r'not own\.h:\d+(:\w+)? \(.*, own\.h:', result.err))


def spinning():
    expect(result := job('spinning', turns=3, title='spinning'), 'it was never shared', result.stats.get('regions', 0) > 0)


def limited(threads):
    """What the program's user says holds."""
    env = ONE if threads == '16' else {**ONE, 'OMP_THREAD_LIMIT': threads}
    expect_told(job('plain', 'numbers', env=env, title=f'a limit of {threads} threads'), threads)


def without():
    result = run(PROGRAM, 3, 'all', env=ONE, options=('-workshare-openmp=none',), limit=60, title='without sharing')
    expect_told(result, 1)
    expect_own(result)


def help_is_said():
    side_by_side(*all_kinds({'OMP_NUM_THREADS': '3'}, *chaos(1, 2, *SEEDS), {'WS_STEAL_ALL': '1'}),
                 later(job, 'all', ranks=3, env={**ONE, 'WS_CORES': '3'}, title='three ranks'), later(job, 'all', ranks=1, title='one rank'),
                 without, own, spinning, *(later(limited, threads) for threads in ('1', '5', '16')),
                 *(later(job, 'runtime', 'runtime_chunks', env={**ONE, 'OMP_SCHEDULE': schedule}, title=f'runtime {schedule}')
                   for schedule in ('static', 'static,3', 'dynamic,2', 'guided')),
                 *(later(job, kind, steals=True, title=f'{kind} is shared') for kind in SHARED))


if 'unseen' in sys.argv:
    nothing_is_said()
else:
    {'errno': errno, 'cxx': of_a_language, 'fortran': fortran}.get(LANGUAGE, help_is_said)()
finish()
