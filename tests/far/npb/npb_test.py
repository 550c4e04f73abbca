# SPDX-License-Identifier: MIT
"""npb_test.py MPIRUN PROGRAMS FAMILY MPICC [--npb FOLDER]... [--class CLASS] [--pairs N]: the NAS parallel benchmarks under an MPI of this machine, without and with
`workshare`.

FOLDER holds one or more of NPB3.3-MPI, NPB3.4-MPI and NPB3.x-MZ-MPI, or is one of them. Nothing is fetched: without --npb the test is skipped. Each program verifies its
result itself. With `workshare` it prints the same lines, except for times. Programs of NPB-MZ have OpenMP, and also run in its modes, where only the verification counts. Prints the ratio of the times with and
without `workshare`, the median of N pairs in turn. These programs are in balance, so `workshare` has nothing to gain; where the program runs for half a second at least,
the ratio must be below 1.1.
"""
import argparse
import atexit
import glob
import os
import re
import shutil
import statistics
import subprocess
import tempfile

from job import CORES, expect, finish, likely, repeated, run, skip

ALL = {'': ('bt', 'cg', 'ep', 'ft', 'is', 'lu', 'mg', 'sp'), '-mz': ('bt-mz', 'lu-mz', 'sp-mz')}
RANKS = {'bt': 4, 'sp': 4}  # of which the number is a square
SHARE, AUTO = ('-workshare-openmp=share',), ('-workshare-openmp=auto',)
# Threads of LU-MZ wait for each other by spinning, which `share` warns of: it took 200 s instead of 0.2 so.
MODES = {'bt-mz': ((), SHARE, AUTO), 'lu-mz': ((), AUTO), 'sp-mz': ((), SHARE, AUTO)}
# gfortran takes the older sources with these only; other compilers do not have them.
OLD_SOURCES = '-fallow-argument-mismatch', '-fallow-invalid-boz'
OF_TIME = re.compile(r'time|mop|date|second', re.IGNORECASE)

parser = argparse.ArgumentParser(description=__doc__)
for name in 'mpirun', 'programs', 'family', 'mpicc':
    parser.add_argument(name)
parser.add_argument('--npb', action='append', default=[])
parser.add_argument('--class', dest='size', default='S')
parser.add_argument('--pairs', type=int, default=3)
options = parser.parse_args()


def sources():
    """{'' or '-mz': the newest folder of it}"""
    found = {}
    for folder in options.npb:
        if not os.path.isdir(folder):
            skip(f'there is no folder {folder}')
        for path in sorted([folder, *glob.glob(os.path.join(folder, 'NPB*-MPI'))]):
            for kind, programs in ALL.items():
                if os.path.isdir(os.path.join(path, programs[0].upper())) and os.path.isdir(os.path.join(path, 'sys')):
                    found[kind] = path
    return found


def prepared(source):
    """A copy with the settings for this MPI's compilers."""
    folder = os.path.join(tempfile.mkdtemp(dir='/tmp', prefix='ws-npb-'), 'source')
    atexit.register(shutil.rmtree, os.path.dirname(folder))
    shutil.copytree(source, folder)
    os.makedirs(os.path.join(folder, 'bin'), exist_ok=True)
    subprocess.run(['make', '-s', 'clean'], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    compiler = options.mpicc.replace('mpicc', 'mpif90')
    probe = subprocess.run([compiler, *OLD_SOURCES, '-E', '-x', 'f95-cpp-input', '/dev/null'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    flags = ' '.join(['-O2', '-fopenmp', *(OLD_SOURCES if probe.returncode == 0 else ())])
    settings = {'MPIFC': compiler, 'MPIF77': compiler, 'F77': compiler, 'FC': compiler, 'FLINK': compiler, 'FFLAGS': flags, 'FLINKFLAGS': flags,
                'MPICC': options.mpicc, 'CLINK': options.mpicc, 'CFLAGS': '-O2', 'CLINKFLAGS': '-O2', 'CC': 'cc', 'UCC': 'cc', 'BINDIR': '../bin', 'RAND': 'randi8'}
    with open(os.path.join(folder, 'config/make.def'), 'w', encoding='utf-8') as f:
        f.writelines(f'{name} = {value}\n' for name, value in settings.items())
    return folder


def built(folder, name, ranks):
    """The program, or None."""
    done = subprocess.run(['make', name, f'CLASS={options.size}', f'NPROCS={ranks}'], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', timeout=600, check=False)
    found = glob.glob(os.path.join(folder, 'bin', f'{name}[._]{options.size}.*'))
    if not found:
        lines = done.stdout.strip().splitlines() or ['no output']
        skip(f'{name} cannot be built: {next((line for line in lines if "rror" in line), lines[-1])}')
    return found[0] if found else None


def once(program, name, ranks, how, workshare):
    """The seconds that the program says, and its lines without times."""
    env = {'OMP_NUM_THREADS': '1' if name.endswith('-mz') else ''}
    result = run(program, ranks=ranks, workshare=workshare, options=('-workshare-quiet', *how) if workshare else (), env={k: v for k, v in env.items() if v}, limit=300,
                 title=f'{name}.{options.size}, {" ".join(how) if workshare else "without"}'.rstrip(', '))
    expect(result, 'the program does not verify its result', re.search(r'Verification\s*=\s*SUCCESSFUL', result.out))
    time = re.search(r'Time in seconds\s*=\s*([\d.]+)', result.out)
    expect(result, 'no time', time)
    return result, float(time[1]) if time else 0, [line for line in result.out.splitlines() if not OF_TIME.search(line)]


@repeated
def compared(program, name, ranks, how):
    times = {False: [], True: []}
    for _ in range(options.pairs):
        lines = []
        for workshare in False, True:
            result, time, said = once(program, name, ranks, how, workshare)
            times[workshare].append(time)
            lines.append(said)
        if not how:     # other numbers of threads sum in other orders
            expect(result, f'other results than without: {sorted(set(lines[0]) ^ set(lines[1]))}', lines[0] == lines[1])
    alone, shared = (statistics.median(times[key]) for key in (False, True))
    ratio = statistics.median(b / a if a else 1 for a, b in zip(times[False], times[True]))
    print(f'{name}.{options.size:<8} {ranks} ranks  {" ".join(how) or "-":<26} {alone:8.2f} s {shared:8.2f} s {ratio:8.3f}', flush=True)
    if alone >= 0.5 and ranks <= CORES and not how:
        likely(result, f'{ratio:.3f} times as long as without', ratio < 1.1)


folders = sources()
if not folders:
    skip('the NAS parallel benchmarks are not here: name a folder with NPB3.4-MPI: meson test --suite npb --test-args="--npb FOLDER"')
for kind, source in folders.items():
    if not shutil.which(options.mpicc.replace('mpicc', 'mpif90')):
        skip(f'there is no {options.mpicc.replace("mpicc", "mpif90")}')
        break
    copy = prepared(source)
    for benchmark in ALL[kind]:
        count = RANKS.get(benchmark, 2)
        binary = built(copy, benchmark, count)
        for mode in MODES.get(benchmark, ((),)):
            if binary:
                compared(binary, benchmark, count, mode)
finish()
