# SPDX-License-Identifier: MIT
"""How much others disturbed a measurement, which runs count, and what may be said of them. Only arithmetic, except Watch."""
import os
import resource
import time
from typing import Any, NamedTuple

LIMIT = 0.05    # a run is disturbed when others took more than this of the cores it wanted: repeated, and its figures are rough
TOO_MUCH = 0.15 # beyond this they tell nothing. In between lies what the other machines on a virtual machine's CPUs take all day
NOISE = 0.10    # runs of the same thing that differ by more tell no figure
EXACT = 0.03    # differences that no run here can tell from none


class Usage(NamedTuple):
    """Up to now: seconds on the clock, seconds that the CPUs were busy, and those that this process and its children used."""
    wall: float
    busy: float
    own: float


def busy_seconds(stat, cpus, tick):
    """Seconds that these CPUs were not idle, from the text of /proc/stat. What the hypervisor took counts: others used it."""
    ticks = 0
    for line in stat.splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cpus:
            user, nice, system, _idle, _iowait, *rest = map(int, fields)
            ticks += user + nice + system + sum(rest[:3])   # interrupts, soft ones, stolen; guests are in user already
    return ticks / tick


def taken(before, after, cpus, ranks):
    """The part of the ranks' cores that others took between two readings. CPUs beyond one a rank may be busy without harm."""
    wall = after.wall - before.wall
    others = (after.busy - before.busy) - (after.own - before.own)
    return min(1.0, max(0.0, others / wall - (cpus - ranks)) / ranks)


class Run(NamedTuple):
    """Two runs one after the other, without and with -workshare, and the larger part of the cores that others took meanwhile."""
    plain: Any
    shared: Any
    taken: float


class Measured(NamedTuple):
    """The least disturbed runs; and of all that were tried how many they were, how many were disturbed, and the most that others took."""
    runs: list
    tried: int
    disturbed: int
    most: float


def repeated(wanted, most, seconds, run, clock=time.monotonic):
    """Calls run(number) until `wanted` of its results are undisturbed, but `most` times at most, and after `seconds` only until there are `wanted`.
    Runs are chosen by what others took, never by their result."""
    runs, end = [], clock() + seconds
    while sum(r.taken <= LIMIT for r in runs) < wanted and (len(runs) < wanted or (len(runs) < most and clock() < end)):
        runs.append(run(len(runs)))
    return Measured(sorted(runs, key=lambda r: r.taken)[:wanted], len(runs), sum(r.taken > LIMIT for r in runs),
                    max(r.taken for r in runs))


def spread(values):
    values = sorted(values)
    middle = values[len(values) // 2]
    return (values[-1] - values[0]) / middle


def apart(some, others):
    """How many times as long each of some runs took as each of the others, at least; below 1 where neither are always longer."""
    return max(min(some) / max(others), min(others) / max(some))


def doubt(took, uneven, plain, shared, perfect, away=1.0):
    """Why no figure can be given: others took too much ("disturbed"), or runs contradict each other or what is possible ("noise"). Not where runs without
    and with -workshare are farther `away` from each other (apart()) than runs of the same thing: then the figure is rough, but what it says is so."""
    if took > TOO_MUCH:
        return "disturbed"
    if (uneven > NOISE and away <= 1 + uneven) or min(plain, shared) < perfect * (1 - EXACT):
        return "noise"
    return None


def is_rough(took, uneven):
    return took > LIMIT or uneven > NOISE


def won_back(plain, shared, perfect):
    """The part of the time lost to imbalance that came back, from 0 (no difference) to 1, or below 0; None where nothing is lost."""
    lost = plain - perfect
    if lost <= EXACT * plain:
        return None
    won = (plain - shared) / lost
    if won < 0 and shared - plain <= EXACT * plain:
        return 0.0
    return min(won, 1.0)     # doubt() has found what is farther beyond than the measurement can tell


def percent(part):
    return f"{part * 100:.0f} %"


def summary(results, limit=LIMIT):
    """What is said below the table, a line each. `results`: those of tools/dev/demo."""
    tried, disturbed = sum(r["runs_tried"] for r in results), sum(r["runs_disturbed"] for r in results)
    most = max(r["taken_at_most"] for r in results)
    lines = []
    rough = [r["taken"] for r in results if not r["doubt"] and r["taken"] > limit]
    uneven = [r["spread"] for r in results if not r["doubt"] and r["spread"] > NOISE]
    if disturbed:
        lines.append(f"Others used the CPUs meanwhile, up to {percent(most)} of them: {disturbed} of {tried} pairs of runs were disturbed (more than "
                     f"{percent(limit)}), and repeated up to a limit. The least disturbed ones are shown.")
    else:
        lines.append(f"Others used at most {percent(most)} of the CPUs meanwhile.")
    if rough:
        lines.append(f"~: rough, as even in the quietest runs others used {percent(min(rough))} to {percent(max(rough))} of the CPUs.")
    if uneven:
        lines.append(f"~: rough, as runs of the same thing differ by up to {percent(max(uneven))}; but each run with -workshare differs by more from each without.")
    for why, text in (("disturbed", "even in the quietest runs others used {} of the CPUs. These times mean little."),
                      ("noise", "runs of the same thing differ, or are quicker than they could be, though little else ran here: perhaps another virtual "
                                "machine on the same CPUs. These times mean little.")):
        took = [r["taken"] for r in results if r["doubt"] == why]
        if took:
            lines.append(f"{why}: " + text.format(f"{percent(min(took))} to {percent(max(took))}"))
    if uneven or any(r["doubt"] for r in results):
        lines.append("For figures run this again while nothing else runs.")
    return lines


class Watch:
    """Reads the machine's and our own usage of the CPUs that we may use."""

    def __init__(self, ranks):
        self.cpus, self.ranks, self.tick = os.sched_getaffinity(0), ranks, os.sysconf("SC_CLK_TCK")

    def read(self):
        with open("/proc/stat") as f:
            busy = busy_seconds(f.read(), self.cpus, self.tick)
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return Usage(time.monotonic(), busy, sum(u.ru_utime + u.ru_stime for u in used))

    def during(self, work):
        """work()'s result, and the part of the cores that others took meanwhile."""
        before = self.read()
        result = work()
        return result, taken(before, self.read(), len(self.cpus), self.ranks)
