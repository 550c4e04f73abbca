# SPDX-License-Identifier: MIT
"""Rank reordering by loads: the paper's tables 1 and 2, and what a call takes. Its 16 and 32 cores are pretended: processes that share one sleep in turn."""
import measure
from figures import line
from figures.reorder import order_of

from . import chart

TITLE = "Rank reordering"
PAPER = ("J. Keller, M. Majeed, C. W. Kessler: Balancing CPU Load for Irregular MPI Applications. ParCo 2011. See [placement.md](../reference/placement.md). `heuristic` is the paper's own "
         "algorithm here (`roundrobin`), `best` what `MPIX_Load_create` does unasked, `distributed` is `MPIX_Dist_load_create`.")
PROGRAMS = ("reorder_cost", "reorder_loop", "reorder_product")

# (processes, cores, title, the paper's seconds: optimal, heuristic, pseudo-random, worst case)
LOOPS = ((64, 16, [], "4 processes a core", (18.6, 20.7, 22.0, 29.3)), (80, 16, ["--uneven"], "3 and 5 processes a core", (18.3, 18.3, 20.5, 38.6)))
# (processes, cores, the paper's scenarios, its ratios for MPI_Load_create and MPI_Dist_load_create)
PRODUCTS = ((64, 8, "1", "1.198", "1.059"), (256, 32, "2, 3, 4", "1.073, 1.210, 1.269", "0.971, 1.082, 1.154"))


def measured(run, program, options, ranks, cores):
    return run.run(program, options, ranks=ranks, bind="core", workshare=True, env={"MPIR_CVAR_NUM_CLIQUES": str(cores)})


def table_1(run, quick):
    for ranks, cores, options, name, paper in LOOPS:
        result = measured(run, "reorder_loop", ["--sleep", "--unit", "10ms", "--repeats", 3 if quick else 10, *options], ranks, cores)
        rows = []
        for order, theirs in zip(("best", "heuristic", "random", "worst"), paper):
            o = order_of(result, order)
            rows.append([order, f"{o['highest']:g}", line.us(o["ms"] * 1e3), o["measured"], o["predicted"], f"{theirs} s", paper[3] / theirs])
        o = order_of(result, "distributed")
        rows.append(["distributed", f"{o['highest']:g}", line.us(o["ms"] * 1e3), o["measured"], o["predicted"], "", None])
        yield chart.bars(f"reorder-{'uneven' if options else 'even'}", f"{name}, sleeping work: times as fast as the worst order", "order", "ratio", [r[0] for r in rows],
                         [("ours", [r[3] for r in rows]), ("paper", [r[6] for r in rows]), ("from the loads", [r[4] for r in rows])])
        yield line.table(f"Synthetic loop, loads 4, 2 and 1, {name}, sleeping work", ["order", "highest load", "time", "worst / it", "from the loads", "paper", "worst / it"], rows,
                         "The paper's table 1. A time is that of one execution here, of ten in the paper.")


def table_2(run, quick):
    rows = []
    for ranks, cores, scenarios, central, distributed in PRODUCTS[:1] if quick else PRODUCTS:
        result = measured(run, "reorder_product", ["--sleep", "20ms", "--repeats", 3], ranks, cores)
        for order, theirs in (("heuristic", central), ("best", central), ("distributed", distributed)):
            o = order_of(result, order)
            rows.append([f"{ranks} on {cores}", order, o["measured"], o["predicted"], theirs, scenarios])
    yield line.table("Product of triangular matrices, sleeping work: times as fast as row by row", ["processes on cores", "order", "measured", "from the loads", "paper", "its scenarios"],
                     rows, "The paper's table 2, \"speedup\". Its scenarios differ in the size of the matrix: 1024, 1024, 4096, 9216. A multiplication sleeps here, so size has no "
                     "part in it." + (" The scenarios of 256 processes are measured without --quick." if quick else ""))


def calls(run, quick):
    rows = []
    for ranks, paper in ((64, "2.5 to 8 ms"), (256, "11 ms; distributed 90 ms")):
        runs = [run.run("reorder_cost", ["--repeats", 10], ranks=ranks, bind="none", workshare=True) for _ in range(1 if quick else 3)]
        rows.append([str(ranks), *[line.us(measure.median_of(runs, lambda r: r[kind]["median"])) for kind in ("central", "distributed", "split")],
                     line.us(measure.median_of(runs, lambda r: r["central_processor_us"])), paper])
    yield line.table("What a call takes", ["processes", "MPIX_Load_create", "MPIX_Dist_load_create", "MPI_Comm_split", "Load_create, processor time of a rank", "paper"], rows,
                     "Paper: 64 processes on 8 to 16 cores, 256 on 32 cores, 1024 on 512 cores 36 ms. Ours share the few cores of this machine.")


def section(run, quick):
    yield from table_1(run, quick)
    yield from table_2(run, quick)
    yield from calls(run, quick)
