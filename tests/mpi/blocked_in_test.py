# SPDX-License-Identifier: MIT
"""Ranks blocked in each kind of MPI call help the one that computes."""
from job import CORES, expect_lines, finish, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()
for call in ('recv', 'wait', 'waitall', 'waitany', 'waitsome', 'probe', 'mprobe', 'any_source', 'ssend', 'barrier',
             'ibarrier', 'allreduce', 'bcast', 'fence', 'win_wait', 'finalize'):
    result = run('blocked_in', call, steals=True)
    if call == 'finalize':
        expect_lines(result, result.out, '^right$')
    run('blocked_in', call, env={'WS_CHAOS': '3'}, steals=True)
finish()
