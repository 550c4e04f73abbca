# SPDX-License-Identifier: MIT
"""A link without libws: the linker's message says -fws. With -fws, or with libws by pkg-config, it succeeds."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

from check import expect, finish, run

STAGE = sys.argv[1]
MPICC, MPICXX, MPIFORT = (os.path.join(STAGE, 'bin', name) for name in ('mpicc', 'mpicxx', 'mpifort'))
CLANGS = sorted(name for name in os.listdir(f'{STAGE}/lib/workshare') if name.startswith('clang-'))
CLANG = [f'-cc={CLANGS[0]}'] if CLANGS else None

C = '''int a[9];
int main(void) {
    for (int round = 0; round < 2; round++) {
        int i;
        %s
        for (i = 0; i < 9; i++) {
            %s
            a[0]++;
        }
    }
    return a[0] == 0;
}
'''
FORTRAN = '''program p
    integer :: i, a(9)
    !$ws do
    do i = 1, 9
        a(i) = i
    end do
    if (sum(a) /= 45) stop 1
end program
'''
SOURCES = {'loop.c': C % ('#pragma ws for', ''), 'atomic.c': C % ('', '#pragma ws atomic'), 'critical.c': C % ('', '#pragma ws critical'),
           'wide.c': C.replace('int i;', 'unsigned long i;') % ('#pragma ws for if(round)', ''), 'loop.f90': FORTRAN}


def message_names_fws(what, command):
    code, out, err = run(*command, cwd=folder)
    expect(f'{what} fails', code != 0, True)
    expect(f'{what}: {err}', bool(re.search(r'undefined .*ws_link_with_-fws', err)), True)


def works(what, command):
    expect(what, run(*command, '-o', 'program', cwd=folder), (0, '', ''))
    expect(f'{what}: the program', run(os.path.join(folder, 'program')), (0, '', ''))


with tempfile.TemporaryDirectory() as folder:
    os.environ['TMPDIR'] = folder       # clang's links leave files there when they fail
    for name, text in {**SOURCES, 'plain.c': C % ('', '')}.items():
        with open(os.path.join(folder, name), 'w') as f:
            f.write(text)
    libws = subprocess.run(['pkg-config', '--cflags', '--libs', 'workshare'], capture_output=True, text=True, check=True, errors='surrogateescape',
                           env={**os.environ, 'PKG_CONFIG_PATH': f'{STAGE}/lib/pkgconfig'}).stdout
    libws = shlex.split(libws)
    for name in SOURCES:
        wrapper, compilers = (MPIFORT, [('gfortran', [])]) if name.endswith('90') else (MPICC, [('gcc', [])])
        if CLANG and not name.endswith('90'):
            compilers.append((CLANGS[0], CLANG))
        for plain, more in compilers:
            for options in [], ['-O2', '-flto', '-g']:
                what = f'{plain} {name} {" ".join(options)}'.rstrip()
                if '-flto' in options and name in ('critical.c', 'wide.c'):
                    continue
                expect(what, run(wrapper, *more, '-fws', *options, '-c', name, '-o', 'a.o', cwd=folder), (0, '', ''))
                message_names_fws(what, [plain, *options, 'a.o', '-o', 'program'])
                message_names_fws(f'{what}, {os.path.basename(wrapper)}', [wrapper, *more, *options, 'a.o', '-o', 'program'])
                works(f'{what}, {os.path.basename(wrapper)} -fws', [wrapper, *more, '-fws', *options, 'a.o'])
                works(f'{what}, pkg-config', [plain, *options, 'a.o', *libws, f'-Wl,-rpath,{STAGE}/lib'])
    for plain, more in [('gcc', [])] + ([(CLANGS[0], CLANG)] if CLANG else []):
        # A library may be linked before it is known what links libws.
        expect(f'{plain} -shared', run(MPICC, *more, '-fws', '-fPIC', '-shared', 'loop.c', '-o', 'libloop.so', cwd=folder), (0, '', ''))
        works(f'{plain}, a shared library', [plain, 'plain.c', '-L.', '-lloop', f'-Wl,-rpath,{folder}'])
        # A program without a directive needs no libws.
        expect(f'{plain} plain.c', run(MPICC, *more, '-fws', '-c', 'plain.c', '-o', 'a.o', cwd=folder), (0, '', ''))
        works(f'{plain}, no directive', [plain, 'a.o'])
finish()
