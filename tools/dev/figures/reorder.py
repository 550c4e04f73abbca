# SPDX-License-Identifier: MIT
"""Rank reordering: whether the times follow the cores' loads, what it gives together with stealing, and what a call costs."""
import measure

from . import line


def order_of(result, name):
    return next(o for o in result["orders"] if o["order"] == name)


def ratios_of(result, name, other=None):
    """How much faster one of the orders is than another (the first), of each turn: median and quartiles."""
    names = [o["order"] for o in result["orders"]]
    ours, rival = names.index(name), names.index(other) if other else 0
    return measure.quartiles(sorted(turn[rival] / turn[ours] for turn in result["turns_ms"]))


def followed(name, result, order):
    """How much of the predicted ratio is measured, for one of the orders."""
    o = order_of(result, order)
    share, low, high = (ratio / o["predicted"] for ratio in ratios_of(result, order))
    return line.figure(f"{name}: {order}, of the {o['predicted']:.3f} that the loads predict", o["ms"], result["orders"][0]["ms"], "ms", share,
                       ">= 0.95", share >= 0.95, [low, high], f"rival: {result['orders'][0]['order']}")


def as_fast(name, result, order, other, least):
    """One of the orders is as fast as another."""
    o, than = order_of(result, order), order_of(result, other)
    ratio, low, high = ratios_of(result, order, other)
    return line.figure(f"{name}: {order}, speed by {other}", o["ms"], than["ms"], "ms", ratio, f">= {least:g}", ratio >= least, [low, high],
                       f"rival: {other}")


def reorder(run, quick):
    repeats = ["--repeats", 3 if quick else 7]
    results = []
    for name, program, options, ranks, nodes in (
            ("loop, 16 ranks on 2 cores", "reorder_loop", ["--unit", "10ms"], 16, None),
            ("loop, 6 and 10 ranks a core", "reorder_loop", ["--unit", "10ms", "--uneven"], 20, None),
            ("triangular product, 16 ranks on 2 cores", "reorder_product", [], 16, None),
            ("loop, 64 ranks on 16 cores, sleeping work", "reorder_loop", ["--sleep", "--unit", "10ms"], 64, 16),
            ("loop, 3 and 5 ranks a core of 16, sleeping work", "reorder_loop", ["--sleep", "--unit", "10ms", "--uneven"], 80, 16),
            ("triangular product, 64 ranks on 16 cores, sleeping work", "reorder_product", ["--sleep", "20ms"], 64, 16)):
        env = {"MPIR_CVAR_NUM_CLIQUES": str(nodes)} if nodes else {}
        result = run.run(program, [*options, *repeats], ranks=ranks, bind="core", workshare=True, env=env)
        results.append((name, result))
        yield followed(name, result, "best")
        if program == "reorder_loop":
            yield as_fast(name, result, "distributed", "best", 0.95)
    name = "loop, equal loads, 16 ranks on 2 cores"
    result = run.run("reorder_loop", ["--equal", "--unit", "10ms", "--repeats", 31], ranks=16, bind="core", workshare=True)
    results.append((name, result))
    for order in ("best", "distributed"):
        yield as_fast(name, result, order, "as it is", 0.99)
    name = "rising loads on 4 nodes x 4, sleeping work"
    result = run.run("reorder_loop", ["--rising", "--sleep", *repeats], ranks=16, bind="core", workshare=True,
                     env={"MPIR_CVAR_NUM_CLIQUES": "4", "WS_CORES": "4"})
    results.append((name, result))
    first, both = result["orders"][0], result["orders"][-1]
    spread = ratios_of(result, both["order"])[1:]
    yield line.figure(f"{name}: reordered by node and stealing (possible {both['predicted']:.2f})", both["ms"], first["ms"], "ms", both["measured"],
                      ">= 1.75", both["measured"] >= 1.75, list(spread), "rival: as it is")
    yield line.table("Rank reordering: times by the orders of the ranks", ["program", "order", "highest load", "predicted", "measured"],
                     [[name, o["order"], f"{o['highest']:g}", o["predicted"], o["measured"]] for name, r in results for o in r["orders"]],
                     "Ratios are to the first order of each program.")
    for ranks, most in ((64, None), (256, 36)):
        runs = [run.run("reorder_cost", ["--repeats", 10], ranks=ranks, bind="none", workshare=True) for _ in range(1 if quick else 3)]
        yield line.number(f"MPIX_Load_create, {ranks} ranks on our cores", [r["central"]["median"] / 1000 for r in runs], "ms", most,
                          measure.median_of(runs, lambda r: r["split"]["median"] / 1000), "rival: MPI_Comm_split")
        yield line.number("the same, processor time of a rank", [r["central_processor_us"] / 1000 for r in runs], "ms", 2,
                          measure.median_of(runs, lambda r: r["split_processor_us"] / 1000), "rival: MPI_Comm_split")
        yield line.compare(f"MPIX_Dist_load_create / MPIX_Load_create, {ranks} ranks", [{"us": r["distributed"]} for r in runs],
                           [{"us": r["central"]} for r in runs], line.median_us, "us", 2, "MPIX_Load_create")
