# SPDX-License-Identifier: MIT
"""Ranks under another MPI that are killed, stopped, call MPI_Abort or call MPI_Init twice, and a launcher that is killed: the job ends in time, with an
error if that MPI has one, and leaves no process and no shared memory (job.py looks)."""
import functools
import os
import signal
import time

from job import CORES, expect, finish, likely, repeated, run, side_by_side, skip
from of_mpi import SEGMENTS
import patience
from processes import kill, name_of, stat_of, wait_for_name, wait_for_ranks


@functools.lru_cache(maxsize=None)
def may_return_0():
    """Whether this MPI's mpirun may hide that a rank was killed: that of MPICH 4.2.1 did so in 8 of 40 jobs without Workshare."""
    return any(run('host', 'killed', workshare=False, code=None, title='a rank is killed, off').code == 0 for _ in range(40))


@repeated
def dies(who):
    result = run('death', who, limit=30, code=3 if who == 'abort' else None, title=f'death {who}')
    expect(result, 'exit status 0 where an error was wanted', result.code != 0 or may_return_0())
    likely(result, 'nobody was killed', 'no guest came' not in result.out and 'passed' not in result.out)
    likely(result, 'the job took more than 10 s to end', result.seconds < 10)


def state_of(pid):
    try:
        return stat_of(f'/proc/{pid}')[1][0]
    except OSError:
        return ''


@repeated
def stops():
    """A rank stops while the others lend it their cores. They wait, and go on when it does."""
    stopped = []

    def go_on(processes):
        ranks = wait_for_ranks(processes, 'host', 2)
        patience.waited_for(lambda: any(state_of(pid) == 'T' for pid in ranks), 20)
        stopped[:] = [pid for pid in ranks if state_of(pid) == 'T']
        time.sleep(1.5)
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    result = run('host', 'stop', meanwhile=go_on, title='a rank stops')
    expect(result, 'no rank stopped', len(stopped) == 1)
    expect(result, 'a wrong sum', sorted(result.out.splitlines()) == ['rank 0: sum 19900', 'rank 1: sum 19900'])
    likely(result, 'nothing was stolen', result.stats.get('chunks_stolen', 0) > 0)


def initializes_twice():
    for how in 'twice', 'again':
        alone, shared = (run('host', how, workshare=on, code=None, limit=30, title=f'MPI_Init {how}, {"on" if on else "off"}') for on in (False, True))
        # MPI_Init after MPI_Finalize: Open MPI 6.0.0rc2 crashes in some jobs.
        expect(shared, f'exit status {alone.code} without Workshare', bool(alone.code) == bool(shared.code) if alone.code >= 128 else alone.code == shared.code)
        expect(shared, f'without Workshare it says: {alone.out}', sorted(alone.out.splitlines()) == sorted(shared.out.splitlines()))


def names(processes):
    return sorted(map(name_of, processes()))


@repeated
def loses_launcher():
    """Ranks in MPI end. One that computes ends at once, or when it comes to MPI: as without Workshare (Open MPI 5.0 ends it then only)."""
    def end_launcher(processes):
        wait_for_name(processes, 'begun')
        for pid in processes():
            if name_of(pid) in ('orterun', 'prterun', 'mpirun.openmpi', 'mpiexec.hydra', 'mpirun', 'mpirun.mpich'):
                kill(pid)
        # With Workshare a rank that waits may sleep for seconds before it polls MPI.
        until, last = time.monotonic() + (8 if stayed else 3), stayed[0] if stayed else []
        while names(processes) != last and time.monotonic() < until:
            time.sleep(0.05)
        stayed.append(names(processes))
        for pid in processes():
            if name_of(pid) == 'begun':
                os.kill(pid, signal.SIGUSR1)
    stayed = []
    for on in False, True:   # Open MPI's mpirun removes what the ranks of Open MPI make
        result = run('host', 'forever', workshare=on, code='error', limit=30, meanwhile=end_launcher, leaves=SEGMENTS,
                     title=f'mpirun is killed, {"on" if on else "off"}')
    likely(result, f'ranks that stay until they come to MPI: {stayed[1:]}, without Workshare {stayed[:1]}', stayed[1:] == stayed[:1])


loses_launcher()    # by itself: what its ranks leave must not be taken for what another job left
# They mostly wait.
side_by_side(initializes_twice, *([stops] if CORES > 1 else []),
             *(lambda who=who: dies(who) for who in (('owner', 'guest', 'helper', 'idle', 'thief', 'abort') if CORES > 1 else ())), at_once=3)
if CORES < 2:
    skip('needs two cores')
finish()
