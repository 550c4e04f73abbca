# SPDX-License-Identifier: MIT
"""Loops where nobody can steal are plain loops: without MPI, before it and after it, nested, on other threads."""
import os
import subprocess

from job import CORES, PROGRAMS, Result, expect, finish, run

for enable in {}, {'WS_ENABLE': '1'}:
    for chaos in {}, {'WS_CHAOS': '1'}:
        alone = subprocess.run([os.path.join(PROGRAMS, 'outside'), 'without_mpi'], env={**os.environ, **enable, **chaos},
                               capture_output=True, text=True, timeout=120)
        expect(Result('outside without_mpi', alone.returncode, alone.stdout, alone.stderr, 0, {}), 'wrong',
               alone.returncode == 0 and alone.stdout == alone.stderr == '')

for what in 'around', 'nested', 'openmp', 'threads':
    for env in {}, {'WS_CHAOS': '1'}:
        # With chaos alone the many threads here may keep the guests out.
        result = run('outside', what, env=env, steals=CORES > 1)
        if what in ('nested', 'threads'):
            expect(result, 'no region counted as run plain', result.stats.get('executions_plain', 0) > 0)
    run('outside', what, workshare=False)
finish()
