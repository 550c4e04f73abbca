# SPDX-License-Identifier: MIT
"""Checks that load can falsify are repeated where others used the CPUs, and only there; and what is never seen undisturbed is not judged."""
import itertools
import os
import subprocess
import sys
import time

os.environ.pop('TESTS_SIDE_BY_SIDE', None)
import patience  # noqa: E402
from checks import check, finish

QUIET, LOADED = 0.01, 0.9


class Made(patience.Machine):
    """A machine whose load is made up."""
    loads = iter(())

    def __init__(self):
        pass

    def taken(self, own=0.0):
        return next(Made.loads)


class Failures(list):
    def add(self):
        self.append('failed')


def tried(loads, right_from=99, **how):
    """(what it returned, its runs, its failures, sentences of what was not judged)"""
    Made.loads, patience.unjudged[:], patience.spent = iter(loads), [], 0.0
    runs, failed = itertools.count(1), Failures()
    last = 0

    @patience.repeated(**how)
    def attempt():
        nonlocal last
        last = next(runs)
        if last < right_from:
            raise patience.Unlikely('it', failed.add, 'wrong')
        return 'right'
    return attempt(), last, len(failed), len(patience.unjudged)


busy = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
try:
    real = patience.Machine()
    time.sleep(0.5)
    seen, own = real.taken(), real.taken(0.5)
finally:
    busy.kill()
    busy.wait()
check(patience.disturbed(seen), f'a program that computes is not seen: {seen}')
check(own < seen, f"it is not seen that it is the script's own: {own} of {seen}")

patience.Machine, patience.wait_for_calm = Made, lambda seconds: None
for what, got, wanted in (('right at once', tried([], 1), ('right', 1, 0, 0)),
                          ('wrong, undisturbed', tried([QUIET] * 3), ('wrong', 3, 1, 0)),
                          ('one chance', tried([QUIET], chances=1), ('wrong', 1, 1, 0)),
                          ('right when it is quiet again', tried([LOADED] * 3, 4), ('right', 4, 0, 0)),
                          ('wrong when it is quiet again', tried([LOADED] * 3 + [QUIET] * 3), ('wrong', 6, 1, 0)),
                          ('never quiet', tried([LOADED] * 99), ('wrong', patience.TRIES, 0, 1)),
                          ('fewer tries', tried([LOADED] * 99, tries=3), ('wrong', 3, 0, 1)),
                          ('chances', tried([QUIET, LOADED, QUIET], chances=2), ('wrong', 3, 1, 0)),
                          ('right at the last chance', tried([QUIET, QUIET], 3), ('right', 3, 0, 0))):
    check(got == wanted, f'{what}: {got}, wanted {wanted}')
Made.loads, patience.unjudged[:], patience.spent = iter([LOADED] * 99), [], patience.BUDGET


@patience.repeated
def late():
    runs.append('once more')
    raise patience.Unlikely('it', lambda: None)


runs = []
late()
check(len(runs) == 2, f'{len(runs)} runs when there was much load before')
patience.side_by_side, runs = True, []
late()
check(len(runs) == 1, f'{len(runs)} runs in a script that runs again anyway')
patience.side_by_side = False

Made.loads = iter([LOADED] * 2 + [QUIET] * 99)
polls = itertools.count()
began = time.monotonic()
check(not patience.waited_for(lambda: next(polls) < 0, 0.05), 'what never comes came')
check(0.15 <= time.monotonic() - began < 5, 'it did not wait longer on a loaded machine, and no longer on a quiet one')
Made.loads = iter([QUIET] * 99)
check(patience.waited_for(lambda: True, 1) is True and patience.waited_for(lambda: False, 0) is False, 'what is there, or not, at once')

# As a script ends: 77, and its last line says why.
SCRIPT = '''
import sys
sys.argv[1:] = ['mpirun', 'programs']
import job, patience
patience.unjudged.append('it: not judged')
job.expect(job.Result('a job', 0, '', '', 0, {}), 'right', True)
job.finish()
'''
done = subprocess.run([sys.executable, '-c', SCRIPT], cwd=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'job/mpi'), capture_output=True, text=True)
check((done.returncode, done.stdout.splitlines()[-1:]) == (77, ['it: not judged']), f'{done}')
finish()
