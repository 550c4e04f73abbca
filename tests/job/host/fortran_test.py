# SPDX-License-Identifier: MIT
"""Ranks that wait in calls of Fortran lend their cores, with each of its interfaces, and get what was sent."""
import atexit
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from job import CORES, expect, finish, likely, repeated, run, skip
from of_mpi import fortran_compiler

FAMILY, MPICC, SOURCES, STAGE = sys.argv[3:7]
FOLDER = tempfile.mkdtemp(dir='/tmp')
atexit.register(shutil.rmtree, FOLDER)


def flags(*words):
    return shlex.split(subprocess.run([os.path.join(STAGE, 'bin/workshare'), *words], check=True, stdout=subprocess.PIPE, text=True).stdout)


def compile_with(*words):
    subprocess.run(words, cwd=FOLDER, check=True, timeout=60)


@repeated
def waits(program, form):
    result = run(program, title=form)
    times = dict(line.split() for line in result.out.splitlines() if len(line.split()) == 2)
    expect(result, f'each kind of call was tried: {times}', len(times) == 6 and 'wrong' not in result.out)
    late = {name: time for name, time in times.items() if float(time) > 0.75}     # 1: nobody helps; 0.5: all that there is
    likely(result, f'waits in which nobody helped: {late}', not late)


MPIF90 = fortran_compiler(MPICC)
if CORES < 2:
    skip('needs two cores')
elif MPIF90:
    compile_with(MPICC, *flags('--cflags'), '-O2', '-c', os.path.join(SOURCES, 'loop.c'))
    for number, interface in enumerate(('mpi_f08', 'mpi', 'mpif.h'), 1):
        compile_with(MPIF90, f'-DFORM={number}', '-O1', os.path.join(SOURCES, 'waits.F90'), 'loop.o', '-o', f'waits{number}', *flags('--mpi', FAMILY, '--libs'))
        waits(os.path.join(FOLDER, f'waits{number}'), interface)
finish()
