# SPDX-License-Identifier: MIT
"""Regions in target and teams constructs, which run here: results are those without Workshare. With GCC those of an outermost target construct are
shared, and the summary says why others are not.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import re
import sys

from job import expect, finish, run

COMPILER = sys.argv[3]
PROGRAM = f'target.{COMPILER}'
SHARE = {'options': ('-workshare-openmp=share:4',), 'env': {'OMP_NUM_THREADS': '1'}}
WHY_NOT = {
    'limited': 'it is in a target construct that limits its threads',
    'leagues': 'it is in a teams construct, or in a target construct within a region',
    'within': 'it is in a teams construct, or in a target construct within a region',
}

for kind in 'combined', 'apart', 'later', *WHY_NOT:
    if kind == 'later' and COMPILER == 'clang':
        continue        # libomp 14 waits for ever for such a task, without Workshare too
    plain = run(PROGRAM, kind, workshare=False, env={'OMP_NUM_THREADS': '1'})       # with more, libomp 14 adds up wrongly in 'within'
    expect(plain, f'without Workshare: {plain.out}', re.fullmatch(rf'{kind} [1-9]\d+ 0\n', plain.out))
    shared = run(PROGRAM, kind, steals=COMPILER == 'gcc' and kind not in WHY_NOT, **SHARE)
    expect(shared, f'{shared.out} where it is {plain.out}', shared.out == plain.out)
    if COMPILER == 'gcc':
        why = re.search(r'ran without sharing: .*?\((.*?)\)', shared.err)
        expect(shared, f'not said why: {why and why[1]}', (why and why[1]) == WHY_NOT.get(kind))
finish()
