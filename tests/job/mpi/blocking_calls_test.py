# SPDX-License-Identifier: MIT
"""blocking_calls.txt is complete, and a rank that blocks in any call of it helps, and returns in time. `--soak` repeats it all
under WS_CHAOS, with the default quantum, and with 3 and 4 ranks."""
import fnmatch
import os
import re
import sys

from job import CORES, MPIRUN, Result, expect, fail, finish, likely, repeated, run, skip

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'blocking_calls.txt')
QUANTUM, USABLE = 0.050, 0.010  # seconds: what a call may be late if nobody rings, and if its rank is rung
# Without the kernel's copying between processes, UCX needs the target's help to put, get or send much: then a rank has to wait for a
# target that computes without MPI.
UCX = {'UCX_TLS': 'posix,sysv,self'}


def version():
    """(4, 0) of MPICH 4.0.2"""
    with open(os.path.join(os.path.dirname(MPIRUN), '../include/mpi.h')) as f:
        return tuple(int(n) for n in re.search(r'MPICH_VERSION "(\d+)\.(\d+)', f.read()).groups())


def fits(limit):
    """Whether a section of `['since', '4.2']` or `['before', '5.0']` is for this version."""
    return not limit or (version() >= tuple(map(int, limit[1].split('.')))) == (limit[0] == 'since')


def sections():
    """{section: [[word, ...], ...]}: the table's lines for this version, without comments."""
    found, lines = {}, None
    with open(TABLE) as f:
        for line in f:
            words = line.split('#')[0].split()
            if words and words[0][0] == '[':
                name, *limit = ' '.join(words)[1:-1].split()
                lines = found.setdefault(name, []) if fits(limit) else []
            elif words:
                lines.append(words)
    return found


def prototypes():
    """The calls of mpi.h, large-count variants under the call's own name."""
    names = set()
    include = os.path.join(os.path.dirname(MPIRUN), '../include')
    for header in 'mpi.h', 'mpi_proto.h', *(['mpio.h'] if version() < (5, 0) else []):
        with open(os.path.join(include, header)) as f:
            text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.DOTALL)
        names.update(re.findall(r'^ *(?:int|double|MPI_Aint|MPI_Fint|MPI_File) +(MPIX?_[A-Z]\w*) *\(', text, re.MULTILINE))
    return {re.sub('_c$', '', name) for name in names}


def check_complete(table):
    result = Result('blocking_calls.txt', 0, '', '', 0, {})
    calls = prototypes()
    expect(result, f'mpi.h has only {len(calls)} calls?', len(calls) > 400)
    known = [line[0] for name in ('waits', 'threads', 'elsewhere', 'fails') for line in table[name]]
    known += [word for name in ('looks', 'returns') for line in table[name] for word in line]
    missing = sorted(c for c in calls if not any(fnmatch.fnmatchcase(c, k) for k in known))
    expect(result, f'not in the table: {missing}', not missing)
    gone = sorted(k for k in set(known) if not fnmatch.filter(calls, k))
    expect(result, f'not in mpi.h: {gone}', not gone)


def judge(result, quantum=QUANTUM, usable=USABLE):
    """Every case of which the program printed a line, and those that load on the machine may have spoilt."""
    seen, late_ones = {}, []
    for line in result.out.splitlines():
        match = re.match(r'(\S+) (rung|quantum) (\d+) ([-0-9.]+) ([-0-9.]+) (right|wrong)$', line)
        if not match:
            fail(result, line)
            continue
        case, wake, guests, late, _, outcome = match.groups()
        seen[case.split('/')[0]] = case
        expect(result, f'{case}: wrong result', outcome == 'right')
        limit = usable if wake == 'rung' else quantum + usable
        if int(guests) == 0:
            late_ones.append(f'{case}: no chunk was stolen')
        elif float(late) >= 1e6 * limit:
            late_ones.append(f'{case}: {float(late):.0f} us late, {wake}')
    return seen, late_ones


@repeated
def try_all(section, table, ranks, quantum=QUANTUM, usable=USABLE, env=None):
    result = run('blocking', TABLE, usable, ranks=ranks, options=('-workshare-quantum', str(int(quantum * 1e6))), limit=300,
                 env={**UCX, **(env or {})}, title=f'{section}, {ranks} ranks {env or ""}')
    seen, late_ones = judge(result, quantum, usable)
    missing = [case for line in table[section] for case in line[2:] if case not in seen]
    expect(result, f'not tried: {missing}', not missing)
    likely(result, '; '.join(late_ones), not late_ones)


rows = sections()
check_complete(rows)
if CORES < 2:
    skip('needs two cores')
    finish()
if '--soak' in sys.argv:
    for count in 2, 3, 4:
        for seed in 1, 2, 3:
            try_all('waits', rows, count, usable=1, env={'WS_CHAOS': str(seed)})
        try_all('waits', rows, count, quantum=0.0004, usable=USABLE)
else:
    for count in 2, 3:
        try_all('waits', rows, count)
try_all('threads', rows, 2, env={'BLOCKING_THREADS': '1'})
finish()
