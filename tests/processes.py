# SPDX-License-Identifier: MIT
"""The processes of a job, wherever its launcher has put them: a mark in their environment tells them."""
import glob
import os
import signal

import patience


def stat_of(folder):
    """What the kernel says of a process or a thread, by its folder below /proc: its name, and the fields behind that, of which the first is its state. Raises
    OSError if it has ended."""
    with open(folder + '/stat') as f:
        name, fields = f.read().rpartition(')')[::2]
    return name.partition('(')[2], fields.split()


def processes_of(mark):
    """Living processes (zombies are not) with `mark`, NAME=VALUE, in their environment; not the caller."""
    found = []
    for folder in glob.glob('/proc/[0-9]*'):
        try:
            with open(folder + '/environ', 'rb') as f:
                if mark.encode() not in f.read().split(b'\0'):
                    continue
            if stat_of(folder)[1][0] not in 'ZX':
                found.append(int(os.path.basename(folder)))
        except OSError:
            pass  # it has just ended, or is not ours
    return [pid for pid in found if pid != os.getpid()]


def cpu_seconds(pids):
    """What they have computed so far."""
    ticks = 0
    for pid in pids:
        try:
            ticks += sum(map(int, stat_of(f'/proc/{pid}')[1][11:15]))     # children that it has waited for, too
        except OSError:
            pass
    return ticks / os.sysconf('SC_CLK_TCK')


def end_processes(mark, seconds):
    """Kills those that still live after that many seconds, and returns them: a launcher may end ahead of the last of its processes."""
    left = [] if patience.waited_for(lambda: not processes_of(mark), seconds, lambda: cpu_seconds(processes_of(mark))) else processes_of(mark)
    for pid in left:
        kill(pid)
    return left


def threads_of(pids):
    """A line for each of their threads: what it is called, its state, where it waits in the kernel, what it has computed. For jobs that hang."""
    lines = []
    for pid in pids:
        for folder in sorted(glob.glob(f'/proc/{pid}/task/[0-9]*')):
            try:
                name, fields = stat_of(folder)
                with open(folder + '/wchan') as f:
                    where = f.read()
            except OSError:     # it has just ended
                continue
            lines.append(f'{pid}/{os.path.basename(folder)} {name}: {fields[0]}, {where}, {sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"):.2f} s')
    return lines


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


def wait_for_name(processes, name, seconds=30):
    """Waits until one of the processes has that name."""
    patience.waited_for(lambda: any(name_of(pid) == name for pid in processes()), seconds)


def wait_for_ranks(processes, program, ranks, seconds=30):
    """The ids of a job's ranks, in rising order, as soon as that many of them run the program. A child that a rank has made, or the command `workshare` to
    see which libraries the program needs, is none of them."""
    found = []

    def parent_of(pid):
        try:
            return int(stat_of(f'/proc/{pid}')[1][1])
        except OSError:
            return 0

    def all_there():
        found[:] = sorted(pid for pid in processes() if name_of(pid) == program and name_of(parent_of(pid)) not in (program, 'workshare'))
        return len(found) == ranks
    if not patience.waited_for(all_there, seconds):
        raise RuntimeError(f'{ranks} ranks of {program} did not start in {seconds} s')
    return found
