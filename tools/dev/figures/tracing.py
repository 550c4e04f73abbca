# SPDX-License-Identifier: MIT
"""What counters and timelines cost the program that they tell of."""
import os
import tempfile

import measure

from .line import compare, difference, median_us, number

CHUNK_NS = 20000  # the loop that costs are judged by has chunks of this length
# The body of a chunk whose cost is looked for: some 2 us, as several chunks are claimed at once where one takes less than 0.7 us (base/times.h).
BODY, LEAST_NS = ["--steps", 1000, "--iterations", 5000], 800


def tracing(run, quick):
    """A chunk, beyond its body, and a loop of 20 us chunks, without a trace and with one, in turn. Without one all counters run: they have no switch."""
    pairs = 3 if quick else 9
    chunk_ns = lambda r: r["chunk_ns"]["median"]  # noqa: E731
    with tempfile.TemporaryDirectory(prefix="workshare-") as folder:
        def traced(extension):
            return ["-workshare-trace", os.path.join(folder, "trace" + extension)]

        def chunk(flags):
            result = run.run("claim_cost", [*BODY, "--repeats", 20 if quick else 50], workshare=True, flags=["-workshare-victim", "none", *flags])
            if result["body_ns"] < LEAST_NS:
                raise measure.Failure(f"claim_cost: a body of {result['body_ns']:.0f} ns: several chunks are claimed at once")
            return result
        plain, json = measure.in_turn(pairs, lambda: chunk([]), lambda: chunk(traced(".json")))
        yield number("a chunk with its counters, no trace", list(map(chunk_ns, plain)), "ns", CHUNK_NS * 0.001, None, "0.1 % of 20 us")
        yield difference("what a trace adds to a chunk", json, plain, chunk_ns, "ns", CHUNK_NS * 0.01, "1 % of 20 us")

        loop = ["--balanced", "--chunk", 1, "--repeats", 20 if quick else 50]
        loop += ["--steps", measure.calibrated(run, "20ms", "--balanced")]

        def loops(flags):
            return run.run("double_loop", loop, workshare=True, flags=flags)
        plain, json, otf2 = measure.in_turn(pairs, lambda: loops([]), lambda: loops(traced(".json")), lambda: loops(traced(".otf2")))
        for name, results in ("JSON", json), ("OTF2", otf2):
            yield compare(f"a loop of 20 us chunks: traced ({name}) / not", results, plain, median_us, "us", 1.01, "the same without -workshare-trace")
