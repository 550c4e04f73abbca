# SPDX-License-Identifier: MIT
"""WS_CHECK compares the results of reductions with serial passes in a copy of the process: what differs is told, and the job's status is not
0; right loops never differ but for rounding; nothing of a pass can be seen outside of it."""
import re
import sys

from job import CORES, expect, finish, likely, repeated, run, skip

COMPILERS = sys.argv[3:]


def check(program, *args, first=1, **how):
    return run(program, *args, options=('-workshare-quiet', '-genv', 'WS_CHECK', str(first)), **how)


def differing(result):
    return set(re.findall(r"^workshare check: (.*): reduction '(\w+)'", result.err, re.MULTILINE))


def compared(result):
    """By loop: how often, and how many differ."""
    return {name.strip(): (int(times), int(differ or 0)) for name, times, differ in
            re.findall(r'^  (\S.*?)  +\d+ executions?, .*; reductions compared (\d+) times?, (?:(\d+) DIFFER|none differs)', result.err, re.MULTILINE)}


C = {('integers', v) for v in ('count', 'small', 'all', 'product')} | {('floats', v) for v in ('sum', 'single', 'extended')} | \
    {('others', v) for v in ('least', 'factor')} | {('cancellation', v) for v in ('nothing', 'nearly')} | {('deep', 'deep')} | \
    {('complex', v) for v in 'zw'} | {('arrays', v) for v in ('sums', 'hits')} | {('static', v) for v in ('static_sum', 'global_sums')} | \
    {('in order', 'sum_of_last'), ('static chunks', 'blocks'), ('guided', 'guided'), ('through a pointer', 'sum'), ('unsigned loop', 'bits')}
CXX = {('member', 'sum'), ('member array', 'by_kind'), ('template', 'sum'), ('lambda', 'x'), ('sections', 'parts'), ('api sum', 'result'),
       ('api integers', 'result')}
FORTRAN = {('dummy and module', v) for v in ('answer', 'counted')} | {('module arrays', v) for v in ('total', 'turned')} | \
          {('others', v) for v in ('best', 'hash', 'fine')} | {('local array and common', v) for v in ('histogram', 'in_block')} | \
          {('of the host', v) for v in ('answer', 'best')}

# A wrong result of each variable is found, wherever the variable lies: helpers compute something else for each.
@repeated
def finds(program, variables):
    result = check(program, 'wrong', 4, ranks=1, code=None)
    expect(result, 'too many lines of a loop', all(len(re.findall(f'check: {re.escape(name)}: ', result.err)) <= 4 for name, _ in variables - {('template', 'sum')}))
    likely(result, f'not told of: {sorted(variables - differing(result))}', differing(result) >= variables)
    expect(result, f'exit status {result.code}', result.code == 1)


@repeated
def finds_nothing(program, variables, ranks):
    result = check(program, 'right', 6, ranks=ranks, first=1 + ranks)
    expect(result, 'a right loop differs', not differing(result) and 'DIFFER' not in result.err)
    names = {name for name, _ in variables} | ({'simd'} if variables is CXX else set())
    likely(result, f'not compared: {sorted(names - set(compared(result)))}', names <= set(compared(result)))


for program, variables in [(f'compared_{c}', C) for c in COMPILERS] + [(f'compared_cxx_{c}', CXX) for c in COMPILERS] + [('compared_fortran', FORTRAN)]:
    finds(program, variables)
    for ranks in 1, 2:
        finds_nothing(program, variables, ranks)

own = f'compared_{COMPILERS[0]}'
result = check('compared_cxx_' + COMPILERS[0], 'right', 1)
expect(result, 'it does not say that a class cannot be compared', re.search("  api class .*; reductions not compared: of 'result'", result.err))

# A chain is wrong in every order but one, also with one thread.
@repeated
def chain():
    result = check(own, 'chain', 2, code=None)
    likely(result, 'no line', re.search(r"^workshare check: chain: reduction 'total' is 4498500 in order and \d+ in another order, both with one thread$",
                                        result.err, re.MULTILINE))
    expect(result, f'exit status {result.code}', result.code == 1)
    expect(result, 'the report does not tell', 'Reductions of 1 loop of 1 compared with one thread DIFFER: the exit status is 1.' in result.err)
    expect(result, 'the last line', result.err.endswith("Compare the program's other results with those of a run without -workshare.\n"))


chain()


# Races are seen by chance only. exit(3) stays 3, and a rank that goes on after MPI_Finalize is not killed.
@repeated(chances=10)
def races(kind, status):
    result = check(own, kind, 5, code=None)
    expect(result, 'a check of the program failed', 'not so' not in result.out)
    expect(result, 'rank 0 was ended', kind != 'leaves' or 'rank 0 was not killed' in result.out)
    likely(result, 'nothing is told', ('racy', 'total') in differing(result))
    expect(result, f'exit status {result.code}', result.code == status)


for kind, status in (('racy', 1), ('exits', 3), ('leaves', 1), ('children', 1)) if CORES > 1 else ():
    races(kind, status)
if CORES < 2:
    skip('races need two cores')


# Loops that cannot be run twice are run once, and the reason is told. (A copy has 2 s, and some times as long as the loop itself took, which ends with a thread.)
@repeated
def is_told(kind, why):
    result = check(own, kind)
    if kind == 'prints':
        lines = sorted(result.out.splitlines())
        expect(result, 'not each line once', lines == [f'rank {r} iteration {i}' for r in range(2) for i in range(4)])
    likely(result, 'the reason is not told', re.search(f'^  {kind} .*(; reductions not compared|times? not): {why}', result.err, re.MULTILINE))


for kind, why in ('prints', 'its body makes the system call write'), ('writes', 'its body writes shared memory, or calls MPI'), \
        ('waits', 'its body waits for another thread'), ('spins', r'its body does not finish within 2(\.\d+)? s in a copy of the process'), \
        ('thread', 'its body makes the system call gettid'), ('long', "of 'many' place, type or size are not known"), \
        ('time', 'two serial passes give different results'), ('sends', '(its body writes shared memory, or calls MPI|.*system call)'):
    is_told(kind, why)
result = check(own, 'mpi')


@repeated
def partly():
    result = check(own, 'record')
    likely(result, 'the rest of the loop is not compared', re.search("^  record .*none differs, not all: of 'p'", result.err, re.MULTILINE))


partly()
finish()
