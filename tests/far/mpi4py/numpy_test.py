# SPDX-License-Identifier: MIT
"""numpy_test.py MPIRUN PROGRAMS: numpy's matrix products get the cores of waiting ranks with -workshare-openmp=lend. numpy and the OpenMP build of OpenBLAS are
Debian's packages, which are downloaded to a temporary folder."""
import atexit
import glob
import os
import re
import shutil
import subprocess
import tempfile

from job import CORES, MPIRUN, expect, expect_lines, finish, likely, repeated, run, skip

APP = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'numpy_app.py')
PYTHON = '/usr/bin/python3'     # Debian's, for which the package is
PACKAGES = ('python3-numpy', 'libopenblas0-openmp', 'libgfortran5', 'libgomp1')


def unpacked():
    """A folder with the packages; ends the test if they cannot be had."""
    folder = tempfile.mkdtemp(dir='/tmp')
    os.chmod(folder, 0o755)
    atexit.register(shutil.rmtree, folder)
    if not shutil.which('apt-get') or not shutil.which('dpkg-deb'):
        skip('this system has no packages of Debian')
        finish()
    done = subprocess.run(['apt-get', 'download', *PACKAGES], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    found = glob.glob(os.path.join(folder, '*.deb'))
    if len(found) != len(PACKAGES):
        skip(f'{", ".join(PACKAGES)} cannot be had: {done.stdout.strip().splitlines()[-1]}')
        finish()
    for package in found:
        subprocess.run(['dpkg-deb', '-x', package, folder], check=True, timeout=60)
    return folder


@repeated
def lent(n):
    plain = run(PYTHON, APP, n, env=ENVIRONMENT, workshare=False, options=['-bind-to', 'core'], title=f'numpy, {n}, off')
    shared = run(PYTHON, APP, n, env=ENVIRONMENT, options=['-workshare-openmp=lend', '-bind-to', 'core'], title=f'numpy, {n}, lend')
    times = [float(re.sub(' ms', '', result.out)) for result in (plain, shared)]
    expect_lines(shared, shared.err, r'^workshare: \d+ parallel regions had lent cores')
    print(f'{n} x {n}: {times[0]} ms plainly, {times[1]} ms with the cores of waiting ranks')
    likely(shared, f'a product takes {times} ms', times[1] < 0.75 * times[0])


FOLDER = unpacked()
LIBRARIES = glob.glob(f'{FOLDER}/usr/lib/*/openblas-openmp')
ENVIRONMENT = {'PYTHONPATH': f'{FOLDER}/usr/lib/python3/dist-packages', 'OMP_NUM_THREADS': '1',
               'LD_LIBRARY_PATH': ':'.join([os.path.join(os.path.dirname(os.path.dirname(MPIRUN)), 'lib'), *LIBRARIES, *map(os.path.dirname, LIBRARIES)])}
expect(run(PYTHON, APP, 100, ranks=1, env=ENVIRONMENT, workshare=False), 'one OpenBLAS', len(LIBRARIES) == 1)
if CORES < 2:
    skip('one core: nothing can be gained')
else:
    lent(500)
    lent(1500)
finish()
