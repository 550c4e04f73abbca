# SPDX-License-Identifier: MIT
"""Virtual threads that wait for each other inside MPI are noticed, and go on beside each other.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import re
import sys

from job import expect, finish, likely, repeated, run

LATE_MS = 40  # it is noticed within 10 ms, on each of two ranks
OWN = 4       # threads, without sharing
own_ms = 0    # what a turn takes then, in which they are made and woken


@repeated
def turns(threads, mode, virtual):
    global own_ms
    result = run(f'between.{sys.argv[3]}', 20, options=(f'-workshare-openmp={mode}',), env={'OMP_NUM_THREADS': str(threads)}, limit=60)
    found = re.search(r'right, longest turn ([\d.]+) ms', result.out)
    expect(result, 'not right', found)
    longest, most = float(found[1]) if found else 0, LATE_MS + own_ms * virtual / OWN
    likely(result, f'noticed late: {longest} ms, more than {most:.0f}', longest <= most)
    if mode == 'off':
        own_ms = longest


turns(OWN, 'off', OWN)
turns(1, 'share', 8)
turns(1, 'share:2', 2)
turns(3, 'share:16', 16)
finish()
