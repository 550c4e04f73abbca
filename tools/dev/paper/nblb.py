# SPDX-License-Identifier: MIT
"""Tasks that move between nodes: the bench's group."""
from figures import tasks

TITLE = "NBLB"
PAPER = ("Sun Nian, Liang Guangmin: Dynamic Load Balancing Algorithm for MPI Parallel Computing. See [tasks.md](../reference/tasks.md). Its rival DNBLI is "
         "`-workshare-tasks neighbours` here.")
PROGRAMS = ("tasks", "tasks_simulated")
GROUP = "tasks"


def section(run, quick):
    yield from tasks.tasks(run, quick)
