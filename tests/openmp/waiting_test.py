# SPDX-License-Identifier: MIT
"""Regions of unmodified programs whose threads wait for each other by flags: no execution of them hangs that would not under OpenMP
itself, with as many threads as the region says, or the rank has. Two ranks, with -workshare-openmp=help and where nothing is said.

Arguments: mpirun, the folder of the programs, a program; --soak: more of what is random, and of numbers of threads."""
import sys

from job import expect, finish, run, side_by_side

PROGRAM = sys.argv[3]
SOAK = '--soak' in sys.argv
SEEDS = (1, *range(3, 12)) if SOAK else (1,)
HELP, UNSEEN = ('-workshare-openmp=help',), ()
# Their regions say how many threads they have: more than the rank.
SAID = ('singles_wait', 'late_singles', 'late_wait_for_single', 'late_waiting_static', 'late_waiting_chunks', 'late_waiting_dynamic', 'late_waiting_guided',
        'late_waiting_sections', 'late_waiting_parts', 'pairs', 'fours', 'chunks', 'one_by_one', 'alone', 'alone_at_first', 'alone_wide', 'runtime', 'first_for_last',
        'first_for_last_guided', 'first_for_others', 'guided_end', 'next_loop')


def job(kind, threads, options, steals=False, turns=7, **more):
    result = run(PROGRAM, turns, kind, options=options, env={'OMP_NUM_THREADS': str(threads), **more}, limit=240, steals=steals,
                 title=f'{kind}, {threads} threads, {" ".join(options) or "nothing is said"}, {more}')
    expect(result, 'it was not run', ' right' in result.out)
    return result


def later(*args, **how):
    """For side_by_side."""
    return lambda: job(*args, **how)


def without():
    result = job('all', 3, ('-workshare-openmp=none',))
    expect(result, 'something was shared', result.stats.get('regions', 0) == 0)


if 'clang' in PROGRAM:
    SAID += 'halves',
# Where nothing is said a region is OpenMP's that asks for numbers, as GCC's code does to deal chunks round robin beside other loops.
ASK = 'late_waiting_chunks', 'one_by_one', 'first_for_others'
jobs = [without, *(later(kind, 1, HELP, steals=True) for kind in SAID), *(later(kind, 1, UNSEEN, steals=True) for kind in SAID if kind not in ASK),
        later('as_many_as_it_says', 1, HELP, steals=True), later('alone_at_first', 1, UNSEEN, turns=1)]
# One after the other in one job, which those that are the rank's own number of threads need, too.
jobs += [later('all', 1, HELP, WS_STEAL_ALL='1'), later('all', 2, UNSEEN), later('all', 3, UNSEEN, WS_STEAL_ALL='1'),
         *(later('all', 2, HELP, WS_CHAOS=str(seed)) for seed in SEEDS)]
if SOAK:
    for options in HELP, UNSEEN:
        jobs += [later('all', 1, options), later('all', 2, options), later('all', 3, options, WS_STEAL_ALL='1')]
side_by_side(*jobs)
finish()
