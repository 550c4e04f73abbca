# SPDX-License-Identifier: MIT
"""Every iteration runs exactly once: random loops, costs, chunks and waits; with delays injected and without; on one
rank, on as many as cores, and on more. --soak: longer, many seeds."""
import sys

from job import CORES, expect, finish, run

JOBS = (1, 200, [0, 1]), (2, 600, [0, 1, 2]), (3, 300, [0, 5]), (8, 80, [0, 6])
SOAK = (2, 3000, range(0, 40)), (3, 1000, range(40, 60)), (4, 500, range(60, 70)), (8, 200, range(70, 80))
for ranks, regions, seeds in SOAK if '--soak' in sys.argv else JOBS:
    for seed in seeds:
        env = {'WS_CHAOS': str(seed)} if seed else {}
        result = run('oracle', 17 + seed, regions, ranks=ranks, env=env, limit=600 if '--soak' in sys.argv else 60,
                     steals=1 < ranks <= CORES)
        if ranks > 1:
            expect(result, 'regions were counted', result.stats.get('executions', 0) == ranks * regions)
run('oracle', 5, 200, workshare=False)
finish()
