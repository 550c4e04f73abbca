# SPDX-License-Identifier: MIT
"""What load on the machine can falsify: times, and what follows from them, such as shares, estimates, causes, and who came first.

Such a check is a function under @repeated that calls likely() for what load may change, after all that must hold whatever else runs here. It is
repeated when others used the CPUs meanwhile, after a longer wait for a quiet moment each time; else a few times only. If they used them in all of its
runs it is not judged: the script's finish() says so, and its exit status is 77."""
import functools
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tools/dev'))
import disturbance  # noqa: E402
from expectation import expect  # noqa: E402

# ./setup test runs scripts side by side, and then those again, alone, in which a check could not be judged. Such a script repeats nothing more.
side_by_side = 'TESTS_SIDE_BY_SIDE' in os.environ
TRIES = 4 if side_by_side else 8    # disturbed ones
BUDGET = 60     # seconds that a script spends with disturbed runs; then two of a check must do
CPUS = len(os.sched_getaffinity(0))

unjudged = []   # sentences
spent = 0.0
counting = threading.Lock()


class Unlikely(Exception):
    """What likely() found. `fail` tells it as a failure; `result` is returned in place of a right one."""
    def __init__(self, what, fail, result=None):
        super().__init__(what)
        self.what, self.fail, self.result = what, fail, result


def likely(what, condition, *seen):
    """As expect(), in a function under @repeated: what load on the machine can change."""
    if not condition:
        raise Unlikely(what, lambda: expect(what, False, *seen))


class Machine:
    """What others take of the CPUs, as a part of all, from a moment on."""
    def __init__(self):
        self.watch = disturbance.Watch(CPUS)
        self.before = self.watch.read()

    def taken(self, own=0.0):
        """own: seconds of children that have not ended."""
        now = self.watch.read()
        return disturbance.taken(self.before, now._replace(own=now.own + own), CPUS, CPUS)


def disturbed(taken):
    return taken > disturbance.LIMIT


def wait_for_calm(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        machine = Machine()
        time.sleep(0.2)
        if not disturbed(machine.taken()):
            break


def waited_for(condition, seconds, own=lambda: 0.0):
    """Whether condition() comes true within that many seconds, or, where others use the CPUs all that time, within four times as many and 15. own():
    what children use that have not ended."""
    last = time.monotonic() + 4 * seconds + 15
    while seconds > 0 and time.monotonic() < last:
        machine, until = Machine(), time.monotonic() + seconds
        while time.monotonic() < until:
            if condition():
                return True
            time.sleep(0.01)
        if not disturbed(machine.taken(own())):
            break
    return bool(condition())


def repeated(check=None, tries=TRIES, chances=3):
    """chances: undisturbed runs, of which one must be right. Not one alone: what the host of a virtual machine does is not always seen. More for a reason
    that stands beside it."""
    if check is None:
        return lambda function: repeated(function, tries, chances)

    @functools.wraps(check)
    def until_right(*args, **how):
        global spent
        taken, quiet = [], 0
        while True:
            machine, began = Machine(), time.monotonic()
            try:
                return check(*args, **how)
            except Unlikely as error:
                found = error
            taken.append(machine.taken())
            quiet += not disturbed(taken[-1])
            if quiet == chances:
                found.fail()
                return found.result
            if disturbed(taken[-1]):
                wait_for_calm(min(5, 0.1 * 2**(len(taken) - quiet)))
                with counting:
                    spent += time.monotonic() - began
            if len(taken) - quiet >= (1 if side_by_side and unjudged else tries if spent < BUDGET else 2):
                with counting:
                    unjudged.append(f'{found.what}: not judged, as others used {min(taken):.0%} to {max(taken):.0%} of the CPUs in {len(taken)} runs')
                return found.result
    return until_right
