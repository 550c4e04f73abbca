# SPDX-License-Identifier: MIT
"""system_test.py SETUP: a build for the MPI libraries of a machine that has none ends with one message, which names the packages; so does one for a
compiler that is not there, or that compiles without MPI."""
import os
import re
import sys
import tempfile

from check import expect, finish, run

TOP = os.path.dirname(os.path.realpath(sys.argv[1]))


def error(build, path, *options):
    """What Meson says is wrong."""
    code, out, _ = run('meson', 'setup', build, TOP, '-Dmpi=system', '-Donly_demo=true', *options, env={'PATH': path}, limit=100)
    return code, re.findall(r'ERROR: Problem encountered: (.*)', out)


with tempfile.TemporaryDirectory() as folder:
    programs = os.path.join(folder, 'bin')
    os.mkdir(programs)
    for path in reversed(os.environ['PATH'].split(':')):
        for name in os.listdir(path) if os.path.isdir(path) else []:
            link = os.path.join(programs, name)
            if not name.startswith('mpi') and not os.path.lexists(link):
                os.symlink(os.path.join(path, name), link)
    none = 'no MPI library was found, of which -Dmpi=system needs one: on Debian, the packages libmpich-dev and mpich, or libopenmpi-dev and openmpi-bin'
    expect('no MPI', error(os.path.join(folder, 'none'), programs), (1, [none]))
    expect('no such compiler', error(os.path.join(folder, 'absent'), programs, '-Dmpicc=mpicc.absent'), (1, ['mpicc.absent: there is no such program']))
    code, said = error(os.path.join(folder, 'gcc'), programs, '-Dmpicc=gcc')
    expect('a compiler without MPI', (code, [line.split(':')[0] for line in said]), (1, ['gcc']))
finish()
