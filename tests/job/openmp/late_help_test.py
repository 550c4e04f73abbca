# SPDX-License-Identifier: MIT
"""With lend, a rank that begins to wait while a region of tasks is open helps in it. Results are those of the serial program, each task runs once and
stays on its thread, and a killed lender hangs nobody.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import re
import sys

from job import CORES, expect, finish, likely, repeated, run, skip

PROGRAM = f'late_help.{sys.argv[3]}'
LEND = {'options': ('-workshare-openmp=lend', '-bind-to', 'core'), 'env': {'OMP_NUM_THREADS': '1'}}


def elsewhere(result):
    found = re.fullmatch(r'right elsewhere (\d+)\n', result.out)
    expect(result, f'not right: {result.out}', found)
    return int(found[1]) if found else 0


@repeated
def helps():
    result = run(PROGRAM, 4, **LEND)
    likely(result, 'no task ran on a lent core', elsewhere(result) > 0)
    likely(result, 'the summary does not tell of lent cores', re.search(r'parallel regions? had lent cores', result.err))


if CORES < 2:
    skip('needs two cores')
else:
    helps()
    off = run(PROGRAM, 1, options=('-workshare-openmp=off',), env={'OMP_NUM_THREADS': '1'})
    expect(off, 'without lend a region has another thread', elsewhere(off) == 0)
    alone = run(PROGRAM, 2, ranks=1, **LEND)
    expect(alone, 'a region has another thread where nobody can lend', elsewhere(alone) == 0)
    expect(alone, 'nothing says that nobody can lend', 'no core was moved: no node has two ranks' in alone.err)
    run(PROGRAM, 3, 'die', code='error', **LEND)
finish()
