# SPDX-License-Identifier: MIT
"""Loops of OpenMP's that mpicc -fws=openmp has made ours are right where OpenMP is, whatever the functions do that the compiler cannot
see, and have OpenMP's threads. `asks` are programs in which somebody asks OpenMP for its threads, `plain` those in which nobody does."""
import os

from job import PROGRAMS, expect, finish, run, skip


def stolen(result):
    return result.stats.get('chunks_stolen', 0)


def no_guests(program, *args, env):
    result = run(program, *args, env=env)
    expect(result, 'a loop was shared', stolen(result) == 0)


one, two = {'OMP_NUM_THREADS': '1'}, {'OMP_NUM_THREADS': '2'}
for compiler in 'gcc', 'clang':
    asks, plain = f'openmp_loops.{compiler}.asks', f'openmp_loops.{compiler}.plain'
    if not os.path.exists(os.path.join(PROGRAMS, asks)):
        skip('clang is not here')
        continue
    # Whoever is asked for its number is one of OpenMP's.
    no_guests(asks, 'numbers', env=one)
    no_guests(asks, 'numbers', env=two)
    run(asks, 'numbers', env=two, workshare=False)
    run(asks, 'plain', env=one, steals=True)            # it calls nothing
    run(plain, 'numbers', env=one, steals=True)         # nobody can ask
    # The program's own number of threads counts guests too, and so does the user's limit.
    no_guests(plain, 'plain', 1, env=one)
    no_guests(plain, 'plain', 2, env=one)
    no_guests(plain, 'plain', env={**one, 'OMP_THREAD_LIMIT': '1'})
    run(plain, 'plain', env={**one, 'OMP_THREAD_LIMIT': '2'}, steals=True)
    # OpenMP's threads, each where OpenMP has it.
    for workshare in False, True:
        for env in one, two:
            result = run(asks, 'threads', env=env, workshare=workshare)
            expect(result, 'other threads', result.out == 3 * f'{env["OMP_NUM_THREADS"]} threads\n')
            run(plain, 'clauses', env=env, workshare=workshare)
        run(asks, 'static', env=two, workshare=workshare)
    result = run(plain, 'threads', 2, env=one, workshare=False)
    expect(result, 'other threads', result.out == 3 * '2 threads\n')
    # The last step leaves the type of the variable: clang counts such a loop, GCC's OpenMP has none of its iterations.
    for env in one, two:
        run(plain, 'split', env=env, workshare=False)
        run(plain, 'split', env=env, steals=True)
    if compiler == 'gcc':
        result = run(plain, 'split_last', env=two, workshare=False, ranks=1, code=1)
        expect(result, 'not one message', result.err.count('the step after the last iteration') == 1)
    # And guests beside them.
    run(plain, 'plain', env=two, steals=True)
    for seed in 1, 2:
        run(plain, 'clauses', env={**two, 'WS_CHAOS': str(seed)})

no_guests('openmp_fortran', 'numbers', env=one)
run('openmp_fortran', 'numbers', env=two, workshare=False)
no_guests('openmp_fortran', 'plain', 1, env=one)
run('openmp_fortran', 'plain', env=one, steals=True)
run('openmp_fortran', 'plain', env=two)
finish()
