# SPDX-License-Identifier: MIT
"""Regions of unmodified programs whose threads wait for each other by flags: no execution of them hangs that would not under OpenMP
itself with as many threads. Two ranks, with -workshare-openmp=share.

Arguments: mpirun, the folder of the programs, a program; --soak: more of what is random, and of numbers of threads."""
import sys

from job import expect, finish, run, side_by_side

PROGRAM = sys.argv[3]
SOAK = '--soak' in sys.argv
SEEDS = (1, *range(3, 12)) if SOAK else (1,)


def job(kind, threads, options, steals=False, turns=7, ranks=2, **more):
    result = run(PROGRAM, turns, kind, ranks=ranks, options=options, env={'OMP_NUM_THREADS': str(threads), **more}, limit=240, steals=steals,
                 title=f'{kind}, {threads} threads, {" ".join(options) or "nothing is said"}, {more}')
    expect(result, 'it was not run', ' right' in result.out)
    return result


def later(*args, **how):
    """For side_by_side."""
    return lambda: job(*args, **how)


def without():
    result = job('all', 3, ('-workshare-openmp=off',))
    expect(result, 'something was shared', result.stats.get('executions', 0) == 0)


SHARE = ('-workshare-openmp=share',)
# One after the other in one job.
jobs = [without, later('all', 1, SHARE), later('all', 3, SHARE), later('all', 1, ('-workshare-openmp=share:16',)),
        *(later('all', 2, SHARE, WS_CHAOS=str(seed)) for seed in SEEDS),
        later('late_naps', 1, SHARE, ranks=1)]  # nobody helps: it takes 5 s until somebody looks
side_by_side(*jobs)
finish()
