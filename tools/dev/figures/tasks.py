# SPDX-License-Identifier: MIT
"""Tasks that move between nodes: pools of tasks, and the rivals in the same pool. Nodes are pretended (cliques): processes of this machine that share
nothing. With sleeping work they have a core each, as sleeping takes none."""
import json
import os
import subprocess
import tempfile

import measure

from . import line
from .line import compare

PROGRAM = "tasks"
ALGORITHMS = ("central", "neighbours", "random", "lifeline")


def seconds(result):
    return result["seconds"]


def us(result):
    return 1e6 * result["seconds"]


def job(run, options, ranks, nodes, how="central", sleeps=True):
    env = {"WS_CORES": str(ranks // nodes)} if sleeps else {}
    env.update({"MPIR_CVAR_NUM_CLIQUES": str(nodes)} if nodes > 1 else {})
    return run.run(PROGRAM, [*options, *(["--sleep"] if sleeps else [])], workshare=True, ranks=ranks, bind="none" if sleeps else "core", env=env,
                   flags=["-workshare-tasks", how])


# The paper's tables: seconds with DNBLI and with NBLB.
BY_SIZE = {50: (0.237, 0.221), 100: (0.656, 0.561), 150: (0.837, 0.781), 200: (0.955, 0.823), 250: (1.236, 1.056), 300: (2.245, 2.012), 350: (3.656, 3.321),
           400: (5.213, 4.981)}
BY_NODES = {1: (4.407, 4.109), 2: (3.055, 2.850), 4: (1.976, 1.401), 6: (1.230, 0.985), 8: (1.089, 0.889), 10: (0.865, 0.791)}
ELEMENT = "2.5ms"  # so that 200 elements take the paper's 4 s on one node


def verdict(values, target, at_most=False):
    """The median, its target in words, whether it is met, the quartiles."""
    middle, low, high = measure.quartiles(sorted(values))
    return middle, f"{'<=' if at_most else '>'} {target:g}", middle <= target if at_most else middle > target, [low, high]


def list_ranking(run, quick):
    pairs = 1 if quick else 5
    for title, cases, note in (("table 1: 10 nodes", [(n, 10, BY_SIZE[n]) for n in BY_SIZE], "elements"),
                               ("table 2: 200 elements", [(200, n, BY_NODES[n]) for n in BY_NODES], "nodes")):
        rows = []
        for elements, nodes, paper in (cases[::3] if note == "elements" else cases[3:]) if quick else cases:
            options = ["--what", "list", "--elements", elements, "--cost", ELEMENT]
            rival, ours, hand = measure.in_turn(max(pairs, 3 if elements < 200 or note == "nodes" else 1), *list_jobs(run, options, nodes))
            limit = measure.median_of(ours, lambda r: r["seconds"] / r["limit_s"])
            rows.append([str(elements if note == "elements" else nodes), *[line.us(measure.median_of(r, us)) for r in (rival, ours, hand)],
                         measure.ratio_of(rival, ours, seconds)[0], limit, measure.ratio_of(ours, hand, seconds)[0], f"{paper[0]:g} s", f"{paper[1]:g} s", paper[0] / paper[1]])
            # Where the tasks do not divide, all nodes wait for those with one more, whoever deals: no algorithm ends earlier.
            divides = nodes > 1 and elements % nodes == 0
            faster, low, high = measure.ratio_of(rival, ours, seconds)
            yield line.figure(f"list ranking, {title[:7]}, {elements} elements, {nodes} nodes, sleeping work: DNBLI / NBLB", measure.median_of(ours, us), measure.median_of(rival, us), "us",
                              faster, "> 1" if divides else "not slower: >= 0.995", faster > 1 if divides else faster >= 0.995, [low, high], "DNBLI")
            if nodes >= 8 and elements == 200 and note == "nodes":
                yield line.figure(f"list ranking, 200 elements, {nodes} nodes, sleeping work: time / limit", measure.median_of(ours, us),
                                  measure.median_of(ours, lambda r: 1e6 * r["limit_s"]), "us", limit, "<= 1.05", limit <= 1.05, [limit, limit], "all work shared out evenly")
        one = " Where the tasks do not divide, the nodes with one more take nearly all of the time, with either." if note == "nodes" else ""
        yield line.table(f"List ranking, {title}, sleeping work",
                         [note, "DNBLI", "NBLB", "by hand", "DNBLI / NBLB", "NBLB / limit", "NBLB / by hand", "paper: DNBLI", "NBLB", "ratio"], rows,
                         "The limit: all elements of a round shared out evenly, and nothing else. Each round is a run of the pool. By hand: the same program without a pool, whose "
                         "ranks take an even share each; what it lacks to the limit is its own messages, and sleeps that end late." + one)
    # Elsewhere an element is a task.
    cases = [("200 elements, 2 nodes of a core, computing", ["--elements", 200, "--cost", ELEMENT], 2, False)]
    if not quick:
        cases.append(("10^6 elements in tasks of 2,000, 10 nodes, sleeping work", ["--elements", 1000000, "--grain", 2000, "--cost", "1us"], 10, True))
    for title, options, nodes, sleeps in cases:
        rival, ours, hand = measure.in_turn(pairs, *list_jobs(run, ["--what", "list", *options], nodes, sleeps))
        yield line.figure(f"list ranking, {title}: DNBLI / NBLB", measure.median_of(ours, us), measure.median_of(rival, us), "us",
                          *verdict([a["seconds"] / b["seconds"] for a, b in zip(rival, ours)], 1), "DNBLI")
        yield line.figure(f"list ranking, {title}: time in runs of the pool / limit", measure.median_of(ours, lambda r: 1e6 * r["in_runs_s"]),
                          measure.median_of(ours, lambda r: 1e6 * r["limit_s"]), "us", *verdict([r["in_runs_s"] / r["limit_s"] for r in ours], 1.05, True),
                          "all work shared out evenly")
        yield line.figure(f"list ranking, {title}: time / by hand", measure.median_of(ours, us), measure.median_of(hand, us), "us",
                          *verdict([a["seconds"] / b["seconds"] for a, b in zip(ours, hand)], 1.05, True), "the same program without a pool, whose ranks take an even share each")


def list_jobs(run, options, nodes, sleeps=True):
    """With the rival, with ours, without a pool."""
    return [lambda how=how, more=more: job(run, [*options, *more], nodes, nodes, how, sleeps) for how, more in (("neighbours", ()), ("central", ()), ("central", ("--by-hand",)))]


def trees(run, quick):
    pairs = 1 if quick else 3
    for tree in ("T1", "T3"):
        options = ["--what", "uts", "--tree", tree, "--grain", 200, "--cost", "20us"]
        results = dict(zip(ALGORITHMS, measure.in_turn(pairs, *[lambda how=how: job(run, options, 16, 4, how) for how in ALGORITHMS])))
        ours = results["central"]
        values = sorted(r["limit_s"] / r["seconds"] for r in ours)
        middle, low, high = measure.quartiles(values)
        yield line.figure(f"UTS {tree}, 16 ranks as 4 nodes, sleeping work: efficiency", measure.median_of(ours, us),
                          measure.median_of(ours, lambda r: 1e6 * r["limit_s"]), "us", middle, ">= 0.95", middle >= 0.95, [low, high], "all work shared out evenly")
        best = min(ALGORITHMS[1:], key=lambda how: measure.median_of(results[how], seconds))
        yield compare(f"UTS {tree}, the same: central / the best rival", ours, results[best], us, "us", None, best)
        runs = [lambda options=options[:6], n=n, more=more: job(run, [*options, *more], n, n, sleeps=False) for n, more in ((1, ()), (2, ()), (2, ("--alone",)))]
        alone, two, copies = measure.in_turn(3 * pairs, *runs)
        yield line.faster(f"UTS {tree}, computing, 2 nodes of a core: times one core", two, alone, us, "us", 1.9, "one rank")
        # Two cores of a virtual machine are not always twice one.
        yield line.figure(f"UTS {tree}, computing, the same: of what the two cores give", measure.median_of(two, us), measure.median_of(copies, lambda r: us(r) / 2), "us",
                          *verdict([b["seconds"] / 2 / a["seconds"] for a, b in zip(two, copies)], 0.95), "half the time of two copies at once, each of which searches the whole tree")
        fine = [*options[:4], "--grain", 1]
        one, together, apart = measure.in_turn(3 * pairs, *[lambda ranks=ranks, nodes=nodes: job(run, fine, ranks, nodes, sleeps=False)
                                                            for ranks, nodes in ((1, 1), (2, 1), (2, 2))])
        yield line.faster(f"UTS {tree}, a task a node of the tree, 1 node of 2 cores: times one core", together, one, us, "us", 1.7, "one rank")
        yield line.faster(f"UTS {tree}, the same, 2 nodes of a core: times one core", apart, one, us, "us", 1.7, "one rank")


def bags(run, quick):
    pairs = 1 if quick else 3
    rows = []
    for what, options in (("bag, heavy tail", ["--what", "bag", "--tasks", 4000, "--cost", "4ms"]), ("pipeline of three kinds", ["--what", "pipeline", "--tasks", 1000, "--cost", "2ms"])):
        # Another bag each time: where its few longest tasks lie decides how it ends.
        seeds = 3 if quick else 9
        results = [[job(run, [*options, "--seed", seed], 16, 4, how) for seed in range(seeds)] for how in ALGORITHMS]
        rows.append([what, *[measure.median_of(r, lambda x: x["limit_s"] / x["seconds"]) for r in results]])
        rows.append(["the same: at work until the last task begins", *[measure.median_of(r, lambda x: x["busy"]) for r in results]])
    yield line.table("All tasks on one of 4 nodes of 4 ranks, sleeping work: efficiency", ["", *ALGORITHMS], rows,
                     "How long the tasks are that begin last nobody can know: a queue of all 16 cores, without any cost, reaches 0.73 to 0.99 with this bag, by the order "
                     "in which it has the tasks. So the second rows show what a balancer can do. Above 1: a letter calls a rank back while a guest is in a long task "
                     "on its core; work that sleeps then has two tasks there at a time.")
    results = [job(run, ["--what", "large", "--tasks", 8, "--cost", "500ms"], 2, 2) for _ in range(pairs)]
    moving, low, high = measure.quartiles(sorted(r["moving_mb_s"] / r["messages_mb_s"] for r in results))
    yield line.figure("tasks of 100 MB: bandwidth of moving / MPI_Send's", measure.median_of(results, lambda r: r["moving_mb_s"]),
                      measure.median_of(results, lambda r: r["messages_mb_s"]), "MB/s", moving, ">= 0.8", moving >= 0.8, [low, high], "messages of 100 MB")


def costs(run, quick):
    results = [run.run(PROGRAM, ["--what", "cost", "--tasks", 10000], workshare=True, ranks=1) for _ in range(3 if quick else 9)]
    yield line.number("put and run of an empty task, own rank", [r["empty_ns"] for r in results], "ns", 50, None)
    yield moved_cost(run, quick)
    results = [job(run, ["--what", "balanced", "--tasks", 20000, "--cost", "20us"], 2, 2, sleeps=False) for _ in range(5 if quick else 15)]
    ratio, low, high = measure.quartiles(sorted(r["seconds"] / r["limit_s"] for r in results))
    yield line.figure("20,000 tasks of 20 us on each of 2 nodes of a core, computing: pool / plain loop", measure.median_of(results, us),
                      measure.median_of(results, lambda r: 1e6 * r["limit_s"]), "us", ratio, "<= 1.01", ratio <= 1.01, [low, high], "a loop that calls them")


def moved_cost(run, quick):
    """What the two sides spend on tasks that move: by the timeline of a bag of tasks of 100 us."""
    values = []
    for _ in range(3 if quick else 9):
        with tempfile.TemporaryDirectory(prefix="workshare-") as folder:
            path = os.path.join(folder, "trace.json")
            run.run(PROGRAM, ["--what", "bag", "--tasks", 20000, "--cost", "100us", "--sleep"], workshare=True, ranks=2, bind="none",
                    env={"WS_CORES": "1", "MPIR_CVAR_NUM_CLIQUES": "2"}, flags=["-workshare-trace=" + path])
            with open(path) as f:
                events = [e for e in json.load(f)["traceEvents"] if e.get("cat") == "tasks" and e["ph"] == "X"]
        moved = sum(e["args"]["tasks"] for e in events if e["args"]["letter"] % 2)
        values.append(1000 * sum(e["dur"] for e in events) / moved)
    return line.number("a task that moves, among others in a letter: giver and receiver together", values, "ns", 2000, None)


def simulate(run, *options):
    done = subprocess.run([os.path.join(run.programs, "tasks_simulated"), *map(str, options)], capture_output=True, text=True)
    if done.returncode:
        raise measure.Failure(f"tasks_simulated: {done.stderr}", wrong=True)
    return json.loads(done.stdout)


def simulated(run, quick):
    rows = []
    for ranks in (1600, 16000) if quick else (160, 1600, 16000, 100000):
        for how in ("central", "lifeline") if ranks == 100000 else ALGORITHMS:
            r = simulate(run, "--ranks", ranks, "--algorithm", how)
            rows.append([f"{ranks:,}", how, r["efficiency"], f"{r['letters_per_task']:.4f}", f"{r['moves_per_task']:.2f}", line.us(1e6 * r["level_s"]) if r["level_s"] else "never"])
    sizes = sorted({int(r[0].replace(",", "")) for r in rows})
    for name, title, y_title, column in (("tasks-efficiency", "Simulated: efficiency", "of all cores", 2), ("tasks-letters", "Simulated: letters a task", "letters", 3)):
        value = {(int(r[0].replace(",", "")), r[1]): float(r[column]) for r in rows}
        yield line.curves(name, title, "ranks", y_title, sizes, [(how, [value.get((n, how)) for n in sizes]) for how in ALGORITHMS])
    yield line.table("Simulated: all tasks, 100 a rank of 1 ms, on one of the nodes of 16 ranks", ["ranks", "", "efficiency", "letters a task", "moves a task", "level after"], rows,
                     "The balancers are the runtime's own code. Level: every core has work, and no node more than twice the average.")
    yield from unequal(run, quick)


def unequal(run, quick):
    """Many nodes, of a core each: from 64 on schedulers are in a tree. Rivals take too long from 10,000 on."""
    rows = []
    value = {}
    sizes = (64, 1000, 10000) if quick else (64, 1000, 10000, 100000)
    for nodes in sizes:
        for how in ALGORITHMS if nodes < 10000 else ("central",):
            same, slow = (simulate(run, "--node", 1, "--ranks", nodes, "--slow", factor, "--algorithm", how) for factor in (1, 4))
            value[nodes, how] = slow["efficiency"]
            rows.append([f"{nodes:,}", how, *[x for r in (same, slow) for x in (r["efficiency"], f"{r['letters_per_task']:.3f}", f"{r['moves_per_task']:.2f}")]])
    yield line.curves("tasks-unequal", "Simulated: efficiency where every other node is four times slower", "nodes", "of all cores", sizes,
                      [(how, [value.get((n, how)) for n in sizes]) for how in ALGORITHMS])
    yield line.table("Simulated: nodes of a core, all tasks on one of them; and the same where every other node is four times slower",
                     ["nodes", "", "efficiency", "letters a task", "moves a task", "unequal: efficiency", "letters a task", "moves a task"], rows)


def tasks(run, quick):
    if not run.has(PROGRAM):
        raise measure.Failure(f"{run.programs}: no program {PROGRAM} there; it is built where nettle is (on Debian, the package nettle-dev)")
    yield from costs(run, quick)
    yield from trees(run, quick)
    yield from bags(run, quick)
    yield from list_ranking(run, quick)
    yield from simulated(run, quick)
