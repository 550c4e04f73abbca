#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of -fws=openmp and -fws-report without MPI and libws: the programs in openmp/ compile with it, run with the fake
runtime, and the remarks are those that stand behind their directives (`*`: any).

usage: openmp_test.py PLUGIN WORK_FOLDER      (the compilers: CC, CXX and FC, else gcc, g++ and gfortran)

The texts are GCC's plugin's; clang's names C++ functions in another way, and the variable in a loop's bound too.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from checks import fail, finish, start  # noqa: E402

CLANG = len(sys.argv) > 2 and 'clang' in os.path.basename(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
COMPILERS = {'c': os.environ.get('CC', 'gcc').split() + ['-x', 'c'], 'c++': os.environ.get('CXX', 'g++').split() + ['-x', 'c++'],
             'fortran': os.environ.get('FC', 'gfortran').split() + ['-x', 'f95']}
PROGRAMS = (('loops.c', ('c', 'c++')), ('bounds.c', ('c', 'c++')), ('classes.cpp', ('c++',)), ('clauses.cpp', ('c++',)), ('thread_counts.cpp', ('c++',))) + (() if CLANG else (('loops.f90', ('fortran',)),))


def expected_remarks(source):
    remarks = {}
    with open(source) as f:
        for number, line in enumerate(f, 1):
            found = re.search(r'(?:/\*|//| !) (shared.*?|stays OpenMP: .*?|\*)(?: \*/.*)?$', line)
            if found and re.search(r'#pragma|!\$', line):
                remarks[number] = found[1]
    return remarks


def remarks_in(output, source):
    remarks = {}
    for line in output.split('\n'):
        found = re.match(r'(.*):(\d+):\d+: remark: loop (.*)', line)
        if found and os.path.basename(found[1]) == os.path.basename(source):
            # A shared loop's name says where it is.
            name = re.match(rf'shared: (?:[^:\n]*/)?{re.escape(os.path.basename(source))}:{found[2]}:[^,]*', found[3])
            remarks[int(found[2])] = found[3].replace(name[0], 'shared', 1) if name else found[3]
    return remarks


def same(found, expected):
    if found and expected and expected.endswith('number of threads'):
        # By which variable, gfortran shows from 14 on.
        return found.startswith(expected) or (CLANG and found == "stays OpenMP: calls 'omp_get_max_threads'")
    if CLANG and found and expected:
        found, expected = (re.sub(r"[^' ]*::|\(anonymous namespace\)::|\{anonymous\}::", '', text).split(' (in')[0] for text in (found, expected))
    return expected == '*' or found == expected


def compile_and_run(source, language, level, plugin, work):
    label = f'{os.path.basename(source)} as {language} {level}'
    binary = os.path.join(work, re.sub(r'\W+', '_', label))
    arguments = [f'-fplugin={plugin}', '-fplugin-arg-ws_gcc-openmp-loops', '-fplugin-arg-ws_gcc-report', '-fopenmp', level]
    if CLANG:
        arguments = [f'-fplugin={plugin}', f'-fpass-plugin={plugin}', '-fplugin-arg-ws-openmp', '-fplugin-arg-ws-openmp-loops',
                     '-fplugin-arg-ws-report', '-fopenmp', level]
    status, output = start([*COMPILERS[language], *arguments, source, '-x', 'none', os.path.join(work, 'fake_runtime.o'), '-pthread',
                            f'-J{work}' if language == 'fortran' else '-Wall', *(['-latomic', '-lm'] if CLANG else []), '-o', binary])
    if status or ' warning: ' in output:
        fail(f'{label}: compilation', output)
        return
    found, expected = remarks_in(output, source), expected_remarks(source)
    for number in sorted(set(found) | set(expected)):
        if not same(found.get(number), expected.get(number)):
            fail(f'{label}, line {number}: the remark is {found.get(number)!r}, not {expected.get(number)!r}')
    with open(binary, 'rb') as f:
        content = f.read()
    for name in set(re.findall(r'loop shared: (.+?)(?:, but .*)?$', output, re.M)):
        if name.encode() + b'\0' not in content:
            fail(f'{label}: the remark calls a loop {name}, the program does not')
    for mode in ('order', 'tail', 'random', 'alone'):
        status, output = start([binary], WS_FAKE=mode, WS_FAKE_ALONE_IS_FINE='1')
        if status or not output.startswith('ok'):
            fail(f'{label}: run, WS_FAKE={mode} ({status})', output)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    plugin = os.path.abspath(sys.argv[1])
    work = os.path.join(os.path.abspath(sys.argv[2]), 'openmp.clang' if CLANG else 'openmp')
    os.makedirs(work, exist_ok=True)
    status, output = start([*COMPILERS['c'], '-c', os.path.join(HERE, 'fake_runtime.c'), '-o', os.path.join(work, 'fake_runtime.o')])
    if status:
        sys.exit(output)
    for name, languages in PROGRAMS:
        for language in languages:
            for level in ('-O0', '-O2'):
                compile_and_run(os.path.join(HERE, 'openmp', name), language, level, plugin, work)
    finish()


main()
