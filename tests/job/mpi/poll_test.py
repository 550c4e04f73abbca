# SPDX-License-Identifier: MIT
"""`mpirun -workshare-poll`: programs that spin on MPI_Test and its like help, by one short chunk a call, and not without it."""
import re

from job import CORES, expect, finish, likely, repeated, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()


@repeated
def looks(look):
    result = run('polling', look, options=('-workshare-poll',), steals=True)
    found = re.search(r'^(\d+) looks, longest \S+, median (\S+), last (\S+)$', result.out, re.MULTILINE)
    if expect(result, 'no result', found):
        likely(result, f'a call took more than a short chunk: {found[2]} us', float(found[2]) < 100)
        likely(result, f'a call that found something did not return at once: {found[3]} us', float(found[3]) < 50)


for look in 'test', 'testall', 'testany', 'testsome', 'get_status', 'iprobe', 'improbe', 'win_test':
    looks(look)


@repeated
def looks_only(look):
    result = run('polling', look)
    # Its waits before and after lend once or twice, its looks hundreds of times.
    expect(result, 'a program that only looks has helped without -workshare-poll', result.stats.get('lends', 0) <= 5)
    likely(result, 'the looks in vain were not counted', result.stats.get('polls', 0) > 100)


for look in 'test', 'iprobe':
    looks_only(look)
finish()
