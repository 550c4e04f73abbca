#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The conformance matrix: each construct x language x compiler x -O0, -O3 x with, without -fopenmp x thieves, compared
with the plain loop.

usage: matrix.py PREFIX WORK_FOLDER [option]...      PREFIX has bin/mpicc, mpicxx, mpifort, mpirun

--fast            a diagonal of the matrix: each class of cases in each language with each compiler, some of the rest
--only REGEX      cases whose name matches, in all configurations
--language L      c, c++ or fortran
--compiler C      gcc or clang, or of a version (gcc-14, clang-19), or all: each that has a plugin in PREFIX, in a table
--options TEXT    these instead of each of -O0, -O3, with and without -fopenmp
--mpi             under mpirun too: one rank, and two that steal from each other with random delays
--keep            leave sources and programs in the work folder
--list            print the names of the cases and stop

cases_*.py are the tables, frame.c what a case calls. Thieves are those of tests/compiler/directive/fake_runtime.c: none, two that
take from the front, or from the end, or at random; or none where a loop's plain version (at -O3) runs at every other execution.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import re
import shutil
import subprocess
import sys
import time

import cases_c
import cases_fortran

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
LIMIT = 100                 # seconds for one compilation or one run
CASES_IN_A_FILE = 120
THIEVES = ('alone', 'order', 'tail', 'random', 'plain')
OPTIONS = ('-O0', '-O0 -fopenmp', '-O3', '-O3 -fopenmp')
LANGUAGES = {   # table, suffix, wrapper, how the wrapper is told the compiler, compilers (with a version: 'gcc-14' is g++-14)
    'c': (cases_c, '.c', 'mpicc', 'MPICH_CC', {'gcc': 'gcc', 'clang': 'clang'}),
    'c++': (cases_c, '.cpp', 'mpicxx', 'MPICH_CXX', {'gcc': 'g++', 'clang': 'clang++'}),
    'fortran': (cases_fortran, '.f90', 'mpifort', 'MPICH_FC', {'gcc': 'gfortran'}),
}


def kind(compiler):
    return compiler.partition('-')[0]


# With --fast, each language and compiler has one configuration of the four, so that each stands with each at least once.
DIAGONAL = {('c', 'gcc'): '-O3', ('c++', 'gcc'): '-O0 -fopenmp', ('c', 'clang'): '-O0', ('c++', 'clang'): '-O3 -fopenmp',
            ('fortran', 'gcc'): '-O3 -fopenmp'}
DIAGONAL_CASES = 200        # per language and compiler


def run(command, limit=LIMIT, **environment):
    environment = {**{k: v for k, v in os.environ.items() if not k.startswith('WS_')}, 'LC_ALL': 'C', **environment}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors='replace', env=environment, start_new_session=True)
    try:
        output = process.communicate(timeout=limit)[0]
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return 'time limit', process.communicate()[0]


class Matrix:
    def __init__(self, prefix, work, arguments):
        self.bin = os.path.join(os.path.abspath(prefix), 'bin')
        self.work = os.path.join(os.path.abspath(work), f'conformance.{os.getpid()}')
        self.arguments = arguments
        self.passed = collections.Counter()     # by (class, language, compiler)
        self.failed = collections.defaultdict(list)
        self.not_here = []
        self.seconds = collections.Counter()
        os.makedirs(self.work)

    def path(self, name):
        return os.path.join(self.work, name)

    def wrapper(self, language, compiler):
        _, _, name, variable, compilers = LANGUAGES[language]
        return [os.path.join(self.bin, name), '-fws'], {variable: compilers[kind(compiler)] + compiler[len(kind(compiler)):]}

    def compilers(self, known):
        asked = self.arguments.compiler
        if asked == 'all':
            folders = os.listdir(os.path.join(os.path.dirname(self.bin), 'lib/workshare'))
            return sorted((name for name in folders if name.partition('-')[1] and kind(name) in known),
                          key=lambda name: (kind(name) != 'gcc', int(name.partition('-')[2])))
        if asked:
            return [asked] if kind(asked) in known else []
        return list(known)

    def compile(self, language, compiler, *arguments):
        command, environment = self.wrapper(language, compiler)
        began = time.monotonic()
        result = run([*command, *arguments], **environment)
        self.seconds['compiling'] += time.monotonic() - began
        return result

    def frame(self):
        """The C objects that every program is linked with."""
        for name, source, flags in (('frame.o', 'frame.c', ()), ('frame_mpi.o', 'frame.c', ('-DWITH_MPI',)),
                                    ('fake_runtime.o', '../directive/fake_runtime.c', ())):
            status, output = run([os.path.join(self.bin, 'mpicc'), '-O1', '-g', '-Wall', *flags, '-c', os.path.join(HERE, source), '-o', self.path(name)])
            if status:
                sys.exit(f'{source} does not compile\n{output}')

    def works(self, language, compiler):
        source = self.path('probe' + LANGUAGES[language][1])
        with open(source, 'w') as f:
            f.write('end\n' if language == 'fortran' else 'int probe;\n')
        status, output = self.compile(language, compiler, '-c', source, '-o', source + '.o')
        if status:
            self.not_here.append(f'{language} with {compiler}: {output.strip().splitlines()[-1] if output.strip() else status}')
        return not status

    # One program: some cases of one class in one configuration.

    def fail(self, case, where, what):
        name = case if isinstance(case, str) else case.name
        language, compiler, options = where
        self.failed[(name.split('/')[0], language, compiler)].append(name)
        print(f'FAILED {name} [{language}, {compiler} {options}]: {what}', flush=True)

    def sources(self, cases, language, stem):
        """Writes the program; returns its files, and for each file who owns which line."""
        table, suffix = LANGUAGES[language][:2]
        main, other = table.program(cases, language)
        files = []
        for name, parts in ((stem + suffix, main), (stem + '_other' + suffix, other)):
            owners, lines = {}, []
            for case, text in parts:
                for line in text.rstrip('\n').split('\n'):
                    lines.append(line)
                    owners[len(lines)] = case
            if any(case for case in owners.values()) or not files:
                with open(self.path(name), 'w') as f:
                    f.write('\n'.join(lines) + '\n')
                files.append((self.path(name), owners))
        return files

    def objects(self, cases, where, stem):
        """Compiles; cases that do not are reported and left out. Returns the objects and the cases in them."""
        language, compiler, options = where
        while cases:
            objects, bad, broken = [], {}, None
            for source, owners in self.sources(cases, language, stem):
                objects.append(source + '.o')
                folder = []
                if language == 'fortran':   # programs are compiled at the same time, each with its module
                    folder = ['-J', self.path(stem + '.modules')]
                    os.makedirs(folder[1], exist_ok=True)
                status, output = self.compile(language, compiler, *options.split(), '-w', *folder, '-I', HERE, '-c', source, '-o', objects[-1])
                if status == 0:
                    continue
                broken = (status, output)
                for line, text in re.findall(rf'^{re.escape(source)}:(\d+):.*?((?:error|Error|internal).*)$', output, re.M):
                    case = owners.get(int(line))
                    if case:
                        bad.setdefault(case.name, (case, text))
                # gfortran: the place in one line, the error in a later one.
                for line, text in re.findall(rf'^{re.escape(source)}:(\d+):\d+:\n(?:.*\n)*?((?:Fatal )?Error: .*)$', output, re.M):
                    case = owners.get(int(line))
                    if case:
                        bad.setdefault(case.name, (case, text))
            if not broken:
                return objects, cases
            if not bad and len(cases) > 1:      # a crash that names no line: each half by itself
                half = len(cases) // 2
                left = self.objects(cases[:half], where, stem)[1]
                right = self.objects(cases[half:], where, stem)[1]
                cases = left + right
                if not cases:
                    return [], []
                continue
            if not bad:
                bad = {cases[0].name: (cases[0], f'compiling ends with {broken[0]}\n{broken[1][-2000:]}')}
            for case, text in bad.values():
                self.fail(case, where, text)
            cases = [case for case in cases if case.name not in bad]
        return [], []

    def link(self, objects, where, binary, *more):
        language, compiler, options = where
        return self.compile(language, compiler, *options.split(), *objects, *map(self.path, more), '-pthread', '-o', binary)

    def judge(self, cases, where, how, status, output):
        """Reports what a run says; the names of the cases that failed in it."""
        bad = re.findall(r'^FAILED (.*?): (.*)$', output, re.M)
        for name, what in bad:
            self.fail(name, where, f'{how}: {what}')
        if not bad and (status or f'{len(cases)} cases, 0 failed' not in output):
            self.fail(f'{cases[0].group}/(a program of {len(cases)} cases)', where, f'{how}: status {status}\n{output[-2000:]}')
            return {case.name for case in cases}
        return {name for name, _ in bad}

    def program(self, cases, where, number, mpi):
        language, compiler, options = where
        stem = re.sub(r'\W+', '_', f'{cases[0].group}_{language.replace("+", "x")}_{compiler}{options}_{number}')
        objects, cases = self.objects(cases, where, stem)
        if not cases:
            return
        key, bad = (cases[0].group, language, compiler), set()
        binary = self.path(stem)
        status, output = self.link(objects, where, binary, 'frame.o', 'fake_runtime.o')
        if status:
            self.fail(f'{cases[0].group}/(a program of {len(cases)} cases)', where, f'linking\n{output[-2000:]}')
            return
        for mode in THIEVES:
            began = time.monotonic()
            status, output = run([binary], WS_FAKE=mode)
            self.seconds['running'] += time.monotonic() - began
            bad |= self.judge(cases, where, f'thieves: {mode}', status, output)
        if mpi:
            binary += '_mpi'
            status, output = self.link(objects, where, binary, 'frame_mpi.o')
            if status:
                self.fail(f'{cases[0].group}/(a program of {len(cases)} cases)', where, f'linking with libws\n{output[-2000:]}')
                return
            for how, command, environment in self.jobs(binary):
                began = time.monotonic()
                status, output = run(command, **environment)
                self.seconds['running under mpirun'] += time.monotonic() - began
                bad |= self.judge(cases, where, how, status, output)
        self.passed[key] += len(cases) - len(bad)
        if not self.arguments.keep:
            for name in os.listdir(self.work):
                if name.startswith(stem + '.modules'):
                    shutil.rmtree(self.path(name))
                elif name.startswith(stem):
                    os.remove(self.path(name))

    def jobs(self, binary):
        mpirun = os.path.join(self.bin, 'mpirun')
        yield 'without mpirun', [binary], {}
        yield '1 rank', [mpirun, '-workshare', '-workshare-quiet', '-n', '1', binary], {}
        for seed in (1, 2):
            yield f'2 ranks, WS_CHAOS={seed}', [mpirun, '-workshare', '-workshare-quiet', '-n', '2', binary], {'WS_CHAOS': str(seed)}

    # The whole.

    def chosen(self, language, compiler):
        table = LANGUAGES[language][0]
        for case in table.cases():
            if language in case.languages and kind(compiler) in case.compilers and (
                    not self.arguments.only or re.search(self.arguments.only, case.name)):
                yield case

    def diagonal(self, cases, offset):
        """Some of each class, spread over it, other ones for each language and compiler."""
        groups = collections.defaultdict(list)
        for case in cases:
            groups[case.group].append(case)
        chosen = []
        for group in groups.values():
            step = max(1, len(group) * len(groups) // DIAGONAL_CASES)
            chosen += group[offset % step::step]
        return chosen

    def main(self):
        fast = self.arguments.fast
        self.frame()
        tasks = []
        for offset, (language, (_, _, _, _, compilers)) in enumerate(LANGUAGES.items()):
            for second, compiler in enumerate(self.compilers(compilers)):
                if (self.arguments.language or language) != language:
                    continue
                if not self.works(language, compiler):
                    continue
                cases = list(self.chosen(language, compiler))
                if fast:
                    cases = self.diagonal(cases, 7 * offset + 3 * second)
                options = [DIAGONAL[language, kind(compiler)]] if fast else OPTIONS
                for option in [self.arguments.options] if self.arguments.options is not None else options:
                    mine = [case for case in cases if not case.openmp or '-fopenmp' in option.split()]
                    for _, group in itertools.groupby(mine, lambda case: 'mixed' if fast else case.group):
                        group = list(group)
                        count = -(-len(group) // CASES_IN_A_FILE)
                        for number in range(count):
                            mpi = self.arguments.mpi and option in ('-O0 -fopenmp', '-O3')
                            tasks.append((group[number::count], (language, compiler, option), number, mpi))
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for done in [pool.submit(self.program, *task) for task in tasks]:
                done.result()
        self.report(tasks)
        if not self.arguments.keep:
            shutil.rmtree(self.work)

    def table(self, total, columns):
        """A row for each compiler, as docs/internals/building.md has it."""
        print('| compiler | C | C++ | Fortran | failed |')
        print('|---|---|---|---|---|')
        for compiler in self.compilers(('gcc', 'clang')):
            if all(compiler != used for _, used in columns):
                continue
            cases = {language: sum(n for (_, *column), n in total.items() if column == [language, compiler]) for language in LANGUAGES}
            failed = sum(len(names) for (_, _, used), names in self.failed.items() if used == compiler)
            version = run(self.version_of(compiler))[1].strip()
            print(f'| {kind(compiler).replace("gcc", "GCC")} {version} | ' + ' | '.join(str(n or "-") for n in cases.values()) + f' | {failed} |')

    @staticmethod
    def version_of(compiler):
        return [compiler, '-dumpfullversion' if kind(compiler) == 'gcc' else '-dumpversion']

    def report(self, tasks):
        total = collections.Counter()
        for cases, (language, compiler, _), _, _ in tasks:
            for case in cases:
                total[case.group, language, compiler] += 1
        columns = sorted({key[1:] for key in total})
        if self.arguments.compiler == 'all':
            self.table(total, columns)
            columns = []
        if columns:
            print(f'{"":12}' + ''.join(f'{f"{language}, {compiler}":>16}' for language, compiler in columns))
        for group in dict.fromkeys(key[0] for key in total if columns):
            cells = []
            for column in columns:
                names = set(self.failed.get((group, *column), ()))
                count = total[(group, *column)]
                cells.append(f'{count or "-"}{f" ({len(names)} bad)" if names else ""}')
            print(f'{group:12}' + ''.join(f'{cell:>16}' for cell in cells))
        runs = len(THIEVES)
        print(f'{sum(total.values())} cases compiled, each run in {runs} ways'
              + (' and under mpirun' if self.arguments.mpi else '')
              + ''.join(f'; {int(seconds)} s {what}' for what, seconds in self.seconds.items()))
        for line in self.not_here:
            print(f'not here: {line}')
        bad = sum(len(names) for names in self.failed.values())
        print(f'{bad} failures' if bad else 'ok')


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument('prefix', nargs='?')
    parser.add_argument('work', nargs='?')
    for flag in ('--fast', '--mpi', '--keep', '--list'):
        parser.add_argument(flag, action='store_true')
    for option in ('--only', '--language', '--compiler', '--options'):
        parser.add_argument(option)
    arguments = parser.parse_args()
    if arguments.list:
        for table in (cases_c, cases_fortran):
            for case in table.cases():
                print(case.name, *case.languages)
        return
    if not arguments.work:
        sys.exit(__doc__)
    matrix = Matrix(arguments.prefix, arguments.work, arguments)
    matrix.main()
    if matrix.failed:
        sys.exit(1)
    if not matrix.passed:
        print('no compiler of those asked for has a plugin')
        sys.exit(77)


main()
