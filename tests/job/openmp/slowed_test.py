# SPDX-License-Identifier: MIT
"""With lend, a region that borrowed cores make slower runs without them, and the others keep them.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import re
import sys

from job import CORES, expect, finish, likely, repeated, run, skip

TURNS = 200


@repeated
def slowed():
    result = run(f'slowed.{sys.argv[3]}', TURNS, options=('-workshare-openmp=lend', '-bind-to', 'core'), env={'OMP_NUM_THREADS': '1'})
    found = re.fullmatch(r'right (\d+) (\d+)\n', result.out)
    if expect(result, f'not right: {result.out}', found):
        slow, fast = (int(n) for n in found.groups())
        likely(result, f'{slow} of {TURNS} executions had a core that made them slower', 0 < slow < TURNS / 4)
        likely(result, f'{fast} of {TURNS} executions had a core that made them faster', fast > TURNS / 2)


if CORES < 2:
    skip('needs two cores')
else:
    slowed()
finish()
