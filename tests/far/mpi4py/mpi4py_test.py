# SPDX-License-Identifier: MIT
"""mpi4py_test.py MPIRUN PROGRAMS FAMILY MPICC STAGE [--source FOLDER]: Python programs under `workshare`, and under mpirun -workshare for the family `workshare`.
Under Open MPI with Debian's package of mpi4py, which is downloaded to a temporary folder; else mpi4py is built from its source. Ranks that wait lend their cores;
mpi4py's own tests, from its source, pass as they do without."""
import atexit
import glob
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

from job import CORES, expect, finish, run, skip

FAMILY, MPICC, STAGE = sys.argv[3:6]
SOURCE = sys.argv[7] if sys.argv[6:7] == ['--source'] else None
HERE = os.path.dirname(os.path.abspath(__file__))
DOWNLOAD = os.path.join(HERE, '../../../tools/dev/debian-source')
FOLDER = tempfile.mkdtemp(dir='/tmp')
os.chmod(FOLDER, 0o755)
atexit.register(shutil.rmtree, FOLDER)
PYTHON = '/usr/bin/python3'     # Debian's, for which the package is


def package():
    """The folder of Debian's mpi4py, for its Open MPI; ends the test if it cannot be had."""
    done = subprocess.run(['apt-get', 'download', 'python3-mpi4py'], cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                          check=False) if shutil.which('apt-get') else None
    found = glob.glob(os.path.join(FOLDER, '*.deb'))
    if not found:
        skip(f'the package python3-mpi4py cannot be had: {done.stdout.strip().splitlines()[-1] if done and done.stdout.strip() else "there is no apt-get"}')
        finish()
    subprocess.run(['dpkg-deb', '-x', found[0], FOLDER], check=True, timeout=60)
    return os.path.join(FOLDER, 'usr/lib/python3/dist-packages')


def built():
    """mpi4py from its source, for the MPI that this test is about."""
    copy = os.path.join(FOLDER, 'source')
    shutil.copytree(source(), copy)
    done = subprocess.run([PYTHON, 'setup.py', 'build', '--build-lib', os.path.join(FOLDER, 'built')], cwd=copy, env={**os.environ, 'MPICC': MPICC},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    if done.returncode:
        skip(f'mpi4py cannot be built for {FAMILY}: {done.stdout.strip().splitlines()[-1]}')
        finish()
    return os.path.join(FOLDER, 'built')


def source():
    """The folder of mpi4py's source; ends the test if it cannot be had."""
    folder = SOURCE or os.path.join(FOLDER, 'tests')
    if not os.path.isdir(folder):
        done = subprocess.run([DOWNLOAD, 'mpi4py', os.path.join(FOLDER, 'download')], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                              check=False)
        found = glob.glob(os.path.join(FOLDER, 'download', '*.orig.tar.*'))
        if not found:
            skip(f"mpi4py's source cannot be had: {done.stdout.strip().splitlines()[-1]}")
            finish()
        os.mkdir(folder)
        subprocess.run(['tar', '-xf', found[0], '-C', folder, '--strip-components=1'], check=True, timeout=60)
    return folder


def flags(*words):
    return shlex.split(subprocess.run([os.path.join(STAGE, 'bin/workshare'), *words], check=True, stdout=subprocess.PIPE, text=True).stdout)


def shares(library):
    result = run(PYTHON, os.path.join(HERE, 'app.py'), library, env=PATH, steals=True, title='waits in Python')
    kinds = [line for line in result.out.splitlines() if len(line.split()) == 2]
    expect(result, f'each kind of wait was tried: {kinds}', len(kinds) == 5)


def own_tests():
    folder = source()
    # Processes that a program starts are not tested under MPICH, nor is what depends on a user or a network.
    words = [os.path.join(folder, 'test/runtests.py'), '--no-builddir', '-e', 'spawn', '-e', 'dynproc', '-e', 'util_pkl5', '-e', 'doc']
    wrong, took = [], []
    for how in ('off', 'on', 'on, with -workshare-waits'):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = run(PYTHON, *words, env={**PATH, 'PYTHONWARNINGS': 'ignore'}, workshare=how != 'off', code=None, limit=600, title=f"mpi4py's tests, {how}",
                     options=['-workshare-waits=gpu,io'] if 'waits' in how else ())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        text = result.out + result.err
        ran = re.findall(r'Ran (\d+) tests', text)
        wrong.append(set(re.findall(r'(?:FAIL|ERROR): (\w+ \([\w.]+\))', text)))
        expect(result, f'tests of two ranks ran: {ran}', len(ran) == 2 and all(int(n) > 100 for n in ran))
        print(f"mpi4py's tests, {how}: {' and '.join(ran)} on two ranks, {len(wrong[-1])} fail, {took[-1]:.1f} s of CPU time")
    more = (wrong[1] | wrong[2]) - wrong[0]
    expect(result, f'fail with Workshare only: {sorted(more)[:10]}', not more)
    # Calls that are watched cost little; CPU time tells that on a busy machine, too.
    expect(result, f'watched calls take more CPU time: {took[2]:.1f} s instead of {took[1]:.1f} s', took[2] < 1.3 * took[1] + 2)


PATH = {'PYTHONPATH': package() if FAMILY == 'openmpi' else built()}
library = os.path.join(FOLDER, 'loop.so')
of_loops = [['-fws'], []] if FAMILY == 'workshare' else [flags('--cflags'), flags('--mpi', FAMILY, '--libs')]
subprocess.run([MPICC, *of_loops[0], '-O2', '-shared', '-fPIC', os.path.join(HERE, '../../job/host/loop.c'), '-o', library, *of_loops[1]], check=True, timeout=60)
if CORES >= 2:
    shares(library)
own_tests()
finish()
