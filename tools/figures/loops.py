# SPDX-License-Identifier: MIT
"""Loops that ranks share: how near to perfect, and what it costs those that need no help."""
import measure

from .line import compare, figure, median_us


def double_loop(run, quick):
    for text, most in (("20ms", 1.03), ("2.2ms", 1.08), ("450us", 1.12), ("100us", None)):
        us = float(text[:-2]) * (1e3 if text.endswith("ms") else 1)
        repeats = max(20, min(1000, int((1e6 if quick else 2.5e6) / us / 3)))
        options = ["--repeats", repeats, "--steps", run.run("double_loop", ["--work", text, "--repeats", 1])["steps"]]
        plain, shared = measure.in_turn(3 if quick else 7, lambda: run.run("double_loop", options),
                                        lambda: run.run("double_loop", options, workshare=True))
        ours, rival = measure.median_of(shared, median_us), measure.median_of(plain, median_us)
        perfect = measure.median_of(plain + shared, lambda r: r["perfect_us"])
        detail = {"perfect_us": perfect, "plain_over_perfect": rival / perfect,
                  "workshare": shared[-1]["workshare"]}
        title = f"double loop, {us / 1e3:g} ms" if us >= 1e3 else f"double loop, {us:g} us"
        if most:
            _, low, high = measure.quartiles(sorted(median_us(r) / perfect for r in shared))
            yield figure(f"{title}: workshare / perfect half", ours, perfect, "us", ours / perfect, f"<= {most:g}",
                         ours / perfect <= most, [low, high], detail)
        else:
            ratio, low, high = measure.ratio_of(plain, shared, median_us)
            yield figure(f"{title}: plain / workshare", ours, rival, "us", ratio, ">= 1.2", ratio >= 1.2, [low, high], detail)


def balanced_loop(run, quick):
    options = ["--balanced", "--repeats", 50 if quick else 200]
    options += ["--steps", run.run("double_loop", ["--balanced", "--work", "5ms", "--repeats", 1])["steps"]]
    plain, shared, unannotated = measure.in_turn(
        3 if quick else 11, lambda: run.run("double_loop", options), lambda: run.run("double_loop", options, workshare=True),
        lambda: run.run("double_loop_plain", options))
    yield compare("balanced loop, 5 ms: flag on / off", shared, plain, median_us, "us", 1.01, "flag off")
    yield compare("balanced loop, 5 ms: flag off / unannotated", plain, unannotated, median_us, "us", None, "built without -fws")


def short_loops(run, quick):
    options = ["--repeats", 100 if quick else 300]
    plain, shared, unannotated = measure.in_turn(
        3 if quick else 11, lambda: run.run("short_loops", options), lambda: run.run("short_loops", options, workshare=True),
        lambda: run.run("short_loops_plain", options))
    loops = plain[0]["loops"]
    yield compare(f"{loops} short loops a step: flag on / off", shared, plain, median_us, "us", 1.01, "flag off")
    yield compare(f"{loops} short loops a step: flag off / unannotated", plain, unannotated, median_us, "us", None, "built without -fws")
