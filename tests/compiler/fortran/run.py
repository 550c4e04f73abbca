#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of mpifort -fws without MPI: compiles the programs of this folder through the wrapper and looks at what comes out.

usage: run.py [--update] TEST PLUGIN WS_FORTRAN WORK_FOLDER      (the compilers: FC and CC, else gfortran and gcc)

accept    accept/*: compile without a warning at several levels, with and without OpenMP; run with the fake runtime of
          tests/compiler/directive in each of its modes
reject    reject/*: the errors are those of reject/expected.txt, to the column; --update writes them there
warn      warn/*: under -Wall the warnings are those that stand in the lines
wrapper   sources, options and files that come and go, as gfortran without -fws has them
debug     gdb stops in a chunk at the user's line and shows the variables (77 without gdb)
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from checks import check, fail, finish, in_parallel, start  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
FC = os.environ.get('FC', 'gfortran')
CC = os.environ.get('CC', 'gcc').split()
MODES = ('order', 'tail', 'random')
WARNINGS = ['-Wall', '-Wextra', '-Wno-compare-reals', '-Wno-zerotrip']
MAJOR = int(subprocess.run([FC, '-dumpversion'], capture_output=True, text=True).stdout.split('.')[0] or 0)
if MAJOR < 12:  # takes results of functions for variables that nobody sets
    WARNINGS.append('-Wno-maybe-uninitialized')

# What the mpifort of the prefix does with -fws; this one has no MPI.
MPIFORT = '''#!/bin/bash
libdir=$(cd "${0%/*}/../lib" && pwd)
FC=${MPICH_FC-gfortran}
Show=
ws_options=()
allargs=()
case " $*" in
*" @"*) . "$libdir/workshare/arguments.sh" ;;
esac
allargs=()
for arg; do
    case $arg in
    -fws | -fws=* | -fws-*) ws_options+=("$arg") ;;
    -show) Show=echo ;;
    *) allargs+=("$arg") ;;
    esac
done
ws_cflags=()
ws_libs=()
if [ ${#ws_options[@]} -gt 0 ]; then
    ws_language=fortran
    CC=$FC
    . "$libdir/workshare/wrapper.sh"
fi
$Show $FC "${ws_cflags[@]}" "${allargs[@]}"
rc=$?
exit $rc
'''


def sources(folder):
    return [os.path.join(HERE, folder, name) for name in sorted(os.listdir(os.path.join(HERE, folder)))
            if name.endswith(('.f90', '.F90', '.f'))]


class Test:
    def __init__(self, plugin, rewriter, work, update):
        self.work = os.path.join(work, f'fortran.{os.getpid()}')
        self.update = update
        shutil.rmtree(self.work, ignore_errors=True)
        # A prefix as small as it can be.
        version = subprocess.run(CC + ['-dumpversion'], stdout=subprocess.PIPE, text=True).stdout.split('.')[0].strip()
        library = self.path('prefix/lib/workshare')
        os.makedirs(os.path.join(library, f'gcc-{version}'))
        os.makedirs(self.path('prefix/bin'))
        os.symlink(os.path.abspath(plugin), os.path.join(library, f'gcc-{version}', 'ws_gcc.so'))
        os.symlink(os.path.abspath(rewriter), os.path.join(library, 'ws_fortran'))
        for name in ('arguments.sh', 'wrapper.sh', 'fortran.sh'):
            os.symlink(os.path.join(ROOT, 'compiler-plugin/wrappers', name), os.path.join(library, name))
        self.mpifort = self.path('prefix/bin/mpifort')
        self.write('prefix/bin/mpifort', MPIFORT)
        os.chmod(self.mpifort, 0o755)
        self.environment = {'MPICH_FC': FC, 'TMPDIR': self.path('tmp')}
        os.mkdir(self.path('tmp'))

    def path(self, name):
        return os.path.join(self.work, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w', encoding='utf-8', newline='') as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), errors='replace') as file:
            return file.read()

    def compile(self, *arguments, folder=None):
        return start([self.mpifort, '-fws', *arguments], folder or self.work, **self.environment)

    def fake_runtime(self):
        path = self.path('fake_runtime.o')
        status, output = start(CC + ['-O1', '-c', os.path.join(ROOT, 'tests/compiler/directive/fake_runtime.c'), '-o', path])
        if status:
            sys.exit(f'the fake runtime does not compile\n{output}')
        return path

    def check_module(self):
        status, output = self.compile('-O1', '-c', os.path.join(HERE, 'check.F90'), '-o', 'check.o')
        if status or output:
            sys.exit(f'the module check does not compile\n{output}')
        return self.path('check.o')

    # accept

    CONFIGURATIONS = ('-O0', '-O3 -g', '-O0 -g -fopenmp', '-O2 -fopenmp', '-Os -fPIC -fcheck=all')

    def build_and_run(self, source, options, objects, modes=MODES):
        name = os.path.basename(source)
        label = f'{name} {options}'
        binary = self.path(re.sub(r'\W+', '_', label))
        expect = ['-DEXPECT_OPENMP'] if '-fopenmp' in options.split() else []
        status, output = self.compile(*options.split(), *expect, *WARNINGS, '-I', self.work, source, *objects, '-pthread',
                                      '-J', self.path(f'modules_{os.path.basename(binary)}'), '-o', binary)
        if status or output:
            fail(f'{label}: compilation ({status})', output)
            return
        if not expect and name != 'openmp.F90':
            symbols = start(['nm', '-u', binary])[1]
            check(not re.search(' U (GOMP|omp_)', symbols), f'{label}: OpenMP is in it', symbols)
        for mode in modes:
            status, output = start([binary], WS_FAKE=mode)
            if status or not output.startswith('ok'):
                fail(f'{label}: run, WS_FAKE={mode} ({status})', output)
        os.remove(binary)

    def accept(self):
        objects = [self.check_module(), self.fake_runtime()]
        jobs = []
        for source in sources('accept'):
            for options in self.CONFIGURATIONS:
                os.makedirs(self.path('modules_' + re.sub(r'\W+', '_', f'{os.path.basename(source)} {options}')))
                jobs.append((self.build_and_run, source, options, objects))
        in_parallel(jobs)
        check(not os.listdir(self.path('tmp')), 'temporary files are left')
        print(f'{len(jobs)} programs, {len(MODES)} runs each')

    # reject

    def messages_of(self, source):
        """The errors and warnings as `file:line:column: kind: text`, in the order of their places."""
        with open(source) as file:
            options = re.search(r'options: (.*)', file.read())
        name = os.path.basename(source)
        status, output = self.compile(*(options.group(1).split() if options else []), '-c', name, '-o', '/dev/null', '-J',
                                      self.work, folder=os.path.dirname(source))
        check(status == 1, f'{name}: status {status} instead of 1', output)
        check('internal compiler error' not in output, f'{name}: the compiler crashed', output)
        found = []
        place = None
        for line in output.splitlines():
            at = re.fullmatch(r'(\S+?:\d+:\d+):', line)
            if at:
                place = at.group(1)
            said = re.match(r'(?:(\S+?:\d+:\d+): )?(?:f951: )?(Error|Warning|error|warning|note): (.*)', line)
            if said:
                found.append(f'{said.group(1) or place or name}: {said.group(2).lower()}: {said.group(3)}')
                place = place if said.group(1) else None
        def order(message):
            at = re.match(r'([^:]*):(\d+):(\d+):', message)
            return (at.group(1), int(at.group(2)), int(at.group(3)), message) if at else (name, 0, 0, message)
        return sorted(found, key=order)

    def reject(self):
        path = os.path.join(HERE, 'reject', 'expected.txt')
        found = []
        for source in sources('reject'):
            found += self.messages_of(source) + ['']
        if self.update:
            with open(path, 'w') as file:
                file.write('\n'.join(found))
        with open(path) as file:
            expected = file.read().split('\n')
        if MAJOR == 12:
            for line in [x for x in found if x not in expected]:
                fail(f'not expected: {line}')
            for line in [x for x in expected if x not in found]:
                fail(f'missing: {line}')
        else:       # has words of its own for some, about the same lines or nearly so
            places = [{(at[1], int(at[2])) for at in (re.match(r'([^:]+):(\d+):', x) for x in lines) if at} for lines in (found, expected)]
            for one, other, what in (*places, 'not expected'), (*places[::-1], 'missing'):
                for name, line in sorted(one):
                    if not any((name, near) in other for near in range(line - 2, line + 3)):
                        fail(f'{what}: {name}:{line}')
        for line in found:
            if re.search('omp', line, re.I) and not line.startswith('with_openmp') and 'component' not in line and 'compute' not in line:
                fail(f'names OpenMP: {line}')
        print(f'{len([x for x in found if x])} messages')

    # warn

    def warn(self):
        for source in sources('warn'):
            name = os.path.basename(source)
            with open(source) as file:
                wanted = {(at, text.split(' warns: ')[1].strip()) for at, text in enumerate(file, 1) if ' warns: ' in text}
            for options, warns in (['-Wall'], True), (['-Wall', '-O2'], True), ([], False), (['-Wall', '-Wno-all'], False):
                status, output = self.compile(*options, '-fopenmp', '-std=legacy', '-c', name, '-o', '/dev/null', '-J', self.work,
                                              folder=os.path.dirname(source))
                found = re.findall(r":(\d+):\d+:\n(?:.*\n){3}Warning: (.*'!\$ws (?:do|sections)'.*) \[-fws-warn=[a-z-]+\]", output)
                check(status == 0 and {(int(at), text) for at, text in found} == (wanted if warns else set()), f'{name} {options}', output)

    # wrapper

    LOOP = '''subroutine {name}(n, x)
    {use}
    implicit none
    integer, intent(in) :: n
    real, intent(inout) :: x(n)
    integer :: i
    !$ws do
    do i = 1, n
        x(i) = i
    end do
end subroutine
'''

    def loop(self, path, name, use=''):
        self.write(path, self.LOOP.format(name=name, use=use))

    def files(self, folder):
        found = []
        for place, _, names in os.walk(self.path(folder)):
            found += [os.path.relpath(os.path.join(place, name), self.path(folder)) for name in names]
        return sorted(found)

    def expect(self, what, arguments, folder, status=0, output='', made=None):
        """Compiles in a folder; made: the files that this adds there."""
        before = self.files(folder)
        got, said = self.compile(*arguments, folder=self.path(folder))
        check(got == status, f'{what}: status {got}', said)
        check(re.fullmatch(output, said, re.S), f'{what}: output', said)
        if made is not None:
            new = [name for name in self.files(folder) if name not in before]
            check(new == sorted(made), f'{what}: made {new} instead of {sorted(made)}', said)
        check(not os.listdir(self.path('tmp')), f'{what}: temporary files are left')

    def shares(self, what, name):
        check(' U ws_parallel' in start(['nm', self.path(name)])[1], f'{what}: no shared loop in {name}')

    def wrapper(self):
        self.names_of_files()
        self.search_paths()
        self.forms()
        self.preprocessor()
        self.refusals()
        self.with_other_languages()

    def names_of_files(self):
        self.loop('names/src/a.f90', 'a')
        self.loop('names/b with blank.f90', 'b')
        self.write('names/plain.f90', 'module plain\n  integer :: n = 3\nend module\n')
        self.write('names/main.f90', '''program main
    real :: x(10)
    call a(10, x)
    call b(10, x)
    if (all(x == [(i, i = 1, 10)])) print '(a)', 'right'
end program
''')
        self.expect('an object', ['-c', 'src/a.f90'], 'names', made=['a.o'])
        self.shares('an object', 'names/a.o')
        self.expect('an object by name', ['-c', 'src/a.f90', '-o', 'src/x.o', '-g'], 'names', made=['src/x.o'])
        # What can be seen of the source's name in the object is the user's.
        seen = start(['strings', '-a', self.path('names/src/x.o')])[1]
        check('src/a.f90' in seen and self.path('tmp') not in seen, 'names in an object', seen)
        self.expect('assembler', ['-S', 'src/a.f90'], 'names', made=['a.s'])
        # Behind a loop's name, which comes in hexadecimal digits, stands the file's.
        self.write('names/fed.f90', self.LOOP.format(name='fed', use='').replace('!$ws do', "!$ws do name('a name')"))
        self.expect('a name clause', ['-S', 'fed.f90'], 'names', made=['fed.s'])
        with open(self.path('names/fed.s')) as file:
            check('"a name"\n' in file.read(), 'the name is another')
        self.expect('two objects', ['-c', 'src/a.f90', 'b with blank.f90'], 'names', made=['b with blank.o'])
        self.write('names/arguments', "-c 'b with blank.f90' -o 'from a file.o'\n")
        self.expect('a file of arguments', ['@arguments'], 'names', made=['from a file.o'])
        self.shares('a file of arguments', 'names/from a file.o')
        self.expect('a module', ['-c', 'plain.f90', 'src/a.f90'], 'names', made=['plain.o', 'plain.mod'])
        self.expect('a module elsewhere', ['-c', 'plain.f90', '-J', 'src'], 'names', made=['src/plain.mod'])
        self.expect('a program', ['src/a.f90', 'b with blank.f90', 'main.f90', self.fake_runtime(), '-pthread', '-o', 'the prog'],
                    'names', made=['the prog'])
        check(start([self.path('names/the prog')]) == (0, 'right\n'), 'the program runs')
        self.expect('no source', ['a.o', 'b with blank.o', 'main.f90', self.path('fake_runtime.o'), '-pthread'], 'names',
                    made=['a.out'])
        for options in (['-save-temps'], ['-save-temps=obj', '-o', 'src/y.o'], ['-fdump-tree-original']):
            self.expect(f'{options}', ['-c', 'src/a.f90', *options], 'names')
            with_ws = self.files('names')
            start([FC, '-c', 'src/a.f90', *options], self.path('names'))
            check(self.files('names') == with_ws, f'{options}: other files than gfortran: {with_ws} {self.files("names")}')
        status, output = self.compile('-show', '-c', 'src/a.f90', folder=self.path('names'))
        check(status == 0 and output.rstrip().endswith('-frecursive -c src/a.f90') and 'tmp' not in output.split('prefix')[-1],
              '-show', output)
        self.expect('a missing source', ['-c', 'src/a.f90', 'nothing.f90'], 'names', 1, '.*nothing.f90.*')
        self.expect('only syntax', ['-fsyntax-only', 'src/a.f90'], 'names', made=[])

    def search_paths(self):
        self.write('paths/src/own.inc', 'integer, parameter :: own = 1\n')
        self.write('paths/inc/far.inc', 'integer, parameter :: far = 2\n!$ws atomic\n')
        self.write('paths/inc/own.inc', 'this is the wrong file\n')
        self.write('paths/src/m.f90', 'module own_module\n  integer :: n = 3\nend module\n')
        self.write('paths/src/s.f90', '''subroutine s(x)
    use own_module
    implicit none
    include 'own.inc'
    integer :: x
    include 'far.inc'
    x = x + 1
end subroutine
''')
        self.expect('module in the folder of the source', ['-c', 'src/m.f90', '-J', 'src'], 'paths')
        self.expect('include files', ['-I', 'inc', '-c', 'src/s.f90'], 'paths', made=['s.o'])
        check('ws_alone' in start(['nm', self.path('paths/s.o')])[1], 'a directive of an included file')
        self.expect('include files', ['-Iinc', '-c', 's.f90', '-o', 's2.o'], 'paths', 1, '.*s.f90.*')
    
    def forms(self):
        body = "!$ws do\n      do i = 1, 10\n        a(i) = i\n      end do\n      end\n"
        self.write('forms/free.f', '  subroutine f(a)\n  real :: a(10)\n  !$ws do &\n!$ws private(i)\n' + body[8:])
        self.write('forms/fixed.f90', 'c     fixed form\n      subroutine f(a)\n      real a(10)\nc$ws do\n!$ws& private(i)\n'
                   + body[8:])
        self.write('forms/name.txt', '      subroutine f(a)\n      real a(10)\n' + body)
        long = '    !$ws do' + 60 * ' ' + ' private(a_long_name_1, a_long_name_2,' + 20 * ' ' + 'a_long_name_3)'
        self.write('forms/long.f90', f'subroutine f(a)\nreal :: a(10)\n{long}\n' + body[8:])
        self.write('forms/longer.f90', f'subroutine f(a)\nreal :: a(10)\n{long} ' + 80 * ' ' + 'private(another)\n' + body[8:])
        fixed = 'c$ws  do' + 90 * ' ' + 'schedule(dynamic)'
        self.write('forms/long.f', f'      subroutine f(a)\n      real a(10)\n{fixed}\n' + body[8:])
        for name, *options in (('free.f', '-ffree-form'), ('fixed.f90', '-ffixed-form'), ('name.txt', '-x', 'f77'),
                               ('name.txt', '-x', 'f95-cpp-input'), ('long.f90',), ('longer.f90', '-ffree-line-length-none'),
                               ('longer.f90',), ('long.f', '-ffixed-line-length-none'), ('long.f', '-ffixed-line-length-120'),
                               ('free.f', '-ffixed-form', '-ffree-form')):
            self.expect(f'{name} {options}', [*options, '-c', name, '-o', 'x.o'], 'forms',
                        output="f951: Warning: Reading file 'name.txt' as free form\n" if 'f95-cpp-input' in options else '')
            self.shares(f'{name} {options}', 'forms/x.o')
            os.remove(self.path('forms/x.o'))
        # Files from elsewhere.
        self.write('forms/mark.f90', '\ufeffsubroutine f(a)\r\nreal :: a(10)\r\n!$ws\tdo &\r\n\t!$ws & private(i)\r\n'
                   + body[8:].replace('\n', '\r\n').rstrip())
        self.expect('byte order mark, carriage returns, tabs', ['-c', 'mark.f90'], 'forms')
        self.shares('byte order mark, carriage returns, tabs', 'forms/mark.o')
        # Beyond the end of the line there is nothing.
        self.write('forms/cut.f', '      subroutine f(a)\n      real a(10)\nc$ws  do' + 90 * ' ' + 'nonsense\n' + body[8:])
        self.expect('beyond column 72', ['-c', 'cut.f'], 'forms')
        self.expect('not beyond column 120', ['-c', '-ffixed-line-length-120', 'cut.f'], 'forms', 1,
                    r"cut.f:3:99:.*Error: unknown clause 'nonsense' on '!\$ws do'\n")

    def preprocessor(self):
        self.loop('cpp/lower.f90', 'LOWER_NAME')
        self.loop('cpp/upper.F90', 'f')
        self.write('cpp/part.h', '! a part\n')
        self.write('cpp/other.F90', '#ifndef PLAIN\n#error no macro\n#endif\nsubroutine other\nend subroutine\n')
        self.write('cpp/upper.F90', '#include "part.h"\n#ifdef FLAG\n' + self.read('cpp/upper.F90') + '#else\n#error no flag\n#endif\n')
        self.expect('-cpp', ['-cpp', '-DLOWER_NAME=g', '-c', 'lower.f90'], 'cpp')
        check(' T g_' in start(['nm', self.path('cpp/lower.o')])[1], '-cpp: macros')
        self.expect('two that are preprocessed', ['-DFLAG', '-DPLAIN=1', '-c', 'upper.F90', 'other.F90'], 'cpp',
                    made=['upper.o', 'other.o'])
        self.shares('upper.F90', 'cpp/upper.o')
        self.expect('#error', ['-c', 'upper.F90', '-o', 'none.o'], 'cpp', 1, '.*upper.F90:.*no flag.*', made=[])
        self.expect('-nocpp', ['-nocpp', '-c', 'upper.F90', '-o', 'none.o'], 'cpp', 0, '.*Warning.*', made=['none.o'])
        status, output = self.compile('-E', '-DFLAG', 'upper.F90', folder=self.path('cpp'))
        check(status == 0 and '    !$ws do\n' in output and '!$omp' not in output, '-E', output)
        for options in (['-MMD'], ['-MD', '-MF', 'x.d'], ['-MMD', '-MP', '-MT', 'target'], ['-MMD', '-o', 'y.o']):
            name = {'-MF': 'x.d', '-o': 'y.d'}.get(options[1] if len(options) > 1 else '', 'upper.d')
            self.expect(f'{options}', ['-DFLAG', *options, '-c', 'upper.F90'], 'cpp')
            text = self.read(f'cpp/{name}')
            os.remove(self.path(f'cpp/{name}'))
            start([FC, '-DFLAG', *options, '-c', 'upper.F90'], self.path('cpp'))
            check(text == self.read(f'cpp/{name}'), f'{options}: not what gfortran writes', text)
        self.expect('-M', ['-cpp', '-M', '-DFLAG', 'upper.F90'], 'cpp', 0, 'upper.o.*part.h.*', made=[])

    def refusals(self):
        self.loop('refusals/a.f90', 'a')
        self.write('refusals/wrong.f90', '!$ws wrong\nend\n')
        self.expect('errors', ['-c', 'a.f90', 'wrong.f90'], 'refusals', 1, r"wrong.f90:1:6:.*\^\nError: unknown directive.*", made=[])
        self.expect('-fopenacc', ['-fopenacc', '-c', 'a.f90'], 'refusals', 1, r"mpifort: -fws: '!\$ws' cannot be used with .*", made=[])
        os.mkfifo(self.path('refusals/arguments'))
        self.expect('arguments from a pipe', ['@arguments'], 'refusals', 1,
                    'mpifort: -fws: @arguments is not a regular file; .*', made=[])
        self.expect('an unknown option', ['-fws-nonsense', '-c', 'a.f90'], 'refusals', 1, "mpifort: unknown option '-fws-nonsense'.*")
        # Compilers without a plugin for Fortran, also where clang's for C is installed.
        self.write('prefix/lib/workshare/clang-14/ws_clang.so', '')
        for version in ('flang version 15.0.6', 'Debian clang version 14.0.6', 'ifort (IFORT) 2021.10.0'):
            self.write('refusals/other', f'#!/bin/sh\necho "{version}"\n')
            os.chmod(self.path('refusals/other'), 0o755)
            # By its name: blanks in MPICH_FC end the command, which may have arguments.
            status, output = start([self.mpifort, '-fws', '-c', 'a.f90'], self.path('refusals'),
                                   **{**self.environment, 'MPICH_FC': 'other', 'PATH': f'{self.path("refusals")}:{os.environ["PATH"]}'})
            check(status == 1 and re.fullmatch(r"mpifort: -fws needs GCC \d+ \(found .*\)\n", output),
                  f'another compiler: {version}', output)
        shutil.rmtree(self.path('prefix/lib/workshare/clang-14'))

    def with_other_languages(self):
        """One program of C and Fortran, with LTO and without."""
        self.loop('mixed/f.f90', 'f')
        self.write('mixed/c.c', '''#include <stdio.h>
void f_(int *n, float *a);
int main(void)
{
    float a[50], sum = 0;
    int n = 50;
    f_(&n, a);
#pragma ws for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i];
    puts(sum == 1275 ? "right" : "wrong");
}
''')
        plugin = f'-fplugin={self.path("prefix/lib/workshare")}/'
        plugin += [name for name in os.listdir(self.path('prefix/lib/workshare')) if name.startswith('gcc-')][0] + '/ws_gcc.so'
        for options in (['-O0'], ['-O2', '-flto']):
            status, output = start(CC + [plugin, *options, '-c', 'c.c'], self.path('mixed'))
            check(status == 0, f'C {options}', output)
            self.expect(f'C and Fortran {options}', [*options, 'f.f90', 'c.o', self.path('fake_runtime.o'), '-pthread'], 'mixed')
            for mode in MODES:
                got = start([self.path('mixed/a.out')], WS_FAKE=mode)
                check(got == (0, 'right\n'), f'C and Fortran {options} {mode}: {got}')

    # debug

    def debug(self):
        if not shutil.which('gdb'):
            print('gdb is not installed')
            sys.exit(77)
        self.write('debug/source.f90', '''module geometry
    implicit none
    integer :: scale = 5
contains
    subroutine smooth(n, field, factor)
        integer, intent(in) :: n
        real(8), intent(inout) :: field(:)
        real(8), intent(in) :: factor
        integer :: i, local
        !$ws do private(local) &
        !$ws&   schedule(dynamic, 4)
        do i = 1, n
            local = 10 * i + scale
            field(i) = local * factor
        end do
        print *, sum(field)
    end subroutine
end module
program debug
    use geometry
    real(8) :: values(10)
    values = 0
    call smooth(10, values, 2d0)
end program
''')
        self.write('debug/commands', '''break source.f90:13 if i == 3
run
next
printf "line of factor %d, local %d, i %d, n %d\\n", factor, local, i, n
print field(2)
print geometry::scale
delete
continue
''')
        folder = self.path('debug')
        for options in ('-O0', '-Og'):
            status, output = self.compile('-g', options, 'source.f90', self.fake_runtime(), '-pthread', '-o', 'a.out', folder=folder)
            check(status == 0 and not output, f'debug {options}: compilation', output)
            status, output = start(['gdb', '-nx', '-batch', '-x', 'commands', './a.out'], folder, WS_FAKE='alone')
            for wanted in (r'source\.f90:13\n13\s+local = 10 \* i \+ scale\n14\s+field\(i\) = local \* factor\n',
                           'factor 2, local 35, i 3, n 10\n', r'\$1 = 50\n', r'\$2 = 5\n', r'1200\.0'):
                check(re.search(wanted, output), f'debug {options}: {wanted}', output)


def main():
    arguments = [a for a in sys.argv[1:] if a != '--update']
    if len(arguments) != 4 or arguments[0].startswith('_') or not hasattr(Test, arguments[0]):
        sys.exit(__doc__)
    test = Test(*arguments[1:], '--update' in sys.argv)
    try:
        getattr(test, arguments[0])()
    finally:
        shutil.rmtree(test.work, ignore_errors=True)
    finish()


if __name__ == '__main__':
    main()
