#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""libgomp_tests.py [--part K/N] [--only GROUP] [--program NAME] [--source PATH] PREFIX: libgomp's own test programs, each as it is and with every region
shared.

They come from Debian's source package of the GCC in use, fetched once by apt-get into the cache (~/.cache/workshare), and are compiled with
PREFIX/bin/mpicc and its like. Rank 0 of two calls the program's main function six times (once where it fails else); with -workshare-openmp=help and WS_STEAL_ALL=1 helpers do what
it shares. Prints a table: whether each passes without and with it, how many of its regions are shared, and why the others are not.
Status 1: a test passes without and fails with it, and is not one of those known to differ, which are told with the reason. 77: the source cannot be had.

--part K/N      every N-th test, from the K-th on (1/24); 1/1: all of them
--only GROUP    c, c++ or fortran
--program NAME  those whose name begins so; of all groups
--source PATH   an unpacked libgomp/testsuite
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

GROUPS = {'c': (('libgomp.c', 'libgomp.c-c++-common'), ('.c',), 'mpicc'), 'c++': (('libgomp.c++', 'libgomp.c-c++-common'), ('.C', '.c'), 'mpicxx'),
          'fortran': (('libgomp.fortran',), ('.f', '.f90', '.F', '.F90', '.f95', '.f03', '.f08'), 'mpifort')}
LONGEST = 60        # seconds of one job
TURNS = 6
# What legally differs, and why.
DIFFERENT = {'fortran stack.f90': 'compares the addresses of two threads\' variables; virtual threads that meet at no barrier have one stack, in turn'}
HERE = os.path.dirname(os.path.abspath(__file__))
Case = collections.namedtuple('Case', 'group path flags sources environment')
DIRECTIVE = re.compile(r'\{ *(dg-[a-z-]+) +(.*?) *\}[ */]*$', re.MULTILINE)
SHARED = re.compile(r'parallel regions that can be shared: (\d+) of (\d+)(?:; not (.*?))?(?:; other programs|$)')
REASON = re.compile(r' \(([^()]*(?:\(\))?[^()]*)\)(?:, |$)')


def skip(why):
    print(why)
    sys.exit(77)


def said(command, **how):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', **how)


FETCH = r'''
set -e
package=$1; mkdir -p lists/parts lists/lists/partial lists/cache/archives/partial
for f in /etc/apt/sources.list.d/*.sources; do [ -r "$f" ] && sed 's/^Types:.*/Types: deb-src/' "$f" >"lists/parts/${f##*/}"; done
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do [ -r "$f" ] && sed -n 's/^ *deb /deb-src /p' "$f" >"lists/parts/${f##*/}.list"; done
apt="-q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$PWD/lists/parts -o Dir::State::Lists=$PWD/lists/lists
     -o Dir::Cache=$PWD/lists/cache -o APT::Sandbox::User=root"
apt-get $apt update || echo "(an apt source failed; the others may do)"
apt-get $apt source --download-only "$package"
tar -xOf "$package"_*.orig.tar.* --wildcards '*/gcc-*.tar.*' | tar -xJ --wildcards '*/libgomp/testsuite/*'
'''


def fetched():
    """The unpacked tests, in the cache; the package itself is not kept."""
    compiler = said(['gcc', '-dumpversion']).stdout.strip().split('.')[0]
    cache = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'workshare')
    kept = os.path.join(cache, f'libgomp-tests-{compiler}')
    if not os.path.isdir(kept):
        if not shutil.which('apt-get'):
            skip('libgomp\'s tests cannot be had: they come from a source package of Debian, and there is no apt-get')
        os.makedirs(cache, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            done = said(['bash', '-c', FETCH, 'bash', f'gcc-{compiler}'], cwd=folder)
            found = glob.glob(os.path.join(folder, '*', 'libgomp', 'testsuite'))
            if not found:
                skip(f'libgomp\'s tests cannot be had: {(done.stdout.strip().splitlines() or ["nothing came"])[-1]}')
            os.rename(found[0], kept)
    return kept


def case_of(group, path):
    """Null: it is not to be run on any machine, or needs another device."""
    with open(path, errors='replace') as f:
        found = DIRECTIVE.findall(f.read())
    flags, sources, environment = ['-O2'], [], {}
    for name, rest in found:
        words = re.findall(r'"([^"]*)"', rest)
        only = re.search(r'\{ *target (.*?) *\}?$', rest)
        target = only[1] if only else ''
        if name == 'dg-do' and (not rest.startswith('run') or 'offload' in target or 'lto' in target or 'skip-all' in target):
            return None
        if name in ('dg-require-effective-target', 'dg-skip-if') and 'offload' in rest or name == 'dg-shouldfail':
            return None
        if name in ('dg-options', 'dg-additional-options') and words and not ('offload' in target or target in ('c', 'c++') and target != group):
            flags += [word for word in words[0].split() if not word.startswith('-foffload')]
        if name == 'dg-set-target-env-var' and rest:
            variable = re.match(r'"?(\w+)"? +"?(.*?)"?$', rest)
            environment[variable[1]] = variable[2]
        if name == 'dg-additional-sources':
            sources += [os.path.join(os.path.dirname(path), word) for word in (words or [rest])[0].split()]
    return Case(group, path, [flag for flag in flags if not flag.startswith(('-fdump', '-flto'))], sources, environment)


def cases(source, chosen, beginning):
    for group in chosen:
        folders, ends, _ = GROUPS[group]
        for folder in folders:
            for path in sorted(glob.glob(os.path.join(source, folder, '*'))):
                name = os.path.basename(path)
                if path.endswith(ends) and name.startswith(beginning) and (case := case_of(group, path)):
                    yield case


def compiled(prefix, case, folder):
    """The program, or None."""
    compiler, program = os.path.join(prefix, 'bin', GROUPS[case.group][2]), os.path.join(folder, 'program')
    objects = []
    language = ['-x', 'c++'] if case.group == 'c++' else []
    for n, path in enumerate([case.path, *case.sources]):
        objects.append(os.path.join(folder, f'{n}.o'))
        if said([compiler, *language, '-w', '-fopenmp', '-g1', *case.flags, '-I', os.path.dirname(path), '-c', path, '-o', objects[-1]], cwd=folder).returncode:
            return None
        said(['objcopy', '--redefine-sym', 'main=tested_main', objects[-1]])
    again = os.path.join(folder, 'again.o')
    said([os.path.join(prefix, 'bin', 'mpicc'), '-c', os.path.join(HERE, 'called_again.c'), '-o', again])
    # Beside what the case asks for of the linker.
    return program if said([compiler, '-fopenmp', *case.flags, *objects, again, '-lm', '-o', program], cwd=folder).returncode == 0 else None


def run(prefix, program, case, turns, flags, more):
    """'pass' or what went wrong, and what it said."""
    command = [os.path.join(prefix, 'bin', 'mpirun'), *flags, '-n', '2', program]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(('WS_', 'OMP_', 'GOMP_'))}
    environment.update(case.environment, TURNS=str(turns), LD_LIBRARY_PATH=os.path.join(prefix, 'lib'), WS_IGNORE_JOBS='1', **more)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          env=environment, cwd=os.path.dirname(program)) as job:
        try:
            out = job.communicate(timeout=LONGEST)[0]
        except subprocess.TimeoutExpired:
            job.terminate()             # mpirun ends its ranks
            try:
                job.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                job.kill()
            return f'no end in {LONGEST} s', ''
    return 'pass' if job.returncode == 0 else f'exit status {job.returncode}', out


def shared_of(folder, out):
    """Regions shared, regions in all, why others are not, chunks that helpers took."""
    flat = [line for line in out.splitlines() if line.startswith('workshare: ')]
    found = SHARED.search(flat[-1]) if flat else None
    try:
        with open(os.path.join(folder, 'stats.json')) as f:
            stolen = json.load(f).get('chunks_stolen', 0)
    except (OSError, ValueError):
        stolen = 0
    if not found:
        return 0, 0, [], stolen
    return int(found[1]), int(found[2]), REASON.findall(found[3] or ''), stolen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--part', default='1/24')
    parser.add_argument('--only', action='append', choices=GROUPS)
    parser.add_argument('--program')
    parser.add_argument('--source')
    parser.add_argument('prefix')
    options = parser.parse_args()
    if not re.fullmatch(r'[1-9]\d*/[1-9]\d*', options.part):
        parser.error('--part takes K/N')
    first, parts = map(int, options.part.split('/')) if not options.program else (1, 1)
    if not shutil.which('objcopy'):
        skip('there is no objcopy')
    prefix = os.path.abspath(options.prefix)
    found = list(cases(options.source or fetched(), options.only or GROUPS, options.program or ''))
    chosen = found[first - 1::parts]
    if not chosen:
        sys.exit('there is no such test')
    print(f'{len(chosen)} of {len(found)} programs' + ('' if options.program else f', part {options.part}'))
    print(f'{"program":<38} {"without":<16} {"with":<24} shared, of, chunks helped with; why not')
    new, counts, reasons = [], collections.Counter(), collections.Counter()
    for case in chosen:
        with tempfile.TemporaryDirectory(prefix='workshare-openmp-') as folder:
            label = f'{case.group} {os.path.basename(case.path)}'
            program = compiled(prefix, case, folder)
            without, with_it, what = 'not compiled', '', (0, 0, [], 0)
            for turns in (TURNS, 1) if program else ():     # many cannot be called twice
                without = run(prefix, program, case, turns, [], {'OMP_NUM_THREADS': '2', **case.environment})[0]
                if without == 'pass':
                    break
            if without == 'pass':
                stats = os.path.join(folder, 'stats.json')
                more = {'WS_STEAL_ALL': '1', 'WS_STATS_FILE': stats, 'OMP_NUM_THREADS': '1', **case.environment}
                with_it, out = run(prefix, program, case, turns, ['-workshare', '-workshare-openmp=help'], more)
                what = shared_of(folder, out)
                if with_it != 'pass' and label in DIFFERENT:
                    with_it += ', known'
                elif with_it != 'pass':
                    new.append((label, out))
            shared, of, why, stolen = what
            told = ('called once: ' if program and turns == 1 else '') + f'{shared} {of} {stolen}' + (f'; {", ".join(why)}' if why else '')
            print(f'{label[:38]:<38} {without:<16} {with_it:<24} {told if with_it else ""}', flush=True)
            counts.update({'tried': 1, 'without': without == 'pass', 'with': with_it == 'pass', 'helped': stolen > 0, 'shared': shared, 'of': of,
                           'programs with regions': of > 0})
            reasons.update(why)
    print(f'{counts["tried"]} programs: {counts["without"]} pass without, {counts["with"]} with it; of {counts["of"]} regions executed several times '
          f'{counts["shared"]} are shared; helpers took part in {counts["helped"]} programs of {counts["programs with regions"]} that have such regions')
    for why, count in reasons.most_common():
        print(f'  {count:4} not shared: {why}')
    for label, why in DIFFERENT.items():
        print(f'  known to differ: {label} {why}')
    if not counts['without']:
        sys.exit('none passes without -workshare-openmp: what was compiled is not what should be')
    for label, out in new:
        print(f'FAILED with every region shared only: {label}\n  ' + '\n  '.join(out.splitlines()[-8:]))
    return 1 if new else 0


if __name__ == '__main__':
    sys.exit(main())
