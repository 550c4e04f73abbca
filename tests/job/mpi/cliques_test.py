# SPDX-License-Identifier: MIT
"""Which ranks help each other: those of a node, also where MPI shares no memory on it (MPIR_CVAR_NOLOCAL, and MPICH 5 on UCX as it is built by
default). MPIR_CVAR_NUM_CLIQUES makes one machine several nodes."""
from job import expect, expect_lines, finish, run

for cliques, ranks_on_node in ('1', 4), ('2', 2):
    # The work sleeps: as many cores as there are ranks can be pretended.
    result = run('cliques', ranks=4, env={'MPIR_CVAR_NUM_CLIQUES': cliques, 'WS_CORES': '4'})
    expect_lines(result, result.out, f'^{ranks_on_node - 1} guests, {ranks_on_node} ranks on the node$')
    verdict = f'4 ranks on {cliques} node'
    expect(result, f'the summary does not say: {verdict}', any(verdict in line for line in result.summary()))
result = run('cliques', ranks=4, env={'MPIR_CVAR_NOLOCAL': '1', 'WS_CORES': '4'})
expect_lines(result, result.out, '^3 guests, 1 ranks on the node$')
expect(result, 'the summary does not say: 4 ranks on 1 node', any('4 ranks on 1 node' in line for line in result.summary()))
finish()
