# SPDX-License-Identifier: MIT
"""What Workshare costs apart from the loops: compiling, starting, memory."""
import compile_time
import measure

from .line import compare, difference


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
