# SPDX-License-Identifier: MIT
"""Programs of tasks: ws::task_group, and directives, by one rank while the other waits, beside OpenMP's tasks in one process, and by both ranks."""
import measure

from . import line
from .line import compare, median_us
from .loops import OPENMP, over_perfect, with_openmp

PROGRAMS = ("fib", "queens", "sort", "lu", "strassen", "uts")
QUICK = ("fib", "queens", "strassen")
FORMS = {"ws::task_group": "task_groups", "ws task": "task_groups_ws"}


def task_groups(run, quick):
    pairs, rows = 3 if quick else 7, []
    programs = QUICK if quick else PROGRAMS if run.has("tasks") else PROGRAMS[:-1]  # without nettle there is no tree search
    for compiler, library in OPENMP.items():
        for form, ours in {form: f"{name}_{compiler}" for form, name in FORMS.items() if run.has(f"{name}_{compiler}")}.items():
            for program in programs:
                options = ["--what", program, "--repeats", 5 if program == "uts" or quick else 10]
                each = [*options, "--balanced"]
                shared, serial, plain, balanced, rival = measure.in_turn(
                    pairs, lambda: run.run(ours, options, workshare=True), lambda: run.run(ours, [*each, "--without"]), lambda: run.run(ours, each),
                    lambda: run.run(ours, each, workshare=True), lambda: with_openmp(run, compiler, "task_groups", options))
                yield compare(f"{program}, {compiler}: {form}, one rank of two waits / {library}, 2 threads", shared, rival, median_us, "us", 1.05,
                              f"OpenMP's tasks in one process, {library}")
                yield compare(f"{program}, {compiler}: {form}, each rank its own / the serial program", balanced, serial, median_us, "us", 1.01, "without tasks")
                rows.append([program, form, compiler, *(line.us(measure.median_of(results, median_us)) for results in (serial, plain, balanced, shared, rival)),
                             measure.median_of(shared, over_perfect)])
    yield line.table("Programs of tasks, on two cores: a run", ["program", "tasks", "compiler", "each rank, serial", "each rank, flag off", "each rank, flag on",
                     "one rank of two", "OpenMP", "of perfect half"], rows, "OpenMP: 2 threads of one process.")
