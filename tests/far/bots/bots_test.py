# SPDX-License-Identifier: MIT
"""bots_test.py MPIRUN PROGRAMS MPICC COMPILER --bots FOLDER [--program NAME]... [--mode MODE]... [--threads N]...: the Barcelona OpenMP Tasks
Suite, without help and with lent cores.

FOLDER is a copy of the suite. Nothing is fetched: without --bots the test is skipped. Each version of each program of omp-tasks is compiled with COMPILER for
a job of two ranks: rank 0 calls the program's main function three times. Rank 1 waits in MPI from the start of the first call. In each other call, rank 1
begins to wait when the parallel region has run for some time. Each program checks its own result, and prints the same lines in all modes, except for times.
Prints the times of the kernels and what helped.

--program NAME  programs whose version begins so: fib, sort-tied, alignment_for; all if absent
--mode MODE     lend, auto or share; all if absent
--threads N     OMP_NUM_THREADS; - leaves it unset; 1 if absent
"""
import argparse
import atexit
import glob
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile

from job import CORES, expect, finish, likely, repeated, run, skip

TURNS = 3
LONG = 0.1      # seconds of a kernel from which on a core must have been lent
# Arguments of the kernels, by the beginning of the version's name: a few tenths of a second each in one thread. Input files are the suite's own.
ARGUMENTS = {
    'alignment_for': ('-f', 'inputs/alignment/prot.20.aa'),
    'alignment_single': ('-f', 'inputs/alignment/prot.20.aa'),
    'concom': ('-n', '400000', '-l', '160000', '-v', '0'),
    'fft': ('-n', '1048576'),
    'fib': ('-n', '28'),
    'fib-manual': ('-n', '40'),
    'fib-if_clause': ('-n', '32'),
    'fib-final': ('-n', '32'),
    'floorplan': ('-f', 'inputs/floorplan/input.15'),
    'health': ('-f', 'inputs/health/small.input'),
    'knapsack': ('-f', 'inputs/knapsack/knapsack-024.input'),
    'nqueens': ('-n', '11'),
    'nqueens-manual': ('-n', '12'),
    'sort': ('-n', '4194304'),
    'sparselu_for': ('-n', '20', '-m', '60'),
    'sparselu_single': ('-n', '20', '-m', '60'),
    'strassen': ('-n', '1024'),
    'uts': ('-f', 'inputs/uts/test.input'),
}
CUTOFF_MACROS = {'': (), 'manual': ('-DMANUAL_CUTOFF',), 'if_clause': ('-DIF_CUTOFF',), 'final': ('-DFINAL_CUTOFF',)}
TIED = re.compile(r'task +untied')
# Strassen aligns a block of memory to 32 bytes, but does not allocate the bytes that this takes.
ROOM = re.compile(r'malloc *\((QuadrantSizeInBytes \* NumberOfVariables)\)')
# Lines that may differ between two runs: times, how many threads may run, addresses.
OF_RUN = re.compile(r"time|speed-up|/sec|date|load avg|# of threads|number of PE's|root node at|structure for matrix", re.IGNORECASE)
# Branch and bound: which of the best solutions comes first, and how many others are looked at before, depends on the order of tasks.
OF_ORDER = {'floorplan': re.compile(r'[A-Z ]+$|Nodes '), 'knapsack': re.compile(r'Nodes ')}
# nqueens adds to the result of an earlier call. strassen is wrong from the second call on with one thread, too.
CALLED_ONCE = re.compile('nqueens.*-tied|strassen')
HERE = os.path.dirname(os.path.abspath(__file__))
CALLED_AGAIN = os.path.join(HERE, '../../job/openmp/called_again.c')

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name in 'mpirun', 'programs', 'mpicc', 'compiler':
    parser.add_argument(name)
parser.add_argument('--bots')
parser.add_argument('--program', action='append', default=[])
parser.add_argument('--mode', action='append', choices=('lend', 'auto', 'share'), default=[])
parser.add_argument('--threads', action='append', default=[])
options = parser.parse_args()


def word_list(makefile, variable):
    found = re.search(rf'^{variable} *= *(.*)$', makefile, re.MULTILINE)
    return found[1].split() if found else []


def versions(suite):
    """Yields the name of each version of each program, and how to compile it: folder, sources, macros, whether tasks are tied."""
    for folder in sorted(glob.glob(os.path.join(suite, 'omp-tasks/**/app-desc.h'), recursive=True)):
        folder = os.path.dirname(folder)
        program = os.path.basename(folder)
        with open(os.path.join(folder, 'Makefile'), encoding='utf-8') as f:
            makefile = f.read()
        sources = [name.replace('.o', '.c') for name in word_list(makefile, 'PROGRAM_OBJS')] or [program.split('_')[0] + '.c']
        for cutoff, tied in itertools.product(['', *word_list(makefile, 'CUTOFF_VERSIONS')], (False, True)):
            name = '-'.join(filter(None, (program, cutoff, 'tied' if tied else '')))
            if program in ARGUMENTS and name.startswith(tuple(options.program or [''])):
                yield name, folder, sources, CUTOFF_MACROS[cutoff], tied


def compile_version(suite, name, folder, sources, macros, tied):
    """The program, or None."""
    build = os.path.join(work, name)
    shutil.copytree(folder, build)
    for source in sources:
        with open(os.path.join(build, source), encoding='utf-8', errors='surrogateescape') as f:
            text = ROOM.sub(r'malloc(\1 + 32)', f.read())
        with open(os.path.join(build, source), 'w', encoding='utf-8', errors='surrogateescape') as f:
            f.write(TIED.sub('task', text) if tied else text)
    if tied:
        macros += ('-DFORCE_TIED_TASKS',)
    common = os.path.join(suite, 'common')
    told = [f'-D{word}="-"' for word in ('CDATE', 'CC', 'LD', 'CMESSAGE', 'LDFLAGS', 'CFLAGS')]
    command = [options.mpicc, f'-cc={options.compiler}', '-fopenmp', '-O2', '-w', '-fgnu89-inline', '-Dmain=tested_main', *macros, *told, '-I', build, '-I', common,
               *(os.path.join(build, source) for source in sources), os.path.join(common, 'bots_main.c'), os.path.join(common, 'bots_common.c'), again, '-lm',
               '-o', os.path.join(build, 'program')]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', check=False)
    if done.returncode:
        lines = done.stdout.strip().splitlines() or ['no output']
        skip(f'{name} cannot be compiled: {next((line for line in lines if "error" in line), lines[-1])}')
        return None
    return command[-1]


def program_of(version):
    return version.split('-')[0]


def seconds(out, kind):
    return [float(time) for time in re.findall(rf'^Time {kind} *= *([\d.]+)', out, re.MULTILINE)]


def help_of(report):
    """What helped, for the table."""
    with open(report, encoding='utf-8') as f:
        totals = json.load(f)['totals']
    lent, chunks = totals.get('openmp_lent', 0), totals.get('chunks_stolen', 0)
    words = [f'{lent} regions, {totals["openmp_lent_s"]:.2f} core s'] if lent else []
    return ', '.join(words + ([f'{chunks} chunks'] if chunks else [])) or '-'


def once(program, name, mode, threads, late):
    """Runs the job and checks the program's own results: the job's result, the times of the kernels if all are right, the other lines, what helped. `late`:
    after how many seconds of a call rank 1 begins to wait."""
    longest = max((key for key in ARGUMENTS if name.startswith(key)), key=len)
    arguments = [os.path.join(options.bots, word) if word.startswith('inputs/') else word for word in ARGUMENTS[longest]]
    turns = 1 if CALLED_ONCE.match(name) else TURNS
    env = {'TURNS': str(turns), 'LATE': str(round(1000 * late)), **({} if threads == '-' else {'OMP_NUM_THREADS': threads})}
    report = os.path.join(work, 'report.json')
    result = run(program, *arguments, '-c', options=(f'-workshare-openmp={mode}', f'-workshare-report={report}'), env=env, limit=120,
                 title=f'{name}, {mode}, OMP_NUM_THREADS {threads}', code=None)
    right = len(re.findall(r'^Verification *= successful$', result.out, re.MULTILINE)) if result.code == 0 else 0
    if mode != 'off':
        expect(result, f'exit status {result.code}; the program verifies its result {right} times of {turns}', right == turns)
    of_order = OF_ORDER.get(program_of(name), re.compile('(?!)'))
    lines = [line for line in result.out.splitlines() if not OF_RUN.search(line) and not of_order.match(line)]
    return result, seconds(result.out, 'Program') if right == turns else [], lines, help_of(report) if right else '-'


@repeated
def compared(program, name, threads):
    result, alone, lines, _ = once(program, name, 'off', threads, 0)
    if not alone:
        print(f'{name:<24} {threads:>2} threads is not right without help, either: exit status {result.code}')
        return
    late = statistics.median(seconds(result.out, 'Sequential') or [0]) + statistics.median(alone) / 3
    columns = []
    for mode in options.mode or ('lend', 'auto', 'share'):
        result, times, said, helped = once(program, name, mode, threads, late)
        if not times:
            continue
        expect(result, f'other results than without: {sorted(set(lines) ^ set(said))}', lines == said)
        if mode != 'share' and threads == '1' and alone[0] >= LONG:      # sharing does not divide tasks
            likely(result, 'no region had a lent core', helped != '-')
        ratios = [f'{sum(a) / sum(b):.2f}' for a, b in ((alone[:1], times[:1]), (alone[1:], times[1:])) if a and len(a) == len(b)]
        columns.append(f'{mode} {" ".join(ratios)} ({helped})')
    print(f'{name:<24} {threads:>2} threads {statistics.median(alone):7.3f} s  {"  ".join(columns)}', flush=True)


if not options.bots:
    skip('the Barcelona OpenMP Tasks Suite is not here: name its folder: meson test --suite bots --test-args="--bots FOLDER"')
elif not os.path.isfile(os.path.join(options.bots, 'common/bots_main.c')):
    skip(f'there is no common/bots_main.c in {options.bots}')
elif CORES < 2:
    skip('needs two cores')
else:
    work = tempfile.mkdtemp(dir='/tmp', prefix='ws-bots-')
    atexit.register(shutil.rmtree, work)
    again = os.path.join(work, 'again.o')
    subprocess.run([options.mpicc, '-c', CALLED_AGAIN, '-o', again], check=True)
    print('version, OMP_NUM_THREADS, time without help; per mode: times as fast with rank 1 waiting from the start, with rank 1 beginning to wait later (what helped)')
    for version, *how in versions(options.bots):
        binary = compile_version(options.bots, version, *how)
        for number in options.threads or ['1']:
            if binary:
                compared(binary, version, number)
finish()
