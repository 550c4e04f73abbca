# SPDX-License-Identifier: MIT
"""Children of ranks: they compute what they would without Workshare, and their parents do not notice them."""
from job import CORES, expect, expect_lines, finish, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()

result = run('forks', 'between', steals=True)
expect(result, 'the children are counted', result.stats.get('executions') == 20)
for what in 'thread', 'inside', 'spawn':
    run('forks', what, steals=True)
run('forks', 'thread', env={'WS_CHAOS': '3', 'WS_REPORT': '1'}, steals=True)
run('forks', 'state', options=('-bind-to', 'core'), steals=True)
run('forks', 'goes_on', options=('-workshare-victim', 'none'))
for what in 'shared', 'guest':
    result = run('forks', what, steals=True)
    expect_lines(result, result.err, r'^workshare: error: a child of fork\(\) reached the end of an iteration of the ws loop [^:\n]*forks\.c:\d+:child_goes_on, ')
finish()
