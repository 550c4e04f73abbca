# SPDX-License-Identifier: MIT
"""Cores that follow the threads of MPI+OpenMP programs: the bench's group."""
from figures import openmp

TITLE = "DPB"
PAPER = "J. Corbalan, A. Duran, J. Labarta: Dynamic Load Balancing of MPI+OpenMP applications. ICPP 2004. See [openmp-balance.md](../reference/openmp-balance.md)."
PROGRAMS = ("openmp_turns", "openmp_turns_ws", "call_cost")
GROUP = "openmp"


def section(run, quick):
    yield from openmp.openmp(run, quick)
