# SPDX-License-Identifier: MIT
"""Rows that follow speed: XMPI. Processors of the paper's classes are pretended by sleeping work; what is computed on real cores says so."""
import contextlib
import os
import subprocess
import sys

import measure

from . import line
from .line import compare

# The paper's table 1: classes A to D by their clocks, relative to A.
CLASSES = (1.0, 1.2, 0.4, 0.935)
INTERVAL = 10
DEDICATED = ("-workshare-flex-th1", 100)  # sleepers that wake late are no foreign load


def whole(result):
    return result["seconds"]


def late_us(result):
    return result["late_us"]["median"]


def run_flex(run, program, options, ranks, interval=INTERVAL, flags=DEDICATED, env=(), bind="none"):
    return run.run(program, options, workshare=True, ranks=ranks, bind=bind, env=env, flags=["-workshare-flex-interval", interval, *flags])


def saved(plain, ours):
    return 100 * (1 - whole(ours) / whole(plain))


def programs(ranks, quick):
    """Name, program, options: an iteration of a plain run takes about 12 ms, on the slowest processor."""
    each = 5e-3 * ranks
    yield "Jacobi, 960 rows", "flex_jacobi", ["--rows", 960, "--iterations", 400, "--unit", f"{each / 960 * 1e6:.3f}us"]
    yield "CG, finite elements", "flex_cg", ["--rows", 8000, "--iterations", 400, "--unit", f"{each / 100000 * 1e6:.4f}us"]
    if not quick:
        yield "CG, power law", "flex_cg", ["--rows", 8000, "--kind", "power", "--iterations", 400, "--unit", f"{each / 100000 * 1e6:.4f}us"]
    yield "epidemic, 20,000 people", "flex_epidemic", ["--rows", 20000, "--iterations", 300, "--unit", f"{each / 340000 * 1e6:.4f}us"]


def heterogeneous(run, quick):
    """The paper's tables 3 and 4: equal numbers of processors of each class, dedicated."""
    rows = []
    for ranks in (4, 16) if quick else (4, 8, 16, 32):
        speeds = [CLASSES[r * 4 // ranks] for r in range(ranks)]
        listed = ["--speeds", ",".join(map(str, speeds))]
        for name, program, options in programs(ranks, quick):
            plain = run_flex(run, program, [*options, *listed, "--plain", "--no-check"], ranks)
            ours = run_flex(run, program, [*options, *listed], ranks)
            cell = [f"{ranks}", name, f"{whole(plain):.2f} s", f"{whole(ours):.2f} s", f"{saved(plain, ours):.1f} %"]
            if program == "flex_jacobi":  # each row costs the same: the least time that there can be is known
                best = (960 / sum(speeds)) / max((960 // ranks + (r < 960 % ranks)) / speeds[r] for r in range(ranks))
                possible = 100 * (1 - best)
                got = saved(plain, ours)
                yield line.figure(f"{ranks} processes of 4 classes, Jacobi, sleeping work: time saved of what speeds allow", got, possible, "%", possible - got,
                                  "<= 3 points", possible - got <= 3, [possible - got, possible - got], f"moves after iterations {ours['moved_at']}")
                two = [i for i in ours["moved_at"] if i > 2 * INTERVAL]
                ratio = late_us(ours) / (late_us(plain) * best)
                yield line.figure(f"{ranks} processes of 4 classes, Jacobi, sleeping work: an iteration at the end / best", late_us(ours), late_us(plain) * best, "us", ratio,
                                  "<= 1.03, moved in the first two intervals", ratio <= 1.03 and not two, [ratio, ratio])
                cell.append(f"{possible:.1f} %")
            else:
                cell.append("")
            rows.append([*cell, f"{ours['moves']}", ours["result"]])
    yield line.table(f"Processors of the paper's four classes ({', '.join(map(str, CLASSES))}), dedicated, sleeping work, an interval of {INTERVAL} iterations",
                     ["processes", "program", "plain", "XMPI", "saved", "possible", "moves", "result"], rows,
                     "The paper's tables 3 and 4; its best are 44 % saved, 36 % with Jacobi. The result is compared with a run in which nothing moves.")


@contextlib.contextmanager
def competitor(cpu, share):
    """Others use that share of a processor, in turns of 20 ms."""
    code = ("import os, sys, time\n"
            f"os.sched_setaffinity(0, {{{cpu}}})\n"
            "while os.getppid() == int(sys.argv[1]):\n"
            f"    end = time.monotonic() + {0.02 * share}\n"
            "    while time.monotonic() < end: pass\n"
            f"    time.sleep({0.02 * (1 - share)})\n")
    busy = subprocess.Popen([sys.executable, "-c", code, str(os.getpid())])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def real_cores(run, quick):
    """Two real cores, others on one of them."""
    options = ["--rows", 2000, "--iterations", 600]
    cpu = min(os.sched_getaffinity(0))
    with competitor(cpu, 0.5):
        plain, ours = measure.in_turn(3 if quick else 7, lambda: run_flex(run, "flex_jacobi", [*options, "--plain", "--no-check"], 2, flags=(), bind="core"),
                                      lambda: run_flex(run, "flex_jacobi", [*options, "--no-check"], 2, flags=(), bind="core"))
    yield compare("2 processes on 2 real cores, Jacobi, others use half of one: XMPI / without", ours, plain, late_us, "us", 0.9, "--plain")


def bursts(run, quick):
    """The paper's table 5 and figure 3: 8 processes, on two of them bursts of 1 to 4 intervals, then a load that lasts."""
    ranks, unit, most = 8, 8e-3 / 120, 800
    burst = [(50, 60), (100, 120), (180, 210), (280, 320)]
    loads = [w for r in (2, 5) for a, b in [*burst, (400, most)] for w in ("--load", f"{r}:{a}-{b}:0.5")]
    options = ["--rows", 960, "--iterations", most, "--unit", f"{unit * 1e6:.3f}us", *loads, "--no-check"]
    env = {"WS_FLEX_FAKE": f"{1 / unit:.1f}"}
    results = {"none": run_flex(run, "flex_jacobi", [*options, "--plain"], ranks, env=env)}
    for k in ("1", "3", "5", "auto"):
        results[k] = run_flex(run, "flex_jacobi", options, ranks, flags=("-workshare-flex-k", k, "-workshare-flex-th1", 20), env=env)
    early = {k: [i for i in r["moved_at"] if i < 400] for k, r in results.items()}
    late = {k: [i for i in r["moved_at"] if i >= 400] for k, r in results.items()}
    best = min(("1", "3", "5"), key=lambda k: whole(results[k]))
    yield line.figure("8 processes, bursts and a lasting load on two, k = 5: moves in bursts", len(early["5"]), len(early["1"]), "moves", len(early["5"]), "0; 1 or 2 for the lasting load",
                      not early["5"] and 1 <= len(late["5"]) <= 2, [0, 0], f"k = 1: {len(early['1'])}")
    ratio = whole(results["auto"]) / whole(results[best])
    yield line.figure(f"the same: auto / the best k ({best})", whole(results["auto"]), whole(results[best]), "s", ratio, "<= 1.02", ratio <= 1.02, [ratio, ratio])
    yield line.table("Bursts of foreign load, then one that lasts, on 2 of 8 processes; Jacobi, sleeping work", ["k", "time", "saved", "moves in bursts", "for the lasting load"],
                     [[k, f"{whole(r):.2f} s", "" if k == "none" else f"{saved(results['none'], r):.1f} %", f"{len(early[k])}", f"{len(late[k])}"] for k, r in results.items()],
                     "The paper's table 5 (up to 39 % saved) and figure 3: with k = 1 rows moved at each burst, with k = 3 at the longer ones, with k = 5 at the lasting load alone.")


def balanced(run, quick):
    """Two equal real cores: what XMPI costs, and that nothing moves."""
    options = ["--rows", 700, "--iterations", 10000, "--no-check"]
    plain, ours = measure.in_turn(5 if quick else 15, lambda: run_flex(run, "flex_jacobi", [*options, "--plain"], 2, flags=(), bind="core"),
                                  lambda: run_flex(run, "flex_jacobi", options, 2, flags=(), bind="core"))
    yield compare("2 processes on 2 real cores, Jacobi, balanced, 1,000 intervals: XMPI / without", ours, plain, whole, "s", 1.005, "--plain")
    moves = [r["moves"] for r in ours]
    yield line.figure("the same: moves in 1,000 intervals", sum(moves), 0, "moves", sum(moves), "0", not any(moves), [min(moves), max(moves)])


def nodes(run, quick):
    """Four nodes of four ranks: unequal nodes, and unequal work of their ranks."""
    speeds = [CLASSES[r % 4] for r in range(16)]  # MPICH deals ranks to pretended nodes in turns
    unit, rows, iterations = 1e-3, 640, 60
    options = ["--rows", rows, "--iterations", iterations, "--unit", f"{unit * 1e6}us", "--speeds", ",".join(map(str, speeds))]
    env = {"WS_CORES": "4", "MPIR_CVAR_NUM_CLIQUES": "4"}
    best_us = sum(1 + i * 4 // rows for i in range(rows)) * unit / sum(speeds) * 1e6
    alone = ("-workshare-victim", "none")
    results = {
        "neither": run_flex(run, "flex_nodes", [*options, "--plain"], 16, 5, (*DEDICATED, *alone), env),
        "stealing alone": run_flex(run, "flex_nodes", [*options, "--plain"], 16, 5, DEDICATED, env),
        "XMPI alone": run_flex(run, "flex_nodes", options, 16, 5, (*DEDICATED, *alone), env),
        "both, shares of nodes": run_flex(run, "flex_nodes", [*options, "--domain", "node"], 16, 5, DEDICATED, env),
    }
    both = late_us(results["both, shares of nodes"])
    yield line.figure("4 unequal nodes x 4 unequal ranks, sleeping work, stealing and XMPI: of what 16 cores can do", both, best_us, "us", best_us / both, ">= 0.9", best_us / both >= 0.9,
                      [best_us / both, best_us / both])
    yield line.table("Four nodes of four ranks, unequal in both, sleeping work: an iteration at the end", ["", "an iteration", "of what 16 cores can do", "moves"],
                     [[k, line.us(late_us(r)), best_us / late_us(r), f"{r['moves']}"] for k, r in results.items()])


def moving(run, quick):
    """Moving rows between two ranks beside MPI_Sendrecv of the same bytes, each into new memory."""
    size = (1 << 28) if quick else (1 << 31)
    for name, speeds in (("behind what it has", "400,1"), ("before what it has", "1,400")):
        result = run.run("flex_move", ["--bytes", size, "--repeats", 5], workshare=True, ranks=2, bind="core", env={"WS_FLEX_FAKE": speeds}, flags=["-workshare-flex-interval", 1])
        move, message = result["move_us"]["median"], result["sendrecv_us"]["median"]
        yield line.figure(f"{result['bytes'] / 1e6:.0f} MB move between 2 ranks, to a place {name}: speed beside MPI_Sendrecv", move, message, "us", message / move, ">= 0.8",
                          message / move >= 0.8, [result["sendrecv_us"]["min"] / result["move_us"]["max"], result["sendrecv_us"]["max"] / result["move_us"]["min"]])


def flex(run, quick):
    yield from heterogeneous(run, quick)
    yield from real_cores(run, quick)
    yield from bursts(run, quick)
    yield from balanced(run, quick)
    yield from nodes(run, quick)
    yield from moving(run, quick)
