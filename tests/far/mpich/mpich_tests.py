#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""mpich_tests.py [--part K/N] [--only GROUP] [--source PATH] [--mpi MPICC MPIRUN] PREFIX PROVIDE: MPICH's own tests of rma, io and threads, each
without the flag and with it.

They come from the source that MPICH is built of, which PROVIDE (runtime/mpich/provide) fetches, unpacked to a temporary folder and compiled with
PREFIX/bin/mpicc, or with the MPICC of another MPI; MPIRUN starts these and has our mpirun's options. Prints a table. Status 1: a test passes without -workshare and fails with it. 77: the source cannot be had.

--part K/N   every N-th test, from the K-th on (1/12); 1/1: all of them
--only GROUP rma, io or threads; or another folder of its tests, as coll, comm and pt2pt
--source     a release tarball, an unpacked folder or a git checkout, as the build option mpich_source
"""
import argparse
import collections
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from foreign import job, part, said, skip, source  # noqa: E402

GROUPS = ('rma', 'io', 'threads')
MORE_GROUPS = ('attr', 'coll', 'comm', 'datatype', 'errhan', 'group', 'init', 'part', 'pt2pt', 'session', 'topo')
LONGEST = 60        # seconds of one test. MPICH's own limit is 180, but a twelfth of them has to take minutes, also where ranks without the flag spin for one core
WORD = re.compile(r'(\w+)=(.*)')
Case = collections.namedtuple('Case', 'folder program ranks arguments environment')
# Beside tests that are too large for a test machine: what a test must do apart from printing " No Errors" is not known here.
SKIPPED = ('mem', 'xfail', 'resultTest', 'strict', 'mpiversion')


def cases(roots, folder):
    """Those of a folder's testlist, as configure made it or as it came, and of the folders that it names."""
    path = next((p for root in roots for p in [os.path.join(root, folder, 'testlist')] if os.path.exists(p)), None)
    if not path:
        return
    with open(path) as f:
        lines = [line.split('#')[0].split() for line in f]
    for words in filter(None, lines):
        if len(words) == 1:
            yield from cases(roots, os.path.join(folder, words[0]))
            continue
        options = [WORD.fullmatch(word) for word in words[2:]]
        if not words[1].isdigit() or any(o is None or o[1] in SKIPPED for o in options):
            continue
        yield Case(folder, words[0], int(words[1]), [o[2] for o in options if o[1] == 'arg'],
                   dict(o[2].split('=', 1) for o in options if o[1] == 'env'))


def step(what, command, folder):
    done = said(command, cwd=folder)
    if done.returncode:
        sys.exit(f'{what} failed:\n' + '\n'.join(done.stdout.splitlines()[-20:]))


def build(folder, prefix, path, chosen):
    """Returns the folder of the compiled tests, and the cases that there are."""
    tests, made = os.path.join(folder, 'source', 'test', 'mpi'), os.path.join(folder, 'made')
    os.mkdir(made)
    if os.path.isdir(path):
        for name in 'test', 'confdb', 'maint':
            shutil.copytree(os.path.join(path, name), os.path.join(folder, 'source', name), symlinks=True)
    else:
        os.mkdir(os.path.join(folder, 'source'))
        said(['tar', '-xf', path, '-C', os.path.join(folder, 'source'), '--strip-components=1', '--wildcards', '*/test/mpi'])
    if not os.path.exists(os.path.join(tests, 'configure')) and os.path.isdir(path) and os.path.exists(os.path.join(tests, 'autogen.sh')):
        step('autogen.sh', ['./autogen.sh'], tests)     # of a git checkout
    if not os.path.exists(os.path.join(tests, 'configure')):
        skip(f'{path} has no test/mpi')
    step('configure', [os.path.join(tests, 'configure'), f'--with-mpi={prefix}', '--disable-fortran', '--disable-cxx', '--disable-f08'], made)
    for name in ('util', 'dtpools'):
        step(f'make {name}', ['make', '-s', '-C', name], made)
    return made, [case for group in chosen for case in cases((made, tests), group)]


def run(prefix, made, case, flags):
    """'pass', or what went wrong."""
    went, out = job(prefix, [*flags, '-n', str(case.ranks)], [os.path.join('.', case.program), *case.arguments],
                    os.path.join(made, case.folder), case.environment, LONGEST)
    return 'did not say "No Errors"' if went == 'pass' and 'No Errors' not in out else went


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--part', type=part, default='1/12')
    parser.add_argument('--only', action='append', choices=GROUPS + MORE_GROUPS)
    parser.add_argument('--source')
    parser.add_argument('--mpi', nargs=2)
    parser.add_argument('prefix')
    parser.add_argument('provide')
    options = parser.parse_args()
    prefix = os.path.abspath(options.prefix)
    with tempfile.TemporaryDirectory(prefix='workshare-mpich-') as folder:
        if options.mpi:
            prefix = os.path.join(folder, 'prefix')
            os.makedirs(os.path.join(prefix, 'bin'))
            for name, program in zip(('mpicc', 'mpirun'), options.mpi):
                os.symlink(program, os.path.join(prefix, 'bin', name))
        made, found = build(folder, prefix, options.source or source([options.provide, '--fetch'], folder), options.only or GROUPS)
        chosen = found[options.part]
        print(f'{len(chosen)} of {len(found)} tests')
        print(f'{"test":<58} {"flag off":<24} flag on')
        new, counts = [], {}
        for case in chosen:
            label = ' '.join([f'{case.folder}/{case.program}', str(case.ranks), *case.arguments])
            compiled = said(['make', '-s', '-C', os.path.join(made, case.folder), case.program]).returncode == 0
            off, on = ('not compiled',) * 2
            if compiled:
                off, on = (run(prefix, made, case, flags) for flags in ([], ['-workshare', '-workshare-quiet']))
                if off == 'pass' and on != 'pass':      # once more: what fails now and then fails without the flag, too
                    on = run(prefix, made, case, ['-workshare', '-workshare-quiet'])
                    if on != 'pass':
                        new.append(label)
            print(f'{label[:58]:<58} {off:<24} {on}', flush=True)
            group = counts.setdefault(case.folder.split('/')[0], [0, 0, 0])
            for i, one in enumerate((True, off == 'pass', on == 'pass')):
                group[i] += one
        for group, (tried, off, on) in counts.items():
            print(f'{group}: {tried} tests, {off} pass without -workshare, {on} with it')
        if not any(off for _, off, _ in counts.values()):
            sys.exit('none passes without -workshare: what was compiled is not what should be')
        for label in new:
            print(f'FAILED with -workshare only: {label}')
        return 1 if new else 0


if __name__ == '__main__':
    sys.exit(main())
