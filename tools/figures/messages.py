# SPDX-License-Identifier: MIT
"""What messages cost, next to an unpatched MPICH."""
import measure

from .line import compare


def ping_pong(run, quick):
    """Compares each run's least batch: on a shared machine a run's median is moved by others, its least batch hardly."""
    options = ["--repeats", 100 if quick else 300]
    folder, name = run.unpatched()
    read = lambda r: r["ns"]["min"]
    shared, off, stock = measure.in_turn(
        5 if quick else 21, lambda: run.run("pingpong", options, workshare=True), lambda: run.run("pingpong", options),
        lambda: run.run("pingpong", options, libraries=folder))
    yield compare("ping-pong, 8 bytes: flag on / unpatched MPICH", shared, stock, read, "ns", 1.03, name)
    yield compare("ping-pong, 8 bytes: flag off / unpatched MPICH", off, stock, read, "ns", 1.03, name)
