# SPDX-License-Identifier: MIT
"""Unmodified MPI+OpenMP programs, whose waiting ranks help in open parallel regions: -workshare-openmp=share."""
import measure

from . import line
from .line import compare, difference, median_us
from .loops import OPENMP, Limit, of_limit, over_perfect, perfect_line, with_openmp

LENGTHS = (("1s", 1.005), ("37ms", 1.005), ("3.7ms", 1.01), ("600us", 1.025), ("275us", 1.08))
SHORT_PAIRS = 15    # of runs of 0.2 s: where a process has its heap makes a region of a task of libgomp's last 0.5 to 0.9 us
VIRTUAL = (2, 4, 8, 16)
SCHEDULES = (("static", ["--static"]), ("dynamic", []), ("guided", ["--guided"]))


def helped(run, compiler, options):
    """2 ranks of the program as the compiler makes it with -fopenmp, each with one thread of its own."""
    return run_helped(run, f"double_loop_unmodified_{compiler}", options)


def run_helped(run, program, options, mode="share", env=()):
    return run.run(program, options, workshare=True, env={"OMP_NUM_THREADS": "1", **dict(env)}, flags=["-workshare-openmp", mode])


def by_threads(run, quick):
    """What the number of virtual threads does to loops that one rank helps with, and to regions that nobody waits for."""
    rows = []
    options = ["--warmup", 8, "--steps", measure.calibrated(run, "3.7ms"), "--repeats", 40 if quick else 200]
    for threads in VIRTUAL:
        mode = f"share:{threads}"
        rows.append([str(threads)])
        for compiler in (c for c in OPENMP if run.has(f"double_loop_unmodified_{c}")):
            for _, flags in SCHEDULES:
                runs = measure.in_turn(2 if quick else 5, lambda: run_helped(run, f"double_loop_unmodified_{compiler}", [*options, *flags], mode))[0]
                rows[-1].append(measure.median_of(runs, over_perfect))
            alone = lambda **how: run.run(f"one_region_{compiler}", ["--short", "--repeats", 200], ranks=1, env={"OMP_NUM_THREADS": "1"}, **how)  # noqa: E731
            plain, ours = measure.in_turn(3 if quick else 9, alone, lambda: alone(workshare=True, flags=["-workshare-openmp", mode]))
            ns = [measure.median_of(r, lambda r: median_us(r) * 1e3 / r["regions"]) for r in (ours, plain)]
            rows[-1].append(f"{ns[0] - ns[1]:.0f} ns")
    names = [OPENMP[c] for c in OPENMP if run.has(f"double_loop_unmodified_{c}")]
    return line.table("Virtual threads per region: time over the perfect half, loop of 3.7 ms; cost of a short region that nobody waits for",
                      ["V", *(f"{n}, {s}" for n in names for s in (*(name for name, _ in SCHEDULES), "short region"))], rows,
                      "2 ranks with 1 thread each; short region: one rank, with share:V less without.")


def sleeping(run, compiler, options):
    """On 16 pretended cores: a rank's threads are its own; workers lend the cores of those of a rank that waits."""
    return [run.run(f"double_loop_unmodified_{compiler}", ["--iterations", 512, "--sleep", "4.096s", "--cores", 16, "--warmup", 2, *options],
                    workshare=True, bind="none", env={"WS_CORES": "16", "OMP_NUM_THREADS": "8"},
                    flags=["-workshare-openmp", "share", "-workshare-workers", 7])]


def one_process(run, program, options, env=()):
    """The same binary without Workshare in one process of 2 threads, bound to cores and never asleep."""
    return run.run(program, options, ranks=1, bind="none", env={"OMP_NUM_THREADS": "2", "OMP_PLACES": "cores", "OMP_PROC_BIND": "close",
                                                                "OMP_WAIT_POLICY": "active", **dict(env)})


def codes(run, quick):
    """One region around many loops, or with threads that spin, by rank 0 alone; conjugate gradients, of which one rank has a share."""
    pairs, rows = 2 if quick else 7, []
    for compiler in (c for c in OPENMP if run.has(f"one_region_{c}")):
        def beside(name, program, options, most, directive, more=(), pairs=pairs, mode="share"):
            """Plain, helped, the directive if there is such a program, and in one process: a row, and a line if there is a target."""
            one_thread = {"OMP_NUM_THREADS": "1", **dict(more)}
            runs = [lambda: run.run(program, options, env=one_thread), lambda: run_helped(run, program, options, mode, more),
                    lambda: one_process(run, program, options, more)] + ([lambda: run.run(directive, options, workshare=True)] if directive else [])
            plain, ours, one, *by_hand = measure.in_turn(pairs, *runs)
            rows.append([name, OPENMP[compiler], *(line.us(measure.median_of(r, median_us)) for r in (plain, ours, *by_hand)),
                         *([] if directive else [None]), line.us(measure.median_of(one, median_us))])
            if most:
                yield compare(f"unmodified, {name}, {OPENMP[compiler]}: an idle rank helps / 2 threads", ours, one, median_us, "us", most,
                              "OpenMP with 2 threads in one process" + ", guided" * bool(more))
        for name, options in (("many loops in one region, 70 us each", ["--steps", 500]), ("many loops in one region, 700 us each", ["--steps", 5000])):
            yield from beside(name, f"one_region_{compiler}", [*options, "--repeats", 20 if quick else 60], 1.1, f"one_region_ws_{compiler}")
        # Without a target: it is not shared, so two threads have one core, and those that wait by spinning are slow there in any mode.
        yield from beside("two threads that spin, in one region", f"one_region_{compiler}", ["--flags", "--steps", 5000, "--repeats", 20 if quick else 60],
                          None, None, pairs=1 if quick else 3, mode="share:2")
        yield from beside("tasks, 13 us each", f"one_region_{compiler}", ["--tasks", "--steps", 5000, "--repeats", 60], 1.1, None, mode="lend")
        alone = lambda **how: run.run(f"one_region_{compiler}", ["--short", "--repeats", 200], ranks=1, env={"OMP_NUM_THREADS": "1"}, **how)  # noqa: E731
        plain, ours = measure.in_turn(SHORT_PAIRS, alone, lambda: alone(workshare=True, flags=["-workshare-openmp", "share"]))
        yield difference(f"unmodified, a short region that nobody waits for, {OPENMP[compiler]}: share - without", ours, plain,
                         lambda r: median_us(r) * 1e3 / r["regions"], "ns", 100, "one rank of one thread")
        computes = lambda **how: run.run(f"one_region_{compiler}", ["--short", "--tasks", "--repeats", 100], env={"OMP_NUM_THREADS": "1"}, **how)  # noqa: E731
        plain, ours = measure.in_turn(SHORT_PAIRS, computes, lambda: computes(workshare=True, flags=["-workshare-openmp", "share"]))
        yield difference(f"unmodified, a short region of a task that nobody waits for, {OPENMP[compiler]}: share - without", ours, plain,
                         lambda r: median_us(r) * 1e3 / r["regions"], "ns", 100, "2 ranks of one thread, both of which compute")
        for share, most in ((10, None), (25, 1.05), (50, None)):
            yield from beside(f"conjugate gradients, {share} % of the rows", f"gradients_unmodified_{compiler}",
                              ["--share", share, "--repeats", 8 if quick else 20, "--warmup", 2], most, "gradients_ws", {"OMP_SCHEDULE": "guided"})
    yield line.table("Unmodified codes of many loops", ["program", "library", "plain", "helped", "ws for", "one process"], rows,
                     "plain, helped, ws for: 2 ranks with 1 thread each; one process: OpenMP with 2 threads.")


def unmodified(run, quick):
    rows, limit = [], Limit(run, quick)
    for text, most in LENGTHS:
        us = measure.microseconds(text)
        if quick and us > 5e5:      # as many seconds as all others: one library, and nothing beside it
            options = ["--warmup", 2, "--repeats", 2, "--steps", int(measure.calibrated(run, "37ms") * us / measure.microseconds("37ms"))]
            for schedule, flags in SCHEDULES if run.has("double_loop_unmodified_gcc") else ():
                ours, by_hand = measure.in_turn(1, lambda: helped(run, "gcc", [*options, *flags]), lambda: limit.by_hand(options))
                yield perfect_line(f"unmodified double loop, libgomp, {schedule}, {text}: workshare / perfect half", ours, most, measure.median_of(by_hand, limit.over_perfect))
                yield limit.line(f"unmodified double loop, libgomp, {schedule}, {text}: workshare / what the machine leaves", ours, by_hand, of_limit(us))
                rows.append([text, "libgomp", schedule, over_perfect(ours[0]), limit.over_perfect(by_hand[0]), None, None, None])
            continue
        options = ["--warmup", 3 if us > 5e5 else 8, "--steps", measure.calibrated(run, text),
                   "--repeats", max(3, min(1000, int((0.15e6 if quick else 0.4e6) / us / 1.7)))]
        pairs = 1 if us > 5e5 else 2 if quick else 5
        plain, directive = measure.in_turn(pairs, lambda: run.run("double_loop", options), lambda: run.run("double_loop", options, workshare=True))
        for compiler in (c for c in OPENMP if run.has(f"double_loop_unmodified_{c}") and run.has(f"double_loop_omp_{c}")):
            for schedule, flags in SCHEDULES:
                ours, by_hand, one = measure.in_turn(pairs, lambda: helped(run, compiler, [*options, *flags]), lambda: limit.by_hand(options),
                                                     lambda: with_openmp(run, compiler, "double_loop", [*options, *flags]))
                yield perfect_line(f"unmodified double loop, {OPENMP[compiler]}, {schedule}, {text}: workshare / perfect half", ours, most, measure.median_of(by_hand, limit.over_perfect))
                yield limit.line(f"unmodified double loop, {OPENMP[compiler]}, {schedule}, {text}: workshare / what the machine leaves", ours, by_hand, of_limit(us))
                rows.append([text, OPENMP[compiler], schedule, measure.median_of(ours, over_perfect), measure.median_of(by_hand, limit.over_perfect),
                             *(measure.median_of(results, over_perfect) for results in (plain, directive, one))])
    options = ["--balanced", "--steps", measure.calibrated(run, "5ms", "--balanced"), "--no-serial", "--repeats", 50 if quick else 200]
    for compiler in (c for c in OPENMP if run.has(f"double_loop_unmodified_{c}")):
        balanced = lambda **how: run.run(f"double_loop_unmodified_{compiler}", options, env={"OMP_NUM_THREADS": "1"}, **how)  # noqa: E731
        plain, ours, shared = measure.in_turn(5 if quick else 11, balanced, lambda: balanced(workshare=True), lambda: balanced(workshare=True, flags=["-workshare-openmp", "share"]))
        yield compare(f"unmodified balanced loop, 5 ms, {OPENMP[compiler]}: -workshare and nothing else / without", ours, plain, median_us, "us", 1.01,
                      "regions are shared where no program can tell")
        yield compare(f"unmodified balanced loop, 5 ms, {OPENMP[compiler]}: share / without", shared, plain, median_us, "us", 1.01, "1000 chunks of one iteration")
    for compiler in (c for c in OPENMP if run.has(f"double_loop_unmodified_{c}")):
        for schedule, flags in SCHEDULES:
            ours = sleeping(run, compiler, [*flags, "--repeats", 3 if quick else 8])
            yield perfect_line(f"2 ranks x 8 threads, 7 workers each, {OPENMP[compiler]}, {schedule}, sleeping work: workshare / perfect", ours, 1.03)
    yield by_threads(run, quick)
    yield line.table("Unmodified double loop: time over the perfect half", ["work", "library", "schedule", "unmodified", "limit", "plain", "ws for", "one process"],
                     rows, "2 ranks with 1 thread each; limit: cut by hand, and half of a bare hand-over; plain: without -workshare; ws for: the directive, recompiled; one process: OpenMP with 2 threads.")
