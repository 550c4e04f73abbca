# SPDX-License-Identifier: MIT
"""A system that refuses libws a thread, a mapping or a file in memory: each of them once, one after the other, in attaching, in a shared
loop, in a shared region and in a pool of tasks. The job is right and ends; no message names an option that nobody gave."""
import re

from job import CORES, expect, finish, preload, run, side_by_side, skip

if CORES < 2:
    skip('needs two cores')
    finish()

LIBRARY = preload('refuse_nth.so')
KINDS = 'thread', 'map', 'file'
ENOUGH = 40  # of one kind
PARTS = {'loop': ('-workshare',), 'region': ('-workshare-openmp=share:4',), 'pool': ('-workshare', '-workshare-workers', '1')}
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
    """How many of them the ranks ask for, where none is refused: the most of any rank."""
    result = job(part, what, 0, 'all')
    return max([int(n) for n in re.findall(rf'^libws asked on rank \d+: {what} (\d+)$', result.err, re.MULTILINE)] or [0])


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
right = [few_threads(limit) for limit in range(1, 10)]
expect(run('refused', 'region', options=PARTS['region'], env=TWO), 'no limit was enough', right[-1])
finish()
