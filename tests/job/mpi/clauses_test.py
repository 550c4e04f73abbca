# SPDX-License-Identifier: MIT
"""Every clause with real guests: the programs of tests/compiler/directive/accept, whose results are compared with the serial
loop's, while each rank in turn computes and the others wait; under several seeds of delays."""
import re

from job import CORES, expect, expect_lines, finish, run

for program in ('loops', 'data_clauses', 'reductions', 'schedules', 'places', 'steps', 'classes', 'modern', 'with_openmp'):
    many = [(8, 0)] if program in ('data_clauses', 'reductions') else []
    for ranks, seed in (2, 0), (2, 1), (2, 2), (1, 0), (3, 5), *many:
        env = {'WS_CHAOS': str(seed)} if seed else {}
        result = run(program, ranks=ranks, env=env, steals=1 < ranks <= CORES)
        expect_lines(result, result.out, '^ok, [0-9]+ tests$')
    result = run(program, workshare=False)
    expect_lines(result, result.out, '^ok, [0-9]+ tests$')
# Most of them are too short to be sure that a thief comes.
for program in ('conditions', 'sections', 'simd'):
    for ranks, seed in (2, 0), (2, 1), (2, 2), (1, 0), (3, 5):
        result = run(program, ranks=ranks, env={'WS_CHAOS': str(seed)} if seed else {})
        expect_lines(result, result.out, '^ok, [0-9]+ tests$')
    result = run(program, workshare=False)
    expect_lines(result, result.out, '^ok, [0-9]+ tests$')
for ranks, seed in (2, 0), (2, 1), (3, 0), (1, 0):
    run('merge', ranks=ranks, env={'WS_CHAOS': str(seed)} if seed else {}, steals=1 < ranks <= CORES)
# Where a loop's last step leaves the type of its variable, clauses that cannot be right then end the job with one message.
for what in 'lastprivate', 'lastprivate_inside', 'simd':
    for workshare in True, False:
        result = run('last_step', what, ranks=1, workshare=workshare, code=1)
        expect(result, 'another message', len(re.findall('^workshare: ', result.err, re.M)) == 1 and result.out == '')
        expect_lines(result, result.err, r"^workshare: error: [^:\n]*last_step\.c:\d+:main: the step after the last iteration passes the last value of the "
                                         r"loop variable's type, which a loop with 'lastprivate' or 'simd' cannot do$")
finish()
