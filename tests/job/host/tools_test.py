# SPDX-License-Identifier: MIT
"""Tools of the profiling interface beside `workshare` count each call once, as they do without it, wherever they stand; calls that a program makes by
their PMPI names lend as well."""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile

from job import CORES, expect, finish, likely, repeated, run, skip
from of_mpi import ENVIRONMENT, fortran_compiler, launcher_of_several

FAMILY, MPICC, SOURCES, STAGE = sys.argv[3:7]
FOLDER = tempfile.mkdtemp(dir='/tmp')
atexit.register(shutil.rmtree, FOLDER)
TOOL = os.path.join(FOLDER, 'libtool.so')
IN_FRONT = ('-c', f'LD_PRELOAD={TOOL}:$LD_PRELOAD exec "$0"')


def compiled(name, *words, compiler=MPICC):
    program = os.path.join(FOLDER, name)
    subprocess.run([compiler, '-O1', '-o', program, *words], check=True, timeout=60)
    return program


def source(name):
    return os.path.join(SOURCES, name)


def counts(title, *words, **how):
    """A job, and what the tool prints in it: the same with and without."""
    alone, shared = (run(*words, workshare=on, title=f'{title}, {"on" if on else "off"}', **how) for on in (False, True))
    without, said = (sorted(result.out.splitlines()) for result in (alone, shared))
    expect(shared, f'the tool counts {said} with, {without} without', without == said)
    return shared, said


def in_c():
    counted = compiled('counted', source('counted.c'))
    for title, words, how in (
            ('tool behind', (counted,), {'options': ('-genv', 'LD_PRELOAD', TOOL)}),
            ('tool in front', ('/bin/sh', *IN_FRONT, counted), {}),
            ('tool linked', (compiled('linked', source('counted.c'), '-Wl,--no-as-needed', TOOL),), {}),
            ('tool in the program', (compiled('within', source('counted.c'), source('tool.c')),), {})):
        result, said = counts(title, *words, **how)
        expect(result, f'the tool did not see each call once: {said}', len(said) == 2 and
               ' Barrier=5' in said[0] and ' Allreduce=5' in said[0] and ' Send=5' in said[0] and ' Recv=5' in said[1] and ' Waitall=5' in said[1])


def in_fortran():
    compiler = fortran_compiler(MPICC)
    if not compiler:
        return
    for number, form in enumerate(('mpi_f08', 'mpi', 'mpif.h'), 1):
        program = compiled(f'fortran{number}', f'-DFORM={number}', '-J', FOLDER, source('counted.F90'), compiler=compiler)
        _, said = counts(form + ', tool behind', program, options=('-genv', 'LD_PRELOAD', TOOL))
        counts(form + ', tool in front', '/bin/sh', *IN_FRONT, program)
        result = run(program, title=form)
        expect(result, f'a wrong sum: {result.out}', len([line for line in said if line.startswith('rank ')]) == 2 and ': 3' in result.out)


def swallowed():
    """A library that keeps MPI_Init for itself: Workshare never begins, and the program runs as without."""
    silent = compiled('libsilent.so', '-shared', '-fPIC', source('silent.c'))
    for title, words, how in (('behind', (os.path.join(FOLDER, 'counted'),), {'options': ('-genv', 'LD_PRELOAD', silent)}),
                              ('in front', ('/bin/sh', '-c', f'LD_PRELOAD={silent}:$LD_PRELOAD exec "$0"', os.path.join(FOLDER, 'counted')), {})):
        result = run(*words, title=f'MPI_Init kept by a library {title}', **how)
        lines = [line for line in result.err.splitlines() if 'workshare' in line]
        expect(result, f'said {lines}', len(lines) == 1 and 'MPI_Init' in lines[0])


def sanitized():
    """AddressSanitizer refuses libraries that are loaded before its own."""
    try:
        program = compiled('sanitized', '-fsanitize=address', source('counted.c'), source('tool.c'))
    except subprocess.CalledProcessError:
        skip('no AddressSanitizer')
        return
    options = {'env': {'ASAN_OPTIONS': 'detect_leaks=0'}}   # MPI's own
    if run(program, workshare=False, code=None, title='AddressSanitizer alone', **options).code:
        skip('a program with AddressSanitizer does not run with this MPI (Open MPI 6.0.0rc2: signal 4)')
        return
    counts('AddressSanitizer', program, **options)
    counts('AddressSanitizer, by a script', '/bin/sh', '-c', 'exec "$0"', program, **options)


def mixed():
    """If one rank is started with Workshare and the other without, the job ends after 30 s."""
    if FAMILY != 'openmpi':     # one MPI is enough for a test of 30 s
        return
    counted = os.path.join(FOLDER, 'counted')
    launcher = launcher_of_several(MPICC.replace('mpicc', 'mpirun'))
    if not launcher:
        return
    result = run(os.path.join(STAGE, 'bin/workshare'), counted, ':', '-n', '1', counted, ranks=1, workshare=False, mpirun=launcher,
                 code='error', limit=60, title='a rank without Workshare', env=ENVIRONMENT)
    lines = [line for line in result.err.splitlines() if line.startswith('workshare: ')]
    expect(result, f'said {lines}', lines == ['workshare: error: some ranks of the job run without workshare; start all with it, or none'])


@repeated
def pmpi_lends():
    result = run('host', 'pmpi', title='PMPI calls')
    time = float(result.out.split()[-1])
    likely(result, f'nobody helped: {time}', time < 0.75)


compiled('libtool.so', '-shared', '-fPIC', source('tool.c'))
in_c()
in_fortran()
swallowed()
sanitized()
mixed()
if CORES >= 2:
    pmpi_lends()
finish()
