# SPDX-License-Identifier: MIT
"""Sixteen cores on a machine with fewer: iterations that sleep for their cost. Every line says "sleeping work"."""
import measure

from . import line
from .line import compare, median_us

CORES = 16
PRETEND = {"WS_CORES": str(CORES)}


def options_of(quick, *more):
    """512 iterations whose cost rises; 256 ms at best on 16 cores."""
    return ["--iterations", 512, "--sleep", "4.096s", "--repeats", 4 if quick else 8, "--warmup", 2, *more]


def sixteen_ranks(run, quick):
    """The paper's figure 2. The baseline waits in the same way, asleep, but its loops have no directive."""
    options, how = options_of(quick), {"ranks": CORES, "bind": "none", "workshare": True}
    for where, least, env in (("one node", 1.85, PRETEND), ("4 nodes x 4", None, {**PRETEND, "MPIR_CVAR_NUM_CLIQUES": "4"})):
        plain, shared = measure.in_turn(1 if quick else 2, lambda: run.run("double_loop_plain", options, env=env, **how),
                                        lambda: run.run("double_loop", options, env=env, **how))
        best = possible(CORES, 1 if least else 4)
        target = least or best * 0.95
        f = line.faster(f"16 ranks, {where}, sleeping work: no stealing / workshare (possible {best:.2f})", shared, plain, median_us, "us",
                        round(target, 2), "the same waiting, loops without directives")
        f["detail"] = {"perfect_us": shared[-1]["perfect_us"], "plain_rank_us": plain[-1]["rank_us"], "rank_us": shared[-1]["rank_us"],
                       "workshare": shared[-1]["workshare"]}
        yield f


def possible(ranks, nodes):
    """How many times faster a loop with rising cost can become: slowest rank over the slowest node's mean. Ranks go round
    the nodes, as MPIR_CVAR_NUM_CLIQUES places them."""
    cost = [2 * r + 1 for r in range(ranks)]
    return cost[-1] / max(sum(cost[node::nodes]) / len(cost[node::nodes]) for node in range(nodes))


def workers(run, quick):
    """The paper's figure 6: the same 16 cores as ranks, workers, or both; and two real cores in computing work."""
    options, read = options_of(quick, "--cores", CORES), median_us
    def layout(ranks):
        flags = ["-workshare-workers", CORES // ranks - 1] if ranks < CORES else []
        return lambda: run.run("double_loop", options, workshare=True, ranks=ranks, bind="none", env=PRETEND, flags=flags)
    def openmp():
        return run.run("double_loop_omp_gcc", options, ranks=1, bind="none", env={"OMP_NUM_THREADS": str(CORES), "OMP_WAIT_POLICY": "passive"})
    layouts = (1, 4, 16) if quick else (1, 2, 4, 8, 16)
    threads, *results = measure.in_turn(1 if quick else 2, openmp, *map(layout, layouts))
    yield compare("1 rank x 16 workers, sleeping work: workshare / libgomp dynamic, 16 threads", results[0], threads, read, "us", 1.02, "libgomp")
    for ranks, ours in zip(layouts[1:], results[1:]):
        yield compare(f"{ranks} ranks x {CORES // ranks} workers, sleeping work: / 1 rank x 16", ours, results[0], read, "us", 1.03, "1 x 16")
    yield line.table("Ranks x workers, sleeping work on 16 pretended cores", ["layout", "time", "/ perfect"],
                     [[name, line.us(measure.median_of(r, read)), measure.median_of(r, lambda r: median_us(r) / r["perfect_us"])]
                      for name, r in [("libgomp, 1 x 16 threads", threads), *((f"{n} x {CORES // n}", r) for n, r in zip(layouts, results))]],
                     "The paper's figure 6. A rank's own thread counts as one of its workers here.")

    for text in ("20ms", "1ms"):
        steps = measure.calibrated(run, text, ranks=1)
        real = ["--steps", steps, "--repeats", 20 if text == "20ms" else 300, "--cores", 2]
        ours, rival = measure.in_turn(
            3 if quick else 5,
            lambda: run.run("double_loop", real, workshare=True, ranks=1, bind="none", flags=["-workshare-workers", 1]),
            lambda: run.run("double_loop_omp_gcc", real, ranks=1, bind="none",
                            env={"OMP_NUM_THREADS": "2", "OMP_PLACES": "cores", "OMP_PROC_BIND": "close", "OMP_WAIT_POLICY": "active"}))
        yield compare(f"1 rank with 1 worker, {text} on 2 real cores: workshare / libgomp dynamic, 2 threads", ours, rival, read, "us", 1.02, "libgomp")
