# SPDX-License-Identifier: MIT
"""Virtual threads that wait for each other inside MPI are noticed, and go on beside each other.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import re
import sys

from job import expect, finish, likely, repeated, run

MOST_MS = 40  # it is noticed within 10 ms, on each of two ranks


@repeated
def turns(threads, mode):
    result = run(f'between.{sys.argv[3]}', 20, options=(f'-workshare-openmp={mode}',), env={'OMP_NUM_THREADS': str(threads)}, limit=60)
    found = re.search(r'right, longest turn ([\d.]+) ms', result.out)
    expect(result, 'not right', found)
    likely(result, f'noticed late: more than {MOST_MS} ms', found and float(found[1]) <= MOST_MS)


turns(4, 'off')
turns(1, 'share')
turns(1, 'share:2')
turns(3, 'share:16')
finish()
