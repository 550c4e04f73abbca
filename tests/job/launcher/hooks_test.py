# SPDX-License-Identifier: MIT
"""The patched MPICH calls its hooks where it should; and what it does when libws cannot be had."""
import os
import sys
import tempfile

from check import expect, finish, run

STAGE, APP, FAKE = sys.argv[1:]
MPIRUN = os.path.join(STAGE, 'bin/mpirun')

with tempfile.TemporaryDirectory() as folder:
    # MPICH looks for libws beside itself.
    os.symlink(os.path.join(STAGE, 'lib/libmpich.so.12'), os.path.join(folder, 'libmpich.so.12'))
    env = {'LD_LIBRARY_PATH': folder}

    def message(what, *parts):
        code, out, err = run(MPIRUN, '-workshare', '-n', '2', APP, env=env)
        expect(f'{what}: lines', [all(part in line for part in parts) for line in err.splitlines() if 'workshare:' in line],
               [True] if parts else [])
        expect(f'{what}: the program ran on', (code, out), (0, 'no stand-in for libws\n'))

    message('no libws', 'cannot load libws.so.1', 'running without sharing')
    expect('no libws, MPI_T', run(MPIRUN, '-n', '2', APP, 'no_mpi_t', env=env), (0, '', ''))
    library = os.path.join(folder, 'libws.so.1')
    with open(library, 'w') as f:
        f.write('not a library')
    message('broken libws', 'cannot load libws.so.1', library, 'running without sharing')

    os.remove(library)
    os.symlink(os.path.abspath(FAKE), library)
    for mode in [], ['multiple']:
        for bind in 'core', 'none':
            expect(f'hooks {mode} -bind-to {bind}',
                   run(MPIRUN, '-workshare', '-n', '2', '-bind-to', bind, APP, *mode, env=env), (0, '', ''))
    expect('hooks, polls', run(MPIRUN, '-workshare', '-n', '2', APP, env={**env, 'FAKE_POLL': '1'}), (0, '', ''))
    for mode in [], ['multiple']:
        expect(f'hooks, calls {mode}', run(MPIRUN, '-workshare', '-n', '2', APP, *mode, env={**env, 'FAKE_CALLED': '1'}), (0, '', ''))
    expect('MPI_T', run(MPIRUN, '-workshare', '-n', '2', APP, 'mpi_t', env={**env, 'WS_LINGER': '60'}), (0, '', ''))
    expect('libws refuses', run(MPIRUN, '-workshare', '-n', '2', APP, env={**env, 'FAKE_REFUSES': '1'})[0], 1)
    # Under another launcher only the environment says it, in any of its spellings; our mpirun does not see what `env` sets.
    for spelt, is_on in (({'WS_ENABLE': '1'}, True), ({'WORKSHARE_ENABLE': '1'}, True), ({'WORKSHARE': ' on , quantum=300'}, True), ({'WORKSHARE': 'on'}, True),
                         ({'WORKSHARE': 'off'}, False), ({'WORKSHARE': 'once'}, False), ({'WORKSHARE': 'quantum=300,on'}, False),
                         ({'WS_ENABLE': '0', 'WORKSHARE': 'on'}, False), ({'WORKSHARE_ENABLE': '0', 'WORKSHARE': 'on'}, False)):
        expect(f'another launcher, {spelt}', run(MPIRUN, '-n', '2', '/usr/bin/env', '-u', 'WS_ENABLE', *(f'{name}={value}' for name, value in spelt.items()), APP, env=env), (0, '' if is_on else 'no stand-in for libws\n', ''))
    expect('without -workshare nothing is loaded', run(MPIRUN, '-n', '2', APP, env={**env, 'WS_ENABLE': '0'}),
           (0, 'no stand-in for libws\n', ''))
finish()
