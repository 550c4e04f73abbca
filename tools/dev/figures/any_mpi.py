# SPDX-License-Identifier: MIT
"""Workshare under other MPI libraries: each of this machine by itself, with `workshare`, and Workshare's own MPICH, in turn within one run."""
import measure

from . import line
from .line import compare, difference, median_us

# (work of the whole loop, most of a host's time over that of Workshare's own MPICH)
LENGTHS = (("20ms", 1.01), ("5ms", 1.01), ("2ms", 1.03), ("1ms", 1.03))
COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "alltoall")
MEGABYTE = 1 << 20


def any_mpi(run, quick):
    others = measure.any_mpis(run.prefix, run.programs, run.ranks, run.bind, run.limit)
    if not others:
        raise measure.Failure("no other MPI was found when Workshare was built: on Debian, the packages libmpich-dev, or libopenmpi-dev")
    names = [o.name() for o in others]
    yield from double_loops(run, others, names, quick)
    yield from unmodified(run, others, names, quick)
    yield from balanced(others, names, quick)
    yield from messages(run, others, names, quick)
    yield from start(run, others, names, quick)


def pairs_of(others, program, options, alone=None, shared=None):
    """For each MPI one run alone and one with `workshare`; `alone` and `shared` are what each is given besides."""
    return [lambda o=o, on=on: o.run(program, options, workshare=on, **((shared if on else alone) or {})) for o in others for on in (False, True)]


def split(results):
    """[(alone, with workshare)] of each MPI."""
    return list(zip(results[::2], results[1::2]))


def double_loops(run, others, names, quick):
    rows = []
    for text, most in LENGTHS:
        us = measure.microseconds(text)
        options = ["--warmup", 5, "--repeats", max(3, min(500, int((0.15e6 if quick else 0.4e6) / us / 1.7))), "--steps", measure.calibrated(run, text)]
        fork, *results = measure.in_turn(5 if quick else 9, lambda: run.run("double_loop", options, workshare=True), *pairs_of(others, "double_loop", options))
        perfect = line.us(measure.median_of(fork, lambda r: r["perfect_us"]))
        for name, (alone, shared) in zip(names, split(results)):
            yield compare(f"double loop, {text}: {name} with workshare / Workshare's own MPICH", shared, fork, median_us, "us", most,
                          "the same program under Workshare's own MPICH")
            rows.append([f"{text}, {name}", *(line.us(measure.median_of(r, median_us)) for r in (alone, shared, fork)), perfect,
                         measure.ratio_of(alone, shared, median_us)[0]])
    yield line.table("Double loop under any MPI", ["work, MPI", "alone", "workshare", "own MPICH", "perfect", "alone / workshare"], rows,
                     "work: of the whole loop on one core. 2 ranks.")


def unmodified(run, others, names, quick):
    """A loop of OpenMP, whose threads `workshare --openmp=share` gives the cores of waiting ranks."""
    text = "20ms"
    options = ["--warmup", 5, "--repeats", 7 if quick else 20, "--steps", measure.calibrated(run, text)]
    plain, how = {"env": {"OMP_NUM_THREADS": "1"}}, {"flags": ["-workshare-openmp=share"]}
    fork, *results = measure.in_turn(
        5 if quick else 9, lambda: run.run("double_loop_unmodified_gcc", options, workshare=True, **how),
        *pairs_of(others, "double_loop_unmodified", options, plain, how))
    for name, (alone, shared) in zip(names, split(results)):
        yield compare(f"unmodified OpenMP loop, {text}: {name} with workshare / Workshare's own MPICH", shared, fork, median_us, "us", 1.01,
                      "the same program under Workshare's own MPICH")
        yield line.faster(f"unmodified OpenMP loop, {text}: {name} alone / with workshare", shared, alone, median_us, "us", 1.3, f"{name} alone")


def balanced(others, names, quick):
    options = ["--balanced", "--work", "20ms", "--repeats", 25 if quick else 50]
    results = measure.in_turn(7 if quick else 15, *pairs_of(others, "double_loop", options))
    for name, (alone, shared) in zip(names, split(results)):
        yield compare(f"balanced loop, 20 ms: {name} with workshare / alone", shared, alone, median_us, "us", 1.01, f"{name} alone")


def allowed(read, alone):
    """1 %, or 100 ns where that is more: a ratio."""
    return max(1.01, 1 + 100 / measure.median_of(alone, read))


def messages(run, others, names, quick):
    """The least batch of each run, as in messages.py."""
    rows = []
    least = lambda r: r["ns"]["min"]  # noqa: E731
    for what, options in (("8 bytes", ["--repeats", 60]), ("1 MiB", ["--bytes", MEGABYTE, "--repeats", 20, "--batch", 20])):
        fork, *results = measure.in_turn(7 if quick else 31, lambda: run.run("pingpong", options, workshare=True), *pairs_of(others, "pingpong", options))
        for name, (alone, shared) in zip(names, split(results)):
            yield compare(f"ping-pong, {what}: {name} with workshare / alone", shared, alone, least, "ns", allowed(least, alone), f"{name} alone")
            rows.append([f"ping-pong, {what}, {name}", *(line.us(measure.median_of(r, least) / 1e3) for r in (alone, shared, fork)),
                         measure.ratio_of(shared, alone, least)[0]])
    options = ["--repeats", 40, "--batch", 500]
    fork, *results = measure.in_turn(7 if quick else 31, lambda: run.run("collectives", options, workshare=True), *pairs_of(others, "collectives", options))
    for name, (alone, shared) in zip(names, split(results)):
        for call in COLLECTIVES:
            read = lambda r: r["ns"][call]["min"]  # noqa: E731
            yield compare(f"{call}, 8 bytes: {name} with workshare / alone", shared, alone, read, "ns", allowed(read, alone), f"{name} alone")
            rows.append([f"{call}, {name}", *(line.us(measure.median_of(r, read) / 1e3) for r in (alone, shared, fork)),
                         measure.ratio_of(shared, alone, read)[0]])
    yield line.table("Calls under any MPI", ["call, MPI", "alone", "workshare", "own MPICH", "workshare / alone"], rows,
                     "The least batch of a run; own MPICH: with -workshare. 2 ranks.")


def start(run, others, names, quick):
    read = lambda r: r["init_ms"]  # noqa: E731
    fork, *results = measure.in_turn(7 if quick else 15, lambda: run.run("startup", workshare=True), *pairs_of(others, "startup", []))
    for name, (alone, shared) in zip(names, split(results)):
        yield difference(f"MPI_Init: {name} with workshare - alone", shared, alone, read, "ms", 10,
                         f"Workshare's own MPICH with -workshare: {measure.median_of(fork, read):.1f} ms")
