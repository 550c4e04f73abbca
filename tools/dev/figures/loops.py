# SPDX-License-Identifier: MIT
"""Loops that ranks share: how near to perfect, and what it costs those that need no help."""
import measure

from . import line
from .line import compare, figure, median_us


# (work of the whole loop, most of ours / perfect, least of plain / ours): None where only the table shows it
LENGTHS = (("1s", 1.015, None), ("100ms", 1.015, None), ("20ms", 1.015, None), ("5ms", 1.05, None), ("2.2ms", 1.05, None), ("1ms", 1.02, None),
           ("450us", 1.03, None), ("200us", 1.04, 1.3), ("100us", None, 1.3), ("50us", None, 1), ("20us", None, 1))
OPENMP = {"gcc": "libgomp", "clang": "libomp"}


def of_limit(us):
    """Most of ours / what the machine leaves: in less than a millisecond a guest's cold caches and the two ends count for more."""
    return 1.01 if us >= 1e3 else 1.05


def over_perfect(result):
    return median_us(result) / result["perfect_us"]


def with_openmp(run, compiler, program, options, threads=2):
    """The same loop in one process, its threads bound to cores and never asleep."""
    return run.run(f"{program}_omp_{compiler}", options, ranks=1, bind="none",
                   env={"OMP_NUM_THREADS": str(threads), "OMP_PLACES": "cores", "OMP_PROC_BIND": "close", "OMP_WAIT_POLICY": "active"})


class Limit:
    """What the machine leaves of the perfect half: the loop cut into equal work by hand, a plain MPI program whose ranks both compute all the time; and, as a
    core that is lent does not compute meanwhile, half of what the kernel takes to hand one over and back (`handover`: the bare futex)."""

    def __init__(self, run, quick):
        self.run = run
        bare = [run.run("handover", ["--waited", "100us", "--repeats", 40 if quick else 100]) for _ in range(2 if quick else 5)]
        if any(r["there_us"] is None for r in bare):
            raise measure.Failure("handover: the system refused a process")
        self.there, self.back = (measure.median_of(bare, lambda r: r[way]["median"]) for way in ("there_us", "back_us"))

    def by_hand(self, options):
        return self.run.run("double_loop_plain", [*options, "--by-hand"])

    def us(self, by_hand):
        return median_us(by_hand) + (self.there + self.back) / 2

    def over_perfect(self, by_hand):
        return self.us(by_hand) / by_hand["perfect_us"]

    def line(self, title, results, by_hand, most):
        """Both over their own perfect halves, run by run: they were made in turn."""
        ratio, low, high = measure.quartiles(sorted(over_perfect(a) / self.over_perfect(b) for a, b in zip(results, by_hand)))
        return figure(title, measure.median_of(results, median_us), measure.median_of(by_hand, self.us), "us", ratio, f"<= {most:g}", ratio <= most, [low, high],
                      f"limit: cut by hand, and half of a bare hand-over of {self.there:.1f} us there and {self.back:.1f} back")


def perfect_line(title, results, most, possible=1.0):
    """Each run over its own perfect: the serial runs alternate with the parallel ones there. `possible`: what the machine leaves, as a
    multiple of the perfect half; if this misses the target, so that no way to lend a core could reach it, the line is only measured."""
    ratio, low, high = measure.quartiles(sorted(map(over_perfect, results)))
    reachable = possible <= most
    return figure(title, measure.median_of(results, median_us), measure.median_of(results, lambda r: r["perfect_us"]), "us", ratio,
                  f"<= {most:g}" if reachable else "", ratio <= most if reachable else None, [low, high])


def double_loop(run, quick):
    rows = []
    compilers = [c for c in OPENMP if run.has(f"double_loop_omp_{c}")]
    kinds = [(c, kind, option) for c in compilers for kind, option in (("dynamic", []), ("guided", ["--guided"])) if c == "gcc" or not option]
    limit = Limit(run, quick)
    for text, most, least in LENGTHS[2 if quick else 0:]:
        us = measure.microseconds(text)
        repeats = max(3, min(1000, int((0.15e6 if quick else 0.4e6) / us / 1.7)))
        options = ["--warmup", 1 if us > 5e4 else 5, "--repeats", repeats,
                   "--steps", measure.calibrated(run, text)]
        pairs = 2 if us > 5e4 else 3 if quick else 5
        plain, shared, by_hand, *rivals = measure.in_turn(
            pairs, lambda: run.run("double_loop", options), lambda: run.run("double_loop", options, workshare=True), lambda: limit.by_hand(options),
            *(lambda c=c, option=option: with_openmp(run, c, "double_loop", [*options, *option]) for c, _, option in kinds))
        rows.append([text, *(line.us(measure.median_of(results, median_us)) for results in (plain, shared, *rivals)),
                     line.us(measure.median_of(shared, lambda r: r["perfect_us"])),
                     measure.median_of(shared, over_perfect), measure.median_of(by_hand, limit.over_perfect),
                     *(measure.median_of(r, over_perfect) for r in rivals), measure.ratio_of(plain, shared, median_us)[0]])
        if most:
            yield perfect_line(f"double loop, {text}: workshare / perfect half", shared, most, measure.median_of(by_hand, limit.over_perfect))
            yield limit.line(f"double loop, {text}: workshare / what the machine leaves", shared, by_hand, of_limit(us))
        if least:
            yield line.faster(f"double loop, {text}: plain / workshare", shared, plain, median_us, "us", least, "without -workshare")
        if us >= 1e3:
            for (compiler, kind, _), results in zip(kinds, rivals):
                yield compare(f"double loop, {text}: workshare / {OPENMP[compiler]} {kind}, 2 threads", shared, results, median_us, "us",
                              None, f"omp parallel for schedule({kind}) in one process")
    names = [f"{OPENMP[c]} {kind}" for c, kind, _ in kinds]
    yield line.table("Double loop: lengths", ["work", "plain", "workshare", *names, "perfect", "workshare / perfect", "limit / perfect",
                                              *(f"{n} / perfect" for n in names), "plain / workshare"], rows,
                     "work: of the whole loop on one core. 2 ranks; OpenMP: 2 threads of one process. limit: the loop cut by hand, and half of a bare hand-over, "
                     f"{limit.there:.1f} us there and {limit.back:.1f} back.")


SHAPES = ("rising", "falling", "flat", "random", "steep")
COUNTS = (32, 100, 1000, 10000, 100000)


def tails(run, quick):
    """How far from perfect the end of a region is when one rank has all the work, for any course of the cost."""
    rows, possible = [], lambda r: max(r["perfect_us"], r["in_order_us"])
    limit = lambda r: median_us(r) / possible(r)  # noqa: E731
    steps, machine = measure.calibrated(run, "20ms"), Limit(run, quick)
    rivals = [("libgomp dynamic", []), ("libgomp guided", ["--guided"])][:1 if quick else 2] if run.has("double_loop_omp_gcc") else []
    for shape in SHAPES:
        worst = None
        for count in COUNTS[::2] if quick else COUNTS:
            if shape == "steep" and count < 1000:
                continue    # one iteration would be most of the loop
            options = ["--shape", shape, "--iterations", count, "--steps", steps, "--repeats", 10 if quick else 20]
            # What the machine leaves does not depend on the count: it is seen where a cut by hand can be equal.
            fine = [*options, "--iterations", COUNTS[-2]]
            ours, by_hand, *others = measure.in_turn(1 if quick else 2, lambda: run.run("double_loop", [*options, "--one-owner"], workshare=True),
                                                     lambda: machine.by_hand(fine),
                                                     *(lambda how=how: with_openmp(run, "gcc", "double_loop", [*options, *how]) for _, how in rivals))
            rows.append([f"{shape}, {count}", *(line.us(measure.median_of(r, median_us)) for r in (ours, *others)),
                         line.us(measure.median_of(ours, lambda r: r["perfect_us"])),
                         *(measure.median_of(r, limit) for r in (ours, *others)), measure.median_of(by_hand, machine.over_perfect)])
            if worst is None or measure.median_of(ours, limit) > measure.median_of(worst[1], limit):
                worst = count, ours, by_hand
        count, ours, by_hand = worst
        ratio, low, high = measure.quartiles(sorted(map(limit, ours)))
        reachable = measure.median_of(by_hand, machine.over_perfect) <= 1.02
        yield figure(f"tail, cost {shape}: workshare / limit, worst of 32 to 100000 iterations", measure.median_of(ours, median_us),
                     measure.median_of(ours, possible), "us", ratio, "<= 1.02" if reachable else "", ratio <= 1.02 if reachable else None, [low, high],
                     f"worst at {count} iterations")
        ratio, low, high = measure.quartiles(sorted(limit(a) / machine.over_perfect(b) for a, b in zip(ours, by_hand)))
        yield figure(f"tail, cost {shape}: workshare / limit / what the machine leaves", measure.median_of(ours, median_us),
                     measure.median_of(ours, possible) * measure.median_of(by_hand, machine.over_perfect), "us", ratio, "<= 1.02", ratio <= 1.02, [low, high],
                     f"worst at {count} iterations; limit: cut by hand, and half of a bare hand-over")
    names = [name for name, _ in rivals]
    yield line.table("Tails: one rank has a loop of 20 ms", ["cost, iterations", "workshare", *names, "perfect half", "workshare / limit",
                                                            *(f"{n} / limit" for n in names), "machine"], rows,
                     "limit: perfect half, or what whole iterations in rising order allow with 2 cores, if that is more; machine: what it leaves of the perfect half.")


def chunks(run, quick):
    """The paper's figure 3: a balanced loop in chunks of 1 to 128 iterations."""
    rows, worst = [], None
    steps = measure.calibrated(run, "5ms", "--balanced")
    for chunk in (1, 8, 128) if quick else (1, 2, 4, 8, 16, 32, 64, 128):
        options = ["--balanced", "--steps", steps, "--chunk", chunk, "--repeats", 30 if quick else 60]
        plain, shared = measure.in_turn(3, lambda: run.run("double_loop", options), lambda: run.run("double_loop", options, workshare=True))
        ratio = measure.ratio_of(shared, plain, median_us)[0]
        rows.append([str(chunk), line.us(measure.median_of(plain, median_us)), line.us(measure.median_of(shared, median_us)), ratio])
        if worst is None or ratio > worst[0]:
            worst = ratio, chunk, shared, plain
    _, chunk, shared, plain = worst
    yield compare("balanced loop, worst of chunks 1 to 128: flag on / off", shared, plain, median_us, "us", 1.003, f"worst at chunk {chunk}")
    yield line.table("Balanced loop of 5 ms, schedule(dynamic, chunk)", ["chunk", "flag off", "flag on", "on / off"], rows,
                     "1000 iterations, 2 ranks: the paper's figure 3.")


def balanced_loop(run, quick):
    options = ["--balanced", "--repeats", 50 if quick else 200]
    options += ["--steps", measure.calibrated(run, "5ms", "--balanced")]
    plain, shared, unannotated = measure.in_turn(
        3 if quick else 11, lambda: run.run("double_loop", options), lambda: run.run("double_loop", options, workshare=True),
        lambda: run.run("double_loop_plain", options))
    yield compare("balanced loop, 5 ms: flag on / off", shared, plain, median_us, "us", 1.003, "flag off")
    yield compare("balanced loop, 5 ms: flag off / unannotated", plain, unannotated, median_us, "us", None, "built without -fws")


def short_loops(run, quick):
    options = ["--repeats", 100 if quick else 300]
    plain, shared, unannotated = measure.in_turn(
        3 if quick else 11, lambda: run.run("short_loops", options), lambda: run.run("short_loops", options, workshare=True),
        lambda: run.run("short_loops_plain", options))
    loops = plain[0]["loops"]
    yield compare(f"{loops} short loops a step: flag on / off", shared, plain, median_us, "us", 1.01, "flag off")
    yield compare(f"{loops} short loops a step: flag off / unannotated", plain, unannotated, median_us, "us", None, "built without -fws")
