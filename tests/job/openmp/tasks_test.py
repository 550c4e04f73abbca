# SPDX-License-Identifier: MIT
"""A region whose work is in tasks is not divided by sharing, and the summary says that tasks are why: not long iterations, nor memory.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import json
import os
import sys
import tempfile

from job import CORES, expect, finish, likely, repeated, run, skip

FALSE_CAUSES = 'too long', 'did not pay', 'no rank waited', 'too short', 'hand-over'


@repeated
def tasks(turns):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'report.json')
        result = run(f'tasks.{sys.argv[3]}', turns, options=('-workshare-openmp=share', f'-workshare-report={report}'), env={'OMP_NUM_THREADS': '1'})
        expect(result, 'not right', result.out == 'right\n')
        with open(report) as f:
            loops = json.load(f)['by_loop']
    # How a region's rounds are named does not matter here: most of the work is in the one that begins it.
    regions = [loop for loop in loops if loop['executions_with_tasks'] > 0]
    expect(result, f'no region with tasks is reported: {loops}', sum(loop['executions_with_tasks'] for loop in regions) == turns)
    told = '\n'.join(result.summary())
    for cause in FALSE_CAUSES:
        likely(result, f'the summary gives a false cause: {cause}', cause not in told)
    likely(result, 'the summary does not name tasks as the cause', ' runs OpenMP tasks, which sharing does not divide\n' in told and 'hint: -workshare-openmp=lend gives' in told)


if CORES < 2:
    skip('needs two cores')
else:
    for turns in 1, 8:
        tasks(turns)
finish()
