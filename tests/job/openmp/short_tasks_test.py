# SPDX-License-Identifier: MIT
"""With lend, a region of short tasks takes no longer with a lent core than without, also the first time. Each task runs once, in its order.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import re
import sys

from job import CORES, expect, finish, likely, repeated, run, skip

COMPILER = sys.argv[3]
ONE = {'OMP_NUM_THREADS': '1'}


def milliseconds(result):
    found = re.fullmatch(r'right ([\d.]+) ([\d.]+) elsewhere (\d+)\n', result.out)
    expect(result, f'not right: {result.out}', found)
    return [float(ms) for ms in found.groups()] if found else [1, 1, 0]


@repeated
def takes_no_longer():
    plain = milliseconds(run(f'short_tasks.{COMPILER}', options=('-workshare-openmp=off', '-bind-to', 'core'), env=ONE))
    result = run(f'short_tasks.{COMPILER}', options=('-workshare-openmp=lend', '-bind-to', 'core'), env=ONE)
    lent = milliseconds(result)
    likely(result, 'no region had a lent core', re.search(r'[1-9]\d* parallel regions? had lent cores', result.err))
    if COMPILER == 'gcc':
        likely(result, 'no task ran on a lent core', lent[2] > 0)
        for what, with_it, without in zip(('a tree', 'many'), lent, plain):
            likely(result, f'{what}: {with_it} ms, without lending {without} ms', with_it < 1.3 * without)


if CORES < 2:
    skip('needs two cores')
else:
    takes_no_longer()
finish()
