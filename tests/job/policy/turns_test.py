# SPDX-License-Identifier: MIT
"""turns_test.py MPIRUN PROGRAMS LIBRARY CALLS SOURCE TOOL: turns of programs are found by what their MPI calls are about, which the library CALLS notes
(of SOURCE, calls.c). A libws with the policy probe.cpp, LIBRARY, tells how many turns there were. TOOL is a user's, by the interface for profiling."""
import atexit
import os
import re
import shutil
import sys
import tempfile

from job import MPIRUN, expect, finish, likely, loadable, repeated, run

library, calls, source, tool = map(os.path.abspath, sys.argv[3:7])
tool = loadable(tool)
TURNS = 100

# ---- the table: as many arguments as the function has, and those that it says
BUFFERS = {'buf', 'buffer', 'sendbuf', 'origin_addr', 'request', 'array_of_requests'}
PEERS = {'dest', 'source', 'root', 'target_rank', 'rank'}
with open(os.path.join(os.path.dirname(MPIRUN), '../include/mpi_proto.h')) as f:
    declared = {m[1]: [re.sub(r'\[\d*\]', '', a).split()[-1].lstrip('*') for a in m[2].split(',')]
                for m in re.finditer(r'^int (MPI_\w+)\(([^)]*)\)', f.read(), re.MULTILINE)}
with open(source) as f:
    table = re.findall(r'^(CALL|CALL_C|COLLECTIVE)\((\w+), (?:(\w+), )?(\d+), (?:(\d+), )?((?:both\([^)]*\)|\w+)), ((?:both\([^)]*\)|\w+))\)$', f.read(), re.MULTILINE)
wrong, seen = [], 0
for kind, name, iname, count, icount, buffer, peer in table:
    for function, arguments in [(name, int(count))] + ([(iname, int(icount))] if iname else []):
        for each in [function] + [function + '_c'] * (kind != 'CALL'):
            names = declared.get('MPI_' + each, [])
            meant = [(names[int(n)] if int(n) < len(names) else '?', words) for said, words in ((buffer, BUFFERS), (peer, PEERS)) for n in re.findall(r'\ba(\d+)', said)[:1]]
            if len(names) != arguments or any(n not in words for n, words in meant):
                wrong.append((each, arguments, names, meant))
            seen += 1
if wrong or seen < 100:
    print(f'calls.c is not as mpi.h is, of {seen}: {wrong}')
    sys.exit(1)

# ---- jobs
folder = tempfile.mkdtemp(dir='/tmp')
atexit.register(shutil.rmtree, folder)
os.symlink(library, os.path.join(folder, 'libws.so.1'))
os.symlink(os.path.join(os.path.dirname(MPIRUN), '../lib/libmpich.so.12'), os.path.join(folder, 'libmpich.so.12'))
noted = shutil.copy(calls, folder)


def turns(program, *args, first=noted):
    """Turns that each rank has been seen to make."""
    preload = ('-env', 'LD_PRELOAD', first) if first else ()
    result = run(program, TURNS, *args, ranks=4, options=preload, env={'LD_LIBRARY_PATH': folder, 'PROBE_PERIODS': '1'})
    found = [int(n) for n in re.findall(r'^probe: .*\bturns (\d+)', result.err, re.MULTILINE)]
    expect(result, f'lines of the probe: {found}', len(found) == 4)
    return result, found


# A few turns of one call are seen before the others.
@repeated
def told_apart(program, *args, beside='', **how):
    result, found = turns(program, *args, **how)
    likely(result, f'turns of {TURNS}{beside}: {found}', all(abs(n - TURNS) <= 8 for n in found))
    return result


@repeated
def by_place(program, *args):
    result, found = turns(program, *args, first=None)
    likely(result, f'the place alone tells calls apart: {found}', all(n > 2 * TURNS for n in found))


for program, args in ('peers', ['peer']), ('peers', ['buffer']), ('peers_f', []):
    by_place(program, *args)
    told_apart(program, *args)
for program, first in ('peers', f'{noted}:{tool}'), ('peers_tool', noted):
    result = told_apart(program, 'peer', beside=', beside a tool', first=first)
    expect(result, 'the tool sees each call once', result.out.count(f'tool: {3 * TURNS} calls\n') == 4)

# As a user starts it.
result = run('peers', TURNS, 'buffer', ranks=4, options=('-workshare-openmp', 'balance', '-env', 'WS_CORES', '8'), env={'LD_PRELOAD': tool})
expect(result, 'the tool sees each call once', result.out.count(f'tool: {3 * TURNS} calls\n') == 4)
finish()
