# SPDX-License-Identifier: MIT
"""Ranks under another MPI that are killed, stopped, call MPI_Abort or call MPI_Init twice, and a launcher that is killed: the job ends in time, with an
error if that MPI has one, and leaves no process and no shared memory (job.py looks)."""
import os
import signal
import time

from job import CORES, expect, finish, likely, repeated, run, skip
import patience
from processes import kill, name_of, stat_of, wait_for_name, wait_for_ranks


@repeated
def dies(who):
    result = run('death', who, limit=30, code=3 if who == 'abort' else 'error', title=f'death {who}')
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
        expect(shared, f'exit status {alone.code} without Workshare', alone.code == shared.code)
        expect(shared, f'without Workshare it says: {alone.out}', sorted(alone.out.splitlines()) == sorted(shared.out.splitlines()))


def loses_launcher():
    def end_launcher(processes):
        wait_for_name(processes, 'begun')
        for pid in processes():
            if name_of(pid) in ('orterun', 'mpirun.openmpi', 'mpiexec.hydra', 'mpirun', 'mpirun.mpich'):
                kill(pid)
    for on in False, True:   # Open MPI's mpirun removes what the ranks of Open MPI make
        run('host', 'forever', workshare=on, code='error', limit=30, meanwhile=end_launcher, leaves='/dev/shm/vader_segment.', title=f'mpirun is killed, {"on" if on else "off"}')


initializes_twice()
loses_launcher()
if CORES < 2:
    skip('needs two cores')
    finish()
for who in 'owner', 'guest', 'helper', 'idle', 'thief', 'abort':
    dies(who)
stops()
finish()
