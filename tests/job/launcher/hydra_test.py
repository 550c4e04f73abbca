# SPDX-License-Identifier: MIT
"""Our mpiexec reads the command line as MPICH's hydra does: it knows all of hydra's options, and how many values follow each."""
import re
import sys

from check import expect, finish, run

KNOWN, STAGE = sys.argv[1:]
HYDRA = f'{STAGE}/lib/workshare/mpich/bin/mpiexec.hydra'
VALUES = {'bind-to': 'none', 'binding': 'none', 'configfile': '/dev/null', 'gpus-per-proc': '0', 'g': '0', 'launcher': 'fork', 'bootstrap': 'fork',
          'order-nodes': 'ASCENDING', 'f': '/dev/null', 'hostfile': '/dev/null', 'machinefile': '/dev/null'}

OF_SOME_VERSIONS = ('dac', 'hybrid-hosts', 'memory-alloc-kinds', 'rankmap')

known = dict(line.split() for line in run(KNOWN)[1].splitlines())
expect('some are known', len(known) > 50, True)
listed = re.findall(r'^    (-[a-z-]+(?:/-[a-z-]+)*) ', run(HYDRA, '-help')[1], re.M)
expect('hydra lists some', len(listed) > 30, True)
expect("options of hydra's that are not known", [name for names in listed for name in names.split('/') if name.lstrip('-') not in known], [])

# hydra looks at its options one after the other, and says which one it does not know.
for name, values in known.items():
    code, out, err = run(HYDRA, f'-{name}', '-help')
    if name in OF_SOME_VERSIONS and 'unrecognized' in err:
        continue
    expect(f'-{name} is none of hydra\'s: {err!r}', 'unrecognized' in err, False)
    if name in ('help', 'h', 'info', 'version'):
        continue
    given = [] if values == '0' else ['WS_NO=THING'] if values == 'NAME=VALUE' else [VALUES.get(name, '1')]
    code, out, err = run(HYDRA, f'-{name}', *given, '-no-such-option')
    expect(f'-{name} takes {values} value(s): {err!r}', 'unrecognized argument no-such-option' in err, True)
    if values == 'NAME=VALUE':
        code, out, err = run(HYDRA, f'-{name}', 'WS_NO', 'THING', '-no-such-option')
        expect(f'-{name} takes two: {err!r}', 'unrecognized argument no-such-option' in err, True)
finish()
