# SPDX-License-Identifier: MIT
"""Programs of tasks: ws::task_group by one rank while the other waits, beside OpenMP's tasks in one process, and by both ranks."""
import measure

from . import line
from .line import compare, median_us
from .loops import OPENMP, over_perfect, with_openmp

PROGRAMS = ("fib", "queens", "sort", "lu", "strassen", "uts")


def task_groups(run, quick):
    pairs, rows = 3 if quick else 7, []
    compilers = [c for c in OPENMP if run.has(f"task_groups_omp_{c}")]
    for program in PROGRAMS if run.has("tasks") else PROGRAMS[:-1]:    # without nettle there is no tree search
        options = ["--what", program, "--repeats", 5 if program == "uts" else 10]
        each = [*options, "--balanced"]
        shared, serial, plain, balanced, *rivals = measure.in_turn(
            pairs, lambda: run.run("task_groups", options, workshare=True), lambda: run.run("task_groups", [*each, "--without"]),
            lambda: run.run("task_groups", each), lambda: run.run("task_groups", each, workshare=True),
            *(lambda c=c: with_openmp(run, c, "task_groups", options) for c in compilers))
        for compiler, results in zip(compilers, rivals):
            yield compare(f"{program}: ws::task_group, one rank of two waits / {OPENMP[compiler]}, 2 threads", shared, results, median_us, "us", 1.05,
                          f"OpenMP's tasks in one process, {OPENMP[compiler]}")
        yield compare(f"{program}: ws::task_group, each rank its own / the serial program", balanced, serial, median_us, "us", 1.01, "without tasks")
        rows.append([program, *(line.us(measure.median_of(results, median_us)) for results in (serial, plain, balanced, shared, *rivals)),
                     measure.median_of(shared, over_perfect)])
    yield line.table("Programs of tasks, on two cores: a run", ["program", "each rank, serial", "each rank, flag off", "each rank, flag on", "one rank of two",
                     *(OPENMP[c] for c in compilers), "of perfect half"], rows, "OpenMP: 2 threads of one process.")
