# SPDX-License-Identifier: MIT
"""Loops where help brings little or nothing: they must not be slower for it."""
import measure

from .line import compare, median_us


def pays(run, quick):
    pairs = 3 if quick else 9
    for share in (75, 50):
        options = ["--share", share, "--repeats", 40 if quick else 100]
        plain, shared = measure.in_turn(pairs, lambda: run.run("triad", options), lambda: run.run("triad", options, workshare=True))
        yield compare(f"triad, {share} % of it one rank's: flag on / off", shared, plain, median_us, "us", 1.005, "flag off")
    for text in ("40us", "20us", "10us", "5us"):
        options = ["--repeats", 500 if quick else 2000, "--iterations", 100,
                   "--steps", measure.calibrated(run, text, "--iterations", 100)]
        plain, shared = measure.in_turn(pairs, lambda: run.run("double_loop", options), lambda: run.run("double_loop", options, workshare=True))
        yield compare(f"double loop, {text}, at break-even: flag on / off", shared, plain, median_us, "us", 1.005, "flag off")
