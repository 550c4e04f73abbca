# SPDX-License-Identifier: MIT
"""Small programs in the shapes of real ones: how much of what is possible -workshare brings, and what it costs those that have nothing to win."""
import measure

from . import line
from .line import compare, median_us

# (name, program, options, repeats of a run)
PROGRAMS = (("solver of few long blocks", "blocks", [], 20),
            ("conjugate gradients, 10 % of the rows", "gradients", ["--share", 10], 20),
            ("conjugate gradients, 25 % of the rows", "gradients", ["--share", 25], 20),
            ("conjugate gradients, 50 % of the rows", "gradients", ["--share", 50], 20),
            ("particles, tallies now and then", "particles", [], 20),
            ("particles, tallies of all in each flight", "particles", ["--between", 1], 20),
            ("stencil with refined blocks", "refined", [], 10),
            ("triangles", "triangles", [], 10),
            ("chain of short loops, 15^3", "chain", ["--side", 15], 20),
            ("chain of short loops, 30^3", "chain", ["--side", 30, "--steps", 4], 10),
            ("chain of short loops, 30^3, uneven", "chain", ["--side", 30, "--steps", 4, "--uneven", 3], 10))
# Programs that can be told to share their work out in equal parts: what both cores give when both are busy, as they share memory and its caches.
EQUAL = {"gradients": ["--share", 50]}
LEAST = 0.98    # of what is possible
OPENMP = 1.05   # how much longer than by OpenMP in one process, which needs no messages either
ATOMIC = 0.85   # the same of loops with atomics, where OpenMP's in one process reach it
TRUE = 0.05     # how far what the verdict says may be from what was measured
NOBODY_HELPS = {"workshare": True, "ranks": 8, "flags": ["-workshare-victim", "none"]}
WARMUP = 2      # turns before those that are timed
SLOW = 4        # OpenMP's dynamic in chunks of one may be many times slower: fewer repeats then


def possible(plain):
    """How many times faster the ranks' work is in equal parts: the longest over the mean, of a run without help."""
    useful = plain.get("useful_us") or plain["rank_us"]
    return max(useful) * len(useful) / sum(useful)


def parts(plain, shared):
    """Where the rest of the cores' time goes, in turns with -workshare, as far as it is measured. MPI itself: what the slowest rank is in MPI for in the plain
    run, where nobody lets it wait. More computing: what owners and guests compute for together, beyond what the ranks do in the plain run."""
    def of(p, s):
        job, ranks = s["workshare"], s["ranks"]
        turn, turns = ranks * median_us(s), ranks * s["all_turns_us"] * 1e-6
        own = sum(s["useful_us"]) / turn - job["close_wait_s"] / turns
        return ((median_us(p) - max(p["useful_us"])) * ranks / turn, (job["lent_s"] - job["helped_s"]) / turns, job["close_wait_s"] / turns,
                own + job["helped_s"] / turns - sum(p["useful_us"]) / turn)
    found = [measure.quartiles(sorted(column))[0] for column in zip(*map(of, plain, shared))]
    words = ("MPI itself", "hand-overs", "ends of loops", "more computing")
    return "of the cores' time: " + ", ".join(f"{word} {100 * share:.1f} %" for word, share in zip(words, found) if share >= 0.005)


def told(name, turns, off, shared):
    """What the verdict says of a turn beside what was measured, of the same program without -workshare. The verdict speaks of the whole job: what it says would
    have come on top is divided by all `turns`. Turns are medians, as one that others disturb may take as long as ten. Where whole runs without -workshare differ by
    more than what is judged, or ranks had no CPU for so long, nothing is judged."""
    def said(result):
        job = result["workshare"]
        return 1 + (job["speedup"] - 1) * job["elapsed_s"] * 1e6 / turns / median_us(result)

    def kept_off(result):
        job = result["workshare"]
        return job["kept_off_s"] / (job["elapsed_s"] * job["ranks"])
    ratios = sorted(said(s) / (median_us(o) / median_us(s)) for o, s in zip(off, shared))
    middle, low, high = measure.quartiles(ratios)
    noise = max(max(map(median_us, off)) / min(map(median_us, off)) - 1, measure.median_of(shared, kept_off))
    judged = noise <= TRUE
    return line.figure(f"{name}: what the verdict says, of what was measured", measure.median_of(shared, said), measure.ratio_of(off, shared, median_us)[0],
                       "x", middle, f"within {TRUE:g} of 1" if judged else f"noise: {noise:.2f}", abs(middle - 1) <= TRUE if judged else None,
                       [low, high], noisy=not judged)


def beside_atomics(name, share, plain, openmp):
    """Speeds, of what is possible, of a loop with atomics: with -workshare, and by OpenMP's atomics in one process, whose threads add to the same cells."""
    ours, low, high = measure.quartiles(share)
    theirs = measure.quartiles(sorted(median_us(p) / median_us(o) / possible(p) for p, o in zip(plain, openmp)))[0]
    return line.figure(f"{name}: speed of what is possible / the same of OpenMP's atomics", ours, theirs, "x", ours,
                       f">= {ATOMIC:g}" if theirs >= ATOMIC else f"OpenMP's, below {ATOMIC:g}", ours >= min(ATOMIC, theirs), [low, high])


def both_busy(name, shared, equal):
    """Speed, of that of the same program, plain, whose ranks have equal parts. `possible` knows only what each part takes while the other core waits."""
    share, low, high = measure.ratio_of(equal, shared, median_us)
    return line.figure(f"{name}: speed with -workshare, of equal parts on both cores", measure.median_of(shared, median_us), measure.median_of(equal, median_us),
                       "us", share, f">= {LEAST:g}", share >= LEAST, [low, high], "rival: the ranks have equal parts, without -workshare")


def same_result(name, results):
    found = {r.get("hash") or r["triangles"] for r in results}
    if len(found) > 1:
        raise measure.Failure(f"{name}: the builds' results differ: {sorted(map(str, found))}", wrong=True)


def programs(run, quick):
    pairs, rows = 3 if quick else 9, []
    for name, program, options, repeats in PROGRAMS:
        def openmp(schedule):
            few = max(2, repeats // SLOW) if schedule == "dynamic" else repeats
            return lambda: run.run(f"{program}_omp", [*options, "--repeats", few, "--warmup", 1], ranks=1, bind="none",
                                   env={"OMP_NUM_THREADS": "2", "OMP_SCHEDULE": schedule, "OMP_PLACES": "cores", "OMP_PROC_BIND": "close",
                                        "OMP_WAIT_POLICY": "active"})
        counts = ["--repeats", repeats, "--warmup", WARMUP]
        timed = [*options, *counts]
        parted = EQUAL.get(program, options) != options
        plain, off, shared, dynamic, guided, *equal = measure.in_turn(
            pairs, lambda: run.run(f"{program}_plain", timed), lambda: run.run(f"{program}_ws", timed),
            lambda: run.run(f"{program}_ws", timed, workshare=True), openmp("dynamic"), openmp("guided"),
            *([lambda: run.run(f"{program}_plain", [*EQUAL[program], *counts])] if parted else []))
        same_result(name, [*plain, *off, *shared, *dynamic, *guided, *(equal[0] if parted else [])])
        fastest = min((dynamic, guided), key=lambda runs: measure.median_of(runs, median_us))
        share = sorted(median_us(p) / median_us(s) / possible(p) for p, s in zip(plain, shared))
        middle, low, high = measure.quartiles(share)
        reason = shared[-1]["workshare"].get("reason") or (parts(plain, shared) if program != "triangles" else "no cause is named")
        yield line.figure(f"{name}: speed with -workshare, of what is possible", measure.median_of(shared, median_us), measure.median_of(plain, median_us),
                          "us", middle, f">= {LEAST:g}", middle >= LEAST, [low, high], None if middle >= LEAST else reason)
        if parted:
            yield both_busy(name, shared, equal[0])
        yield compare(f"{name}: -workshare / OpenMP in one process", shared, fastest, median_us, "us", OPENMP, "2 threads, the faster of dynamic and guided")
        if program == "particles":
            yield beside_atomics(name, share, plain, fastest)
        if program != "triangles":  # its runs have turns in one thread, too
            yield told(name, repeats + WARMUP, off, shared)
        yield compare(f"{name}: -fws without -workshare / plain", off, plain, median_us, "us", 1.01, "compiled without -fws")
        faster = lambda results: measure.ratio_of(plain, results, median_us)  # noqa: E731
        ours = faster(shared)
        rows.append([name, line.us(measure.median_of(plain, median_us)), measure.ratio_of(off, plain, median_us)[0], ours[0], f"{ours[1]:.3f} .. {ours[2]:.3f}",
                     faster(dynamic)[0], faster(guided)[0], measure.median_of(plain, possible), f"{100 * middle:.0f} %", "" if middle >= LEAST else reason])
    chain = ["--side", 15, "--cubes", NOBODY_HELPS["ranks"], "--repeats", 20, "--warmup", WARMUP]
    ours, plain = measure.in_turn(2 * pairs + 1, lambda: run.run("chain_ws", chain, **NOBODY_HELPS), lambda: run.run("chain_plain", chain, **NOBODY_HELPS))
    same_result("chain of short loops, 8 ranks", [*ours, *plain])
    yield compare("chain of short loops, 15^3, 8 ranks on 2 cores, nobody helps: directives / without", ours, plain, median_us, "us", 1.02,
                  "compiled without -fws, waiting in the same way")
    yield line.table("Programs: how many times as fast as plain MPI", ["program", "plain", "-fws off / plain", "-workshare", "quartiles", "OpenMP dynamic", "guided",
                     "possible", "of possible", "why not more"], rows,
                     "2 ranks; OpenMP: 2 threads of one process with all of the work, schedule(dynamic) in chunks of one. Possible: the longest of the ranks' useful "
                     "times of the plain run over their mean.")
