# SPDX-License-Identifier: MIT
"""build_test.py WHAT STAGE: the API as users build with it: plain compilers, pkg-config or CMake, a folder elsewhere.

units     the unit programs with every compiler here, with warnings as errors
standards the same with every standard
refused   what must not compile, and with what message
vector    a loop over a lambda vectorises where the plain loop does
exception what ends a program does so with a message
cmake     find_package(Workshare), also from a prefix that was moved to a folder with a blank
foreign   under another MPI: its mpi.h, its MPI_Init, plain loops
docs      the examples of docs/reference/api.md compile, and the whole programs among them run
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from checks import fail, finish  # noqa: E402

WHAT, STAGE = sys.argv[1], pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / 'programs'
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Werror']
C = [['gcc'], ['clang']]
CXX = [['g++'], ['clang++']]


def run(*command, env=None, cwd=None, limit=100, errors='replace'):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit,
                          cwd=cwd, env={**os.environ, **(env or {})}, errors=errors)
    return done.returncode, done.stdout


def succeeds(*command, **how):
    code, out = run(*command, **how)
    if code:
        fail(f'{shlex.join(str(c) for c in command)}: exit status {code}', out)
    return code == 0


def here(compilers):
    found = [c for c in compilers if shutil.which(c[0])]
    if not found:
        print(f'none of {compilers} is installed')
        sys.exit(77)
    return found


def pkg_config(prefix, *what):
    path = {'PKG_CONFIG_PATH': str(prefix / 'lib/pkgconfig')}
    answers = []
    for name in 'workshare', 'ws':  # ws: its former name
        code, out = run('pkg-config', *what, name, env=path, errors='surrogateescape')  # it writes a backslash before each byte beyond ASCII
        if code:
            fail(f'pkg-config {what} {name}', out)
        answers.append(shlex.split(out))
    if answers[0] != answers[1] or not answers[0]:
        fail(f'pkg-config {what}: workshare and its former name ws differ, or are empty', str(answers))
    return answers[0]


def ways(source, all_standards):
    """(compiler, standard) for a C or C++ unit; C ones are tried as C++ too."""
    if not all_standards:
        return [(c, 'c++17') for c in here(CXX)] if source.suffix == '.cpp' else [(c, 'c99') for c in here(C)]
    if source.suffix == '.cpp':
        return [(c, s) for c in here(CXX) for s in ('c++17', 'c++20', *(['c++23'] if c == ['g++'] else []))]
    return ([(c, s) for c in here(C) for s in ('c99', 'c17')] +
            [(c + ['-x', 'c++'], s) for c in here(CXX) for s in ('c++11',)])


def standards(folder):
    units(folder, all_standards=True)


def units(folder, all_standards=False):
    flags, libs = pkg_config(STAGE, '--cflags'), pkg_config(STAGE, '--libs')
    for source in PROGRAMS / 'unit.c', PROGRAMS / 'unit.cpp':
        for number, (compiler, standard) in enumerate(ways(source, all_standards)):
            level = ('-O2', '-O0', '-O3')[number % 3]
            command = [*compiler, f'-std={standard}', level, *WARNINGS, *flags, source, '-o', 'unit', *libs]
            if succeeds(*command, cwd=folder):
                succeeds(folder / 'unit')


def refused(folder):
    flags = pkg_config(STAGE, '--cflags')
    text = (PROGRAMS / 'refused.cpp').read_text()
    cases = re.findall(r'CASE == (\d+) // wanted: (.*)', text)
    for compiler in here(CXX):
        command = [*compiler, '-std=c++17', '-fsyntax-only', '-Wall', *flags, PROGRAMS / 'refused.cpp']
        succeeds(*command, '-DCASE=0')
        for number, wanted in cases:
            code, out = run(*command, f'-DCASE={number}')
            if code == 0 or wanted not in out:
                fail(f'{compiler[0]}: case {number}: wanted {wanted!r}, exit status {code}', out)
        code, out = run(*compiler, '-std=c++14', '-fsyntax-only', *flags, PROGRAMS / 'refused.cpp')
        if code == 0 or 'needs C++17' not in out:
            fail(f'{compiler[0]} -std=c++14', out)


KERNELS = {
    'add': 'EACH(n, y[i] += a * x[i];)',
    'scale': 'EACH(n, z[i] *= 3;)',
    'convert': 'EACH(n, y[i] = z[i];)',
    'sum': 'SUM(n, z[i])',
}
KERNEL = '''#include <functional>
#include <workshare/ws.hpp>
#ifdef PLAIN
#define EACH(n, ...) for (long i = 0; i < n; i++) { __VA_ARGS__ }
#define SUM(n, ...) long sum = 0; for (long i = 0; i < n; i++) sum += __VA_ARGS__; y[0] = double(sum);
#else
#define EACH(n, ...) ws::for_each(0, n, [=](long i) { __VA_ARGS__ });
#define SUM(n, ...) y[0] = double(ws::transform_reduce(0, n, 0L, std::plus<>(), [=](long i) { return long(__VA_ARGS__); }));
#endif
void kernel(double *y, const double *x, int *z, double a, long n) { (void) x, (void) z, (void) a; %s }
'''


def vector(folder):
    flags = pkg_config(STAGE, '--cflags')
    reports = {'g++': (['-fopt-info-vec-optimized'], r'optimized:\s+loop vectorized'),
               'clang++': (['-Rpass=loop-vectorize'], r'vectorized loop')}
    for compiler in here(CXX):
        options, pattern = reports[compiler[0]]
        for name, kernel in KERNELS.items():
            source = folder / f'{name}.cpp'
            source.write_text(KERNEL % kernel)
            loops = {}
            for plain in ['-DPLAIN'], []:
                code, out = run(*compiler, '-std=c++17', '-O3', *options, *flags, *plain, '-c', source, '-o', folder / 'k.o')
                loops[bool(plain)] = len(re.findall(pattern, out))
                if code:
                    fail(f'{compiler[0]} {name}', out)
            if loops[True] == 0:
                fail(f'{compiler[0]} {name}: the plain loop is not vectorised: the kernel tests nothing')
            elif loops[False] == 0:
                fail(f'{compiler[0]} {name}: the plain loop is vectorised, the one over a lambda is not')


def exception(folder):
    flags, libs = pkg_config(STAGE, '--cflags'), pkg_config(STAGE, '--libs')
    for compiler in here(CXX):
        for options, cases in {
            (): {'options': ['workshare: loop (', 'exception.cpp:', 'chunk size -1 in schedule is not positive', 'invalid_argument'],
                 'owner': ['workshare: error: an exception left an iteration', 'of the ws loop loop;', 'the reason'],
                 'sum': ['workshare: error: an exception left an iteration', 'of the ws loop loop;', 'the reason'],
                 'c': ['workshare: error: an exception left an iteration', 'exception.cpp:', 'the reason']},
            ('-fno-exceptions',): {'options': ['workshare: loop (', 'exception.cpp:', 'chunk size -1 in schedule is not positive']},
        }.items():
            if not succeeds(*compiler, '-std=c++17', '-O2', *options, *flags, PROGRAMS / 'exception.cpp', '-o', folder / 'exception', *libs):
                continue
            succeeds(folder / 'exception')
            for how, wanted in cases.items():
                code, out = run(folder / 'exception', how)
                if code != -6 or any(w not in out for w in wanted):  # SIGABRT
                    fail(f'{compiler[0]} exception {how}: exit status {code}, wanted {wanted}', out)


CMAKE = '''cmake_minimum_required(VERSION 3.13)
project(user C CXX)
find_package(Workshare 1.0 REQUIRED)
find_package(Workshare REQUIRED)    # twice does no harm
add_executable(unit_c unit.c)
add_executable(unit_cpp unit.cpp)
set_target_properties(unit_c PROPERTIES C_STANDARD 99)
set_target_properties(unit_cpp PROPERTIES CXX_STANDARD 17)
target_link_libraries(unit_c PRIVATE Workshare::ws)
target_link_libraries(unit_cpp PRIVATE Workshare::ws)
'''


def moved(folder):
    """What a user needs of the installation, in another place, whose name has a blank."""
    prefix = folder / 'moved prefix'
    for name in ('include/workshare', 'lib/workshare', 'lib/pkgconfig', 'lib/cmake'):
        shutil.copytree(STAGE / name, prefix / name, symlinks=True)
    for library in STAGE.glob('lib/lib*.so*'):
        shutil.copy2(library, prefix / 'lib', follow_symlinks=False)
    return prefix


def cmake(folder):
    if not shutil.which('cmake'):
        print('cmake is not installed')
        sys.exit(77)
    for prefix, compilers in (STAGE, ('gcc', 'g++')), (moved(folder), here([['clang', 'clang++'], ['gcc', 'g++']])[0]):
        project = folder / f'project-{compilers[0]}'
        project.mkdir(exist_ok=True)
        for name in 'unit.c', 'unit.cpp':
            shutil.copy(PROGRAMS / name, project)
        (project / 'CMakeLists.txt').write_text(CMAKE)
        build = project / f'build{len(str(prefix))}'
        if succeeds('cmake', '-S', project, '-B', build, f'-DCMAKE_PREFIX_PATH={prefix}', f'-DCMAKE_C_COMPILER={compilers[0]}',
                    f'-DCMAKE_CXX_COMPILER={compilers[1]}', '-DCMAKE_BUILD_TYPE=Release') and succeeds('cmake', '--build', build):
            for name in 'unit_c', 'unit_cpp':
                succeeds(build / name)
                code, out = run('ldd', build / name)
                if f'{prefix}/lib/libws.so.1' not in out:
                    fail(f'{name} does not run on the libws of {prefix}', out)
    for version, fits in {'1': True, '1.0': True, '1.0.0': True, '0.1': False, '1.1': False, '2': False, '1.0.1': False}.items():
        (project / 'CMakeLists.txt').write_text(CMAKE.replace('Workshare 1.0 ', f'Workshare {version} '))
        code, out = run('cmake', '-S', project, '-B', folder / 'versions', f'-DCMAKE_PREFIX_PATH={STAGE}')
        if (code == 0) != fits:
            fail(f'find_package(Workshare {version}) on 1.0.0-rc1: exit status {code}', out)
    prefix = folder / 'moved prefix'
    (prefix / 'lib/libws.so.1').unlink()
    (project / 'CMakeLists.txt').write_text(CMAKE)
    code, out = run('cmake', '-S', project, '-B', folder / 'incomplete', f'-DCMAKE_PREFIX_PATH={prefix}')
    if code == 0 or not re.search(r'there\s+is\s+no\s+\S+.*libws\.so\.1', out, re.S):
        fail('find_package in a prefix without libws', out)


FOREIGN_H = '#ifdef __cplusplus\nextern "C"\n#endif\nint MPI_Init(int *argc, char ***argv);\n#define FOREIGN 1\n'
FOREIGN_C = 'int foreign_inits; int MPI_Init(int *a, char ***b) { (void) a, (void) b; return 4000 + ++foreign_inits; }\n'
FOREIGN_USER = '''#include <mpi.h>
#include <workshare/ws.h>
#ifndef FOREIGN
#error "this is not the program's own mpi.h"
#endif
extern int foreign_inits;
static void body(int64_t lo, int64_t hi, void *sum) { for (; lo < hi; lo++) *(int64_t *) sum += lo; }
int main(int argc, char **argv)
{
    int64_t sum = 0;
    if (MPI_Init(&argc, &argv) != 4001 || foreign_inits != 1)
        return 1;
    return ws_for(0, 100, body, &sum, 0) || sum != 4950;
}
'''


def foreign(folder):
    flags, libs = pkg_config(STAGE, '--cflags'), pkg_config(STAGE, '--libs')
    for name, text in {'mpi.h': FOREIGN_H, 'foreign.c': FOREIGN_C, 'user.c': FOREIGN_USER}.items():
        (folder / name).write_text(text)
    mpi = ['-L.', '-Wl,-rpath,.', '-lforeign']
    succeeds('gcc', '-shared', '-fPIC', 'foreign.c', '-o', 'libforeign.so', cwd=folder)
    for compiler in here(C):
        for order in libs + mpi, mpi + libs:
            if succeeds(*compiler, *flags, '-idirafter', '.', 'user.c', '-o', 'user', *order, cwd=folder):
                for binding in {}, {'LD_BIND_NOW': '1'}:
                    succeeds('./user', cwd=folder, env=binding)


def docs(folder):
    flags, libs = pkg_config(STAGE, '--cflags'), pkg_config(STAGE, '--libs')
    page = HERE.parents[2] / 'docs/reference/api.md'
    examples = re.findall(r'^```(c|cpp|cmake)\n(.*?)^```', page.read_text(), re.S | re.M)
    if len(examples) < 5:
        fail(f'{page} has only {len(examples)} examples')
    for number, (language, text) in enumerate(examples):
        if language == 'cmake':
            continue  # cmake() above does what it shows
        source = folder / f'example{number}.{language}'
        source.write_text(text)
        for compiler in here(CXX if language == 'cpp' else C):
            standard = '-std=c++17' if language == 'cpp' else '-std=c99'
            if not re.search(r'^int main\(', text, re.M):
                succeeds(*compiler, standard, '-O1', *WARNINGS, *flags, '-c', source, '-o', folder / 'example.o')
                continue
            wrapper, choose = ('mpicxx', '-cxx=') if language == 'cpp' else ('mpicc', '-cc=')
            if succeeds(STAGE / 'bin' / wrapper, choose + compiler[0], standard, '-O2', '-DMPICH_SKIP_MPICXX', *WARNINGS, *flags,
                        source, '-o', folder / 'example', *libs):
                results = {run(STAGE / 'bin/mpirun', *options, '-n', '2', folder / 'example')
                           for options in ([], ['-workshare', '-workshare-quiet'])}
                if len(results) != 1 or [code for code, out in results if code]:
                    fail(f'example {number} without and with -workshare', '\n'.join(map(str, results)))


if WHAT not in ('units', 'standards', 'refused', 'vector', 'exception', 'cmake', 'foreign', 'docs'):
    sys.exit(__doc__)
with tempfile.TemporaryDirectory(prefix='workshare-') as temporary:
    globals()[WHAT](pathlib.Path(temporary))
finish()
