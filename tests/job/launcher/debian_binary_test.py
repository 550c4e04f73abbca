# SPDX-License-Identifier: MIT
"""A program of Debian's, built against Debian's MPICH, runs on our library: NetPIPE. And one that Debian's mpicc compiles is told by the
summary how long its ranks wait and what sharing its loops could win at most. Its work sleeps, so that load on the machine changes little."""
import os
import re
import shutil
import sys
import tempfile

from check import expect, finish, need, run, skip
from patience import likely, repeated

SOURCE = '''
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, step;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (step = 0; step < 10; step++) {
        usleep(atoi(argv[1 + (rank + step * (argc > 3)) % 2]));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}'''
STAGE = sys.argv[1]
NETPIPE = need('NPmpich2')
ours = {'LD_LIBRARY_PATH': os.path.join(STAGE, 'lib')}

code, out, err = run('ldd', NETPIPE, env=ours)
expect('libmpich.so.12 is ours', f'libmpich.so.12 => {STAGE}/lib/libmpich.so.12' in out, True)
code, out, err = run('ldd', NETPIPE, env={'LD_LIBRARY_PATH': ''})
expect('and without LD_LIBRARY_PATH it is not', STAGE in out, False)

with tempfile.TemporaryDirectory() as folder:
    for flags in [], ['-workshare', '-workshare-quiet']:
        code, out, err = run(f'{STAGE}/bin/mpirun', *flags, '-n', '2', NETPIPE, '-l', '1', '-u', '64', '-n', '20',
                             '-o', 'np.out', cwd=folder, env=ours)
        expect(f'NetPIPE {flags}: exit status', code, 0)
        expect(f'NetPIPE {flags} measures: {err!r}', bool(re.search(r'64 bytes +\d+ times', out + err)), True)

with tempfile.TemporaryDirectory() as folder:
    with open(f'{folder}/a.c', 'w') as source:
        source.write(SOURCE)
    mpicc = shutil.which('mpicc.mpich', path='/usr/bin')
    if not mpicc:
        skip('no mpicc.mpich: Debian\'s libmpich-dev is not installed')
    code, out, err = run(mpicc, f'{folder}/a.c', '-o', f'{folder}/a')
    expect(f'mpicc.mpich: {err}', code, 0)

    @repeated
    def verdict(times, waits, wins, what):
        """How much of the time ranks wait, and how many times as fast sharing could make it."""
        code, out, err = run(f'{STAGE}/bin/mpirun', '-workshare', '-n', '2', f'{folder}/a', *times, env={**ours, 'WS_CORES': '2'})
        err = err.replace('\nworkshare:   ', ' ')    # wrapped
        expect(f'{times}: exit status and lines of {err!r}', (code, sum(': note: ' not in line for line in err.splitlines())), (0, 2))
        waited = re.search(r'ranks waited in MPI ([\d.]+) % of the time; no ws loop ran', err)
        could = re.search(r'sharing loops could make this up to ([\d.]+) times as fast', err)
        likely(f'{times}: {what}: {err!r}', waited and waits[0] < float(waited[1]) < waits[1] and wins[0] < (float(could[1]) if could else 1) < wins[1])

    for times in ('10000', '30000'), ('10000', '30000', 'turns'):   # the same rank waits, or both in turn
        verdict(times, (28, 38), (1.4, 1.6), 'a third of the time is waited, evenly shared it takes two thirds')
    verdict(('20000', '20000'), (-1, 100), (0, 1.15), 'little to win where ranks are balanced')
finish()
