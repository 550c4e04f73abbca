# SPDX-License-Identifier: MIT
"""left_test.py MPIRUN PROGRAMS COMPILER: parallel regions of unmodified programs that sharing leaves to OpenMP have threads on the cores of ranks that
wait, where that cannot hurt, under -workshare-openmp=help and where nothing is said; and are right wherever their threads are."""
import os
import re
import resource
import sys

from job import CORES, MPIRUN, expect, finish, likely, repeated, run, side_by_side, skip

PROGRAM, PRIVATE = 'left.' + sys.argv[3], 'left.private_' + sys.argv[3]
HELP, UNSEEN = ('-workshare-openmp=help',), ()
BOUND = '-bind-to', 'core'
HAS_READER = os.path.exists(os.path.join(os.path.dirname(MPIRUN), '../lib/workshare/code.so'))
# As a program with spare cores, whose threads are real and whose cores are not.
PRETENDED = {'WS_CORES': '4', 'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive'}
UNLIMITED = 'sh', '-c', 'ulimit -s unlimited && exec "$@"', 'sh'


def job(mode, *kinds, turns=12, options=BOUND, env=None, program=PROGRAM, **how):
    result = run(program, turns, *kinds, options=(*mode, *options), env={'OMP_NUM_THREADS': '1', **(env or {})}, limit=120, **how)
    found = re.search(r'^elsewhere (\d+), most (\d+)$', result.out, re.MULTILINE)
    result.elsewhere, result.most = (int(found[1]), int(found[2])) if found else (0, 0)
    found = re.search(r'(\d+) parallel regions had lent cores', result.err)
    result.lent = int(found[1]) if found else 0
    found = re.search(r'were recalled before the end, and (\d+) of them were left then', result.err)
    result.left = int(found[1]) if found else 0
    if not how.get('code'):
        expect(result, 'not every kind was run', result.out.count(' right') >= len(kinds))
    return result


@repeated(chances=4)
def lent(mode, *kinds, **how):
    """Regions have lent cores, and threads are seen there, if need be in one of several runs."""
    result = job(mode, *kinds, **how)
    likely(result, f'no region had a lent core, or none of its threads was there: {result.lent}, {result.elsewhere}',
           result.failed or (result.lent and (result.elsewhere or 'WS_CORES' in how.get('env', {}))))
    return result


@repeated(chances=4)
def forgiven(mode):
    """A rank that came back too early a few times lends again once it has only waited, also to regions that open when its wait has just begun."""
    result = job(mode, 'comes_back', turns=40, title=f'a rank that came back too early, {mode}')
    likely(result, f'only {result.lent} of 40 regions had a lent core', result.failed or result.lent >= 20)


@repeated(chances=4)
def stays(mode):
    """Who leaves a barrier last has most often not begun to wait in the next one when its core is lent: the thread there stays for the tasks to come."""
    result = job(mode, 'tasks', turns=40, title=f'a rank on its way to the next wait, {mode}')
    likely(result, f'threads left {result.left} of {result.lent} lent cores before the end of the region',
           result.failed or (result.lent >= 10 and result.left < result.lent / 2))


def alone(mode, *kinds, **how):
    result = job(mode, *kinds, **how)
    expect(result, f'a region had lent cores: {result.lent}', not result.lent)
    if 'WS_CORES' not in how.get('env', {}):
        expect(result, 'a thread was on another core', not result.elsewhere)
    return result


def on_pretended(mode):
    """Each a job or some; they sleep, and no core is looked at."""
    def four():
        result = lent(mode, 'four', env=PRETENDED, options=(), title=f'four threads, {mode}')
        expect(result, f'{result.most} threads in a region of 4', result.most == 4)
    # With two threads of its own 'messages' would be no right program.
    yield from (lambda kind=kind: lent(mode, kind, env=PRETENDED, options=(), title=f'{kind} on pretended cores, {mode}')
                for kind in ('tasks', 'recursion', 'taskloop', 'in_order', 'nested'))
    yield four
    yield from (lambda chaos=chaos: job(mode, 'tasks', 'recursion', 'in_order', 'nested', env={**PRETENDED, 'WS_CHAOS': str(chaos)}, options=(),
                                        title=f'chaos {chaos}, {mode}') for chaos in (1, 2))


def on_its_own(mode):
    """No core is lent: whatever else runs there."""
    def one():  # other numbers of threads than the program has said
        result = alone(mode, 'one', title=f'one thread, {mode}')
        expect(result, f'{result.most} threads in a region of one', result.most == 1)
    yield one
    yield lambda: alone(mode, 'tasks', program=PRIVATE, title=f'thread-private variables, {mode}')  # or where those live
    for threads in '1', '2':
        yield lambda threads=threads: job(mode, 'short_within', env={'OMP_NUM_THREADS': threads},
                                          title=f'a short region within a shared one, {threads} threads, {mode}')
    yield lambda: alone(mode, 'tasks', env={'OMP_THREAD_LIMIT': '1'}, title=f'a limit of one thread, {mode}')
    yield lambda: alone(mode, 'tasks', ranks=1, title=f'one rank, {mode}')
    # Who lends dies: the job ends.
    yield lambda: job(mode, 'tasks', 'dies', turns=10000, code='error', title=f'the lender dies, {mode}')


def of_mode(mode):
    if CORES >= 2:
        for kind in 'tasks', 'recursion', 'messages', 'taskloop', 'in_order', 'nested':
            lent(mode, kind, title=f'{kind}, {mode}')
        forgiven(mode)
        stays(mode)
        lent(mode, 'grows', turns=40, title=f'a region that becomes long, {mode}')
    side_by_side(*on_pretended(mode), *on_its_own(mode), at_once=3)


@repeated
def spins():
    result = lent(HELP, 'pipeline', turns=5, title='a pipeline that spins')
    expect(result, f'{result.most} threads at most in its regions', result.most >= 2)
    likely(result, 'no reason', 'wait for each other by spinning' in result.err)


of_mode(HELP)
if CORES >= 2:
    spins()
else:
    skip('needs two cores')
# As many threads in each region as the program was told, wherever they are.
kept = lent(HELP, 'kept_number', env=PRETENDED, options=(), title='a number that is kept')
expect(kept, f'{kept.most} threads where 16 were told', kept.most == 16)
kept = job(HELP, 'kept_number', title='a number that is kept, on real cores')

if HAS_READER:
    of_mode(UNSEEN)
    for kind in 'kept_number', 'pipeline', 'each_the_same':
        result = alone(UNSEEN, kind, turns=4, title=f'{kind}, where nothing is said')
        expect(result, f'{result.most} threads of a rank with one', result.most == 1)
    # A thread more would keep the lent core from its owner after the region, or have less stack than the rank's own.
    alone(UNSEEN, 'tasks', env={'OMP_WAIT_POLICY': 'active'}, title='threads that never sleep')
    if resource.getrlimit(resource.RLIMIT_STACK)[1] == resource.RLIM_INFINITY:
        alone(UNSEEN, 'tasks', prefix=UNLIMITED, title='a stack without a limit')
        if CORES >= 2:
            lent(UNSEEN, 'tasks', prefix=UNLIMITED, env={'OMP_STACKSIZE': '16M'}, title='stacks that are said')
    else:
        skip('no stack without a limit')
else:
    skip('which regions ask for thread numbers is not known: built without capstone')
finish()
