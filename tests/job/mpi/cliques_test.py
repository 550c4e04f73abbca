# SPDX-License-Identifier: MIT
"""MPIR_CVAR_NUM_CLIQUES makes one machine several nodes: ranks help only within theirs."""
from job import expect, expect_lines, finish, run

for cliques, ranks_on_node in ('1', 4), ('2', 2):
    # The work sleeps: as many cores as there are ranks can be pretended.
    result = run('cliques', ranks=4, env={'MPIR_CVAR_NUM_CLIQUES': cliques, 'WS_CORES': '4'})
    expect_lines(result, result.out, f'^{ranks_on_node - 1} guests, {ranks_on_node} ranks on the node$')
    verdict = f'4 ranks on {cliques} node'
    expect(result, f'the summary does not say: {verdict}', any(verdict in line for line in result.summary()))
finish()
