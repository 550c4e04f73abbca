# SPDX-License-Identifier: MIT
"""MPI's own windows: job.py sees what they leave in /dev/shm. Upstream's MPICH made a file for each address that it tried, and removed only
the last. As every second try fails, some do in 40 windows. And one-sided operations reach the program's own memory wherever a window of it
begins: with upstream's 4.0 they went 8 bytes too low with every second word."""
from job import expect, finish, run, skip

for ranks in 2, 4:
    result = run('pages', 40, ranks=ranks, workshare=False)
    if result.out == 'no room\n':
        skip('the addresses of a process cannot be kept for it')
        break
    expect(result, 'not all windows', result.out == '40 windows\n')
for flag in True, False:
    for ranks in 2, 3:
        run('own_memory', ranks=ranks, workshare=flag, limit=30)
finish()
