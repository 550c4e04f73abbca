# SPDX-License-Identifier: MIT
"""WS_STEAL_ALL and WS_CHECK share every loop of more than one iteration, WS_CHECK in several orders; it says which, and makes wrong loops
give other results than without -workshare."""
import itertools
import re

from job import CORES, expect, finish, in_tiny_shm, likely, repeated, run, skip

ORDERS = 'backwards', 'halves', 'forwards', 'turns', 'random'


def check(*args, first=1, **how):
    return run('checked', *args, options=('-workshare-quiet', *(('-workshare-check',) if first == 1 else ('-genv', 'WS_CHECK', str(first)))), **how)


def loops(result):
    """By name what the report says."""
    expect(result, 'no report', result.err.startswith('workshare check: '))
    return {line[2:].rsplit('  ', 1)[0].strip(): line.rsplit('  ', 1)[1] for line in result.err.splitlines() if line.startswith('  ') and '  ' in line[2:]}


# Loops so short that they are over before a helper comes by itself. On a very busy machine one may not come in time even here.
@repeated
def short(least, env, ranks=2):
    result = run('checked', 'short', 1000, ranks=ranks, env=env)
    expect(result, 'loops were not shared', result.stats['executions'] == result.stats['executions_shared'] == 1000)
    expect(result, 'a verdict on times that mean nothing', ('ranks waited in MPI' in result.err) == ('WS_CHECK' not in env))
    likely(result, 'loops were shared with nobody', result.stats['executions_helped'] >= least)


for env, ranks in ({'WS_STEAL_ALL': '1'}, 2), ({'WS_CHECK': '1'}, 2), ({'WS_CHECK': '1'}, 1), ({'WS_CHECK': '1', 'WS_WORKERS': '2'}, 3):
    short(950, env, ranks)
short(100, {'WS_CHAOS': '3'})

result = check('short', 100)
line = next(text for name, text in loops(result).items() if 'short_loops' in name)
expect(result, f'orders: {line}', all(re.search(rf'\b{order} 20\b', line) for order in ORDERS) or '100 shared' not in line)
for number, order in enumerate(ORDERS, 1):  # an execution that is the only one
    line = next(text for name, text in loops(check('short', 1, first=number, ranks=1)).items() if 'short_loops' in name)
    expect(result, f'WS_CHECK={number} begins with {order}: {line}', f'; {order} 1' in line or 'without a helper' in line)


@repeated
def kinds(ranks):
    result = check('kinds', ranks=ranks)
    said, runs = loops(result), 10 * ranks
    for name, why in ('one chunk', f'{runs} of one chunk, which its schedule clause fixes'), ('one iteration', f'{runs} of one iteration'), \
            ('empty', f'{runs} without iterations'), ('inner', f'{2 * runs} run plainly (inside another shared loop'), ('never run', 'never run'):
        expect(result, f'{name}: {said.get(name)}', said.get(name, '').startswith(why))
    for name in 'free', 'in order', 'dynamic', 'outer':
        expect(result, f'{name}: {said.get(name)}', said.get(name, '').startswith(f'{runs} executions, '))
        likely(result, f'{name}: {said.get(name)}', 'helpers ran' in said[name])
    likely(result, 'it does not count', re.match(r'workshare check: [45] of 14 loops exercised', result.err))


for ranks in 1, 2:
    kinds(ranks)

plain = {kind: run('checked', kind, 100, workshare=False).out for kind in ('right', 'sum', 'chain', 'scratch')}
for first in range(1, 4):
    result = check('right', 100, first=first)
    expect(result, f'a right loop gives {result.out!r}', result.out == plain['right'])
    result = check('chain', 100, first=first)
    expect(result, 'a loop whose iterations depend on each other gives the right result', result.out != plain['chain'])


# Two threads at the same time are seen by chance only.
@repeated(chances=10)
def differs(kind):
    result = check(kind, 100, first=1 + next(turn) % len(ORDERS))
    likely(result, f'ten times a right result of {kind}, which is a race', result.out != plain[kind])


turn = itertools.count()
for kind in ('sum', 'scratch') if CORES > 1 else ():
    differs(kind)
if CORES < 2:
    skip('races need two cores')

# Parallel regions of OpenMP, if they are shared: the virtual threads take turns as iterations do.
share = '-workshare-quiet', '-workshare-check', '-workshare-openmp=share:4'
for args, right in ((), False), (('right',), True):
    result = run('order', *args, ranks=1, options=share)
    expect(result, f'the result is {"wrong" if right else "right"}: {result.out}', (result.out == 'sum 630\n') == right)
    expect(result, 'the region is not in the report', re.search(r'1 of 1 loop exercised.*\n  .*main\S* +10 executions, \d+ shared', result.err))
result = run('order', ranks=1, options=share[:2], env={'OMP_NUM_THREADS': '1'})
expect(result, 'it does not say how regions are checked', 'parallel regions are exercised with -workshare-openmp=share' in result.err and result.out == 'sum 630\n')

for options in ('-genv', 'WS_CHECK', 'x'), ('-genv', 'WS_CHECK', '6'):
    result = run('checked', 'right', 1, options=options, code='error')
    expect(result, 'no message', f'WS_CHECK={options[2]} is not a number' in result.err)
result = check('right', 1, first=0)
expect(result, 'WS_CHECK=0 is not off', result.err == '')
tiny = in_tiny_shm()
if tiny:
    result = check('right', 1, **tiny)
    expect(result, 'it does not say that nothing was exercised', result.err.startswith('workshare check: 2 ranks exercised nothing: /dev/shm is too small') and
           result.err.count('\n') == 1)
finish()
