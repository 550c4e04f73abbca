# SPDX-License-Identifier: MIT
"""Programs that load their MPI library after they have started, and programs that a script starts: they share as others do; where that library is not the
launcher's, one line says so, and each rank runs as without Workshare."""
import atexit
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from job import CORES, expect, finish, run, skip
from of_mpi import SEGMENTS

FAMILY, MPICC, SOURCES, STAGE, INTERPRETER = sys.argv[3:8]
FOLDER = tempfile.mkdtemp(dir='/tmp')
atexit.register(shutil.rmtree, FOLDER)
TOOL = os.path.join(FOLDER, 'libtool.so')
WORKSHARE = os.path.join(STAGE, 'bin/workshare')


def module(name, source, *words, compiler=MPICC):
    path = os.path.join(FOLDER, name)
    subprocess.run([compiler, '-O1', '-shared', '-fPIC', '-Dmain=run', '-o', path, os.path.join(SOURCES, source), *words], check=True, timeout=60)
    return path


def shares(title, *words):
    result = run(*words, title=title, steals=True)
    kinds = [line for line in result.out.splitlines() if len(line.split()) == 2]
    expect(result, f'each kind of wait was tried: {kinds}', len(kinds) == 8 and 'wrong' not in result.out)


def equal_sums(sums):
    alone, shared = (run(INTERPRETER, sums, 'sums', ranks=3, workshare=on, title=f'sums of a module, {"on" if on else "off"}') for on in (False, True))
    expect(shared, 'sums differ from those without', sorted(alone.out.splitlines()) == sorted(shared.out.splitlines()) and alone.out)
    expect(shared, 'no summary', shared.summary())


def tools():
    counted = module('counted.so', 'counted.c')
    front = ('/bin/sh', '-c', f'LD_PRELOAD={TOOL}:$LD_PRELOAD exec "$0" "$@"')
    for title, words, how in (('behind', (INTERPRETER, counted), {'options': ('-genv', 'LD_PRELOAD', TOOL)}), ('in front', (*front, INTERPRETER, counted), {})):
        alone, shared = (run(*words, workshare=on, title=f'tool {title} of a module, {"on" if on else "off"}', **how) for on in (False, True))
        expect(shared, 'the tool counts otherwise', sorted(alone.out.splitlines()) == sorted(shared.out.splitlines()) and 'Allreduce=' in alone.out)


def openmp_regions():
    """Those of a module are not shared, and the summary says that none was seen; those of a program that is linked with MPI are."""
    program = os.path.join(FOLDER, 'regions')
    subprocess.run([MPICC, '-O1', '-fopenmp', '-o', program, os.path.join(SOURCES, 'regions.c')], check=True, timeout=60)
    for title, words, seen in (('a module', (INTERPRETER, module('regions.so', 'regions.c', '-fopenmp')), False), ('a program', (program,), True)):
        result = run(*words, options=('-workshare-openmp=lend',), env={'OMP_NUM_THREADS': '1'}, title=f'parallel regions of {title}')
        expect(result, 'a wrong sum', result.out == 'sum 79600\n')
        expect(result, f'seen: not {seen}', ('no parallel region was seen' in result.err) != seen and result.summary())


def says(result, pattern):
    lines = [line for line in result.err.splitlines() if 'workshare' in line]
    expect(result, f'said {lines}, wanted {pattern}', len(lines) == 1 and re.search(pattern, lines[0]))


def another_mpi():
    other = MPICC.replace(FAMILY, 'mpich' if FAMILY == 'openmpi' else 'openmpi')
    if other == MPICC or not shutil.which(other):
        skip(f'there is no mpicc of another MPI beside {MPICC}')
        return
    sums = module('other.so', 'host.c', '-Wno-unknown-pragmas', compiler=other)
    alone, result = (run(INTERPRETER, sums, 'sums', workshare=on, code=None, leaves=SEGMENTS, title=f"a module of another MPI than the launcher's, {'on' if on else 'off'}")
                     for on in (False, True))
    expect(result, f'exit status {alone.code} without Workshare', result.code == alone.code)
    expect(result, f'MPI leaves {result.removed}, without Workshare {alone.removed}', len(result.removed) == len(alone.removed))
    says(result, r'^workshare: note: the launcher is from \w+, but the program has loaded libmpi\S+ of \w+: each rank is a job of its own; it runs without Workshare$')
    # MPICH 5 ends a job that PMIx has started.
    expect(result, 'not a job per rank', result.out.count('\n39 0 ') >= 2 or alone.code)
    wrong = run(INTERPRETER, sums, 'sums', options=(f'-workshare-mpi={FAMILY}',), code='error', title='a module of another MPI than --mpi')
    expect(wrong, 'said nothing of --mpi', '--mpi' in wrong.err)


def past_workshare():
    """A module that looks MPI's functions up by dlsym(), and one with an MPI that Workshare does not know: as without Workshare."""
    result = run(INTERPRETER, module('looked_up.so', 'looked_up.c', '-ldl'), title='functions looked up by dlsym()')
    expect(result, 'not as without Workshare', result.out == 'sum 1\n' * 2 and not result.err)
    own = os.path.join(FOLDER, 'libown.so')
    subprocess.run(['gcc', '-shared', '-fPIC', '-Wl,-soname,libown.so', '-x', 'c', '-', '-o', own], input=b'int MPI_Init(int *a, char ***b) { return a || b ? 1 : 41; }', check=True, timeout=30)
    caller = os.path.join(FOLDER, 'caller.so')
    subprocess.run(['gcc', '-shared', '-fPIC', '-x', 'c', '-', '-x', 'none', own, '-o', caller, '-Wl,-rpath,' + FOLDER], check=True, timeout=30,
                   input=b'int puts(const char *); int MPI_Init(int *, char ***); int run(void) { return puts(MPI_Init(0, 0) == 41 ? "own" : "other") < 0; }')
    result = run(INTERPRETER, caller, title='an MPI that Workshare does not know')
    expect(result, 'its MPI_Init was not called', result.out == 'own\n' * 2)
    says(result, '^workshare: note: the program calls an MPI library that Workshare does not know; it runs without Workshare$')


def no_mpi():
    result = run('/bin/true', title='a program without MPI')
    expect(result, 'it says something', not result.err)
    done = subprocess.run([WORKSHARE, '/bin/true'], capture_output=True, text=True, timeout=30, check=True)
    result.err = done.stderr
    says(result, r'^workshare: note: /bin/true is linked with no MPI, and no launcher has started it')


subprocess.run([MPICC, '-O1', '-shared', '-fPIC', '-o', TOOL, os.path.join(SOURCES, 'tool.c')], check=True, timeout=60)
plain = module('plain.so', 'host.c', '-Wno-unknown-pragmas')
equal_sums(plain)
tools()
openmp_regions()
another_mpi()
past_workshare()
no_mpi()
if CORES >= 2:
    flags = [shlex.split(subprocess.run([WORKSHARE, *words], check=True, capture_output=True, text=True).stdout) for words in (('--cflags',), ('--mpi', FAMILY, '--libs'))]
    shares('a module with loops', INTERPRETER, module('loops.so', 'host.c', *flags[0], *flags[1]), 'gain')
    shares('a program that a script starts', '/bin/sh', '-c', 'exec "$0" "$@"', os.path.join(os.path.abspath(sys.argv[2]), 'host'), 'gain')
finish()
