#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of mpifort -fws without MPI: compiles the programs of this folder through the wrapper and looks at what comes out.

usage: run.py [--update] TEST PLUGIN WS_FORTRAN WORK_FOLDER      (the compilers: FC and CC, else gfortran and gcc)

accept    accept/*: compile without a warning at several levels, with and without OpenMP; run with the fake runtime of
          tests/directive in each of its modes
reject    reject/*: the errors are those of reject/expected.txt, to the column; --update writes them there
wrapper   sources, options and files that come and go, as gfortran without -fws has them
debug     gdb stops in a chunk at the user's line and shows the variables (77 without gdb)
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FC = os.environ.get('FC', 'gfortran')
CC = os.environ.get('CC', 'gcc').split()
LIMIT = 60      # seconds for one compilation or one run
MODES = ('order', 'tail', 'random')
WARNINGS = ['-Wall', '-Wextra', '-Wno-compare-reals', '-Wno-zerotrip']

# What the mpifort of the prefix does with -fws; this one has no MPI.
MPIFORT = '''#!/bin/bash
libdir=$(cd "${0%/*}/../lib" && pwd)
FC=${MPICH_FC-gfortran}
Show=
ws_options=()
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

failures = []


def fail(what, output=''):
    failures.append(what)
    print(f'FAILED: {what}', output, sep='\n' if output else '')


def check(right, what, output=''):
    if not right:
        fail(what, output)


def start(command, folder=None, **environment):
    """The exit status and all output of a command; status 'time' if it took too long."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                              timeout=LIMIT, cwd=folder, env={**os.environ, 'LC_ALL': 'C', **environment})
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return 'time', (late.stdout or b'').decode(errors='replace')


def in_parallel(jobs):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(*job) for job in jobs]:
            done.result()


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
        for name in ('wrapper.sh', 'fortran.sh'):
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
        with open(self.path(name), 'w') as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), errors='replace') as file:
            return file.read()

    def compile(self, *arguments, folder=None):
        return start([self.mpifort, '-fws', *arguments], folder or self.work, **self.environment)

    def fake_runtime(self):
        path = self.path('fake_runtime.o')
        status, output = start(CC + ['-O1', '-c', os.path.join(ROOT, 'tests/directive/fake_runtime.c'), '-o', path])
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
        for line in [x for x in found if x not in expected]:
            fail(f'not expected: {line}')
        for line in [x for x in expected if x not in found]:
            fail(f'missing: {line}')
        for line in found:
            if re.search('omp', line, re.I) and not line.startswith('with_openmp') and 'component' not in line:
                fail(f'names OpenMP: {line}')
        print(f'{len([x for x in found if x])} messages')


def main():
    arguments = [a for a in sys.argv[1:] if a != '--update']
    if len(arguments) != 4 or arguments[0].startswith('_') or not hasattr(Test, arguments[0]):
        sys.exit(__doc__)
    test = Test(*arguments[1:], '--update' in sys.argv)
    try:
        getattr(test, arguments[0])()
    finally:
        shutil.rmtree(test.work, ignore_errors=True)
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
