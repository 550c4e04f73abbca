# SPDX-License-Identifier: MIT
"""mpicc, mpicxx and mpifort: what -fws adds, and what they refuse."""
import os
import shutil
import sys
import tempfile

from check import expect, expect_message, finish, run

STAGE = sys.argv[1]
MPICC, MPICXX, MPIFORT = (os.path.join(STAGE, 'bin', name) for name in ('mpicc', 'mpicxx', 'mpifort'))

for wrapper, source in (MPICC, 'a.c'), (MPICXX, 'a.cpp'), (MPIFORT, 'a.f90'):
    for option in '-fws=fast', '-fws=', '-fws-reprot':
        expect_message(f'{wrapper} {option}', run(wrapper, '-c', source, option),
                       f"{os.path.basename(wrapper)}: unknown option '{option}'; expected -fws, -fws=openmp, -fws-report or -fws-warn=no-NAME")

with tempfile.TemporaryDirectory() as folder:
    strange = os.path.join(folder, 'strange-compiler')
    with open(strange, 'w') as script:
        script.write('#!/bin/sh\necho strange-compiler 1.0\n')
    os.chmod(strange, 0o755)
    for name in [strange] + [c for c in ('tcc',) if shutil.which(c)]:
        expect_message(f'-fws with {name}', run(MPICC, '-fws', f'-cc={name}', '-c', 'a.c'), os.path.basename(name))
    expect_message('-fws with MPICH_CXX', run(MPICXX, '-fws', '-c', 'a.cpp', env={'MPICH_CXX': strange}), 'strange-compiler')
    expect_message('-fws with MPICH_FC', run(MPIFORT, '-fws', '-c', 'a.f90', env={'MPICH_FC': strange}), 'strange-compiler')

for wrapper, source in (MPICC, 'a.c'), (MPICXX, 'a.cpp'), (MPIFORT, 'a.f90'):
    code, out, err = run(wrapper, '-fws', '-show', '-O2', source, '-o', 'a')
    words = out.split()
    expect(f'{wrapper} -fws -show', (code, err), (0, ''))
    expect('-fws itself is not handed on', '-fws' in words, False)
    expect(f'plugin ahead of the source in {out!r}',
           any(w.startswith('-fplugin=') for w in words[:words.index(source)]), True)
    expect(f'-lws before -lmpich in {out!r}', words.index('-lws') < words.index('-lmpich'), True)
    code, out, err = run(wrapper, '-fws', '-show', '-c', source)
    expect(f'{wrapper} -fws -c does not link: {out!r}', (code, '-lws' in out.split()), (0, False))
    code, out, err = run(wrapper, '-show', source)
    expect(f'{wrapper} without -fws: {out!r}', (code, '-fplugin=' in out, '-lws' in out.split()), (0, False, False))

for wrapper, source, compiler in (MPICC, 'a.c', 'cc'), (MPICXX, 'a.cpp', 'cxx'), (MPIFORT, 'a.f90', 'fc'):
    name = os.path.basename(wrapper)
    code, out, err = run(wrapper, '-help')
    expect(f'{name} -help: {err!r}', (code, f'-{compiler}=' in out, '-fws-report' in out), (0, True, True))
    code, out, err = run(wrapper, '-v')
    expect(f'{name} -v tells and does not link: {err!r}', (code, 'for MPICH version' in out), (0, True))
    code, out, err = run(wrapper, '-show', source)
    expect(f'{name} has a run path: {out!r}', f'-Wl,-rpath,{STAGE}/lib' in out, True)
    code, out, err = run(wrapper, '-show', '-c', source)
    expect(f'{name} -c has none: {out!r}', '-Wl,-rpath' in out, False)
    if name != 'mpifort':
        code, out, err = run(wrapper, '-fws', '-show-compile-info')
        expect(f'{name} -show-compile-info: {out!r}', (code, '-fplugin=' in out, f'-I{STAGE}/include' in out, '-l' in out.split()), (0, True, True, False))
        code, out, err = run(wrapper, '-fws', '-show-link-info')
        expect(f'{name} -show-link-info: {out!r}', (code, '-lws' in out.split(), '-lmpich' in out.split(), f'-Wl,-rpath,{STAGE}/lib' in out, '-fplugin=' in out),
               (0, True, True, True, False))
    code, out, err = run(wrapper, '-show', f'-{compiler}=some compiler', '-fws-report', '-E', source, env={f'MPICH_{compiler.upper()}': 'another'})
    expect(f'{name}: the option goes before the variable: {err!r}', "the compiler 'some compiler' does not run" in err, True)
for name, target in ('mpic++', 'mpicxx'), ('mpif77', 'mpifort'), ('mpif90', 'mpifort'):
    expect(name, run(f'{STAGE}/bin/{name}', '-fws', '-show', 'a.f90'), run(f'{STAGE}/bin/{target}', '-fws', '-show', 'a.f90'))

# -fws in files of arguments, which are read as GCC reads them.
with tempfile.TemporaryDirectory() as folder:
    def write(name, text):
        with open(os.path.join(folder, name), 'w', newline='') as f:
            f.write(text)

    write('inner file', ' \t-fws\r\n')
    write('quotes', """-O1 '-DA=one  two' "-DB=it's" -DC=\\"x\\"\\ y -DD='a
b' '' "-DE=q\\'\\\\" -DF='it\\'s'\v@'inner file'\n@missing -c""")
    write('plain', "'-DA=one  two' -c -o 'an object'")
    write('own', '@own @own')
    for wrapper, source in (MPICC, 'a.c'), (MPICXX, 'a.cpp'), (MPIFORT, 'a.f90'):
        show = [wrapper, '-show', source]
        want = run(*show, '-O1', '-DA=one  two', "-DB=it's", '-DC="x" y', '-DD=a\nb', '', "-DE=q'\\", "-DF=it's", '-fws', '@missing', '-c')
        expect(f'{wrapper}: -fws in a file in a file', run(*show, '@quotes', cwd=folder), want)
        expect(f'{wrapper}: files with and without -fws', run(*show, '@plain', '@inner file', cwd=folder),
               run(*show, '-DA=one  two', '-c', '-o', 'an object', '-fws'))
        code, out, err = run(*show, '-c', '@plain', cwd=folder)
        expect(f'{wrapper}: without -fws files are the compiler\'s: {out!r}', (code, '@plain' in out, '-fplugin=' in out), (0, True, False))
        code, out, err = run(wrapper, '-fws', '-c', source, '@own', cwd=folder)
        expect(f'{wrapper}: a file that names itself: {err!r}', (code, 'too many @-files' in err), (1, True))
    write('a.c', 'void f(int *a) {\n#pragma ws for\n    for (int i = 0; i < 9; i++)\n        a[i] = sizeof "" NAME;\n}\n')
    write('compile', '-fws -Werror -DNAME=\\"a\\ b\\" -c a.c')
    expect('mpicc @compile', run(MPICC, '@compile', cwd=folder), (0, '', ''))
    expect('the loop is shared', 'ws_parallel' in run('nm', os.path.join(folder, 'a.o'))[1], True)
finish()
