# SPDX-License-Identifier: MIT
"""The processes of a job, wherever its launcher has put them: a mark in their environment tells them."""
import glob
import os
import signal
import time


def processes_of(mark):
    """Living processes (zombies are not) with `mark`, NAME=VALUE, in their environment; not the caller."""
    found = []
    for folder in glob.glob('/proc/[0-9]*'):
        try:
            with open(folder + '/environ', 'rb') as f:
                if mark.encode() not in f.read().split(b'\0'):
                    continue
            with open(folder + '/stat') as f:
                if f.read().rpartition(')')[2].split()[0] not in 'ZX':
                    found.append(int(os.path.basename(folder)))
        except OSError:
            pass  # it has just ended, or is not ours
    return [pid for pid in found if pid != os.getpid()]


def end_processes(mark, patience):
    """Kills those that still live after so many seconds, and returns them: a launcher may end ahead of the last of its processes."""
    until = time.monotonic() + patience
    while (left := processes_of(mark)) and time.monotonic() < until:
        time.sleep(0.01)
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return left
