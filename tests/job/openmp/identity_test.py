# SPDX-License-Identifier: MIT
"""The contract of -workshare-openmp=share: the program runs as with OMP_NUM_THREADS=V, and each of the V threads is one, to all that it can
see: thread-local data, pthread_self(), errno, exceptions and mutexes over barriers; as a program and as a module of local scope. In every
other mode it has the threads that its user said.

Arguments: mpirun, the folder of the programs, gcc or clang; --soak: hundreds of thousands of moves instead."""
import os
import sys

from job import PROGRAMS, expect, finish, run, side_by_side

COMPILER = sys.argv[3]
SHARE = '-workshare-openmp=share'
MODES = ('-workshare',), (SHARE,), ('-workshare-openmp=off',), ('-workshare-openmp=lend',)


def identity(threads, options, told, steals=False, program='identity', turns=4, **env):
    result = run(f'{program}.{COMPILER}', turns, options=options, env={'OMP_NUM_THREADS': str(threads), **env}, limit=100 + turns, steals=steals,
                 title=f'{program}, {threads} threads, {options}, {env}')
    expect(result, f'not right with {told}', f'right, told {told}\n' in result.out)
    return result


def migrations(told, **env):
    """Each call of a helper runs virtual threads elsewhere than they were, and each goes back."""
    result = identity(1, (f'{SHARE}:{told}',), told, turns=1000, **env)
    expect(result, 'too few of them were moved', result.stats.get('iterations_stolen', 0) > 1000 * told)


def named():
    result = identity(1, (SHARE,), 8, steals=True)
    where = 'identity.cpp:' if COMPILER == 'clang' else '(anonymous namespace)::'
    expect(result, 'a name that nobody can read', '_Z' not in result.err and where in result.err)


def by_default(threads):
    result = identity(threads, ('-workshare',), threads)
    expect(result, 'something was shared', result.stats.get('chunks_stolen', 0) == 0)


def on_its_own(program, why):
    """A program that cannot have virtual threads keeps its own, and the summary says why."""
    result = identity(2, (SHARE,), 2, program=program)
    expect(result, 'another reason', why in result.err)
    expect(result, 'something was shared', result.stats.get('chunks_stolen', 0) == 0)
    # Another rank's reason is told, too.
    other = os.path.join(PROGRAMS, f'kernel.{COMPILER}')
    result = run(f'identity.{COMPILER}', 4, ':', '-n', '1', other, 4, ranks=1, options=(SHARE,), env={'OMP_NUM_THREADS': '2'}, limit=100,
                 title='a program of each kind')
    expect(result, "no reason of rank 1's", 'workshare: on rank 1: no parallel region is shared: the program uses gettid()' in result.err)


def trusted():
    """The user says that the program's use of kernel threads does no harm, so its regions are shared. A misspelt name is reported."""
    trusts = 'openmp=share,openmp-trust=libnothing.so:program'
    result = identity(1, (), 8, program='kernel', steals=True, WORKSHARE=trusts)
    expect(result, 'the program was left alone', 'no parallel region is shared' not in result.err)
    result = identity(2, (SHARE, '-workshare-openmp-trust=programs'), 2, program='kernel')
    expect(result, 'the misspelt name is not told', 'names what the program does not load: programs; no parallel region is shared: the program uses gettid()' in result.err)
    result = run(f'kernel.{COMPILER}', 4, options=('-workshare-openmp-trust=program',), code='error', title='an option without share')
    expect(result, 'it does not name what it needs', '-workshare-openmp-trust requires -workshare-openmp=share' in result.err)


def module(options, threads, told, scope):
    result = run(f'module_host.{COMPILER}', os.path.join(PROGRAMS, f'module.{COMPILER}.so'), scope, options=options, env={'OMP_NUM_THREADS': str(threads)},
                 limit=60, title=f'a module of {scope} scope, {threads} threads, {options}')
    expect(result, f'not right with {told}', f'right, told {told}\n' in result.out)


def later(call, *args, **how):
    """For side_by_side."""
    return lambda: call(*args, **how)


if '--soak' in sys.argv:
    for told in 2, 8, 16:
        migrations(told)
        for seed in 1, 2, 3:
            migrations(told, WS_CHAOS=str(seed))
        migrations(told, WS_STEAL_ALL='1')
    finish()
side_by_side(*(later(by_default, threads) for threads in (1, 2, 16)), later(identity, 1, ('-workshare-openmp=off',), 1),
             named, *(later(identity, 1, (f'{SHARE}:{v}',), v) for v in (2, 3, 16)), later(identity, 3, (SHARE,), 8),
             *(later(identity, 1, (SHARE,), 8, WS_CHAOS=str(seed)) for seed in (1, 2)), later(identity, 1, (SHARE,), 8, WS_STEAL_ALL='1'),
             trusted, later(on_its_own, 'kernel', 'the program uses gettid()'), later(on_its_own, 'events', 'the program uses omp_fulfill_event()'),
             *([later(on_its_own, 'linked', 'linked')] if COMPILER == 'gcc' else []),
             *(later(module, options, threads, 8 if options == (SHARE,) else threads, scope) for options in MODES[:3] for threads in (1, 2)
               for scope in ('local', 'global')))
finish()
