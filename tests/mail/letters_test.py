# SPDX-License-Identifier: MIT
"""Letters between ranks, each counted, while the program sends messages of its own: none is lost, doubled or late for another."""
from job import expect_lines, finish, run

# A letter in eight is answered; each rank posts as many as the others.
for ranks, cliques, letters, workshare in (1, 1, 10000, True), (2, 1, 50000, False), (3, 2, 30000, True), (8, 4, 1000000, True):
    posted = letters // ranks
    result = run('letters', letters, ranks=ranks, workshare=workshare, env={'MPIR_CVAR_NUM_CLIQUES': str(cliques)}, limit=100)
    expect_lines(result, result.out, f'^{ranks * (posted + (posted + 7) // 8)} letters$')
finish()
