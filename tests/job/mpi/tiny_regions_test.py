# SPDX-License-Identifier: MIT
"""A million tiny regions with a thief always waiting: right, and no hang. Under delays there are fewer, as each is shared.
--soak: ten times as many, and more seeds."""
import sys

from job import finish, run

soak = '--soak' in sys.argv
scale = 10 if soak else 1
run('tiny_regions', 1000000 * scale, limit=300)
run('tiny_regions', 1000000 * scale, workshare=False, limit=300)
for seed in range(1, 21 if soak else 3):
    run('tiny_regions', 1500, env={'WS_CHAOS': str(seed)}, limit=300)
finish()
