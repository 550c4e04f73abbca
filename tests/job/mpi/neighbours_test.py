# SPDX-License-Identifier: MIT
"""Two jobs of one user on the same cores: neither takes a core on which the other computes, both are right, and nothing is left."""
import threading
import time

from job import CORES, among_jobs, expect, finish, likely, repeated, run, skip
from processes import kill, wait_for_ranks

if CORES < 2:
    skip('needs two cores')
    finish()
sees = among_jobs(alone=True)
how = {'options': ('-bind-to', 'core'), 'env': {'WS_IGNORE_JOBS': '0'}}


# A job that computes on all cores, and one beside it in which one rank waits for the other.
@repeated
def two_jobs():
    done = []
    beside = threading.Thread(target=lambda: done.append(run('imbalance', 'balanced', 3000, ranks=CORES, **how, limit=50)))
    beside.start()
    results = []
    while beside.is_alive():
        results.append(run('imbalance', 'late', 100, **how, limit=50))
    beside.join()
    for result in [*done, *results]:
        expect(result, 'a wrong result', result.out == 'right\n')
    said = [r for r in results if 'no core was free: other jobs of yours computed on them' in r.err]
    likely(results[0], f'{len(said)} of {len(results)} jobs say that another computed on their cores', said)


two_jobs()


def kill_ranks(processes):
    pids = wait_for_ranks(processes, 'imbalance', CORES)
    time.sleep(1)
    for pid in pids:
        kill(pid)


# Alone again: the cores are free, even though a job was killed on them.
run('imbalance', 'balanced', 20000, ranks=CORES, **how, code='error', meanwhile=kill_ranks)
result = run('imbalance', 'late', 100, **how, steals=True)
expect(result, 'a job that is over counts', 'other jobs' not in result.err)
finish()
