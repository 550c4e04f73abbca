# SPDX-License-Identifier: MIT
"""Cores that others use as well: busy loops that are no job of ours, and a second job with -workshare."""
import contextlib
import subprocess
import sys
import time

import measure

from . import line
from .line import median_us

# Ends by itself when the bench has died and cannot end it.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(1000000):\n        pass\n"
LONGEST = 900   # seconds, of the second job: the same
LOOP = "20ms"


@contextlib.contextmanager
def beside(commands, environment=None):
    """Runs the commands meanwhile; whoever of them has ended before is a failure."""
    others = []
    try:
        for command in commands:
            others.append(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(1)   # a job has begun its loops by then; should it be later, one of many pairs has less company
        yield
        for other in others:
            if other.poll() is not None:
                raise measure.Failure(f"what should have kept the cores busy ended with status {other.returncode}: {' '.join(other.args)}")
    finally:
        for other in others:
            other.terminate()   # mpirun takes its ranks along
        for other in others:
            other.wait()


def crowd(run, quick):
    """The same unbalanced and the same balanced loop, in turn without and with -workshare, beside others that never rest."""
    pairs, repeats, rows = 5 if quick else 15, 20 if quick else 40, []
    steps = {shape: measure.calibrated(run, LOOP, *shape) for shape in ((), ("--balanced",))}
    job = run.command("double_loop", ["--steps", steps[()], "--no-serial", "--repeats", LONGEST * 1000000 // int(measure.microseconds(LOOP))],
                      workshare=True)
    for what, others, least in (("one busy loop", [[sys.executable, "-c", BUSY]], 1.15), ("two busy loops", [[sys.executable, "-c", BUSY]] * 2, 1.15),
                                ("a second job with -workshare", [job], 1.18)):
        with beside(others, run.environment()):
            for name, shape, target in (("double loop", (), least), ("balanced loop", ("--balanced",), 0.99)):
                options = [*shape, "--steps", steps[shape], "--no-serial", "--repeats", repeats]
                plain, shared = measure.in_turn(pairs, lambda: run.run("double_loop", options), lambda: run.run("double_loop", options, workshare=True))
                f = line.faster(f"{name}, {LOOP}, beside {what}: plain / workshare", shared, plain, median_us, "us", target, "without -workshare")
                yield f
                rows.append([what, name, line.us(f["rival"]), line.us(f["ours"]), *[f["value"], *f["spread"]]])
    yield line.table("Beside others that use the same cores", ["beside", "loop", "plain", "workshare", "plain / workshare", "quartile", "quartile"], rows,
                     f"{LOOP} of work on one core, 2 ranks bound to the cores, the others free to move but for the second job: its ranks are bound, too.")
