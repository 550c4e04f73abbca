# SPDX-License-Identifier: MIT
"""A system that refuses libws a thread, a mapping or a file in memory: each of them once, one after the other, in attaching, in a shared
loop, in a shared region and in a pool of tasks. The job is right and ends; no message names an option that nobody gave. And memory of the heap.

And one that refuses libmpich a thread or a mapping, in MPI_Init, for libws's window and for the pool: the job is right, or ends with a message."""
import re
import sys

from job import CORES, among_jobs, expect, finish, preload, run, side_by_side, skip

if CORES < 2:
    skip('needs two cores')
    finish()

SEES = among_jobs(alone=False)
LIBRARY = preload('refuse_nth.so')
KINDS = 'thread', 'map', 'file'
ENOUGH = 40  # of one kind
PARTS = {'loop': ('-workshare',), 'region': ('-workshare-openmp=share:4',), 'pool': ('-workshare', '-workshare-workers', '1')}
MPICH = 'libmpich.so'
# It would take mmap's place, and handle faults.
UCX_STAYS_OUT = {'UCX_MEM_MMAP_HOOK_MODE': 'none', 'UCX_MEM_EVENTS': 'n', 'UCX_HANDLE_ERRORS': 'none'}
POOL = {'MPIR_CVAR_NUM_CLIQUES': '2'}  # tasks move between nodes, which are pretended


def job(part, what, at, whose, **more):
    options = PARTS[part]
    result = run('refused', part, options=(*options, *LIBRARY), limit=60, title=f'{part}: rank {whose} is refused {what} {at or "none"} {more or ""}',
                 env={'OMP_NUM_THREADS': '1', 'REFUSE_WHAT': what, 'REFUSE_AT': str(at), 'REFUSE_RANK': str(whose), 'WS_IGNORE_JOBS': '0', **(POOL if part == 'pool' else {}), **more})
    expect(result, 'not all was run', result.out.count(f'{part} ended') == 2)
    given = {option.split('=')[0] for option in options}
    named = set(re.findall(r'(?<!recommends )-workshare[a-z-]*', result.err))
    hints = {'-workshare-openmp', '-workshare'}     # what the summary recommends, as it does without refusals
    expect(result, f'options that nobody gave: {named - given - hints}', not named - given - hints)
    return result


def asked(part, what):
    """How many of them libws asks for, where none is refused: the most of any rank."""
    return asked_of('libws.so', job(part, what, 0, 'all'), what)


def asked_of(library, result, what):
    return max([int(n) for n in re.findall(rf'^{re.escape(library)} asked on rank \d+: {what} (\d+)$', result.err, re.MULTILINE)] or [0])


def of_mpich(part, what, at, whose):
    result = run('refused', part, options=(*PARTS[part], *LIBRARY), limit=60, code=None, title=f'{part}: libmpich of rank {whose} is refused {what} {at or "none"}',
                 env={'OMP_NUM_THREADS': '1', 'REFUSE_LIBRARY': MPICH, 'REFUSE_WHAT': what, 'REFUSE_AT': str(at), 'REFUSE_RANK': str(whose),
                      **UCX_STAYS_OUT, **(POOL if part == 'pool' else {})})
    faults = set(re.findall(r'^rank \d+ faults in (.*)$', result.err, re.MULTILINE))
    expect(result, f'it faults in {faults}', not faults)
    if result.code == 0:
        expect(result, 'not all was run', result.out.count(f'{part} ended') == 2)
    else:
        expect(result, 'no message', re.search(r'^workshare: error: |: Fatal error in ', result.err, re.MULTILINE))
    return result


def all_of_mpich(part, what):
    count = asked_of(MPICH, of_mpich(part, what, 0, 'all'), what)
    return [lambda at=at, whose=whose: of_mpich(part, what, at, whose) for at in range(1, count + 1) for whose in (0, 'all')]


def of_heap(part, at, whose):
    """Memory of libws's own: the job is right, or ends with a message; outside of attaching and of a pool that is C++'s."""
    result = run('refused', part, options=(*PARTS[part], *LIBRARY), limit=60, code=None, title=f'{part}: rank {whose} is refused allocation {at or "none"}',
                 env={'OMP_NUM_THREADS': '1', 'REFUSE_WHAT': 'heap', 'REFUSE_AT': str(at), 'REFUSE_RANK': str(whose), 'WS_IGNORE_JOBS': '0',
                      **(POOL if part == 'pool' else {})})
    faults = set(re.findall(r'^rank \d+ faults in (.*)$', result.err, re.MULTILINE))
    expect(result, f'it faults in {faults}', not faults)
    if result.code == 0:
        expect(result, 'not all was run', result.out.count(f'{part} ended') == 2)
    else:
        is_told = re.search(r'not so: ws_pool_\w+\(.* == 0', result.out)  # by the pool's function, which returns an error
        expect(result, 'no message', is_told or re.search(r'^workshare: error: .*: no memory; ending the job$|std::bad_alloc', result.err, re.MULTILINE))
    return result


def all_of_heap(part, most):
    """Each of the first ones, and then one of several: `most` jobs."""
    count = asked_of('libws.so', of_heap(part, 0, 'all'), 'heap')
    if count == 0:
        expect(of_heap(part, 0, 'all'), 'libws is not seen to ask', False)
    first = min(count, most // 2)
    step = max(1, (count - first) // max(1, most - first))
    return [lambda at=at, whose=whose: of_heap(part, at, whose)
            for i, at in enumerate([*range(1, first + 1), *range(first + 1, count + 1, step)]) for whose in ((0, 'all')[i % 2],)]


def later(*args, **how):
    """For side_by_side."""
    return lambda: job(*args, **how)


TWO = {'OMP_NUM_THREADS': '2', 'REFUSE_WHAT': 'threads'}


def few_threads(limit):
    """OpenMP has the threads that it has without Workshare: where it has not, libgomp ends the program."""
    few = {**TWO, 'REFUSE_AT': str(limit)}
    plain = run('refused', 'region', workshare=False, options=LIBRARY, env=few, code=None, title=f'at most {limit} threads, plain')
    if plain.code != 0:
        return False
    result = run('refused', 'region', options=(*PARTS['region'], *LIBRARY), env=few, title=f'at most {limit} threads')
    expect(result, 'not all was run', result.out.count('region ended') == 2)
    return True


for part in PARTS:
    jobs = []
    for what in KINDS:
        count = asked(part, what)
        if not 0 < count < ENOUGH:
            expect(job(part, what, 0, 'all'), f'{count} of {what} are asked for', False)
        for at in range(1, count + 1):
            jobs += [later(part, what, at, 0), later(part, what, at, 'all')]
        jobs += [later(part, what, at, 'all', REFUSE_MORE='1') for at in {1, 2, count}]
    side_by_side(*jobs, at_once=2)
of_all = [one for part in ('loop', 'pool') for what in ('thread', 'map') for one in all_of_mpich(part, what)]
if len(of_all) < 4:     # for the memory of a node, and for libws's window
    expect(of_mpich('loop', 'map', 0, 'all'), 'libmpich is not seen to ask', False)
side_by_side(*of_all, at_once=2)
SOAK = '--soak' in sys.argv
side_by_side(*[one for part, most in (('pool', 40), ('region', 12)) for one in all_of_heap(part, 100000 if SOAK else most)], at_once=2)
right = [few_threads(limit) for limit in range(1, 10)]
expect(run('refused', 'region', options=PARTS['region'], env=TWO), 'no limit was enough', right[-1])
finish()
