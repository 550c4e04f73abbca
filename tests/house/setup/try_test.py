# SPDX-License-Identifier: MIT
"""try_test.py SETUP: `./setup try` of a checkout whose folder has an odd name builds what it needs and prints the demo's table, with a gain, under this
machine's MPI; the second time it builds nothing. Nothing is installed: where a package is missing, the test is skipped."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from check import expect, finish, patience, run

SETUP = os.path.realpath(sys.argv[1])
TOP = os.path.dirname(SETUP)
needed = run(SETUP, 'packages', 'try')[1].split()
there = run('dpkg-query', '-W', '-f', '${db:Status-Status} ${Package}\n', *needed)[1] if shutil.which('dpkg-query') else ''
missing = [p for p in needed if f'installed {p}\n' not in there]
if missing or len(os.sched_getaffinity(0)) < 2:
    print(f'needs two cores, and these packages, which are missing: {" ".join(missing)}')
    sys.exit(77)


def tried(setup):
    """Seconds, and stdout of a run that must end well."""
    began = time.monotonic()
    code, out, err = run(setup, 'try', limit=280)
    expect(f'exit status; stderr: {err[-2000:]}; stdout: {out[-2000:]}', code, 0)
    return time.monotonic() - began, out


@patience.repeated
def gains(setup):
    table = tried(setup)[1]
    speed_up = re.search(r'^double loop, 20 ms +\S+ ms +\S+ ms +\S+ ms +~?([\d.]+)', table, re.M)
    patience.likely(f'no gain in: {table[-2000:]}', speed_up and float(speed_up[1]) > 1.2)


with tempfile.TemporaryDirectory() as folder:
    checkout = os.path.join(folder, "a b'c%d é")
    shutil.copytree(TOP, checkout, ignore=lambda at, names: [n for n in names if at == TOP and (n.startswith(('build', '.git')) or n == 'prefix')])
    setup = os.path.join(checkout, 'setup')
    first, out = tried(setup)
    expect('rows of the table', re.findall(r'^(?:double loop, \w+|triangles, Kro\w+) ', out, re.M).__len__() >= 2, True)
    expect('the MPI is named', bool(re.search(r'ranks on \d+ cores under (MPICH|Open MPI) [\d.]+, medians', out)), True)
    expect('results were checked', 'All results were checked against serial runs and are right.' in out, True)
    expect('stolen chunks', bool(re.search(r'^double loop, 20 ms .* [1-9]\d*$', out, re.M)), True)
    gains(setup)
    log = subprocess.run(['ninja', '-n', '-C', os.path.join(checkout, 'build/try'), 'demo'], capture_output=True, text=True).stdout
    expect('the second time builds nothing', 'no work to do' in log, True)
    code, out, err = run(setup, 'try', '-Dmpicc=no-such-mpicc')
    expect('an mpicc that is not there', (code, 'setup: no-such-mpicc: there is no such program' in err, 'ninja' in out), (1, True, False))
finish()
