# SPDX-License-Identifier: MIT
"""Every clause with real guests: the programs of tests/directive/accept, whose results are compared with the serial
loop's, while each rank in turn computes and the others wait; under several seeds of delays."""
from job import CORES, expect_lines, finish, run

for program in ('loops', 'data_clauses', 'reductions', 'schedules', 'places', 'classes', 'modern', 'with_openmp'):
    many = [(8, 0)] if program in ('data_clauses', 'reductions') else []
    for ranks, seed in (2, 0), (2, 1), (2, 2), (1, 0), (3, 5), *many:
        env = {'WS_CHAOS': str(seed)} if seed else {}
        result = run(program, ranks=ranks, env=env, steals=1 < ranks <= CORES)
        expect_lines(result, result.out, '^ok, [0-9]+ tests$')
    result = run(program, workshare=False)
    expect_lines(result, result.out, '^ok, [0-9]+ tests$')
# Too short, most of them, for a thief to come for sure.
for program in ('conditions', 'sections', 'simd'):
    for ranks, seed in (2, 0), (2, 1), (2, 2), (1, 0), (3, 5):
        result = run(program, ranks=ranks, env={'WS_CHAOS': str(seed)} if seed else {})
        expect_lines(result, result.out, '^ok, [0-9]+ tests$')
    result = run(program, workshare=False)
    expect_lines(result, result.out, '^ok, [0-9]+ tests$')
for ranks, seed in (2, 0), (2, 1), (3, 0), (1, 0):
    run('merge', ranks=ranks, env={'WS_CHAOS': str(seed)} if seed else {}, steals=1 < ranks <= CORES)
finish()
