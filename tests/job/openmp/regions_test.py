# SPDX-License-Identifier: MIT
"""Parallel regions of unmodified programs: with -workshare-openmp=share they are right in every case, told V threads, and shared; by
default none is shared, and the summary says what could be gained. Two ranks; iterations sleep, so that several jobs run side by side.

Arguments: mpirun, the folder of the programs, a program; --soak: more of what is random."""
import atexit
import glob
import os
import re
import shutil
import sys
import tempfile

from job import expect, finish, likely, repeated, run, side_by_side, skip

PROGRAM = sys.argv[3]
SEEDS = range(3, 20) if '--soak' in sys.argv else ()
LANGUAGE = PROGRAM.split('.')[1].split('_')[0]  # cxx, fortran; else C
SHARE = '-workshare-openmp=share',
SHARED = ('plain', 'chunks', 'rounds', 'dynamic', 'dynamic_chunks', 'guided', 'auto', 'runtime', 'runtime_chunks', 'down', 'two_loops', 'variables', 'last_of_dynamic',
          'exclusion', 'uncombined', 'without_waiting', 'numbers', 'asks_late', 'parts', 'single', 'barriers', 'phases', 'lock_over_barrier', 'late_barrier', 'late_copyprivate',
          'late_order', 'late_tasks', 'late_tasks_of_all', 'late_nest_locks', 'late_conditional', 'late_task_reduction', 'group_reductions', 'final_tasks', 'allocators', 'three', 'empty_first',
          'numbers_in_a_row', 'number_after_loop', 'nameless_phases', 'nest_locks', 'nested', 'settings')
ONE = {'OMP_NUM_THREADS': '1'}


def job(*kinds, turns=7, env=ONE, options=SHARE, **how):
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


def chaos(*seeds):
    return [{'WS_CHAOS': str(seed)} for seed in seeds]


@repeated
def by_default():
    """Whoever is told that there is one thread may rely on it."""
    result = job('all', options=('-workshare',), title='all kinds, by default')
    expect_own(result)
    expect_told(result, 1)
    likely(result, 'no hint', 'workshare: parallel regions computed for ' in result.err and re.search(r'^workshare: up to [\d.]+ times as fast with -workshare-openmp=share\b', result.err, re.MULTILINE))


@repeated
def tasks_by_default():
    """What share does not divide it does not promise to make faster."""
    result = job('tasks', options=('-workshare',), title='tasks, by default')
    likely(result, 'a gain is promised', 'workshare: -workshare-openmp=share would gain next to nothing (' in result.err and ', mostly in tasks, which sharing does not divide, while' in result.err)


def of_a_language():
    side_by_side(later(job, 'all', steals=True, title='all kinds'), *all_kinds(*chaos(1, *SEEDS), {'WS_STEAL_ALL': '1'}, {'OMP_NUM_THREADS': '3'}), by_default)


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


def limited(threads):
    """What the program's user says holds."""
    expect_told(job('plain', 'numbers', env={**ONE, 'OMP_THREAD_LIMIT': threads}, options=('-workshare-openmp=share:16',), title=f'a limit of {threads} threads'), threads)


def without():
    result = run(PROGRAM, 3, 'all', env=ONE, options=('-workshare-openmp=off',), limit=60, title='without sharing')
    expect_told(result, 1)
    expect_own(result)


def said(threads):
    expect_told(job('all', options=(f'-workshare-openmp=share:{threads}',), title=f'{threads} virtual threads'), threads)


def usual(ranks, cores):
    """Four per core that could help: more ranks than cores have no more helpers."""
    expect_told(job('plain', 'numbers', ranks=ranks, env={**ONE, 'WS_CORES': cores}, title=f'{ranks} ranks on {cores} cores'), 4 * min(ranks, int(cores)))


def of_c():
    side_by_side(*all_kinds({'OMP_NUM_THREADS': '3'}, *chaos(1, 2, *SEEDS), {'WS_STEAL_ALL': '1'}),
                 later(job, 'all', ranks=3, env={**ONE, 'WS_CORES': '3'}, title='three ranks'), later(job, 'all', ranks=1, title='one rank'),
                 without, by_default, tasks_by_default, *(later(usual, ranks, '2') for ranks in (1, 3)), *(later(limited, threads) for threads in ('5', '16')), *(later(said, threads) for threads in (2, 16)),
                 *(later(job, 'runtime', 'runtime_chunks', env={**ONE, 'OMP_SCHEDULE': schedule}, title=f'runtime {schedule}')
                   for schedule in ('static', 'static,3', 'dynamic,2', 'guided')),
                 *(later(job, kind, steals=True, title=f'{kind} is shared') for kind in SHARED))


{'cxx': of_a_language, 'errno': of_a_language, 'fortran': fortran}.get(LANGUAGE, of_c)()
finish()
