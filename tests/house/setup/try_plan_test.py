# SPDX-License-Identifier: MIT
"""try_plan_test.py SETUP: what `./setup try` builds can be configured under this machine's MPI, and all that its targets need is there. `libws as one unit`
compiles these sources together, as that build does; `soak setup try` runs the command itself."""
import os
import re
import sys
import tempfile

from check import expect, finish, run, skip

SETUP = os.path.realpath(sys.argv[1])
with open(SETUP) as f:
    options = re.search(r'^ +compile demo (-Dmpi=system .*?) \$\{meson_options', f.read(), re.M)[1].split()
with tempfile.TemporaryDirectory() as folder:
    for command in ['meson', 'setup', *options, folder, os.path.dirname(SETUP)], ['ninja', '-n', '-C', folder, 'demo']:
        code, out, err = run(*command, limit=100)
        if 'no MPI library was found' in out:
            skip('no MPI library was found')
        expect(f'exit status of {command[0]}; stdout: {out[-3000:]}; stderr: {err[-1000:]}', code, 0)
        if code:
            finish()
    expect('libws is built', bool(re.search(r'Linking target runtime/host/libws-\w+\.so', out)), True)
finish()
