# SPDX-License-Identifier: MIT
"""A thread that is pinned to a core where its rank has a worker: the core helps while the thread waits in MPI, and not while it computes."""
import os

from job import CORES, expect, finish, run, skip

if CORES < 2:
    skip('needs two cores')
else:
    os.environ.pop('HWLOC_COMPONENTS', None)  # with it, hwloc ignores HWLOC_SYNTHETIC
    env = {'MPIR_CVAR_NUM_CLIQUES': '2',  # a node each: the other rank neither helps nor shares the cores
           # CPUs that are threads of one core would be one core, and none would be left for a worker
           'HWLOC_SYNTHETIC': f'core:{max(os.sched_getaffinity(0)) + 1} pu:1', 'HWLOC_THISSYSTEM': '1'}
    result = run('pinned', options=('-workshare-workers', '1'), env=env, title='pinned')
    expect(result, 'wrong', result.out == 'right\n')
    expect(result, 'no worker helped', result.stats.get('worker_chunks', 0) > 0)
finish()
