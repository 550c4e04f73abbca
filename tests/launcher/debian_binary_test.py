# SPDX-License-Identifier: MIT
"""A program of Debian's, built against Debian's MPICH, runs on our library: NetPIPE."""
import os
import re
import sys
import tempfile

from check import expect, finish, need, run

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
finish()
