# SPDX-License-Identifier: MIT
"""Ranks that wait in MPI_Finalize help the one that computes; with any other call they are blocking_calls_test.py's."""
from job import CORES, expect_lines, finish, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()
for ranks in 2, 3:
    for env in {}, {'WS_CHAOS': '3'}:
        result = run('finalize', ranks=ranks, env=env, steals=True)
        expect_lines(result, result.out, '^right$')
finish()
