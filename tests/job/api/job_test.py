# SPDX-License-Identifier: MIT
"""The API under real mpirun: every iteration runs once, some are stolen, bodies may lock and call MPI, and an exception
ends the job with a message.
Arguments: mpirun, the folder of the programs, and which compilers they were made with."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'mpi'))
from job import CORES, expect, expect_lines, finish, run, skip  # noqa: E402

compilers = sys.argv[3:]
for compiler in compilers:
    for program in f'api_oracle_c_{compiler}', f'api_oracle_cpp_{compiler}':
        for ranks, regions, seeds in (1, 50, [0]), (2, 200, [0, 1]), (3, 100, [2]):
            for seed in seeds:
                env = {'WS_CHAOS': str(seed)} if seed else {}
                result = run(program, 17 + seed, regions, ranks=ranks, env=env, steals=1 < ranks <= CORES)
                if ranks > 1:
                    expect(result, 'regions were counted', result.stats.get('executions', 0) == ranks * regions)
        run(program, 5, 100, workshare=False)
    for ranks, seed in (1, 0), (2, 0), (2, 1), (2, 2), (3, 3):
        env = {'WS_CHAOS': str(seed)} if seed else {}
        result = run(f'api_tasks_{compiler}', 23 + seed, 200, ranks=ranks, env=env, steals=1 < ranks <= CORES and '^by others: [1-9]')
        expect_lines(result, result.out, '^by others: [0-9]')
    run(f'api_tasks_{compiler}', 29, 100, workshare=False)
    run(f'api_shared_{compiler}', 'shared', steals=CORES > 1)
    run(f'api_shared_{compiler}', workshare=False)
    if CORES > 1:
        result = run(f'api_oracle_cpp_{compiler}', 3, 100, steals=True)
        expect(result, 'the loop is called by its name', result.stats.get('loop', '') == 'oracle')
        result = run(f'api_exception_{compiler}', 'guest', code='error', limit=30)
        expect_lines(result, result.err, r'^workshare: error: an exception left an iteration of the ws loop loop;', 'the reason')
    else:
        skip('one core: nothing can be stolen')
    result = run(f'api_exception_{compiler}', 'options', code='error', limit=30)
    expect_lines(result, result.err, r'workshare: loop \([^:\n]*exception\.cpp:\d+:main\): chunk size -1 in schedule is not positive')
finish()
