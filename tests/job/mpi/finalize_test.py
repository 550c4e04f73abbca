# SPDX-License-Identifier: MIT
"""Ranks that wait in MPI_Finalize help the one that computes (all other calls: blocking_calls_test.py). And MPI_Finalize ends over TCP,
where UCX needs answers from the other ranks up to the end: upstream's did not in three of four jobs in which a rank came late."""
from job import CORES, expect_lines, finish, run, skip

for how, cliques in [(('late', r % 4), 1) for r in range(7)] + [(('late', 0), 4), (('messages',), 1), (('messages',), 2), (('messages',), 4)]:
    run('finalize', *how, ranks=4, workshare=False, env={'UCX_TLS': 'tcp', 'MPIR_CVAR_NUM_CLIQUES': str(cliques)}, limit=20)
run('finalize', 'messages', ranks=4, env={'UCX_TLS': 'tcp', 'MPIR_CVAR_NUM_CLIQUES': '2'}, limit=20)

if CORES < 2:
    skip('needs two cores')
    finish()
for ranks in 2, 3:
    for env in {}, {'WS_CHAOS': '3'}:
        result = run('finalize', ranks=ranks, env=env, steals=True)
        expect_lines(result, result.out, '^right$')
finish()
