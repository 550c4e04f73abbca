# SPDX-License-Identifier: MIT
"""Rows that follow the processes' speeds: the bench's group."""
from figures import flex

TITLE = "FLEX-MPI"
PAPER = ("G. Martin, M.-C. Marinescu, D. E. Singh, J. Carretero: FLEX-MPI: an MPI extension for supporting dynamic load balancing on heterogeneous "
         "non-dedicated systems. Euro-Par 2013. See [xmpi.md](../reference/xmpi.md).")
PROGRAMS = ("flex_jacobi", "flex_cg", "flex_epidemic", "flex_nodes", "flex_move")
GROUP = "flex"


def section(run, quick):
    yield from flex.flex(run, quick)
