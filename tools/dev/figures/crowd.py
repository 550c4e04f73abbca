# SPDX-License-Identifier: MIT
"""Cores that others use as well: busy loops that are no job of ours, and a second job with -workshare."""
import contextlib
import subprocess
import sys
import time

import measure

from . import line

# Ends by itself when the bench has died and cannot end it.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(1000000):\n        pass\n"
LONGEST = 900   # seconds, of the second job: the same
# Two jobs on two cores: who meets whom is the kernel's deal, and short runs of the balanced loop differ by a tenth either way. Executions in a run, and pairs.
DEALT_US, DEALT_PAIRS = 1200000, 9
# Beside busy loops ranks lose some 40 ms once, after their first guest (docs/internals/figures.md): what a loop that needs no help pays in the long run
# shows only where that is little.
SETTLED_US = 3000000
# Longer, and shorter, than a slice of time that the kernel gives to a program before it looks who else wants the core.
LOOPS = ("20ms", "2ms")


def mean_us(result):
    """What is judged here: most executions shorter than a slice meet nobody, so a median would not know of the others."""
    return result["us"]["mean"]


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
    pairs, run_us, rows = 5 if quick else 15, 300000 if quick else 800000, []
    shapes = (("double loop", ()), ("balanced loop", ("--balanced",)))
    steps = {(loop, shape): measure.calibrated(run, loop, *shape) for loop in LOOPS for _, shape in shapes}
    job = run.command("double_loop", ["--steps", steps[LOOPS[0], ()], "--no-serial", "--repeats", LONGEST * 1000000 // int(measure.microseconds(LOOPS[0]))],
                      workshare=True)
    for what, others, least in (("one busy loop", [[sys.executable, "-c", BUSY]], 1.15), ("two busy loops", [[sys.executable, "-c", BUSY]] * 2, 1.15),
                                ("a second job with -workshare", [job], 1.18)):
        with beside(others, run.environment()):
            for loop, (name, shape) in ((loop, shape) for loop in LOOPS for shape in shapes):
                dealt = shape and others == [job]
                us, times = (max(run_us, DEALT_US), max(pairs, DEALT_PAIRS)) if dealt else (SETTLED_US if shape else run_us, pairs)
                options = [*shape, "--steps", steps[loop, shape], "--no-serial", "--repeats", int(us / measure.microseconds(loop))]
                plain, shared = measure.in_turn(times, lambda: run.run("double_loop", options), lambda: run.run("double_loop", options, workshare=True))
                f = line.faster(f"{name}, {loop}, beside {what}: plain / workshare", shared, plain, mean_us, "us", 0.99 if shape else least,
                                "without -workshare")
                yield f
                rows.append([what, f"{name}, {loop}", line.us(f["rival"]), line.us(f["ours"]), *[f["value"], *f["spread"]]])
    yield line.table("Beside others that use the same cores", ["beside", "loop", "plain", "workshare", "plain / workshare", "quartile", "quartile"], rows,
                     "Means of all executions; a loop is called by its time on one core; 2 ranks bound to the cores, the others free to move, except the second job: its"
                     " ranks are bound, too.")


def more_ranks(run, quick):
    """More ranks than cores, in turn without -workshare, with it, and with ranks that sleep but help nobody. The kernel gives the core of a rank that sleeps to
    its neighbours; a rank of MPICH's own spins, and keeps them from it. So the last pair shows what lending adds."""
    pairs, run_us, rows = 3 if quick else 15, 150000 if quick else 1000000, []
    shapes = (("double loop", ()), ("balanced loop", ("--balanced",)))
    steps = {(loop, shape): measure.calibrated(run, loop, *shape) for loop in LOOPS for _, shape in shapes}
    for ranks in 4, 8:
        for loop, (name, shape) in ((loop, shape) for loop in LOOPS for shape in shapes):
            options = [*shape, "--steps", steps[loop, shape], "--no-serial", "--repeats", int(run_us / measure.microseconds(loop))]

            def once(**how):
                return run.run("double_loop", options, ranks=ranks, bind="none", **how)
            plain, shared, asleep = measure.in_turn(pairs, once, lambda: once(workshare=True), lambda: once(workshare=True, flags=["-workshare-victim", "none"]))
            yield line.faster(f"{name}, {loop}, {ranks} ranks on {run.ranks} cores: plain / workshare", shared, plain, mean_us, "us", 0.97, "without -workshare")
            gain, low, high = measure.ratio_of(asleep, shared, mean_us)
            rows.append([ranks, f"{name}, {loop}", *[line.us(measure.median_of(results, mean_us)) for results in (plain, asleep, shared)], gain, low, high])
    yield line.table("More ranks than cores", ["ranks", "loop", "plain", "nobody helps", "workshare", "nobody helps / workshare", "quartile", "quartile"], rows,
                     f"Means of all executions; a loop is called by its time on one core; {run.ranks} cores, ranks free to move.")
