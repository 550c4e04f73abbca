# SPDX-License-Identifier: MIT
"""A program under `workshare` sees of MPI what it sees without: each case of same/ prints the same and ends in time."""
import sys

from job import expect, finish, likely, repeated, run
from of_mpi import mpich_version, open_mpi_version

FAMILY, ONLY = sys.argv[3], sys.argv[4:]


def shown(text, ignored=()):
    return sorted(line for line in text.splitlines() if not any(word in line for word in ignored))


# MPICH's ranks spin: with more of them than cores a case takes half a minute.
RANKS = 4 if FAMILY == 'openmpi' else 2


def same(case, ranks=RANKS, judge=expect, ignored=(), **how):
    if ONLY and case not in ONLY:
        return
    alone, shared = (run('same', case, ranks=ranks, workshare=on, title=f'{case}, {ranks} ranks, {"on" if on else "off"}', limit=60, **how)
                     for on in (False, True))
    a, b = shown(alone.out, ignored), shown(shared.out, ignored)
    judge(shared, 'differs: ' + '; '.join([f'missing: {line}' for line in a if line not in b] + [f'more: {line}' for line in b if line not in a]), a == b)
    expect(alone, 'it says nothing', a)


@repeated
def same_late():
    """Which of two messages comes first depends on the load."""
    ignored = ()
    if open_mpi_version() >= 6:     # 6.0.0rc2: what MPI_Waitall returns without statuses depends on whether all messages came before the call
        ignored = ('waitall ignoring',)
    elif mpich_version() >= 5:      # 5.0.2: MPI_Testall calls the program's handlers each time, until all requests are complete
        ignored = ('testall',)
    same('late_errors', judge=likely, ignored=ignored)


same('truncated', 2)   # with more, Open MPI's own broadcast never ends
# MPICH 5.0.2's library of the standard's ABI smashes its stack in `alone`, also without Workshare.
for name in (*(() if FAMILY == 'abi' else ('alone',)), 'jump', 'errors', 'requests', 'generalized', 'many', 'threads', 'progress', 'large', 'windows', 'files', 'rma', 'io'):
    same(name)
same_late()
# That MPI alone does not end: MPICH 4.0.2 with calls about nothing, and with processes that start others; Open MPI with parts that nobody waits for.
for name in ('zero', 'dynamic') if FAMILY == 'openmpi' else ('sparse',):
    same(name, 4, env={'OMPI_MCA_btl_tcp_if_include': 'lo'})    # spawned processes of Open MPI 5 reach the others by TCP alone
if 'counts 0: ' in run('same', 'counts', ranks=1, title='MPI 4').out:     # Open MPI 4.1 has MPI 3.1
    for name in ('counts', 'sessions', 'session'):
        same(name)
for number in (1, 2, 4):
    same('kinds', number)
finish()
