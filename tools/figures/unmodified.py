# SPDX-License-Identifier: MIT
"""Unmodified MPI+OpenMP programs, whose waiting ranks help in open parallel regions: -workshare-openmp=help."""
import measure

from . import line
from .line import median_us
from .loops import OPENMP, over_perfect, perfect_line, with_openmp

LENGTHS = (("1s", 1.005), ("37ms", 1.005), ("3.7ms", 1.01), ("600us", 1.025), ("275us", 1.08))
SCHEDULES = (("static", ["--static"]), ("dynamic", []), ("guided", ["--guided"]))


def helped(run, compiler, options):
    """2 ranks of the program as the compiler makes it with -fopenmp, each with one thread of its own."""
    return run.run(f"double_loop_unmodified_{compiler}", options, workshare=True, env={"OMP_NUM_THREADS": "1"}, flags=["-workshare-openmp", "help"])


def unmodified(run, quick):
    rows = []
    for text, most in LENGTHS[1:] if quick else LENGTHS:
        us = measure.microseconds(text)
        options = ["--warmup", 3 if us > 5e5 else 8, "--steps", measure.calibrated(run, text),
                   "--repeats", max(3, min(1000, int((0.15e6 if quick else 0.4e6) / us / 1.7)))]
        pairs = 1 if us > 5e5 else 2 if quick else 5
        plain, directive = measure.in_turn(pairs, lambda: run.run("double_loop", options), lambda: run.run("double_loop", options, workshare=True))
        for compiler in (c for c in OPENMP if run.has(f"double_loop_unmodified_{c}") and run.has(f"double_loop_omp_{c}")):
            for schedule, flags in SCHEDULES:
                ours, one = measure.in_turn(pairs, lambda: helped(run, compiler, [*options, *flags]),
                                            lambda: with_openmp(run, compiler, "double_loop", [*options, *flags]))
                yield perfect_line(f"unmodified double loop, {OPENMP[compiler]}, {schedule}, {text}: workshare / perfect half", ours, most)
                rows.append([text, OPENMP[compiler], schedule,
                             *(measure.median_of(results, over_perfect) for results in (ours, plain, directive, one))])
    yield line.table("Unmodified double loop: time over the perfect half", ["work", "library", "schedule", "unmodified", "plain", "ws for", "one process"],
                     rows, "2 ranks with 1 thread each; plain: without -workshare; ws for: the directive, recompiled; one process: OpenMP with 2 threads.")
