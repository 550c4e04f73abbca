# SPDX-License-Identifier: MIT
"""Rows that follow speed: XMPI. Processors of the paper's classes are pretended by sleeping work; what is computed on real cores says so."""
import contextlib
import json
import os
import statistics
import subprocess
import sys

import measure

from . import line
from .line import compare

# The paper's table 1: classes A to D by their clocks, relative to A.
CLASSES = (1.0, 1.2, 0.4, 0.935)
INTERVAL, SHORT_INTERVAL = 10, 2
ROWS = 1000  # of Jacobi with sleeping work
DEDICATED = ("-workshare-rows-cpu-loss", 100)  # sleepers that wake late are no foreign load


def whole(result):
    return result["seconds"]


def late_mean_us(result, what="part_us"):
    """Of the last third, by the mean: others that come and go disturb less than half of the iterations."""
    return statistics.fmean(result[what][-(len(result[what]) // 3):])


def late_us(result):
    return result["late_us"]["median"]


def allowed(plain):
    """The part of the time, in %, that is saved if at each moment all finish together, at the speeds that they had in that run."""
    return 100 * (1 - sum(plain["part_best_us"]) / sum(plain["part_us"]))


def run_flex(run, program, options, ranks, interval=INTERVAL, flags=DEDICATED, env=(), bind="none"):
    return run.run(program, options, workshare=True, ranks=ranks, bind=bind, env=env, flags=["-workshare-rows-interval", interval, *flags])


def saved(plain, ours):
    return 100 * (1 - whole(ours) / whole(plain))


# The paper's tables 3 and 4, its largest problems: seconds without and with FLEX-MPI.
PAPER = {("flex_jacobi", 4): (7324, 4683), ("flex_jacobi", 8): (3707, 2396), ("flex_jacobi", 16): (1894, 1384), ("flex_jacobi", 32): (978, 706),
         ("flex_cg", 4): (4860, 3537), ("flex_cg", 8): (3562, 2222), ("flex_cg", 16): (2336, 1789), ("flex_cg", 32): (1844, 1104),
         ("flex_epidemic", 4): (356, 270), ("flex_epidemic", 8): (222, 156), ("flex_epidemic", 16): (202, 113), ("flex_epidemic", 32): (161, 102)}
# Its table 5: without, and with k = 1, 3, 5.
PAPER_LOADS = {"none": 1652, "1": 1162, "3": 1162, "5": 1148}


def part_labels(result):
    """Of the parts that a run's curves have: the first iteration of each."""
    return [i * result["iterations"] // len(result["part_us"]) for i in range(len(result["part_us"]))]


def programs(ranks, quick):
    """Name, program, options, interval: an iteration of a plain run takes about 12 ms, on the slowest processor. Of Jacobi 60 or 120 ms, of the epidemic 20 to 120 ms, as they
    also compute, and all processes do that, and wake, on the few cores of this machine: for 16 that are balanced, and so wake together, by turns of up to a millisecond."""
    each = 5e-3 * ranks
    jacobi = each * (5 if ranks <= 8 else 10)
    people = each * {4: 4, 8: 8, 16: 12}.get(ranks, 24)
    yield f"Jacobi, {ROWS:,} rows", "flex_jacobi", ["--rows", ROWS, "--iterations", 160, "--unit", f"{jacobi / ROWS * 1e6:.3f}us"], SHORT_INTERVAL
    yield "CG, finite elements", "flex_cg", ["--rows", 8000, "--iterations", 400, "--unit", f"{each / 100000 * 1e6:.4f}us"], INTERVAL
    if not quick:
        yield "CG, power law", "flex_cg", ["--rows", 8000, "--kind", "power", "--iterations", 400, "--unit", f"{each / 100000 * 1e6:.4f}us"], INTERVAL
    yield "epidemic, 20,000 people", "flex_epidemic", ["--rows", 20000, "--iterations", 200, "--unit", f"{people / 340000 * 1e6:.4f}us"], SHORT_INTERVAL


def simulated(run, ranks, interval, *options):
    """The epidemic with a clock in place of processors, by the policy's own code; each option as flex_simulated takes it."""
    command = [os.path.join(run.programs, "flex_simulated"), "--ranks", str(ranks), "--interval", str(interval), *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise measure.Failure(f"flex_simulated: {done.stderr}", wrong=True)
    return json.loads(done.stdout)


def simulations(run, quick):
    """The epidemic where nothing sleeps, wakes late or shares two cores: what the decisions themselves leave."""
    for ranks in (4, 8, 16, 32, 64):
        speeds = [CLASSES[r * 4 // ranks] for r in range(ranks)]
        r = simulated(run, ranks, SHORT_INTERVAL, "--unit", f"{20e-3 * ranks / 340000 * 1e6:.4f}us", "--speeds", ",".join(map(str, speeds)))
        got, possible = (100 * (1 - r[what] / r["equal_s"]) for what in ("policy_s", "oracle_s"))
        yield line.figure(f"{ranks} processes of 4 classes, epidemic, 20,000 people, simulated: time saved of what an oracle saves", got, possible, "%", possible - got,
                          "<= 3 points" if ranks < 64 else "", possible - got <= 3 if ranks < 64 else None, [possible - got, possible - got], f"{r['moves']} moves", noisy=False)


def plans(run):
    """Who gets which rows, computed by one process for all."""
    for ranks in (16, 1000, 10000):
        us = simulated(run, ranks, 1, "--plan")["plan_us"]
        yield line.number(f"a plan for {ranks:,} processes", [us], "us", 50000, None)


def heterogeneous(run, quick):
    """The paper's tables 3 and 4: equal numbers of processors of each class, dedicated."""
    rows = []
    for ranks in (4, 16) if quick else (4, 8, 16, 32):
        speeds = [CLASSES[r * 4 // ranks] for r in range(ranks)]
        listed = ["--speeds", ",".join(map(str, speeds))]
        for name, program, options, interval in programs(ranks, quick):
            plain = run_flex(run, program, [*options, *listed, "--plain", "--no-check"], ranks, interval)
            ours = run_flex(run, program, [*options, *listed], ranks, interval)
            got, possible = saved(plain, ours), allowed(plain)
            if program == "flex_jacobi":  # each row costs the same: the least time that there can be is known
                best = (ROWS / sum(speeds)) / max((ROWS // ranks + (r < ROWS % ranks)) / speeds[r] for r in range(ranks))
                possible = 100 * (1 - best)
            of = "speeds allow"
            if program == "flex_epidemic":  # its work goes elsewhere, which nobody knows beforehand
                oracle = simulated(run, ranks, interval, *options, *listed)
                possible = 100 * (1 - oracle["oracle_s"] / oracle["equal_s"])
                of = "an oracle saves"
            yield line.figure(f"{ranks} processes of 4 classes, {name}, sleeping work: time saved of what {of}", got, possible, "%", possible - got,
                              "<= 3 points", possible - got <= 3, [possible - got, possible - got], f"moves after iterations {ours['moved_at']}")
            if program == "flex_jacobi":
                two = [i for i in ours["moved_at"] if i > 2 * interval]
                ratio = late_us(ours) / (late_us(plain) * best)
                yield line.figure(f"{ranks} processes of 4 classes, {name}, sleeping work: an iteration at the end / best", late_us(ours), late_us(plain) * best, "us", ratio,
                                  "<= 1.03, moved in the first two intervals", ratio <= 1.03 and not two, [ratio, ratio])
            cell = [f"{ranks}", name, f"{whole(plain):.2f} s", f"{whole(ours):.2f} s", f"{got:.1f} %", f"{possible:.1f} %"]
            before, after = PAPER[program, ranks]
            rows.append([*cell, f"{ours['moves']}", ours["result"], f"{100 * (1 - after / before):.1f} %"])
            if ranks == 4 and program in ("flex_jacobi", "flex_epidemic"):
                yield line.curves(f"flex-{program[5:]}", f"{name}, 4 processes of 4 classes, sleeping work", "iteration", "ms", part_labels(ours),
                                  [("an iteration", [t / 1000 for t in ours["part_us"]]), ("longest less shortest process's own", [t / 1000 for t in ours["part_apart_us"]]),
                                   ("that is tolerated: 15 % of the longest", [0.15 * t / 1000 for t in ours["part_us"]])])
    yield line.table(f"Processors of the paper's four classes ({', '.join(map(str, CLASSES))}), dedicated, sleeping work, intervals of {INTERVAL} iterations, of Jacobi and the epidemic {SHORT_INTERVAL}",
                     ["processes", "program", "plain", "XMPI", "saved", "possible", "moves", "result", "paper: saved"], rows,
                     "The paper's tables 3 and 4 (Jacobi with 15,000 rows, CG with audikw_1, 1,000,000 people), and its figure 2. The result is compared with a run in which nothing moves. "
                     "Possible: by the processors' speeds, and from the first iteration on; of CG by the speeds that the plain run had; of the epidemic, whose work moves, what an oracle "
                     "would save that knows after each interval what every person will cost until the next.")


@contextlib.contextmanager
def competitor(*cpus):
    """Another program computes on a processor, or on whichever of several, which the kernel divides between it and what else runs there."""
    code = f"import os, sys\nos.sched_setaffinity(0, {set(cpus)})\nwhile os.getppid() == int(sys.argv[1]): sum(range(100000))\n"
    busy = subprocess.Popen([sys.executable, "-c", code, str(os.getpid())])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


@contextlib.contextmanager
def half_a_core():
    """Rank 0's core has half its speed, by a quota of the kernel's; where we may set none, by another program: (options of the programs, what it is by)."""
    with measure.quota_group(0.5) as folder:
        if folder:
            yield ["--group", f"0:{folder}"], "a quota of 1 ms in 2"
        else:
            with competitor(min(os.sched_getaffinity(0))):
                yield [], "another program on it"


def real_cores(run, quick):
    """Two real cores, one of half the speed: nothing is pretended."""
    cases = [("Jacobi, 10,000 rows", "flex_jacobi", ["--rows", 10000, "--iterations", 45], late_mean_us),
             ("epidemic, 1,000,000 people", "flex_epidemic", ["--rows", 1000000, "--iterations", 150], late_mean_us),
             ("Jacobi, 5,000 rows", "flex_jacobi", ["--rows", 5000, "--iterations", 160], late_mean_us),
             ("CG, 1,000,000 rows", "flex_cg", ["--rows", 1000000, "--iterations", 150], late_mean_us),
             ("epidemic, 100,000 people", "flex_epidemic", ["--rows", 100000, "--iterations", 400], late_mean_us)]
    rows = []
    with half_a_core() as (slow, by):
        for name, program, options, read in cases[:2] if quick else cases:
            judged = name == cases[0][0]
            check = iter([[]])  # once is enough
            plain, ours = measure.in_turn((3 if quick else 5) if judged else 1 if quick else 3,
                                          lambda: run_flex(run, program, [*options, *slow, "--plain", "--no-check"], 2, "auto", (), bind="core"),
                                          lambda: run_flex(run, program, [*options, *slow, *next(check, ["--no-check"])], 2, "auto", (), bind="core"))
            possible = [100 * (1 - read(p, "part_best_us") / read(p)) for p in plain]
            got = [100 * (1 - read(o) / read(p)) for o, p in zip(ours, plain)]
            if judged:
                short, low, high = measure.quartiles(sorted(p - g for p, g in zip(possible, got)))
                yield line.figure(f"2 processes on 2 real cores, one of half the speed by {by}, {name}, computing: time saved at the end of what speeds allow", statistics.median(got),
                                  statistics.median(possible), "%", short, "<= 3 points", short <= 3, [low, high], f"moves: {[r['moves'] for r in ours]}", noisy=high - low > 3)
            rows.append([name, line.us(measure.median_of(plain, read)), line.us(measure.median_of(ours, read)), f"{statistics.median(got):.1f} %",
                         f"{statistics.median(possible):.1f} %", ", ".join(str(r["moves"]) for r in ours), ours[0]["result"]])
    yield line.table(f"2 processes on 2 real cores, computing, one of half the speed by {by}: the mean of an iteration in the last third of the run",
                     ["program", "plain", "XMPI", "saved", "possible", "moves", "result"], rows, "Possible: by the speeds that the two had in the plain run, if both finished together in each "
                     "iteration. The kernel takes the core away for some milliseconds at a time, so iterations must be long beside them: shorter ones meet the whole core or none of it.")


def bursts(run, quick):
    """The paper's table 5 and figure 3: 8 processes, on two of them bursts of 1 to 4 intervals, then a load that lasts."""
    ranks, unit, most = 8, 8e-3 / 120, 800
    burst = [(50, 60), (100, 120), (180, 210), (280, 320)]
    loads = [w for r in (2, 5) for a, b in [*burst, (400, most)] for w in ("--load", f"{r}:{a}-{b}:0.5")]
    options = ["--rows", 960, "--iterations", most, "--unit", f"{unit * 1e6:.3f}us", *loads, "--no-check"]
    env = {"WS_FLEX_FAKE": f"{1 / unit:.1f}"}
    results = {"none": run_flex(run, "flex_jacobi", [*options, "--plain"], ranks, env=env)}
    for k in ("1", "3", "5", "auto"):
        results[k] = run_flex(run, "flex_jacobi", options, ranks, flags=("-workshare-rows-patience", k, "-workshare-rows-cpu-loss", 20), env=env)
    early = {k: [i for i in r["moved_at"] if i < 400] for k, r in results.items()}
    late = {k: [i for i in r["moved_at"] if i >= 400] for k, r in results.items()}
    best = min(("1", "3", "5"), key=lambda k: whole(results[k]))
    yield line.figure("8 processes, bursts and a lasting load on two, k = 5: moves in bursts", len(early["5"]), len(early["1"]), "moves", len(early["5"]), "0; 1 or 2 for the lasting load",
                      not early["5"] and 1 <= len(late["5"]) <= 2, [0, 0], f"k = 1: {len(early['1'])}")
    ratio = whole(results["auto"]) / whole(results[best])
    yield line.figure(f"the same: auto / the best k ({best})", 1e6 * whole(results["auto"]), 1e6 * whole(results[best]), "us", ratio, "<= 1.02", ratio <= 1.02, [ratio, ratio])
    yield line.curves("flex-bursts", "Rows of a process of 8 with bursts of foreign load, then a lasting one", "iteration", "rows", part_labels(results["1"]),
                      [("foreign load, %", [50 if any(a <= i < b for a, b in [*burst, (400, most)]) else 0 for i in part_labels(results["1"])]),
                       *[(f"rows, k = {k}", results[k]["part_rows"]) for k in ("1", "3", "5", "auto")]])
    yield line.table("Bursts of foreign load, then one that lasts, on 2 of 8 processes; Jacobi, sleeping work",
                     ["k", "time", "saved", "moves in bursts", "for the lasting load", "paper: saved"],
                     [[k, f"{whole(r):.2f} s", "" if k == "none" else f"{saved(results['none'], r):.1f} %", f"{len(early[k])}", f"{len(late[k])}",
                       f"{100 * (1 - PAPER_LOADS[k] / PAPER_LOADS['none']):.1f} %" if k in PAPER_LOADS and k != "none" else ""] for k, r in results.items()],
                     "The paper's table 5, Jacobi, and figure 3: with k = 1 rows moved at each burst, with k = 3 at the longer ones, with k = 5 at the lasting load alone.")


def beside_others(run, quick):
    """Two real cores, on one of which another program computes: short iterations, which meet it or do not. XMPI may gain nothing there, but must not lose."""
    options = ["--rows", 2800, "--iterations", 600, "--no-check"]  # 8 ms an iteration
    cpus = sorted(os.sched_getaffinity(0))[:2]
    for name, where in (("pinned to one core", cpus[:1]), ("on whichever core", cpus)):
        with competitor(*where):
            ours, plain = measure.in_turn(3 if quick else 9, lambda: run_flex(run, "flex_jacobi", options, 2, flags=(), bind="core", interval=100),
                                          lambda: run_flex(run, "flex_jacobi", [*options, "--plain"], 2, flags=(), bind="core", interval=100))
        f = compare(f"2 processes on 2 real cores, Jacobi, 8 ms an iteration, another program {name}: with XMPI / without", ours, plain, lambda r: 1e6 * whole(r), "us", 1.01, "no calls")
        yield {**f, "detail": f"moves: {[r['moves'] for r in ours]}"}


def balanced(run, quick):
    """Two equal real cores: what XMPI costs, and that nothing moves."""
    # 1,000 intervals of 10 iterations with the calls, and as many iterations without, in turn within each run: from run to run the placement of memory alone
    # makes a percent.
    options = ["--rows", 700, "--iterations", 20000, "--in-turn", 100, "--no-check"]
    for name, how in (("", lambda: run_flex(run, "flex_jacobi", options, 2, flags=(), bind="core")),
                      (", without -workshare", lambda: run.run("flex_jacobi", options, ranks=2, bind="core"))):
        runs = [how() for _ in range(2 if quick else 6)]
        pairs = [({"us": a}, {"us": b}) for r in runs for a, b in zip(r["with_us"], r["without_us"])]
        yield compare(f"2 processes on 2 real cores, Jacobi, balanced{name}: 100 iterations with XMPI's calls / without, in turn", [a for a, _ in pairs], [b for _, b in pairs],
                      lambda r: r["us"], "us", 1.005, "no calls")
        if not name:
            moves = [r["moves"] for r in runs]
            yield line.figure("the same: moves in 1,000 intervals", sum(moves), 0, "moves", sum(moves), "0", not any(moves), [min(moves), max(moves)])


def nodes(run, quick):
    """Four nodes of four ranks: unequal nodes, and unequal work of their ranks."""
    speeds = [CLASSES[r % 4] for r in range(16)]  # MPICH assigns ranks to pretended nodes in turns
    unit, rows, iterations = 1e-3, 640, 30 if quick else 60
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
    for size in (1 << 28, 1 << 31):
        for name, speeds in (("behind what it has", "400,1"), ("before what it has", "1,400")):
            result = run.run("flex_move", ["--bytes", size, "--repeats", 5 if quick else 9], workshare=True, ranks=2, bind="core", env={"WS_FLEX_FAKE": speeds},
                             flags=["-workshare-rows-interval", 1])
            move, message = result["move_us"], result["sendrecv_us"]
            middle, low, high = measure.quartiles(sorted(m / o for o, m in zip(move, message)))
            yield line.figure(f"{result['bytes'] / 1e6:.0f} MB move between 2 ranks, to a place {name}: speed beside MPI_Sendrecv", statistics.median(move), statistics.median(message),
                              "us", middle, ">= 0.8", middle >= 0.8, [low, high])


def resizing(run, quick):
    """2 processes, 4, 8 and back; a row sleeps, so that only the change itself takes the cores. Each number is compared by the program."""
    for slow, speeds in ((1, "equal ones"), (2, "every second one half as fast")):
        runs = [run_flex(run, "flex_resize", ["--slow", slow], 8, 5, flags=())["changes"] for _ in range(3 if quick else 5)]
        for changes in zip(*runs):
            yield line.number(f"{changes[0]['from']} -> {changes[0]['to']} of 8 processes, {speeds}, sleeping work: {changes[0]['mb']:.0f} MB move, per MB", [c["us_per_mb"] for c in changes], "us", None, None,
                              f"finish together after {', '.join(str(c['balanced_after']) for c in changes)} iterations")


def flex(run, quick):
    yield from simulations(run, quick)
    yield from plans(run)
    yield from heterogeneous(run, quick)
    yield from real_cores(run, quick)
    yield from bursts(run, quick)
    yield from beside_others(run, quick)
    yield from balanced(run, quick)
    yield from nodes(run, quick)
    yield from moving(run, quick)
    yield from resizing(run, quick)
