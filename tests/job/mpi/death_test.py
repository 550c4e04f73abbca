# SPDX-License-Identifier: MIT
"""A rank is killed while it lends its core or while it is helped: the job ends within seconds with an error, and leaves no
process and no shared memory (job.py looks). Some cases switch mpirun's own clean-up off: then the ranks themselves must notice."""
from job import CORES, expect_lines, finish, likely, repeated, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()


@repeated
def dies(who, options, env):
    result = run('death', who, options=options, env=env, limit=30, code='error', title=' '.join(['death', who, *options, *env]))
    if who in ('helper', 'idle'):  # nobody but the ranks themselves can have noticed
        expect_lines(result, result.err, r'^workshare: error: rank 1 \(pid [0-9]+\) died while rank 0 waited')
    likely(result, 'nobody was killed', 'no guest came' not in result.out and 'passed' not in result.out)
    likely(result, 'the job took more than 10 s to end', result.seconds < 10)


for options in (), ('-disable-auto-cleanup',):
    for who in 'owner', 'guest', 'helper', 'idle', 'thief':
        for env in {}, {'WS_CHAOS': '4'}:
            dies(who, options, env)
finish()
