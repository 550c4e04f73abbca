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
        kill(pid)
    return left


def kill(pid):
    """Kills a process that may have ended already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def name_of(pid):
    """The program that the process runs, as the kernel calls it (15 characters at most); '' if it has ended."""
    try:
        with open(f'/proc/{pid}/comm') as f:
            return f.read().strip()
    except OSError:
        return ''


def wait_for_ranks(processes, program, ranks, seconds=10):
    """The ids of a job's ranks, in rising order, as soon as there are so many of that program."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = sorted(pid for pid in processes() if name_of(pid) == program)
        if len(found) == ranks:
            return found
        time.sleep(0.01)
    raise RuntimeError(f'{ranks} ranks of {program} did not start in {seconds} s')
