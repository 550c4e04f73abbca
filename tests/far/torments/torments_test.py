# SPDX-License-Identifier: MIT
"""Ranks and threads are stopped for a while, slowed down and killed at random moments, while the oracle counts every iteration.
Stopped or slow: the result is right and the job ends. Killed: the job ends in time with an error that names the dead, and
nothing is left. --soak: many seeds, and longer stops."""
import ctypes
import glob
import os
import random
import signal
import subprocess
import sys
import time

from job import CORES, expect, finish, likely, repeated, run
import patience

SOAK = '--soak' in sys.argv
libc = ctypes.CDLL(None)


def threads(pid):
    """{thread: its name} of a process; nothing when it is gone."""
    names = {}
    for path in glob.glob(f'/proc/{pid}/task/*/comm'):
        try:
            with open(path) as f:
                names[int(path.split('/')[-2])] = f.read().strip()
        except OSError:
            pass
    return names


class Torment:
    """Torments a job's ranks from the moment when all of them run their regions until one has finished or once() returns True. Counts
    what it did."""

    def __init__(self, seed, ranks):
        self.random, self.ranks, self.count = random.Random(seed), ranks, 0

    def __call__(self, processes):
        pids = []

        def are_ready():
            pids[:] = [pid for pid in processes() if threads(pid).get(pid) == 'ready']
            return len(pids) == self.ranks
        patience.waited_for(are_ready, 20)
        self.begin(pids)
        try:
            while len(pids) == self.ranks and all(threads(pid).get(pid) == 'ready' for pid in pids):
                self.count += 1
                if self.once(pids):
                    break
        except ProcessLookupError:
            pass
        self.end()

    def begin(self, pids):
        pass

    def end(self):
        pass


class Stop(Torment):
    """A whole process: a thief, or an owner with its guests."""

    def once(self, pids):
        pid = self.random.choice(pids)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(self.random.uniform(0.05, 0.5) if SOAK else self.random.uniform(0.02, 0.15))
        os.kill(pid, signal.SIGCONT)
        time.sleep(self.random.uniform(0, 0.05))


class Stall(Torment):
    """One thread, by a signal that it handles for a while: a guest, a worker, or the rank's own."""

    def once(self, pids):
        pid = self.random.choice(pids)
        ours = threads(pid)
        wanted = self.random.choice(('ready', 'ws guest', 'ws worker'))
        chosen = [t for t, name in ours.items() if name == wanted]
        if chosen:
            libc.tgkill(pid, self.random.choice(chosen), int(signal.SIGUSR1))
        time.sleep(self.random.uniform(0, 0.02))


class Slow(Torment):
    """One rank at the lowest priority, and on every core somebody else who computes."""

    def begin(self, pids):
        if pids:
            for thread in threads(pids[0]):
                os.setpriority(os.PRIO_PROCESS, thread, 19)
        self.others = [subprocess.Popen(['sh', '-c', 'while :; do :; done']) for _ in range(CORES)]

    def once(self, pids):
        time.sleep(0.05)

    def end(self):
        for other in self.others:
            other.kill()
            other.wait()


class Kill(Torment):
    def __init__(self, seed, ranks):
        super().__init__(seed, ranks)
        self.killed = None

    def once(self, pids):
        time.sleep(self.random.uniform(0, 0.4))
        self.killed = self.random.choice(pids)
        self.at = time.monotonic()
        os.kill(self.killed, signal.SIGKILL)
        return True


@repeated
def survive(kind, seed, regions, jobs):
    count = 0
    for ranks, env in jobs:
        torment = kind(seed, ranks)
        title = ' '.join([kind.__name__, str(seed), f'{ranks} ranks', *(f'{k}={v}' for k, v in env.items())])
        result = run('oracle', seed, regions, ranks=ranks, env=env, limit=120, meanwhile=torment, title=title)
        expect(result, 'regions were counted', result.stats.get('executions', 0) == ranks * regions)
        count += torment.count
    print(f'{kind.__name__} {seed}: {count} times')
    likely(result, f'{kind.__name__} found nobody', count > 0)


@repeated
def dies(seed, ranks=2, options=(), hidden=False, **env):
    torment = Kill(seed, ranks)
    title = ' '.join(['Kill', str(seed), f'{ranks} ranks', *options, *(['hidden'] if hidden else []),
                      *(f'{k}={v}' for k, v in env.items())])
    result = run('oracle', seed, 1000000, *(['hidden'] if hidden else []), ranks=ranks, env=env, options=options, limit=40,
                 code='error', meanwhile=torment, title=title)
    expect(result, 'nobody was killed', torment.killed)
    if not torment.killed:
        return
    seconds = time.monotonic() - torment.at
    named = f'(pid {torment.killed}) died' in result.err
    told = 'EXIT CODE: 9' in result.out + result.err
    if hidden:  # but mpirun looks by itself once a second
        likely(result, f'no rank named process {torment.killed}', named or not told)
        expect(result, f'nobody named process {torment.killed}', named)
    elif not options:  # or another rank was faster to end the job; the exit status is of the first that mpirun saw
        likely(result, 'mpirun did not say that a process was killed', told)
        expect(result, f'nobody said that process {torment.killed} was killed', told or named)
    likely(result, f'the job took {seconds:.0f} s to end', seconds < 10)


WORKER = {'WS_WORKERS': '1'}
for seed in range(1, 31 if SOAK else 2):
    regions = 3000 if SOAK else 150
    for kind, share in (Stop, 1), (Stall, 1), (Slow, 0.5):
        jobs = [(2, {}), (2, WORKER), (3, {'WS_CHAOS': str(seed)}), (2, {'WS_STEAL_ALL': '1'})]
        survive(kind, seed, int(regions * share), jobs if SOAK else jobs[:2])
for seed in range(1, 41 if SOAK else 3):
    dies(seed)
    dies(seed, ranks=3, hidden=True)
    if SOAK:
        dies(seed, hidden=True)
        dies(seed, ranks=3, options=('-disable-auto-cleanup',))
        dies(seed, ranks=4, hidden=True, WS_CHAOS=str(seed))
        dies(seed, hidden=True, **WORKER)
finish()
