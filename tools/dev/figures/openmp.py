# SPDX-License-Identifier: MIT
"""Cores that follow the threads of MPI+OpenMP programs: -workshare-openmp. Sixteen cores are pretended, and threads sleep for their work; where the
machine has sixteen the same is computed, too."""
import heapq
import re

import measure

from . import dlb as rival
from . import line
from .line import compare

CORES = 16
PROGRAM = "openmp_turns"


def late_us(result):
    return result["late_us"]["median"]


def best_deal(work, cores):
    """The integer deal of cores with the least time of the slowest rank: one after the other to whoever is slowest."""
    deal = [1] * len(work)
    slowest = [(-w, r) for r, w in enumerate(work)]
    heapq.heapify(slowest)
    for _ in range(cores - len(work)):
        _, r = heapq.heappop(slowest)
        deal[r] += 1
        heapq.heappush(slowest, (-work[r] / deal[r], r))
    return deal


class Node:
    """16 cores: pretended, with threads that sleep, or real."""

    def __init__(self, run, sleeps):
        self.run_, self.sleeps = run, sleeps
        self.name = "sleeping work" if sleeps else f"{CORES} real cores"

    def __call__(self, ranks, options, mode="off", deal="whole", cliques=1):
        """A run of all ranks with equally many threads; `mode`: -workshare-openmp's."""
        env = {"OMP_NUM_THREADS": str(CORES // ranks)}
        # Threads that spin would keep those of other ranks from the few real cores.
        env.update({"WS_CORES": str(CORES // cliques), "OMP_WAIT_POLICY": "passive"} if self.sleeps else {})
        env.update({"MPIR_CVAR_NUM_CLIQUES": str(cliques)} if cliques > 1 else {})
        flags = ["-workshare-openmp", mode] + (["-workshare-openmp-deal", deal] if mode != "off" and deal != "whole" else [])
        return self.run_.run(PROGRAM, [*options, *(["--sleep"] if self.sleeps else [])], workshare=True, ranks=ranks,
                             bind="none" if self.sleeps else f"core:{CORES // ranks}", env=env, flags=flags)


def nodes(run):
    yield Node(run, True)
    if measure.usable_cores() >= CORES:
        yield Node(run, False)


def deal_text(result):
    return "; ".join(result["workshare"].get("policies", [])).replace("cores ", "").split("; ")[0]


def periods_of(result):
    """Periods that were measured until cores moved for the last time; 0: they never did."""
    found = re.search(r" -> \S+ after (\d+) period", "; ".join(result["workshare"].get("policies", [])))
    return int(found[1]) if found else 0


def synthetic(node, pairs):
    """The paper's figure 4: 2 ranks of 8 threads, messages before and after two loops."""
    rows = []
    for imbalance in (13.33, 26.67, 33.33, 70):
        shares = [1, 1 - imbalance / 100]
        options = ["--shares", ",".join(map(str, shares)), "--zones", 4, "--work", "320ms", "--turns", 45]
        static = ",".join(map(str, best_deal(shares, CORES)))
        plain, best, paper, ours = measure.in_turn(pairs, lambda: node(2, options), lambda: node(2, [*options, "--threads", static]),
                                                   lambda: node(2, options, "balance", "paper"), lambda: node(2, options, "balance"))
        yield compare(f"2 ranks x 8 threads, imbalance {imbalance:g} %, {node.name}: balance / best integer deal", ours, best, late_us, "us", 1.02,
                      f"threads set by the program: {static}")
        yield line.number(f"2 ranks x 8 threads, imbalance {imbalance:g} %, {node.name}: periods measured until the last move", list(map(periods_of, ours)),
                          "periods", 3, measure.median_of(paper, periods_of), "rival: deal=paper")
        rows.append([f"{imbalance:g} %", line.us(measure.median_of(plain, late_us)), static.replace(",", "+"), deal_text(ours[-1]),
                     measure.ratio_of(plain, best, late_us)[0], measure.ratio_of(plain, ours, late_us)[0], measure.ratio_of(plain, paper, late_us)[0]])
    yield line.table(f"Synthetic program, 2 ranks x 8 threads on {CORES} cores, {node.name}: a turn, and how many times faster", ["imbalance", "none", "best deal",
                     "balance", "best deal", "balance", "deal=paper"], rows, "The paper's figure 4. A turn at the end of the run.")


def zones(node, pairs):
    """The paper's figures 5 and 6: zones of unequal size as in BT-MZ, and of equal size."""
    rows = []
    for ranks in (2, 4, 8):
        for spread in (20, 1):  # as BT-MZ; as SP-MZ and LU-MZ
            options = ["--zones", 16, "--spread", spread, "--work", "320ms"]
            work = node(ranks, [*options, "--turns", 3])["work"]
            static = ",".join(map(str, best_deal(work, CORES)))
            long, short = [*options, "--turns", 60], [*options, "--turns", 15]
            plain, data, best, ours = measure.in_turn(pairs, lambda: node(ranks, long), lambda: node(ranks, [*long, "--dealt"]),
                                                      lambda: node(ranks, [*long, "--threads", static]), lambda: node(ranks, long, "auto"))
            brief = [node(ranks, short), node(ranks, short, "auto")]
            if spread > 1:
                yield compare(f"{ranks} ranks, unequal zones, {node.name}: auto / best static deal of processors", ours, best, late_us, "us", 1.03, static)
            else:
                yield compare(f"{ranks} ranks, equal zones, {node.name}: auto / none", ours, plain, late_us, "us", 1.01, "without")
            rows.append([f"{ranks}, {'unequal' if spread > 1 else 'equal'}", deal_text(ours[-1]),
                         *[measure.ratio_of(plain, other, late_us)[0] for other in (data, best, ours)],
                         measure.ratio_of(plain, ours, lambda r: r["seconds"])[0], brief[0]["seconds"] / brief[1]["seconds"]])
    yield line.table(f"Zones on {CORES} cores, {node.name}: how many times faster than without",
                     ["ranks, zones", "deal", "best deal of zones", "best deal of processors", "auto", "60 turns", "15 turns"], rows,
                     "The paper's figures 5 and 6. Turns at the end of the run, then whole runs, with the turns before cores have moved.")


def node_sizes(node, pairs):
    """The paper's figure 7: 8 ranks on nodes of 16, 8 and 4 cores. And on top of it ranks that are assigned to the nodes by their loads, so that each
    node has equally much."""
    options, rows = ["--zones", 16, "--spread", 20, "--work", "320ms", "--turns", 60, "--rows", 24], []
    for cliques in (1, 2, 4):
        runs = [lambda mode=mode, more=more: node(8, [*options, *more], mode, cliques=cliques)
                for mode, more in (("off", []), ("auto", []), ("auto", ["--reorder"]))]
        plain, *others = measure.in_turn(pairs, *runs)
        rows.append([f"{cliques} x {CORES // cliques} cores", *[measure.ratio_of(plain, other, late_us)[0] for other in others]])
    yield line.table(f"8 ranks x 2 threads on nodes of several sizes, {node.name}: how many times faster",
                     ["nodes", "auto", "auto and reordered"], rows, "The paper's figure 7.")


def feeding(run, quick):
    """What it costs to look for turns in the MPI calls of a program: with `balance` their arguments are noted and turns looked for, with `none` neither."""
    def cost(mode):
        return run.run("call_cost", workshare=True, ranks=1, flags=["-workshare-openmp", mode], env={"OMP_NUM_THREADS": "1"})
    without, fed = measure.in_turn(5 if quick else 15, lambda: cost("off"), lambda: cost("balance"))
    for pattern, text in (("loops_ns", "calls of nested loops"), ("chance_ns", "calls without turns")):
        middle, low, high = measure.quartiles(sorted(b[pattern]["min"] - a[pattern]["min"] for a, b in zip(without, fed)))
        yield line.figure(f"looking for turns, {text}: a call", measure.median_of(fed, lambda r: r[pattern]["min"]),
                          measure.median_of(without, lambda r: r[pattern]["min"]), "ns", middle, "<= 60 ns", middle <= 60, [low, high],
                          "rival: without looking", noisy=high - low > 60)


def lend(run, quick):
    """Two real cores, a rank of one thread on each, a loop cut into 32 regions, three quarters of it one rank's."""
    pairs, how = 3 if quick else 9, {"bind": "core", "env": {"OMP_NUM_THREADS": "1"}, "workshare": True}
    for work, most in (("583ms", 1.04), ("58ms", 1.06), ("11.5ms", 1.15)):
        options = ["--shares", "3,1", "--zones", 64, "--work", work, "--turns", 6 if work == "583ms" else 60, "--serial"]
        runs = [lambda: run.run(PROGRAM, options, **how), lambda: run.run(PROGRAM, options, flags=["-workshare-openmp", "lend"], **how),
                lambda: run.run(PROGRAM + "_ws", options, flags=["-workshare-openmp", "share"], **how)]
        if run.dlb:
            with_dlb = {**how, "workshare": False, "env": run.dlb.env(how["env"])}
            runs += [lambda: run.run(rival.PROGRAM, options, **with_dlb),
                     lambda: run.run(rival.PROGRAM, options, **{**with_dlb, "workshare": True, "flags": ["-workshare-victim", "none"]})]
        plain, ours, shared, *others = measure.in_turn(pairs, *runs)
        over = lambda r: r["us"]["median"] / (r["serial_us"]["median"] / 2)  # noqa: E731
        values = sorted(map(over, ours))
        middle, low, high = measure.quartiles(values)
        yield line.figure(f"OpenMP loop in 32 regions, {work}, 2 ranks x 1 thread: lend / perfect half", measure.median_of(ours, lambda r: r["us"]["median"]),
                          measure.median_of(ours, lambda r: r["serial_us"]["median"] / 2), "us", middle, f"<= {most:g}", middle <= most, [low, high],
                          f"without: {measure.median_of(plain, over):.3f}")
        for name, results in zip(("compiled with -fws=openmp: share", "DLB's LeWI", "DLB's LeWI, and ranks that sleep in waits"), (shared, *others)):
            middle, low, high = measure.quartiles(sorted(map(over, results)))
            yield line.figure(f"the same, {work}: {name} / perfect half", measure.median_of(results, lambda r: r["us"]["median"]),
                              measure.median_of(results, lambda r: r["serial_us"]["median"] / 2), "us", middle, "-", None, [low, high], noisy=False)
    options = ["--zones", 64, "--work", "58ms", "--turns", 60]
    plainly = {**how, "workshare": False}
    options += ["--steps", run.run(PROGRAM, options, **plainly)["steps"]]  # the same for all: what is measured anew differs
    without = lambda: run.run(PROGRAM, options, **plainly)  # noqa: E731
    plain, ours, again = measure.in_turn(2 * pairs + 1, without, lambda: run.run(PROGRAM, options, flags=["-workshare-openmp", "auto"], **how), without)
    yield compare("the same, balanced: auto / plain MPI", ours, plain, line.median_us, "us", 1.005, "without -workshare")
    middle, low, high = measure.ratio_of(again, plain, line.median_us)
    yield line.figure("the same, balanced: plain MPI again / plain MPI, which is noise", measure.median_of(again, line.median_us),
                      measure.median_of(plain, line.median_us), "us", middle, "-", None, [low, high], noisy=False)


def openmp(run, quick):
    yield from feeding(run, quick)
    yield from lend(run, quick)
    for node in nodes(run):
        pairs = 1 if quick else 3
        yield from synthetic(node, pairs)
        yield from zones(node, pairs)
        yield from node_sizes(node, pairs)
    missing = []
    if measure.usable_cores() < CORES:
        missing.append([f"computing on {CORES} real cores: the synthetic program, zones, node sizes", f"this machine gives us {measure.usable_cores()} cores"])
    if not run.dlb:
        missing.append(["DLB's LeWI beside `lend`", "no --dlb PREFIX: it is measured where it is installed, and never fetched"])
    if missing:
        yield line.table("Not measured here", ["what", "why"], missing)
