# SPDX-License-Identifier: MIT
"""`mpirun -workshare-poll`: programs that spin on MPI_Test and its like help, by one short chunk a call, and not without it."""
import re

from job import CORES, expect, finish, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()
for look in 'test', 'testall', 'testany', 'testsome', 'get_status', 'iprobe', 'improbe', 'win_test':
    # On a busy machine a call may lose its core for long: the best of a few tries counts.
    tries = []
    for _ in range(4):
        result = run('polling', look, options=('-workshare-poll',), steals=True)
        found = re.search(r'^(\d+) looks, longest \S+, median (\S+), last (\S+)$', result.out, re.MULTILINE)
        if not expect(result, 'no result', found):
            break
        tries.append((float(found[2]), float(found[3])))
        if tries[-1][0] < 100 and tries[-1][1] < 50:
            break
    if tries:
        expect(result, f'a call took more than a short chunk: {tries}', min(t[0] for t in tries) < 100)
        expect(result, f'a call that found something did not return at once: {tries}', min(t[1] for t in tries) < 50)
for look in 'test', 'iprobe':
    result = run('polling', look)
    # Its waits before and after lend once or twice, its looks hundreds of times.
    expect(result, 'a program that only looks has helped without -workshare-poll', result.stats.get('lends', 0) <= 5)
    expect(result, 'the looks in vain were not counted', result.stats.get('polls', 0) > 100)
finish()
