# SPDX-License-Identifier: MIT
"""Stealing: the paper's figures 2 to 7. It had nodes of 24 to 64 cores; ours are pretended where more than the machine's are needed."""
import measure
from figures import line, loops, programs, sleeping
from figures.line import median_us

from . import chart

TITLE = "Workshare"
PAPER = ("T. Dionisi, S. Bouhrour, J. Jaeger, P. Carribault, M. Pérache: Enhancing Load-Balancing of MPI Applications with Workshare. Euro-Par 2021. The paper gives most of its "
         "figures as pictures; its numbers are those of its text. Its plain runs spin in MPI on cores of their own; ours, too, except sleeping work, where "
         "both wait asleep.")
PROGRAMS = ("chain_ws", "chain_plain", "double_loop", "double_loop_plain", "gradients_ws", "gradients_plain", "triangles", "triangles_plain")
CORES = sleeping.CORES


def pretend(nodes):
    """Sixteen cores on that many nodes."""
    return {"WS_CORES": str(CORES // nodes), **({"MPIR_CVAR_NUM_CLIQUES": str(nodes)} if nodes > 1 else {})}


def faster(plain, shared, read=median_us):
    return measure.ratio_of(plain, shared, read)[0]


def double_loop(run, quick):
    """Figure 2, on one node and on four, and figure 5 on the right: over the number of nodes."""
    options, how, rows = sleeping.options_of(quick), {"ranks": CORES, "bind": "none", "workshare": True}, []
    for nodes in (1, 2, 4, 8):
        plain, shared = measure.in_turn(1 if quick else 2, lambda: run.run("double_loop_plain", options, env=pretend(nodes), **how),
                                        lambda: run.run("double_loop", options, env=pretend(nodes), **how))
        rows.append([f"{nodes} x {CORES // nodes}", line.us(measure.median_of(plain, median_us)), line.us(measure.median_of(shared, median_us)),
                     faster(plain, shared), sleeping.possible(CORES, nodes)])
        if nodes in (1, 4):
            where = f"{nodes} node{'s' if nodes > 1 else ''}, sleeping work"
            yield chart.bars(f"workshare-{nodes}-node{'s' if nodes > 1 else ''}", f"Double loop, 16 ranks, {where}", "rank", "ms until its own loop is done", range(CORES),
                             [("no stealing", [us / 1e3 for us in plain[-1]["rank_us"]]), ("workshare", [us / 1e3 for us in shared[-1]["rank_us"]])])
    yield line.table("Double loop, 16 ranks on nodes of several sizes, sleeping work", ["nodes", "no stealing", "workshare", "times as fast", "possible"], rows,
                     "The paper's figures 2 and 5 (right). Paper: on one node the last rank is done \"nearly twice as fast\", on four the times grow more slowly "
                     "than without; miniFE wins less the more nodes there are.")


def chunks(run, quick):
    """Figure 3."""
    for item in loops.chunks(run, quick):
        if "table" in item:
            yield chart.lines("workshare-chunks", "Balanced loop: with -workshare / without", "iterations a chunk", "ratio", [r[0] for r in item["rows"]],
                              [("workshare", [r[3] for r in item["rows"]]), ("paper: at most", [1.02] * len(item["rows"]))])
            item = {**item, "note": "The paper's figure 3, on 2 cores. Paper: below 2 %, on 16 cores."}
        yield item


def imbalance(run, quick):
    """Figures 4 and 5 on the left: time over that of equal parts."""
    pairs = 3 if quick else 7
    for name, program, fixed, option, values, paper in (
            ("LULESH-like chain of short loops, 30^3", "chain", ["--side", 30, "--steps", 4], "--uneven", (1, 2, 4), "The paper's figure 4"),
            ("miniFE-like conjugate gradients, 48^3", "gradients", [], "--share", (50, 35, 20, 10), "The paper's figure 5 (left)")):
        rows = []
        for value in values:
            options = [*fixed, option, value, "--repeats", 6 if quick else 15]
            plain, shared = measure.in_turn(pairs, lambda: run.run(f"{program}_plain", options), lambda: run.run(f"{program}_ws", options, workshare=True))
            perfect = lambda r: sum(r["useful_us"]) / len(r["useful_us"])  # noqa: E731
            equal = measure.median_of(plain, perfect)
            rows.append([f"{100 * (measure.median_of(plain, programs.possible) - 1):.0f} %", line.us(equal), measure.median_of(plain, lambda r: median_us(r) / perfect(r)),
                         measure.quartiles(sorted(median_us(s) / perfect(p) for p, s in zip(plain, shared)))[0], faster(plain, shared)])
        yield chart.lines(f"workshare-{program}", f"{name}: time / equal parts", "imbalance", "ratio", [r[0] for r in rows],
                          [("plain MPI", [r[2] for r in rows]), ("workshare", [r[3] for r in rows])])
        yield line.table(f"{name}, 2 ranks on 2 cores", ["imbalance", "equal parts", "plain / equal parts", "workshare / equal parts", "times as fast"], rows,
                         f"{paper}. Paper: plain MPI is slower with each step of imbalance, \"the performance stays constant\" with Workshare. Imbalance: how much longer the longest "
                         "rank computes than the mean.")


def workers(run, quick):
    """Figure 6: the double loop, and triangles on the real cores."""
    for item in sleeping.workers(run, quick):
        if "table" in item:
            yield chart.bars("workshare-workers", "Ranks x workers, 16 cores, sleeping work: time / perfect", "layout", "ratio", [r[0] for r in item["rows"]],
                             [("time / perfect", [r[2] for r in item["rows"]])])
            item = {**item, "note": item["note"] + " Paper: with Workshare each layout takes the same time, with OpenMP only that of one rank does."}
        yield item
    options = ["--scale", 15 if quick else 16, "--repeats", 10]
    threads = {"OMP_NUM_THREADS": "2", "OMP_SCHEDULE": "dynamic", "OMP_PLACES": "cores", "OMP_PROC_BIND": "close", "OMP_WAIT_POLICY": "active"}
    kinds = (("2 ranks, plain MPI", lambda: run.run("triangles_plain", options)), ("2 ranks, workshare", lambda: run.run("triangles", options, workshare=True)),
             ("1 rank with 1 worker", lambda: run.run("triangles", options, workshare=True, ranks=1, bind="none", flags=["-workshare-workers", 1])),
             ("libgomp, 1 x 2 threads", lambda: run.run("triangles_omp", options, ranks=1, bind="none", env=threads)))
    results = measure.in_turn(3 if quick else 7, *(kind[1] for kind in kinds))
    serial = results[0]
    yield line.table("Triangle counting on 2 cores", ["layout", "time", "/ half the serial time"],
                     [[kind[0], line.us(measure.median_of(r, median_us)),
                       measure.quartiles(sorted(median_us(a) / (b["serial_us"]["median"] / 2) for a, b in zip(r, serial)))[0]] for kind, r in zip(kinds, results)],
                     "The paper's figure 6 (right), on a Kronecker graph.")


def layouts_on_nodes(run, quick):
    """Figure 7: ranks with workers, on one node and over nodes; the double loop in miniFE's place, as that much of it can be computed by sleeping."""
    rows, options = [], sleeping.options_of(quick, "--cores", CORES)
    for nodes in (1, 2, 4):
        results = [run.run("double_loop", options, workshare=True, ranks=8, bind="none", env=pretend(nodes), flags=["-workshare-workers", 1])
                   for _ in range(1 if quick else 2)]
        rows.append([f"{nodes} x {CORES // nodes} cores, 8 ranks x 2", line.us(measure.median_of(results, median_us)),
                     measure.median_of(results, lambda r: median_us(r) / r["perfect_us"]),
                     sleeping.possible(8, 1) / sleeping.possible(8, nodes)])
    yield line.table("Ranks with a worker each on nodes of several sizes, sleeping work", ["nodes", "time", "/ equal parts", "/ equal parts, if each node were perfect"], rows,
                     "The paper's figure 7 (right). Paper: Workshare wins on few nodes, and little on many. Its left half is the table of ranks x workers above.")


def section(run, quick):
    yield from double_loop(run, quick)
    yield from chunks(run, quick)
    yield from imbalance(run, quick)
    yield from workers(run, quick)
    yield from layouts_on_nodes(run, quick)
