# SPDX-License-Identifier: MIT
"""With lend, a region of short tasks takes no longer with a lent core than without, also the first time. Each task runs once, in its order.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import atexit
import glob
import os
import re
import shutil
import sys
import tempfile

from job import CORES, expect, finish, likely, repeated, run, skip

COMPILER = sys.argv[3]
PROGRAM = f'short_tasks.{COMPILER}'
CHAIN = ['chain'] if COMPILER == 'gcc' else []  # libomp runs all tasks of one thread at once, within each other
# Two threads of one process without Workshare take 5 and 1.6 times as long as one, those of libomp 3 and 2.
LONGEST = (1.3, 1.8) if COMPILER == 'gcc' else (2.2, 3)
ONE = {'OMP_NUM_THREADS': '1'}
LEND = ('-workshare-openmp=lend', '-bind-to', 'core')


def figures(result):
    found = re.fullmatch(r'right ([\d.]+) ([\d.]+) elsewhere (\d+)\n', result.out)
    expect(result, f'not right: {result.out}', found)
    return [float(figure) for figure in found.groups()] if found else [1, 1, 0]


@repeated
def takes_no_longer():
    plain = figures(run(PROGRAM, *CHAIN, options=('-workshare-openmp=off', '-bind-to', 'core'), env=ONE))
    result = run(PROGRAM, *CHAIN, options=LEND, env=ONE)
    lent = figures(result)
    likely(result, 'no region had a lent core', re.search(r'[1-9]\d* parallel regions? had lent cores', result.err))
    for what, longest, with_it, without in zip(('the tree', 'the many'), LONGEST, lent, plain):
        likely(result, f'{what}: {with_it} ms, without lending {without} ms', with_it < longest * without)
    if COMPILER == 'gcc':
        likely(result, 'no large part of the tree ran on a lent core', lent[2] > 5000)


def of_the_other_library():
    """libomp has libgomp's functions, too."""
    libraries = sorted(glob.glob('/usr/lib/llvm-*/lib/libomp.so'))
    if not libraries:
        skip('there is no libomp')
        return
    folder = tempfile.mkdtemp(dir='/tmp')
    atexit.register(shutil.rmtree, folder)
    os.symlink(libraries[-1], os.path.join(folder, 'libgomp.so.1'))
    figures(run(PROGRAM, options=LEND, env={**ONE, 'LD_LIBRARY_PATH': folder}, title='of GCC, with libomp'))


if CORES < 2:
    skip('needs two cores')
else:
    takes_no_longer()
    if COMPILER == 'gcc':
        of_the_other_library()
finish()
