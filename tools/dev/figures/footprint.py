# SPDX-License-Identifier: MIT
"""What Workshare costs apart from the loops: compiling, starting, memory."""
import compile_time
import measure

from . import line
from .line import compare, difference, number


def compile_times(run, quick):
    for name, command in compile_time.compilers(run.prefix):
        times = compile_time.measure_compiler(command, 1 if quick else 2)
        for what, (ours, rivals, rival) in {
                f"400 loops, {name}: -fws / without": (times["loops"][0], times["loops"][1], "the same file without -fws"),
                f"400 loops, {name}: -fws / -fopenmp": (times["loops"][0], times["loops"][2], "the same loops under omp parallel for"),
                f"100 loops, {name}: -fws / without": (times["quarter"][0], times["quarter"][1], "the same file without -fws"),
                f"no loop, {name}: -fws / without": (times["none"][0], times["none"][1], "the same file without -fws")}.items():
            yield compare(f"compile 10,000 lines, {what}", ours, rivals, lambda seconds: seconds * 1e3, "ms", 1.1, rival)


def start_up(run, quick):
    plain, shared = measure.in_turn(7 if quick else 21, lambda: run.run("startup"), lambda: run.run("startup", workshare=True))
    yield difference("MPI_Init: flag on - off", shared, plain, lambda r: r["init_ms"], "ms", 10)


def memory(run, quick):
    options = ["--work", "2ms", "--steps", 1500000, "--repeats", 50 if quick else 200]
    plain, shared = measure.in_turn(3 if quick else 7, lambda: run.run("double_loop", options),
                                    lambda: run.run("double_loop", options, workshare=True))
    lends = min(r["workshare"]["lends"] for r in shared)
    for key in ("rss", "pss"):
        yield difference(f"resident memory a rank ({key.capitalize()}): flag on - off", shared, plain, lambda r: r[f"{key}_kib"],
                         "KiB", 1024, {"least_lends_of_a_run": lends})


GROWTH = (2, 4, 8, 16, 32, 64, 128, 256)
LOOK_NS = 1000      # a thief's look, at most
REPORTED = (64, 256, 1024, 4096)


def growth(run, quick):
    """What grows with the ranks of a node: starting and ending a job whose ranks only call MPI_Init and MPI_Finalize, memory, the window, a thief's look. And with the ranks of the job: its report."""
    rows, looks = [], []
    for ranks in GROWTH[::2] if quick else GROWTH:
        plain, shared = measure.in_turn(1 if quick or ranks > 64 else 3, lambda: run.run("startup", ranks=ranks, bind="none"),
                                        lambda: run.run("startup", ranks=ranks, bind="none", workshare=True))
        looks = [run.run("look_cost", ["--ranks", ranks], ranks=1) for _ in range(3)]
        of = lambda results, key: measure.median_of(results, lambda r: r[key])  # noqa: E731
        rows.append([str(ranks), *(line.us(1e3 * of(results, key)) for key in ("init_ms", "job_ms") for results in (plain, shared)),
                     *(f"{of(results, 'pss_kib'):.0f}" for results in (plain, shared)), f"{of(looks, 'window_kib_per_rank'):.1f}", line.us(of(looks, "look_ns") / 1e3)])
    yield number(f"a thief's look over {rows[-1][0]} ranks without work", [r["look_ns"] for r in looks], "ns", LOOK_NS, None)
    yield line.table("Cost by ranks on one node, most of which share a core", ["ranks", "MPI_Init, off", "on", "whole job, off", "on", "KiB per rank (PSS), off", "on",
                                                                              "window, KiB per rank", "a look"], rows,
                     "off, on: without and with -workshare. The ranks do nothing but MPI_Init and MPI_Finalize. Whole job: from mpirun's start to its end. A look: a thief's, "
                     "where nobody has work.")
    yield line.table("Cost of the report by ranks of the job, simulated", ["ranks", "packed by a rank", "added by rank 0", "all on rank 0", "of it JSON", "MiB on rank 0"],
                     [[str(r["ranks"]), line.us(r["pack_us"]), line.us(r["add_us"]), line.us(1e3 * r["total_ms"]), line.us(1e3 * r["json_ms"]), f"{r['peak_mib']:.0f}"]
                      for r in (run.run("report_cost", ["--ranks", ranks], ranks=1) for ranks in REPORTED)],
                     "The runtime's own code with made-up figures: 64 ranks per node, each with 100 loops and 20 MPI functions. No rank and no message is there.")
