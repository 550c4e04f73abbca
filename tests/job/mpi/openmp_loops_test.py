# SPDX-License-Identifier: MIT
"""Loops of OpenMP's that mpicc -fws=openmp has made ours are right where OpenMP is, whatever the functions do that the compiler cannot
see, and have OpenMP's threads. With -workshare-openmp=share they are shared as any other parallel region; else they are OpenMP's. `asks`
are programs in which somebody asks OpenMP for its threads, `plain` those in which nobody does. The loops sleep.

Arguments: mpirun, the folder of the programs, and gcc, clang or fortran."""
import sys

from job import expect, finish, run


SHARE = '-workshare-openmp=share',
one, two = {'OMP_NUM_THREADS': '1'}, {'OMP_NUM_THREADS': '2'}


def by_default(program, *args, **how):
    """Whoever is told that there is one thread may rely on it."""
    result = run(program, *args, **how)
    expect(result, 'a loop was shared', result.stats.get('chunks_stolen', 0) == 0)
    return result


def shared(program, *args, steals=True, **how):
    return run(program, *args, options=SHARE, steals=steals, **how)


def test_fortran():
    for env in one, two:
        for kind in 'numbers', 'plain', 'asks':
            by_default('openmp_fortran', kind, env=env)
            run('openmp_fortran', kind, env=env, workshare=False)
            shared('openmp_fortran', kind, env=env)


def test(compiler):
    asks, plain = (f'openmp_loops.{compiler}.{name}' for name in ('asks', 'plain'))
    for env in one, two:
        for program in asks, plain:
            for kind in 'numbers', 'plain', 'clauses', 'split':
                by_default(program, kind, env=env)
                run(program, kind, env=env, workshare=False)
                shared(program, kind, env=env)
        for seed in 1, 2:
            shared(plain, 'clauses', env={**env, 'WS_CHAOS': str(seed)})
    # What functions of another file are told, and how many are in a loop with num_threads(2).
    for env in one, two:
        for kind in 'watched', 'back':
            for mode, told in (by_default, env['OMP_NUM_THREADS']), (shared, 8):
                result = mode(asks, kind, env=env)
                expect(result, f'not told {told}', result.out.count(f'{told} numbers, ') == 3)
        for mode in by_default, shared:
            mode(plain, 'most', env=env)
        for program in asks, plain:
            result = shared(program, 'clause', steals=False, env=env)
            expect(result, 'more than two threads', result.out.count('\n') == 3 and result.out.count('1 at once\n') + result.out.count('2 at once\n') == 3)
    # OpenMP's own threads run the iterations that OpenMP would give them; virtual ones as many as there are.
    for workshare in False, True:
        for env in one, two:
            result = run(asks, 'threads', env=env, workshare=workshare)
            expect(result, 'other threads', result.out == 3 * f'{env["OMP_NUM_THREADS"]} threads\n')
        for kind in 'static', 'tiny':
            run(asks, kind, env=two, workshare=workshare)
    run(asks, 'tiny', env=one, options=('-workshare-openmp=share:2',))
    result = run(asks, 'threads', env=one, options=('-workshare-openmp=share:6',))
    expect(result, 'other threads than it was told', result.out == 3 * '6 threads\n')
    # As many virtual threads as the program sets, on more of the rank's own than one and on the lent core.
    shared(plain, 'plain', '4', env=two)
    # The last step leaves the type of the variable: clang counts such a loop, GCC's OpenMP has none of its iterations.
    if compiler == 'gcc':
        result = run(plain, 'split_last', env=two, workshare=False, ranks=1, code=1)
        expect(result, 'not one message', result.err.count('the step after the last iteration') == 1)


if sys.argv[3] == 'fortran':
    test_fortran()
else:
    test(sys.argv[3])
finish()
