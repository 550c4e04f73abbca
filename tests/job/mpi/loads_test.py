# SPDX-License-Identifier: MIT
"""Loads are what a rank's work costs, not what stealing left of it: of known work they are the same whether much of it is stolen or none."""
import re

from job import CORES, finish, likely, repeated, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()


# A sixth is stolen where both ranks end at once. Of less than MUCH of it the loads would tell too little; that stealing wins back all is not judged here.
MUCH = 0.12
# The imbalance would be 1.33 instead of 1.48 if what guests did were left out, and 1.2 if a rank's help for others counted as its own work.
TOLERANCE = 0.06


@repeated
def measure(least_stolen, most_stolen, **how):
    result = run('loads', 40, 3, ranks=2, **how)
    numbers = [float(n) for n in re.findall(r'[\d.]+', result.out)]
    likely(result, f'imbalance, expected, stolen, of: {numbers}',
           len(numbers) == 4 and abs(numbers[0] / numbers[1] - 1) < TOLERANCE and least_stolen <= numbers[2] / numbers[3] <= most_stolen)


for bound in ('-bind-to', 'core'), ():
    measure(MUCH, 1, options=bound)
    measure(0, 0, options=(*bound, '-workshare-victim', 'none'))
measure(MUCH, 1, env={'WS_WORKERS': '1', 'WS_CORES': '4'})
measure(0, 0, options=('-workshare-workers', '1', '-workshare-victim', 'none'), env={'WS_CORES': '4'})
finish()
