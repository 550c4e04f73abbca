# SPDX-License-Identifier: MIT
"""compile.py STAGE FAMILY MPICC STAMP PROGRAM SOURCE...: compiles a program with shared loops as a user would, with `workshare --cflags` and `--libs`."""
import os
import shlex
import subprocess
import sys

stage, family, mpicc, stamp, program, *sources = sys.argv[1:]
workshare = os.path.join(stage, 'bin/workshare')


def flags(*words):
    return shlex.split(subprocess.run([workshare, *words], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout)


os.makedirs(os.path.dirname(program), exist_ok=True)
# MPICH's MPI_STATUSES_IGNORE and MPI_UNWEIGHTED are addresses of nothing, of which GCC warns.
quiet = ['-Wno-unknown-warning-option', '-Wno-stringop-overflow', '-Wno-stringop-overread']
subprocess.run([mpicc, *flags('--cflags'), '-O2', '-g', *quiet, *sources, '-o', program, *flags('--mpi', family, '--libs'), '-lm'], check=True)
open(stamp, 'w').close()
