# SPDX-License-Identifier: MIT
"""What messages cost, next to an unpatched MPICH."""
import os
import shutil
import subprocess
import tempfile

import measure

from . import line
from .line import compare, faster, number


def ping_pong(run, quick):
    """Compares each run's least batch: on a shared machine a run's median is moved by others, its least batch hardly. Many short runs: on a
    virtual machine a whole run is fast or slow, by where the host has the cores just then."""
    options = ["--repeats", 60 if quick else 100]
    folder, name = run.unpatched()
    read = lambda r: r["ns"]["min"]
    shared, off, stock = measure.in_turn(
        51 if quick else 151, lambda: run.run("pingpong", options, workshare=True), lambda: run.run("pingpong", options),
        lambda: run.run("pingpong", options, libraries=folder))
    yield compare("ping-pong, 8 bytes: flag on / unpatched MPICH", shared, stock, read, "ns", 1.01, name)
    yield compare("ping-pong, 8 bytes: flag off / unpatched MPICH", off, stock, read, "ns", 1.01, name)


ONE_SIDED = (("put", "put"), ("accumulate", "accumulate"), ("get", "get"), ("fetch_and_op", "fetch-and-op"))


def one_sided(run, quick):
    """One-sided calls to a rank that waits in MPI_Recv, and so has to answer them at once with the flag, too."""
    shared, off = measure.in_turn(5 if quick else 15, lambda: run.run("one_sided", workshare=True), lambda: run.run("one_sided"))
    for kind, name in ONE_SIDED:
        yield compare(f"{name} + flush to a rank that waits in MPI: flag on / off", shared, off, lambda r: r["ns"][kind]["median"], "ns", 1.05,
                      "without -workshare")


# NetPIPE's least and greatest message, and how often each: left to itself it takes a quarter of a second for each size.
NETPIPE_RANGES = ((1, 1024, 20000), (8192, 1048576, 500))
NETPIPE_SIZES = (1, 8, 64, 1024, 8192, 65536, 1048576)


def net_pipe_once(run, libraries=None, **how):
    """One run of Debian's NetPIPE in each range: {bytes: microseconds one way}."""
    times = {}
    for least, most, count in NETPIPE_RANGES:
        command = run.command(shutil.which("NPmpich2"), ["-l", least, "-u", most, "-n", count, "-p", "0", "-o", "np.out"], **how)
        with tempfile.TemporaryDirectory(prefix="workshare-") as folder:
            try:
                done = subprocess.run(command, cwd=folder, env=run.environment(libraries), capture_output=True, text=True, timeout=run.limit)
            except subprocess.TimeoutExpired:
                raise measure.Failure(f"gave no result within {run.limit} s: {' '.join(command)}") from None
            if done.returncode != 0 or not os.path.exists(os.path.join(folder, "np.out")):
                raise measure.Failure(f"exit status {done.returncode}: {' '.join(command)}\n{done.stderr}")
            with open(os.path.join(folder, "np.out")) as f:     # bytes, Mbps, seconds
                times.update({int(words[0]): float(words[2]) * 1e6 for words in map(str.split, f) if words})
    return times


def net_pipe(run, quick):
    if not shutil.which("NPmpich2"):
        raise measure.Failure("NetPIPE is missing: install netpipe-mpich2")
    folder, name = run.unpatched()
    shared, off, stock = measure.in_turn(4 if quick else 9, lambda: net_pipe_once(run, workshare=True), lambda: net_pipe_once(run),
                                         lambda: net_pipe_once(run, libraries=folder))
    sizes = [size for size in NETPIPE_SIZES if all(size in result for result in shared + off + stock)]
    for size in (8, 65536, 1048576):
        if size not in sizes:
            raise measure.Failure(f"NetPIPE measured no message of {size} bytes")
        yield compare(f"NetPIPE, {size} bytes: flag on / unpatched MPICH", shared, stock, lambda r: r[size], "us", 1.01, name)
    yield line.table("NetPIPE, one way", ["bytes", "flag on", "flag off", "unpatched", "on / unpatched", "off / unpatched"],
                     [[str(size), *(line.us(measure.median_of(r, lambda r: r[size])) for r in (shared, off, stock)),
                       *(measure.ratio_of(r, stock, lambda r: r[size])[0] for r in (shared, off))] for size in sizes],
                     f"Debian's netpipe-mpich2 on this library and on {name}.")


def hand_over(run, quick):
    """Between a message and the return of the call that waited for it, and what the wait costs."""
    chunk_us = 50
    def results_of(waited, **how):
        return [run.run("handover", ["--waited", waited, "--iteration", f"{chunk_us}us", "--repeats", 30 if quick else 60], **how)
                for _ in range(2 if quick else 5)]
    short, long, off = results_of("1ms", workshare=True), results_of("20ms", workshare=True), results_of("20ms")
    for results, since in ((short, "blocked for 1 ms"), (long, "blocked for 20 ms")):
        if any(r["late_us"] is None for r in results):
            raise measure.Failure(f"handover: nobody helped ({since})")
        yield number(f"region opens -> guest runs, thief {since}", [r["start_us"]["median"] for r in results], "us", None, None)
        yield number(f"guest's chunk ends -> the call returns, thief {since}", [r["return_us"]["median"] for r in results], "us", None, None)
        yield number(f"message -> the call returns, less a chunk, 95 %, thief {since}", [r["late_us"]["p95"] - chunk_us for r in results],
                     "us", 50, None)
    for results, since in ((short, "1 ms"), (long, "20 ms")):
        yield number(f"message -> a call with nothing to steal returns, blocked for {since}", [r["wake_us"]["median"] for r in results],
                     "us", None, measure.median_of(off, lambda r: r["wake_us"]["median"]))
    yield number("CPU that a blocked rank uses", [r["cpu"] * 100 for r in long], "%", None, measure.median_of(off, lambda r: r["cpu"] * 100))


def many_ranks(run, quick):
    """64 ranks on our few cores: a rank that waits must leave the core to the others."""
    folder, name = run.unpatched()
    options, how = ["--repeats", 1000, "--seconds", 1 if quick else 5], {"ranks": 64, "bind": "none"}
    shared, stock = measure.in_turn(1 if quick else 3, lambda: run.run("barrier_loop", options, workshare=True, **how),
                                    lambda: run.run("barrier_loop", options, libraries=folder, **how))
    yield faster("barrier of 64 ranks: unpatched / workshare", shared, stock, lambda r: r["mean_us"], "us", 1, name)
