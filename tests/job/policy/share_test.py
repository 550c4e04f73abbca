# SPDX-License-Identifier: MIT
"""share_test.py MPIRUN PROGRAMS: cores of a job whose ranks cannot use them join the regions of another job of the same user, if both have asked for it
(-workshare-across-jobs). Two jobs at a time; cores are pretended, and threads sleep for their work.

The job that lends has two ranks on two pretended nodes: one computes all the time, the other waits for it most of the time."""
from functools import partial
import json
import os
import re
import tempfile
import threading
import time

from job import among_jobs, expect, finish, likely, repeated, run
from processes import kill, name_of, wait_for_name

SEEN = {'WS_IGNORE_JOBS': '0'}
SEES = among_jobs(alone=True)
LENDER = {**SEEN, 'WS_CORES': '4', 'OMP_NUM_THREADS': '4', 'MPIR_CVAR_NUM_CLIQUES': '2'}
# One rank with 4 cores, which may have as many as 12 threads: only 4 cores are ever at rest.
BORROWER = {**SEEN, 'WS_CORES': '12', 'OMP_NUM_THREADS': '4'}


def asked(mode):
    """Of 'auto', or of 'auto across jobs'."""
    return tuple(f'-workshare-openmp={mode}'.replace(' across jobs', ' -workshare-across-jobs').split())


def lender(mode, *args, turns=1000, work=(400000, 40000), limit=200, **how):
    """`work`: microseconds of one thread in a turn, of the rank that computes and of the one that waits."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'report.json')
        result = run('processors', 'sleep', turns, 1, *work, *args, options=(*asked(mode), f'-workshare-report={path}'), env=LENDER, limit=limit, **how)
        if os.path.exists(path):
            with open(path) as f:
                result.given = json.load(f)['totals']['openmp_given_s']
    return result


def borrower(mode, turns, *args, env=BORROWER, **how):
    return run('processors', 'sleep', turns, 4, 80000, *args, options=asked(mode), env=env, ranks=1, **how)


def uneven():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'report.json')
        result = run('leaves', 50, 4, options=(*asked('lend across jobs'), f'-workshare-report={path}'), env=BORROWER, ranks=1)
        with open(path) as f:
            result.totals = json.load(f)['totals']
    return result


def threads(result):
    found = re.search(r'^rank 0 told .* least (\d+) most (\d+)', result.out, re.MULTILINE)
    return int(found[1]), int(found[2])


def together(lend, *borrow):
    """Runs `lend`, which gets an argument by which it ends in the end, and meanwhile each of `borrow`, one after the other; all results."""
    done = []
    there = threading.Event()

    def waits_for_ranks(processes):
        wait_for_name(processes, 'processors')
        time.sleep(0.5)  # MPI_Init
        there.set()
    with tempfile.TemporaryDirectory() as folder:
        end = os.path.join(folder, 'end')
        beside = threading.Thread(target=lambda: done.append(lend(f'until={end}', meanwhile=waits_for_ranks)))
        beside.start()
        there.wait(200)
        try:
            results = [b() for b in borrow]
        finally:
            with open(end, 'w'):
                pass
            beside.join()
    return done + results


def kill_ranks(after):
    def now(processes):
        wait_for_name(processes, 'processors')
        time.sleep(after)
        for pid in processes():
            if name_of(pid) == 'processors':
                kill(pid)
    return now


def shared(result):
    """(regions with cores of other jobs, seconds of those, seconds beside their owners), by the verdict."""
    found = re.search(r'(\d+) parallel regions had cores of other jobs, for ([\d.]+) core seconds \(([\d.]+) beside their owners\), '
                      r'and other jobs had cores of this one for [\d.]+ core seconds', result.err)
    return tuple(map(float, found.groups())) if found else None


# ---- both share; only the borrower; only the lender; and both, but jobs are not looked at
@repeated
def both_share(*more):
    lent, both, *others = together(partial(lender, 'auto across jobs'), lambda: borrower('auto across jobs', 40), *more)
    expect(lent, 'the job that lends has its own threads', re.findall(r'least (\d+) most', lent.out) == ['4', '4'])
    if others:
        alone, without = others
        expect(alone, f'a job that does not share gets none: {threads(alone)}', threads(alone) == (4, 4))
        expect(without, f'jobs are looked at against WS_IGNORE_JOBS: {threads(without)}',
               threads(without)[1] == 4 and ' told 4 before 12 ' in without.out and '-workshare-across-jobs has no effect, because WS_IGNORE_JOBS=1 is set' in without.err)
    # 12: the rank that computes waited, too, at the end of a turn, as others kept the one that had waited from its CPU. Not in each run.
    likely(both, f'the four cores of the rank that waits join regions, and no others: {threads(both)}', threads(both)[1] == 8)
    likely(both, f'the verdict tells of them: {shared(both)}', shared(both) and shared(both)[0] > 20 and shared(both)[1] > 0.3)
    expect(lent, f'so does the report of the job that lends: {lent.given} s', abs(lent.given - shared(both)[1]) < 0.01)


both_share(lambda: borrower('auto', 40), lambda: borrower('auto across jobs', 20, env={**BORROWER, 'WS_IGNORE_JOBS': '1'}))
lent, kept = together(partial(lender, 'auto'), lambda: borrower('auto across jobs', 40))
expect(kept, f'nothing is taken from a job that does not share: {threads(kept)}', threads(kept) == (4, 4))


# ---- they come back on demand: the rank computes for 40 % of the time, and no region begins with its cores then
@repeated
def on_demand():
    lent, also = together(partial(lender, 'lend across jobs', work=(400000, 160000)), lambda: borrower('lend across jobs', 60))
    regions, used, late = shared(also) or (0, 0, 0)
    likely(also, f'with and without: {threads(also)}', threads(also)[0] == 4 and threads(also)[1] >= 8)
    likely(also, f'regions that began while their owner waited: {late} of {used} s beside it', 0 < used and late < 0.3 * used)


# ... and those that are inside are left as soon as their threads have done their part: those on cores of the other job after 15 of a region's 60 ms
@repeated
def left_inside():
    lent, left = together(partial(lender, 'lend across jobs', work=(400000, 160000)), uneven)
    counts = {name: left.totals[f'openmp_shared_{name}'] for name in ('recalled', 'left', 's', 'late_s')}
    expect(left, f'more are left than were recalled: {counts}', counts['recalled'] >= counts['left'])
    expect(lent, f'what the owner counts is less by that: {lent.given} s', abs(lent.given - counts['s']) < 0.01)
    likely(left, f'cores that were recalled are left: {counts}', counts['left'] > 0)
    expect(left, f'the verdict tells of it: {counts}',
           f'{counts["recalled"]} of other jobs were recalled before the end, and {counts["left"]} of them were left then' in left.err)
    likely(left, f'threads are beside the owner until they have done their part: {counts}', 0 < counts['late_s'] < 0.03 * counts['left'])


# ---- a job that has ended, while another one of the two keeps the book
@repeated
def outlives():
    first = threading.Thread(target=lambda: lender('auto across jobs', turns=3))
    first.start()
    both = borrower('auto across jobs', 80)
    first.join()
    likely(both, f'cores of a job that has ended: {threads(both)} {shared(both)}', threads(both)[1] >= 8 and (shared(both) or [0, 0])[1] > 0.6)


# ---- either of them dies
@repeated
def borrows_again():
    lent, died, again = together(partial(lender, 'auto across jobs'), lambda: borrower('auto across jobs', 500, code='error', meanwhile=kill_ranks(1.5)),
                                 lambda: borrower('auto across jobs', 20))
    likely(again, f'what a borrower had that died can be had again: {threads(again)}', threads(again)[1] >= 8)


@repeated
def outlives_a_lender():
    done = []
    beside = threading.Thread(target=lambda: done.append(borrower('auto across jobs', 100)))
    beside.start()
    lender('auto across jobs', code='error', meanwhile=kill_ranks(1.5))
    beside.join()
    likely(done[0], f'a lender that dies: {threads(done[0])}', threads(done[0])[1] >= 8)


on_demand()
left_inside()
outlives()
lent, died = together(partial(lender, 'auto across jobs'), lambda: borrower('auto across jobs', 500, code='error', meanwhile=kill_ranks(1.5)))
expect(lent, 'a borrower that dies does not harm the job that lends', lent.code == 0)
borrows_again()
outlives_a_lender()

for word in 'unseen', 'off,share', 'auto,':
    result = run('processors', 'sleep', 1, 1, 1, options=('-workshare-openmp', word), code=1)
    expect(result, f'{word}: which words there are', f"'{word}' is not one of off, share, lend, balance, auto, hint or share:V, V from 2 to 256" in result.err)
for env, options, why in (({'WS_IGNORE_JOBS': '1'}, ('-workshare-openmp=lend',), 'has no effect, because WS_IGNORE_JOBS=1 is set'), ({}, ('-workshare',), 'requires -workshare-openmp=lend, balance or auto')):
    result = run('processors', 'sleep', 1, 1, 1, options=options, env={**env, 'WS_ACROSS_JOBS': '1', 'OMP_NUM_THREADS': '2'})
    expect(result, f'{why}: not said', f'workshare: warning: -workshare-across-jobs {why}\n' in result.err)
result = run('processors', 'sleep', 1, 1, 1, options=('-workshare', '-genv', 'WS_OPENMP', 'lend,share'), env={**SEEN, 'OMP_NUM_THREADS': '2'})
note = 'workshare: note: WS_OPENMP=lend,share is now called WS_OPENMP=lend WS_ACROSS_JOBS=1; the next release drops the former name'
expect(result, 'what mpirun did not see has no note', result.err.count(note) == 1 and result.err.count('has no effect') == 0)
finish()
