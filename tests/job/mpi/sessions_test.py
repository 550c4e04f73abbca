# SPDX-License-Identifier: MIT
"""Programs that use MPI's sessions: ranks that wait help as in any other, from the first session to the last; in whatever order
sessions and MPI_Init come. There is one summary, at the end of the last."""
import json
import os
import tempfile

from job import CORES, SUMMARY, expect, expect_lines, finish, run, skip

ORDERS = 'only', 'overlapping', 'world_first', 'session_first', 'either'

if CORES < 2:
    skip('needs two cores')
    finish()
for order in ORDERS:
    for env in {}, {'WS_CHAOS': '3'}:
        result = run('sessions', order, env=env, steals=True)
        expect_lines(result, result.out, '^right$')
        expect(result, 'not one summary', sum(bool(SUMMARY.match(line)) for line in result.err.splitlines()) == 1)
result = run('sessions', 'only', ranks=4, env={'MPIR_CVAR_NUM_CLIQUES': '2'}, steals=True)
expect(result, 'not two nodes', result.stats.get('nodes') == 2)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'report.json')
    result = run('sessions', 'only', options=(f'-workshare-report={path}',), steals=True)
    with open(path) as f:
        report = json.load(f)
    expect(result, 'MPI_Session_finalize is not in the report', 'MPI_Session_finalize' in str(report['by_call']))
    expect(result, 'the loop is not in the report', 'sessions.c' in str(report['by_loop']))
finish()
