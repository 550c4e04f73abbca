# SPDX-License-Identifier: MIT
"""MPI_T's view of Workshare: the variables are listed in every job, values are read while a rank steals, and what is written acts."""
import os
import re
import sys

from job import CORES, MPIRUN, expect, finish, likely, repeated, run, skip

MPIVARS = os.path.join(os.path.dirname(MPIRUN), 'mpivars')
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../..')

sys.path.insert(0, f'{SOURCE}/runtime/options')
names = [o.variable[3:] for o in __import__('generate').read(f'{SOURCE}/runtime/options/options.txt') if o.scope]
for file, variable in ('mpi/mpi_t.cpp', r'^ +{"WS_([A-Z_]+)", "'), ('observe/counters.h', r', WS_([A-Z_]+), "'):
    with open(f'{SOURCE}/runtime/{file}') as f:
        names += re.findall(variable, f.read(), re.MULTILINE)
for on in False, True:
    result = run(MPIVARS, ranks=1, workshare=on, title=f'mpivars {"on" if on else "off"}')
    listed = result.out.partition('MPI_T categories')
    for text in listed[0], listed[2].partition('Category WORKSHARE')[2]:
        expect(result, f'not listed: {[n for n in names if not re.search(rf"WS_{n}[ =:]", text)]}', len(names) > 25 and
               all(re.search(rf'\bWS_{n}[ =:]', text) for n in names))
    expect(result, 'WS_ENABLE', re.search(r'WS_ENABLE +=' + str(int(on)), result.out))
    expect(result, 'off', on or result.out.count('Value = 0') >= 19)

for name, value, why in (('WS_VICTIM', 'best', 'is none of auto, most, fewest, nearest, random, none'),
                         ('WS_STACKSIZE', '9K', 'is not a size from 64K to 1T such as 512M, 4G or 65536 (KiB)')):
    result = run('mpi_t', name, value, code='error', limit=20)
    expect(result, "rank 1's message", result.messages() == [f'workshare: error: {name}={value} {why}'])
result = run('mpi_t', workshare=False)
if CORES < 2:
    skip('needs two cores')
    finish()


@repeated
def while_it_runs():
    result = run('mpi_t', steals=True)
    after = [(int(n), float(lent), float(borrowed)) for n, lent, borrowed in
             re.findall(r'^stolen (\d+) lent ([\d.]+) borrowed ([\d.]+)$', result.out, re.MULTILINE)]
    if expect(result, 'not a line a rank after MPI_Finalize', len(after) == 2):
        expect(result, 'stolen', sum(n for n, _, _ in after) == result.stats['chunks_stolen'])
        # One rank has borrowed what the other lent, except for the time of hand-overs: that grows where other programs use the CPUs.
        lent, borrowed = sum(l for _, l, _ in after), sum(b for _, _, b in after)
        likely(result, f'{lent} s lent, {borrowed} s borrowed', 0.03 < borrowed <= lent < borrowed + 0.1 + result.stats['kept_off_s'])
    chunks = re.search(r'^chunks (\d+) (\d+)$', result.out, re.MULTILINE)
    if expect(result, 'no chunks', chunks):
        first, second = map(int, chunks.groups())
        likely(result, f'{first} chunks of 2 ms and {second} of 20 us', 20 < first and second > 5 * first)


while_it_runs()
finish()
