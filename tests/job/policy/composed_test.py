# SPDX-License-Identifier: MIT
"""composed_test.py MPIRUN PROGRAMS: loops that are shared, workers and parallel regions of OpenMP in one program. A core has one use at a time:
beside a region's thread only the chunk that had begun there goes on, and that is counted."""
import json
import os
import re
import sys
import tempfile

from job import expect, finish, likely, repeated, run, side_by_side

SOAK = '--soak' in sys.argv


def job(*options, env):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'report.json')
        result = run('composed', '20', options=(*options, f'-workshare-report={path}'), env={'WS_CORES': '8', 'OMP_NUM_THREADS': '4', **env})
        with open(path) as f:
            told = json.load(f)
        result.totals, result.chunk_ms = told['totals'], max(1000 * loop['longest_chunk_s'] for loop in told['by_loop'])
    return result


beside = []     # how often a region came to a core that a worker had to leave


@repeated
def composed(chaos):
    result = job('-workshare-openmp', 'auto', '-workshare-workers', '3', env={'WS_CHAOS': str(chaos)} if chaos else {})
    expect(result, 'workers are refused', 'has no effect' not in result.err and result.stats['workers'] == 6)
    expect(result, f'all cores are somebody\'s: {result.totals["openmp_cores"]}', result.totals['openmp_cores'] == 8)
    likely(result, 'workers compute', result.stats['worker_chunks'] > 0)
    likely(result, 'loops are shared', result.stats['chunks_stolen'] > result.stats['worker_chunks'] or result.stats['lends'] > 0)
    likely(result, f'regions have more cores than their ranks began with: {result.out}', int(re.search(r'rank 0 had at most (\d+) threads', result.out)[1]) > 4)
    times = re.search(r'(\d+) times a region got a core before .*, at most ([\d.]+) ms before', result.err)
    if times:
        beside.append(int(times[1]))
        expect(result, 'the report counts them, too', result.totals['openmp_beside'] == int(times[1]) and 0 < result.totals['openmp_beside_s'] < 10)
        # The machine may stop a thread when its chunk is over.
        likely(result, f'more than a chunk goes on beside a region: {times[2]} ms of {result.chunk_ms} ms', float(times[2]) <= result.chunk_ms + 5)
    else:
        expect(result, 'the report counts none, either', result.totals['openmp_beside'] == 0)
    return result


# With random delays twice; they sleep for their work. Then until a region has come to a worker's core.
side_by_side(*(lambda chaos=chaos: composed(chaos) for chaos in range(1, 3)), at_once=2)
for chaos in range(3, 30 if SOAK else 12):
    if not beside or SOAK:
        composed(chaos)
expect(composed(0), 'no region ever came to a core that a worker had to leave: nothing was tried', beside)
finish()
