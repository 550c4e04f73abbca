# SPDX-License-Identifier: MIT
"""Graphs of tasks, as in Task Bench: a pool into which rank 0 puts all of them, beside plain MPI and beside OpenMP's tasks in one process."""
import measure

from . import line
from .line import faster, median_us
from .loops import with_openmp

AHEAD = 1.001   # for 1, faster() allows for noise
PATTERNS = ("stencil", "fft", "tree", "random")


def task_patterns(run, quick):
    rows = []
    for pattern in PATTERNS[:2] if quick else PATTERNS:
        for imbalance in (0, 0.2) if quick else (0, 0.2, 0.4, 0.8):
            options = ["--pattern", pattern, "--imbalance", imbalance, "--repeats", 5]
            pool, plain, rival = measure.in_turn(3 if quick else 7, lambda: run.run("task_patterns", options, workshare=True),
                                                 lambda: run.run("task_patterns", [*options, "--by-hand"]), lambda: with_openmp(run, "gcc", "task_patterns", options))
            what = f"{pattern}, columns of 1 - {imbalance:g} to 1 + {imbalance:g}" if imbalance else f"{pattern}, balanced"
            least = AHEAD if imbalance else 0.95
            yield faster(f"{what}: plain MPI / a pool", pool, plain, median_us, "us", least, "plain MPI, each rank its columns")
            yield faster(f"{what}: OpenMP's tasks / a pool", pool, rival, median_us, "us", least, "libgomp's tasks with depend in one process, 2 threads")
            rows.append([what, *(line.us(measure.median_of(results, median_us)) for results in (plain, pool, rival)), measure.median_of(pool, lambda r: r["us"]["median"] / r["perfect_us"])])
    yield line.table("Graphs of tasks, on two cores: 50 steps of 16 tasks of some 400 us", ["graph", "plain MPI", "pool", "OpenMP", "pool, of perfect half"], rows,
                     "Rank 0 puts all tasks. OpenMP: 2 threads of one process. The patterns are those of Task Bench (Slaughter et al., SC 2020).")
