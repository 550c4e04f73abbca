# SPDX-License-Identifier: MIT
"""calls_test.py MPIRUN PROGRAMS FAMILY SOURCE: of the calls in which a rank may wait, those lend under this MPI of which runtime/host/calls.txt says so,
and no others; and their results are right."""
import os
import re
import sys

from job import CORES, expect, fail, finish, likely, repeated, run, skip
from of_mpi import mpich_version, open_mpi_version

FAMILY, SOURCE = sys.argv[3:5]
sys.path.insert(0, os.path.join(SOURCE, 'runtime/host'))
import generate  # noqa: E402

BLOCKING_CALLS = os.path.join(SOURCE, 'tests/job/mpi/blocking_calls.txt')
HOW = generate.read_table(os.path.join(SOURCE, 'runtime/host/calls.txt'))
CASES = generate.blocking(BLOCKING_CALLS)
PATIENCE = 0.1  # seconds for which help is waited for
# Open MPI 5.0 waits for the target in these calls, and not in MPI_Wait.
HAS_FEW_PORTS = mpich_version() >= 5    # 5.0.2: none after some dozens
WAIT_THEMSELVES = ('MPI_Raccumulate', 'MPI_Rget_accumulate') if open_mpi_version() >= 5 else ()


@repeated
def try_all(ranks):
    result = run('blocking', BLOCKING_CALLS, 1, ranks=ranks, options=('-workshare-quantum', '50000'), limit=170,
                 env={'BLOCKING_PATIENCE': str(PATIENCE), 'WS_STEAL_ALL': '1'},  # also where others use the cores
                 title=f'calls that wait, {ranks} ranks')
    guests, absent = {}, set()
    for line in result.out.splitlines():
        match = re.match(r'(\S+) (?:rung|quantum) (\d+) (\S+) \S+ (right|wrong)$', line)
        missing = re.match(r'no case is named (\S+)$', line)
        if match:
            # A call that returned before its event did not wait: the guests came in a later one.
            guests[match[1]] = int(match[2]) if float(match[3]) >= 0 else None
            expect(result, f'{match[1]}: wrong result', match[4] == 'right')
        elif missing:
            absent.add(missing[1])
        elif not (line == 'MPI_Open_port failed' and HAS_FEW_PORTS):
            fail(result, line)
    unhelped = []
    for call, cases in CASES.items():
        for case in cases:
            lends = generate.how(HOW, call, FAMILY, case.startswith('inter_')).startswith('lends') and call not in WAIT_THEMSELVES
            if case in absent:
                expect(result, f'{case}: this MPI has not {call}, which MPI 3.1 has', generate.SINCE_4.match(call))
            elif not expect(result, f'{case} was not tried', case in guests):
                continue
            elif guests[case] is None:
                continue
            elif lends and not guests[case]:
                unhelped.append(f'{case}: {call} lent nothing')
            elif not lends:
                expect(result, f'{case}: {call} lent its core, and calls.txt says that it lends nothing', not guests[case])
    likely(result, '; '.join(unhelped), not unhelped)


if CORES < 2:
    skip('needs two cores')
else:
    try_all(2)
finish()
