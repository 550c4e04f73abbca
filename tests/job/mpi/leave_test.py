# SPDX-License-Identifier: MIT
"""Ranks that look dead and are not: main threads that left by pthread_exit, ranks in pid namespaces of their own.

leave_test.py MPIRUN PROGRAMS [--soak]      --soak: more namespaces than a word has bits
"""
import os
import shlex
import shutil
import subprocess
import sys

from job import CORES, PROGRAMS, expect, finish, run, skip

for who in 'other', 'home':
    result = run('leave', who, limit=30, steals=who == 'other' and CORES > 1)
    expect(result, 'wrong', result.out == 'right\n')

# As in containers: each rank has the pid 1 (UCX refuses peers whose pids mean another process here).
NAMESPACE = 'unshare', '-p', '-f', '--mount-proc'
if not shutil.which('unshare') or subprocess.run([*NAMESPACE, 'true'], capture_output=True).returncode:
    skip('no pid namespaces: they are not permitted here')
else:
    ranks = 66 if '--soak' in sys.argv else 2
    result = run('/bin/sh', '-c', f'exec {" ".join(NAMESPACE)} {shlex.quote(os.path.join(PROGRAMS, "imbalance"))} late 100', ranks=ranks, limit=60,
                 title=f'{ranks} pid namespaces')
    expect(result, 'wrong', result.out == 'right\n')
finish()
