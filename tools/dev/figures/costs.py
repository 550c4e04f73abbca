# SPDX-License-Identifier: MIT
"""What directives cost a loop that nobody helps."""
import measure

from . import line
from .line import compare, figure, number, over

COMPILERS = ("gcc", "clang")


def region_cost(run, quick):
    def results_of(program, **how):
        return [run.run(program, ["--repeats", 200 if quick else 1000], **how) for _ in range(3 if quick else 7)]
    for title, results in (("open + close a region, no thief", results_of("region_cost", workshare=True)),
                           ("the same with the flag off", results_of("region_cost")),
                           ("the same by ws_for", results_of("region_cost_c", workshare=True)),
                           ("the same by ws::for_each", results_of("region_cost_cpp", workshare=True))):
        cost = measure.median_of(results, lambda r: r["open_close_ns"])
        _, low, high = measure.quartiles(sorted(r["open_close_ns"] for r in results))
        yield figure(title, measure.median_of(results, lambda r: r["shared_ns"]), measure.median_of(results, lambda r: r["plain_ns"]),
                     "ns", cost, "<= 60 ns", cost <= 60, [low, high], "rival: the loop without a region", noisy=high - low > 60)


def phase_cost(run, quick):
    """A begin or an end of a named phase."""
    for title, how, most in (("begin or end a named phase", {"workshare": True}, 20), ("the same with 10,000 names", {"workshare": True}, 40),
                             ("the same with the flag off", {}, 5)):
        names = 10000 if "names" in title else 1
        results = [run.run("phase_cost", ["--repeats", 50 if quick else 200, "--names", names], **how) for _ in range(3 if quick else 7)]
        _, low, high = measure.quartiles(sorted(r["call_ns"] for r in results))
        cost = measure.median_of(results, lambda r: r["call_ns"])
        yield figure(title, measure.median_of(results, lambda r: r["phases_ns"]), measure.median_of(results, lambda r: r["plain_ns"]),
                     "ns", cost, f"<= {most} ns", cost <= most, [low, high], "rival: the loop without phases", noisy=high - low > most)


def claim_cost(run, quick):
    """A chunk of one iteration. libomp is no rival on one thread: it hands out the whole loop at once there."""
    options, env = ["--repeats", 50 if quick else 200], {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close", "OMP_WAIT_POLICY": "active"}
    read = lambda r: r["chunk_ns"]["median"]
    def openmp(compiler, threads):
        return lambda: run.run(f"claim_cost_omp_{compiler}", [*options, "--threads", threads], ranks=1, bind="none", env=env)
    compilers = [c for c in COMPILERS if run.has(f"claim_cost_omp_{c}")]
    names = {"gcc": "libgomp", "clang": "libomp"}
    # with enough iterations for the loop to be worth sharing
    for who, ours, threads, rivals in (("alone", options, 1, [c for c in compilers if c == "gcc"]),
                                       ("two cores", ["--iterations", 5000000, "--repeats", 20 if quick else 60, "--helped"], 2, compilers)):
        shared, *others = measure.in_turn(3 if quick else 7, lambda: run.run("claim_cost", ours, workshare=True),
                                          *(openmp(c, threads) for c in rivals))
        taken = [r["workshare"]["iterations_stolen"] / (r["iterations"] * (r["repeats"] + 10)) for r in shared]
        for compiler, results in zip(rivals, others):
            yield compare(f"a chunk of 1, {who}: workshare / {names[compiler]} dynamic", shared, results, read, "ns", 1,
                          f"omp parallel for schedule(dynamic, 1), {threads} thread(s); guests took {100 * min(taken):.0f} to {100 * max(taken):.0f} %")


def look(run, quick):
    """A look over a node without work, as a blocked rank takes it all the time. That it writes nothing the program checks."""
    values = [run.run("look_cost", ["--ranks", 128], ranks=1)["look_ns"] for _ in range(3 if quick else 7)]
    yield number("a thief's look over 128 ranks without work", values, "ns", 1000, None)


def of_each_compiler(run, program, options, repeats):
    """(compiler, results) for each compiler that the program was built with."""
    for compiler in COMPILERS:
        if run.has(f"{program}_{compiler}"):
            yield compiler, [run.run(f"{program}_{compiler}", options, workshare=True) for _ in range(repeats)]


def directive(run, quick):
    options = ["--repeats", 100 if quick else 300]
    for compiler, results in of_each_compiler(run, "directive_cost", options, 2 if quick else 5):
        for part, name in (("compute", "compute-bound"), ("memory", "memory-bound"), ("short_body", "short body")):
            yield over(f"{name} loop, {compiler}: ws / omp, one thread", results, part, "ws", "omp", 1.005, "no thief")
            yield over(f"{name} loop, {compiler}: ws / no directive", results, part, "ws", "plain", 1.01, "no thief")


ALIGNMENTS = ("as_is", "loops16", "loops32", "loops64")


def in_alignments(run, program, builds, options, repeats):
    """For each compiler {build: results}: where the linker puts a loop makes it now faster, now slower, so a figure is the median over builds that differ in that."""
    for compiler in COMPILERS:
        found = {build: [run.run(f"{program}_{build}_{compiler}", options, workshare=True) for _ in range(repeats)]
                 for build in builds if run.has(f"{program}_{build}_{compiler}")}
        if found:
            yield compiler, found


def judged_over_builds(what, compiler, found, part):
    results = [r for results in found.values() for r in results]
    for rival, name, most in (("omp", "omp, one thread", 1.005), ("plain", "no directive", 1.01)):
        yield over(f"{what}, {compiler}, {len(found)} alignments: ws / {name}", results, part, "ws", rival, most, "no thief")


def ratios_of_builds(compiler, found, part, name):
    """Rows of a table: what each build has by itself, and the same plain function at another address."""
    def ratio(results, rival):
        return measure.median_of(results, lambda r: r[part]["over"][rival][1])
    for build, results in found.items():
        yield [name, compiler, build, line.us(measure.median_of(results, lambda r: r[part]["us"]["plain"])), ratio(results, "plain"), ratio(results, "omp"),
               measure.median_of(results, lambda r: r[part]["over"]["plain"][1] / r[part]["over"]["again"][1])]


ADDRESSES = ["compiler", "build", "plain", "ws / plain", "ws / omp", "plain elsewhere / plain"]
ADDRESSES_NOTE = "The last column is the same plain function at another address: what lies within that is not the directive's. Builds: as it is; loops aligned to 16, 32, 64"


def product(run, quick):
    """Sparse products: an inner loop of a few instructions."""
    rows = []
    for compiler, found in in_alignments(run, "product_cost", (*ALIGNMENTS, "avx"), ["--repeats", 60 if quick else 300], 1 if quick else 3):
        for part in ("rows_3", "rows_27", "rows_100", "rows_mixed"):
            name = part.replace("_", " of ")
            yield from judged_over_builds(f"product, {name}", compiler, found, part)
            rows += ratios_of_builds(compiler, found, part, name)
    yield line.table("Sparse product that nobody helps, ratios", ["entries", *ADDRESSES], rows, f"{ADDRESSES_NOTE}; with AVX.")


def assembly(run, quick):
    options = ["--repeats", 100 if quick else 300]
    for compiler in COMPILERS:
        if not run.has(f"assembly_{compiler}"):
            continue
        ours, rivals = measure.in_turn(2 if quick else 5, lambda: run.run(f"assembly_{compiler}", options, workshare=True),
                                       lambda: run.run(f"assembly_omp_{compiler}", options, workshare=True))
        for part, name in (("assembly", "assembly"), ("scatter", "bare additions")):
            yield over(f"{name}, {compiler}: ws atomic / plain addition", ours, part, "ws_atomic", "ws_add", 1.05, "no thief")
            us = [[r[part]["us"][version] for r in results] for results, version in ((ours, "ws_atomic"), (rivals, "omp_atomic"))]
            yield compare(f"{name}, {compiler}: ws atomic / omp atomic", *us, float, "us", 1, "omp atomic, one thread")


def class_loops(run, quick):
    """Many short loops, large and small ones."""
    rows = []
    for compiler, found in in_alignments(run, "class_loops", ALIGNMENTS, ["--repeats", 100 if quick else 300], 1 if quick else 3):
        yield from judged_over_builds("34 loops over a class", compiler, found, "step")
        rows += ratios_of_builds(compiler, found, "step", "a step")
    yield line.table("Loops over a class that nobody helps, ratios", ["loops", *ADDRESSES], rows, f"{ADDRESSES_NOTE}.")


def openmp(run, quick):
    """Loops of OpenMP's from a fiftieth of a microsecond to milliseconds, made ours by -fws=openmp, in one rank."""
    options = ["--repeats", 60 if quick else 300]
    parts = {"tiny": "64 multiply-adds", "small": "1,000", "middle": "4,000", "short_body": "60,000",
             "compute": "compute-bound", "memory": "memory-bound"}
    for compiler in COMPILERS:
        for threads in (1, 2):
            if not run.has(f"openmp_cost_{compiler}"):
                continue
            results = [run.run(f"openmp_cost_{compiler}", options, workshare=True, ranks=1, bind="none",
                               env={"OMP_NUM_THREADS": str(threads)}) for _ in range(2 if quick else 5)]
            for part, name in parts.items():
                yield over(f"omp parallel for, {name}, {compiler}, {threads} thread(s): -fws=openmp / OpenMP", results,
                           part, "ws", "omp", 1.01, "no thief")
