# SPDX-License-Identifier: MIT
"""MPIX_Load_create and its like in whole jobs: communicators of all kinds, with and without -workshare, on one node and several; wrong
arguments; the same calls again and again (--soak: 10,000 times)."""
import re
import sys

from job import expect, finish, likely, repeated, run

SOAK = '--soak' in sys.argv


def job(*args, **how):
    return run('reorder', *args, options=('-bind-to', 'core'), **how)


def random(count, ranks, least=0.8, **how):
    """The distributed call balances nearly as well as the central one, though in cells as small as they can be, with a few ranks each; and
    neither is ever worse than the ranks as they are."""
    result = job('random', count, ranks=ranks, **how)
    found = re.search(r'distributed by central at worst ([\d.]+)', result.out)
    if expect(result, 'no line about the distributed call', found):
        expect(result, f'the distributed call balances {found[1]} as well as the central one', float(found[1]) >= least)


random(5, 1)
random(20, 2, workshare=False)
random(20, 3)
random(400 if SOAK else 10, 8)
random(100 if SOAK else 4, 9, env={'MPIR_CVAR_NUM_CLIQUES': '2'})
random(60 if SOAK else 2, 64 if SOAK else 24)
if SOAK:
    for ranks in (5, 16, 33):
        random(60, ranks, env={'MPIR_CVAR_NUM_CLIQUES': '3'})
        random(60, ranks)

job('graph', 4, ranks=8)
job('graph', 4, ranks=8, env={'MPIR_CVAR_NUM_CLIQUES': '2'})
job('graph', 2, ranks=2, workshare=False)

for ranks in (1, 2):
    job('errors', 0, ranks=ranks, workshare=False)
for ranks in (1, 4):
    job('errors', 1, ranks=ranks)
for ranks, workshare in (1, True), (3, True), (3, False):
    job('handlers', ranks=ranks, workshare=workshare)
for workshare in (False, True):
    result = job('fatal', ranks=2, workshare=workshare, code='error')
    expect(result, 'no message', 'MPIX_Load_create' in result.err and 'loads[0] is not a number' in result.err and 'on rank 1' in result.err)
    expect(result, 'the program went on', 'went on' not in result.out)

for ranks in (1, 2, 4):
    job('repeat', 10000 if SOAK else 100, ranks=ranks, limit=900 if SOAK else 60)
if SOAK:
    job('repeat', 10000, ranks=2, workshare=False, limit=900)


@repeated
def measured(sleeping):
    result = job('measured', sleeping, ranks=8)
    numbers = [float(n) for n in re.findall(r'[\d.]+', result.out)]
    if expect(result, 'no figures', len(numbers) == 5):
        first, second, predicted, was, now = numbers
        # Four processes a core: what counts the others' time too would find balance. Other load on this machine is not the rank's.
        likely(result, f'imbalance {first}, expected {predicted}', 0.75 * predicted < first < 1.1 * predicted)
        likely(result, 'asking changes the answer', abs(first - second) < 0.2)
        likely(result, f'reordering leaves {now} of {was}', now <= 0.7 * was)


measured(0)
measured(1)
finish()
