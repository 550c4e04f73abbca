# SPDX-License-Identifier: MIT
"""Directives of tasks with real guests: each task runs once, before what waits for it goes on, and after those that its depend
clauses name; with delays, without waiting ranks and without -workshare. Tasks of two compilers wait for each other.
Arguments: mpirun, the folder of the programs, and which compilers they were made with."""
import sys

from job import CORES, expect_lines, finish, run

compilers = sys.argv[3:]
for compiler in compilers:
    for ranks, seed in (1, 0), (2, 0), (2, 1), (3, 3):
        env = {'WS_CHAOS': str(seed)} if seed else {}
        result = run(f'tasks_{compiler}', 23 + seed, 60, ranks=ranks, env=env, steals=1 < ranks <= CORES and '^by others: [1-9]')
        expect_lines(result, result.out, '^by others: [0-9]')
        for program in ('tasks_c', 'tasks_cpp') if seed < 2 else ():
            result = run(f'{program}_{compiler}', ranks=ranks, env=env)
            expect_lines(result, result.out, '^ok, [0-9]+ tests$')
    for program, arguments in ('tasks', (29, 30)), ('tasks_c', ()), ('tasks_cpp', ()):
        run(f'{program}_{compiler}', *arguments, workshare=False)
    for options in {}, {'ranks': 1}, {'workshare': False}:
        result = run(f'tasks_{compiler}', 'throw', code='error', limit=30, **options)
        expect_lines(result, result.err, '^workshare: error: an exception left a ws task', 'what\\(\\):  the reason')
    # Tasks that took long beside a waiting rank are shared from the first one on when they are put again.
    result = run(f'tasks_{compiler}', 'first', steals=CORES > 1 and '^first by others: [1-9]')
    expect_lines(result, result.out, '^first by others: [0-9]')
for compiler in compilers if len(compilers) > 1 else ():
    run(f'mixed_tasks_{compiler}', steals=CORES > 1)
    run(f'mixed_tasks_{compiler}', env={'WS_CHAOS': '5'})
    run(f'mixed_tasks_{compiler}', workshare=False)
finish()
