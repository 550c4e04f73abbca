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
# Two threads of one process without Workshare take 5 and 1.6 times as long as one, those of libomp 3 and 2, and share the many.
LONGEST = (1.3, 1.8) if COMPILER == 'gcc' else (2.2, 3)
ONE = {'OMP_NUM_THREADS': '1'}
LEND = ('-workshare-openmp=lend', '-bind-to', 'core')


def figures(result):
    found = re.fullmatch(r'right ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)\n', result.out)
    expect(result, f'not right: {result.out}', found)
    return [float(figure) for figure in found.groups()] if found else [1, 1, 0, 0]


def lends(*args, regions, **env):
    result = run(PROGRAM, *args, options=LEND, env={**ONE, **env})
    lent = figures(result)
    found = re.search(r'(\d+) parallel regions? had lent cores', result.err)
    likely(result, 'not all regions had lent cores', found and int(found[1]) == regions)
    return result, lent


@repeated
def takes_no_longer():
    plain = figures(run(PROGRAM, *CHAIN, options=('-workshare-openmp=off', '-bind-to', 'core'), env=ONE))
    result, lent = lends(*CHAIN, regions=6 + len(CHAIN))
    for what, longest, with_it, without in zip(('the tree', 'the many'), LONGEST, lent, plain):
        likely(result, f'{what}: {with_it} ms, without lending {without} ms', with_it < longest * without)
    likely(result, 'no large part of the tree ran elsewhere', lent[2] > 0.1)
    likely(result, 'the many did not run where they were put', lent[3] < 0.1)


@repeated
def of_gcc_with_libomp(library):
    folder = tempfile.mkdtemp(dir='/tmp')
    atexit.register(shutil.rmtree, folder)
    os.symlink(library, os.path.join(folder, 'libgomp.so.1'))
    lends(regions=6, LD_LIBRARY_PATH=folder)


if CORES < 2:
    skip('needs two cores')
else:
    takes_no_longer()
    libraries = glob.glob('/usr/lib/llvm-*/lib/libomp.so')  # it has libgomp's functions, too
    if COMPILER == 'gcc' and libraries:
        of_gcc_with_libomp(max(libraries, key=lambda path: int(path.split('-')[1].split('/')[0])))
finish()
