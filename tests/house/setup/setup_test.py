# SPDX-License-Identifier: MIT
"""./setup: misuse gets one message; `env` prints lines a shell can take, for a prefix with a blank too."""
import os
import shutil
import sys
import tempfile

from check import expect, expect_message, finish, run

SETUP = sys.argv[1]
expect_message('unknown command', run(SETUP, 'biuld'), "'biuld'", status=2)
expect_message('unknown option', run(SETUP, 'build', '--prefx', '/x'), "'--prefx'", status=2)
expect_message('option of another command', run(SETUP, 'clean', '--prefix', '/x'), "'--prefix'", status=2)
expect_message('prefix without a folder', run(SETUP, 'build', '--prefix'), '--prefix', status=2)
expect_message('own MPICH', run(SETUP, 'bench', '-Dmpi=system'), "bench needs Workshare's own MPICH", status=2)
expect_message('own MPICH or not', run(SETUP, 'packages', 'demo', '-Dmpi=system'), '-Dmpi=system', status=2)
code, out, err = run(SETUP, 'help')
expect('help', (code, err, [c for c in ('try', 'demo', 'test', 'papers', 'docs', 'build', 'env', 'clean') if c not in out]), (0, '', []))

expect_message('unknown shell', run(SETUP, 'env', '--shell', 'ksh93'), '--shell needs sh', status=2)

with tempfile.TemporaryDirectory(prefix='a blank ') as prefix:
    expect_message('nothing built', run(SETUP, 'env', '--prefix', prefix), prefix)
    os.mkdir(f'{prefix}/bin')
    with open(f'{prefix}/bin/mpirun', 'w') as f:
        f.write('#!/bin/sh\necho here\n')
    os.chmod(f'{prefix}/bin/mpirun', 0o755)
    show = 'eval "$("$1" env --prefix "$2")"; mpirun; printf "%s\\n" "$LD_LIBRARY_PATH" "$MANPATH" "$XDG_DATA_DIRS" "$PKG_CONFIG_PATH" "$CMAKE_PREFIX_PATH" "$PYTHONPATH"'
    code, out, err = run('bash', '-euc', show, 'bash', SETUP, os.path.basename(prefix), cwd=os.path.dirname(prefix),
                         env={'LD_LIBRARY_PATH': '/other', 'MANPATH': '', 'XDG_DATA_DIRS': '/data', 'PKG_CONFIG_PATH': '', 'CMAKE_PREFIX_PATH': '/cmake', 'PYTHONPATH': '/python'})
    expect('env', (code, out, err), (0, f'here\n{prefix}/lib:/other\n{prefix}/share/man:\n{prefix}/share:/data\n{prefix}/lib/pkgconfig\n{prefix}:/cmake\n{prefix}/lib/python:/python\n', ''))

# csh expands history in quotes, too, and neither shell takes what the other quotes by.
with tempfile.TemporaryDirectory(prefix="it's! a \\") as prefix:
    os.mkdir(f'{prefix}/bin')
    with open(f'{prefix}/bin/mpirun', 'w') as f:
        f.write('#!/bin/sh\necho here\n')
    os.chmod(f'{prefix}/bin/mpirun', 0o755)
    env = {'PREFIX': prefix, 'SETUP': SETUP, 'PATH': os.environ['PATH'], 'LD_LIBRARY_PATH': '', 'MANPATH': '/man', 'XDG_DATA_DIRS': '/data', 'PKG_CONFIG_PATH': '/other',
           'CMAKE_PREFIX_PATH': '', 'PYTHONPATH': ''}
    right = f'here\n{prefix}/lib\n{prefix}/share/man:/man\n{prefix}/share:/data\n{prefix}/lib/pkgconfig:/other\n{prefix}\n{prefix}/lib/python\n'
    show = 'printf "%s\\n" "$LD_LIBRARY_PATH" "$MANPATH" "$XDG_DATA_DIRS" "$PKG_CONFIG_PATH" "$CMAKE_PREFIX_PATH" "$PYTHONPATH"'
    for shell, of, line in (('tcsh', 'csh', 'eval `"$SETUP" env --shell csh --prefix "$PREFIX"`; mpirun; '), ('fish', 'fish', '$SETUP env --shell fish --prefix $PREFIX | source; mpirun; ')):
        code, out, err = run(SETUP, 'env', '--shell', of, '--prefix', prefix, env=env)
        begin = {'csh': 'setenv ', 'fish': 'set -gx '}[of]
        expect(f'env --shell {of}', (code, err, [text for text in out.splitlines() if not (text.startswith(begin) and text.endswith("';"))]), (0, '', []))
        if shutil.which(shell):
            expect(shell, run(shell, '-c', line + show, env=env), (0, right, ''))
finish()
