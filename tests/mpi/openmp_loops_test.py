# SPDX-License-Identifier: MIT
"""Loops of OpenMP's that mpicc -fws=openmp has made ours are right where OpenMP is, whatever the functions do that the compiler cannot
see, and have OpenMP's threads. `asks` are programs in which somebody asks OpenMP for its threads, `plain` those in which nobody does.
Four ranks on two cores: the loops sleep, and WS_CORES says that there are four.

Arguments: mpirun, the folder of the programs, and gcc, clang or fortran."""
import os
import re
import sys

from job import expect, finish, likely, repeated, run


def stolen(result):
    return result.stats.get('chunks_stolen', 0)


ALONE = '-workshare-openmp=none',  # else regions that the compiler left are shared as they are


def no_guests(program, *args, options=(), **how):
    result = run(program, *args, options=(*ALONE, *options), **how)
    expect(result, 'a loop was shared', stolen(result) == 0)
    return result


four = {'WS_CORES': '4'}
cpus = sorted(os.sched_getaffinity(0))
on_one_cpu = ('taskset', '-c', str(cpus[0]))  # where OpenMP's threads are to be no more than the rank's CPUs
one, two = {'OMP_NUM_THREADS': '1'}, {'OMP_NUM_THREADS': '2'}


@repeated
def many_chunks(program):
    """A static schedule that nobody can tell from another is none: equal parts of four would be twelve chunks."""
    result = run(program, 'threads', env={**one, **four}, steals=True)
    likely(result, 'equal parts', stolen(result) > 24)


@repeated
def watched(most, program, *args, shared=True, told=None, **how):
    """No more than `most` participants at once, in any loop; with `told` numbers for them."""
    result = run(program, *args, ranks=4, steals=shared, options=() if shared else ALONE, **how)
    counts = re.findall(r'(\d+) at once', result.out)
    expect(result, f'more than {most} at once', len(counts) == 3 and all(int(c) <= most for c in counts))
    if not shared:
        expect(result, 'a loop was shared', stolen(result) == 0)
    if told is not None:
        likely(result, 'other numbers', result.out.count(f'{told} numbers, ') == 3)


def test_fortran():
    no_guests('openmp_fortran', 'numbers', env=one)
    run('openmp_fortran', 'numbers', env=two, workshare=False)
    no_guests('openmp_fortran', 'plain', 1, env=one)
    no_guests('openmp_fortran', 'asks', env=one)
    run('openmp_fortran', 'asks', env={**one, 'WS_OPENMP_GUESTS': '1'}, steals=True)
    run('openmp_fortran', 'asks', env={'OMP_NUM_THREADS': '3'}, prefix=on_one_cpu)
    run('openmp_fortran', 'numbers', env={**one, 'WS_OPENMP_GUESTS': '1'}, steals=True)
    run('openmp_fortran', 'plain', env=one, steals=True)
    run('openmp_fortran', 'plain', env=two)


def test(compiler):
    asks, plain = f'openmp_loops.{compiler}.asks', f'openmp_loops.{compiler}.plain'
    # Every participant that asks for its number gets one that OpenMP could give.
    no_guests(asks, 'numbers', env=one)
    no_guests(asks, 'numbers', env=two)
    run(asks, 'numbers', env=two, workshare=False)
    run(asks, 'plain', env=one, steals=True)            # it calls nothing
    run(plain, 'numbers', env=one, steals=True)         # nobody can ask
    # The program's own number of threads counts guests too, and so does the user's limit.
    no_guests(plain, 'plain', 1, env=one)
    no_guests(plain, 'plain', env={**one, 'OMP_THREAD_LIMIT': '1'})
    run(plain, 'plain', env={**one, 'OMP_THREAD_LIMIT': '2'}, steals=True)
    watched(2, plain, 'most', 2, env={**one, **four}, prefix=on_one_cpu)
    watched(3, plain, 'most', 3, env={**one, **four}, prefix=on_one_cpu)
    watched(2, plain, 'most', env={**one, **four, 'OMP_THREAD_LIMIT': '2'})
    watched(2, plain, 'clause', env={**one, **four}, shared=False)
    watched(4, plain, 'most', env={**one, **four})
    # Participants that ask are told a number: where the user gave the rank more threads than CPUs, and with WS_OPENMP_GUESTS.
    watched(1, asks, 'watched', env={**one, **four}, shared=False, told=1)
    watched(4, asks, 'watched', env={**four, 'OMP_NUM_THREADS': '4'}, prefix=on_one_cpu, told=4)
    watched(2, asks, 'watched', env={**two, **four}, prefix=on_one_cpu, told=2)
    if len(cpus) > 1:
        watched(3, asks, 'watched', env={**four, 'OMP_NUM_THREADS': '3'}, prefix=('taskset', '-c', f'{cpus[0]},{cpus[1]}'), told=3)
    watched(3, asks, 'watched', env={**one, **four, 'WS_OPENMP_GUESTS': '2'}, told=3)
    watched(3, asks, 'back', env={**one, **four, 'WS_OPENMP_GUESTS': '2'}, told=3)
    run(asks, 'numbers', env={**one, 'WS_OPENMP_GUESTS': '1'}, steals=True)
    run(asks, 'numbers', env={'OMP_NUM_THREADS': '4'}, prefix=on_one_cpu)
    watched(1, asks, 'watched', 1, env={**one, **four, 'WS_OPENMP_GUESTS': '2'}, shared=False, told=1)
    for seed in 1, 2:
        watched(3, asks, 'watched', env={**one, **four, 'WS_OPENMP_GUESTS': '2', 'WS_CHAOS': str(seed)}, told=3)
    # A loop that was kept says why.
    why = r'omp_get_thread_num\(\) may be asked in it'
    for env, reason in ((one, why), ({**one, 'OMP_THREAD_LIMIT': '1'}, 'OMP_THREAD_LIMIT')):
        program, what = (asks, 'numbers') if reason is why else (plain, 'plain')
        result = no_guests(program, what, env={**env, 'WS_REPORT': '1'})
        expect(result, 'no reason in the report', re.search(r'kept unshared: \S*openmp_loops.cpp:\d+', result.err))
        expect(result, 'no reason', re.search(reason, result.err.replace('\n  ', ' ')))
        result = no_guests(program, what, env=env, options=('-workshare-check',))
        expect(result, 'no reason in what was checked', re.search(r'openmp_loops.cpp:\d+.* 3 kept unshared: .*' + reason, result.err))
    result = run(plain, 'plain', env=one, options=('-workshare-openmp=help',))
    expect(result, 'it is not said that nothing needs to be compiled', '-fws=openmp is no longer needed' in result.err)
    # OpenMP's own threads run the iterations that OpenMP would give them.
    for workshare in False, True:
        for env in one, two:
            result = run(asks, 'threads', env=env, workshare=workshare)
            expect(result, 'other threads', result.out == 3 * f'{env["OMP_NUM_THREADS"]} threads\n')
            run(plain, 'clauses', env=env, workshare=workshare)
        run(asks, 'static', env=two, workshare=workshare)
    many_chunks(plain)
    result = run(plain, 'threads', 2, env=one, workshare=False)
    expect(result, 'other threads', result.out == 3 * '2 threads\n')
    # A loop that takes less time than opening a region is run by one thread: with OpenMP's numbers, and the same sums.
    for workshare in False, True:
        run(asks, 'tiny', env=two, workshare=workshare)
        run(plain, 'tiny', env=two, workshare=workshare, ranks=1)
        run(f'openmp_loops.{compiler}.keeps', 'kept', env=two, workshare=workshare)
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


if sys.argv[3] == 'fortran':
    test_fortran()
else:
    test(sys.argv[3])
finish()
