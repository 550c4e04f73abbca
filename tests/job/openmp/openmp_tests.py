#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""openmp_tests.py [--part K/N] [--only GROUP] [--program NAME] [--text PATTERN] [--mode MODE] [--record FILE] [--seconds S] [--source PATH] PREFIX: the
test programs of OpenMP's own libraries, GCC's libgomp and LLVM's libomp, with every region shared, or with lent cores.

They come from Debian's source packages of the compilers in use, fetched once by apt-get into the cache (~/.cache/workshare), and are compiled
with PREFIX/bin/mpicc and its like. Rank 0 of two calls the program's main function six times (once where that fails with and without); with
-workshare-openmp=share and WS_STEAL_ALL=1 helpers do what it shares. What fails is run without, too: with two threads; with one, as the rank
has; and with 16, as the program is told; three times each, as some fail by chance. Prints what each comes to, and tables. Status 1: a test
passes without and fails with it, and is not one of those known to differ, which are told with the reason. 77: the source cannot be had.

With --mode lend or auto, rank 1 waits from the start of the first call. In each other call it begins to wait some milliseconds later. What fails is
run without and with OMP_DYNAMIC=true, too, because regions may have fewer threads then than they ask for, as in these modes.

Of LLVM's, those count whose exit status is the result: most of the OpenMP Validation Suite of the University of Houston, and the library's own.

--part K/N      every N-th test, from the K-th on (1/24); 1/1: all of them
--only GROUP    c, c++ or fortran: libgomp's by GCC; clang-c, clang-c++: the same by clang; llvm-c, llvm-c++: LLVM's own
--program NAME  those whose name begins so; of all groups
--text PATTERN  those whose source the regular expression matches; with --part
--mode MODE     share (if absent), lend or auto
--record FILE   results are kept there; what it has is not run again, but counts
--seconds S     none begins after S seconds; with --record the next call goes on
--source PATH   an unpacked folder of tests, instead of a group's own
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from foreign import job, kept_part, part, said, skip  # noqa: E402

# A group's programs: what they are, the name of their tests, folders, ends of names, compiler.
Group = collections.namedtuple('Group', 'about tests folders ends compiler')
C, CXX, SHARED, LLVM = ('.c',), ('.C', '.c'), 'libgomp.c-c++-common', ('*', 'worksharing/*', 'tasking/*')
CLANG = next((name for name in ('clang-14', 'clang') if shutil.which(name)), None)
CLANGXX = CLANG and CLANG.replace('clang', 'clang++')
GROUPS = {
    'c': Group('libgomp, C, GCC', 'gcc', ('libgomp.c', SHARED), C, ['mpicc']),
    'c++': Group('libgomp, C++, GCC', 'gcc', ('libgomp.c++', SHARED), CXX, ['mpicxx']),
    'fortran': Group('libgomp, Fortran, GCC', 'gcc', ('libgomp.fortran',), ('.f', '.f90', '.F', '.F90', '.f95', '.f03', '.f08'), ['mpifort']),
    'clang-c': Group('libgomp, C, clang', 'gcc', ('libgomp.c', SHARED), C, ['mpicc', f'-cc={CLANG}']),
    'clang-c++': Group('libgomp, C++, clang', 'gcc', ('libgomp.c++', SHARED), CXX, ['mpicxx', f'-cxx={CLANGXX}']),
    'llvm-c': Group('libomp, C, clang', 'llvm', LLVM, C, ['mpicc', f'-cc={CLANG}']),
    'llvm-c++': Group('libomp, C++, clang', 'llvm', LLVM, ('.cpp',), ['mpicxx', f'-cxx={CLANGXX}']),
}
LONGEST = 60        # seconds of one job
TURNS = 6
LATE = 5            # milliseconds of a turn after which the other rank waits, where cores are lent
CHANCES = 3         # of a program to fail without sharing, too
# What legally differs, and why.
DIFFERENT = {
    'fortran stack.f90': 'compares the addresses of two threads\' variables; virtual threads that meet at no barrier have one stack, in turn',
    'c target-5.c': 'a target region on the host has other defaults than what was set before: it is told of no helpers then',
    'c++ affinity-1.C': 'asks which binding its proc_bind clause asked for; virtual threads are not bound, and answer what OMP_PROC_BIND says',
    'c teams-1.c': 'a region within a teams construct is OpenMP\'s, and has as many threads as the rank, here one, though it asks for two',
    'clang-c sort-1.c': 'corrupts its heap with 16 threads of libomp alone, too, most times',
    'llvm-c affinity/root-threads-affinity.c': 'libws asks how many threads there are, and libomp binds to a place who asks',
    'llvm-c api/omp_pause_resource.c': 'a pause that was asked for ends with OpenMP\'s next region, and regions are shared',
    'llvm-c for/kmp_sch_simd_guided.c': 'one thread is to get all chunks while the others sleep; each virtual thread has its part from the begin',
    'llvm-c for/omp_for_schedule_guided.c': 'looks at how sizes of guided\'s chunks fall; virtual threads have parts of one size',
    'llvm-c flush/omp_flush.c': 'a thread waits for another by sleeping for a second; virtual threads may be run one after the other',
}
HERE = os.path.dirname(os.path.abspath(__file__))
Case = collections.namedtuple('Case', 'group path label flags sources environment arguments')
DIRECTIVE = re.compile(r'\{ *(dg-[a-z-]+) +(.*?) *\}[ */]*$', re.MULTILINE)
RUN = re.compile(r'^ *(?://|/\*|!) *RUN: *(.*?)(?: *\*/)?$', re.MULTILINE)
# What mpirun prints about a rank that ended.
BANNER = re.compile(r'=|This typically|Please see|YOUR APPL|$')
KEPT = re.compile(r'no parallel region is shared: ([^;]*)')


def fetched(tests):
    compiler = said(['gcc', '-dumpversion'] if tests == 'gcc' else [CLANG, '-dumpversion']).stdout.strip().split('.')[0]
    if tests == 'gcc':
        return os.path.join(kept_part(f'libgomp-{compiler}', f'gcc-{compiler}', 'libgomp', f'gcc-{compiler}.*.tar.*'), 'testsuite')
    return kept_part(f'libomp-tests-{compiler}', f'llvm-toolchain-{compiler}', 'openmp/runtime/test')


def name_of(path):
    """Some of libgomp's have the same name in two folders."""
    folder, name = os.path.split(path)
    folder = os.path.basename(folder)
    return name if folder.startswith('libgomp') and not folder.endswith('common') else f'{folder.replace("libgomp.c-c++-", "")}/{name}'


def gcc_cases(group, path, text):
    """One, or none: it is not to be run on any machine, or needs another device."""
    flags, sources, environment = ['-O2'], [], {}
    for name, rest in DIRECTIVE.findall(text):
        words = re.findall(r'"([^"]*)"', rest)
        only = re.search(r'\{ *target (.*?) *\}?$', rest)
        target = only[1] if only else ''
        if name == 'dg-do' and (not rest.startswith('run') or 'offload' in target or 'lto' in target or 'skip-all' in target):
            return
        if name in ('dg-require-effective-target', 'dg-skip-if') and 'offload' in rest or name == 'dg-shouldfail':
            return
        if name == 'dg-skip-if' and '{ *-*-* }' in rest:        # a part of another
            return
        others = 'offload' in target or target in ('c', 'c++') and target != group.replace('clang-', '')
        if name in ('dg-options', 'dg-additional-options') and words and not others:
            flags += [word for word in words[0].split() if not word.startswith('-foffload')]
        if name == 'dg-set-target-env-var' and rest:
            variable = re.match(r'"?(\w+)"? +"?(.*?)"?$', rest)
            environment[variable[1]] = variable[2]
        if name == 'dg-additional-sources':
            sources += [os.path.join(os.path.dirname(path), word) for word in (words or [rest])[0].split()]
    flags = [flag for flag in flags if not flag.startswith(('-fdump', '-flto'))]
    yield Case(group, path, f'{group} {name_of(path)}', flags, sources, environment, [])


def llvm_cases(group, path, text):
    """One for each of its runs whose exit status is the result: what it prints is not looked at."""
    flags, runs = [], []
    for step in re.split(r'&&|\n', '\n'.join(RUN.findall(text)).replace('\\\n', ' ')):
        words = step.split()
        if not words or re.search('[|>]', step):
            continue
        compiles = re.fullmatch(r'%libomp(?:-c99|-cxx)?-compile(-and-run)?', words[0])
        if compiles:
            flags = [word for word in words[1:] if not word.startswith('%')]
            if compiles[1]:
                runs.append((flags, {}, []))
            continue
        environment = {}
        words = words[words[0] == 'env':]
        while words and (variable := re.fullmatch(r'(\w+)=[\'"]?(.*?)[\'"]?', words[0])):
            environment[variable[1]] = variable[2]
            words = words[1:]
        if words and words[0] == '%libomp-run':
            runs.append((flags, environment, words[1:]))
    for n, (flags, environment, arguments) in enumerate(runs, 1):
        yield Case(group, path, f'{group} {name_of(path)}' + (f' {n}' if len(runs) > 1 else ''), flags, [], environment, arguments)


def cases(chosen, beginning, text, given):
    for group in chosen:
        its = GROUPS[group]
        if its.compiler[-1].endswith('None'):
            print(f'{group}: there is no clang')
            continue
        top = given or fetched(its.tests)
        for folder in its.folders:
            for path in sorted(glob.glob(os.path.join(top, folder, '*'))):
                if path.endswith(its.ends) and os.path.basename(path).startswith(beginning):
                    with open(path, errors='replace') as f:
                        source = f.read()
                    if re.search(text, source):
                        yield from (gcc_cases if its.tests == 'gcc' else llvm_cases)(group, path, source)


def compiled(prefix, case, again, folder):
    """The program, or None."""
    its, program, objects = GROUPS[case.group], os.path.join(folder, 'program'), []
    compiler = [os.path.join(prefix, 'bin', its.compiler[0]), *its.compiler[1:]]
    language = ['-x', 'c++'] if its.compiler[0] == 'mpicxx' else []
    top = os.path.dirname(os.path.dirname(case.path))       # of LLVM's tests, or one below
    # Headers that are made when the libraries are built, and one of libomp's source: what the tests ask them for.
    made = os.path.join(folder, 'tests/of')
    for name, text in (('../../src/kmp_platform.h', '#ifdef __x86_64__\n#define KMP_ARCH_X86_64 1\n#endif\n'),
                       ('config.h', '#define HAVE_UNISTD_H 1\n#define HAVE_PTHREAD_AFFINITY_NP 1\n'), ('gstdint.h', '#include <stdint.h>\n')):
        path = os.path.join(made, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(text)
    for n, path in enumerate([case.path, *case.sources]):
        objects.append(os.path.join(folder, f'{n}.o'))
        include = [word for within in (os.path.dirname(path), top, os.path.dirname(top), made) for word in ('-I', within)]
        if said([*compiler, *language, '-w', '-fopenmp', '-g1', *case.flags, *include, '-c', path, '-o', objects[-1]], cwd=folder).returncode:
            return None
        said(['objcopy', '--redefine-sym', 'main=tested_main', objects[-1]])
    # Beside what the case asks for of the linker.
    linked = said([*compiler, '-fopenmp', *case.flags, *objects, again, '-lm', '-o', program], cwd=folder)
    return program if linked.returncode == 0 else None


def told(folder, out):
    """Why no region is shared, or '', and the chunks that helpers took, or the regions that had lent cores."""
    found = KEPT.search(out)
    try:
        with open(os.path.join(folder, 'report.json')) as f:
            totals = json.load(f)['totals']
        helped = totals['chunks_stolen'] + totals['openmp_lent']
    except (OSError, ValueError):
        helped = 0
    return found[1] if found else '', helped


def result_of(prefix, case, again, mode):
    """What is recorded of a case: 'with' and 'without' are 'pass' or what went wrong; without is not tried where with passes."""
    result = {'label': case.label, 'group': case.group, 'with': 'not compiled', 'without': '', 'turns': 0, 'why': '', 'stolen': 0}
    with tempfile.TemporaryDirectory(prefix='workshare-openmp-') as folder:
        program = compiled(prefix, case, again, folder)
        for turns in (TURNS, 1) if program else ():     # many cannot be called twice
            def run(options, **environment):
                environment.update(case.environment, TURNS=str(turns))
                return job(prefix, [*options, '-n', '2'], [program, *case.arguments], folder, environment, LONGEST)
            result['turns'] = turns
            special = {'WS_STEAL_ALL': '1'} if mode == 'share' else {'LATE': str(LATE)}
            result['with'], out = run([f'-workshare-openmp={mode}', f'-workshare-report={folder}/report.json'], OMP_NUM_THREADS='1', **special)
            if result['with'] == 'pass':
                result['without'] = ''
                result['why'], result['stolen'] = told(folder, out)
                break
            result['said'] = [line for line in out.splitlines() if not BANNER.match(line)][-8:]
            dynamic = ('2 OMP_DYNAMIC', '1 OMP_DYNAMIC') if mode != 'share' else ()
            for threads in CHANCES * (('2', '1', '16') + dynamic):
                number, *variable = threads.split()
                result['without'] = run([], OMP_NUM_THREADS=number, **{name: 'true' for name in variable})[0]
                if result['without'] != 'pass':
                    result['without'] += f', {threads} threads'
                    break
            if result['without'] == 'pass':
                break
    return result


def table(heads, rows):
    print('\n| ' + ' | '.join(heads) + ' |\n|' + '---|' * len(heads))
    for row in rows:
        print('| ' + ' | '.join(map(str, row)) + ' |')


def print_tables(results):
    sums = {}
    for r in results:
        s = sums.setdefault(r['group'], collections.Counter())
        s.update({'tried': 1, 'compiled': r['with'] != 'not compiled', 'pass': r['with'] == 'pass', 'neither': r['without'] not in ('', 'pass'),
                  'only without': r['without'] == 'pass', 'helped': r['stolen'] > 0, 'kept': r['why'] != ''})
    table(('programs', 'tried', 'compiled', 'right', 'fail without it, too', 'fail with it only', 'helped', 'not shared'),
          [(GROUPS[g].about, *map(int, (s['tried'], s['compiled'], s['pass'], s['neither'], s['only without'], s['helped'], s['kept']))) for g, s in sums.items()])
    reasons = collections.Counter(r['why'] for r in results if r['why'])
    table(('why no region of a program is shared', 'programs'), reasons.most_common())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--part', type=part, default='1/24')
    parser.add_argument('--only', action='append', choices=GROUPS)
    parser.add_argument('--program', default='')
    parser.add_argument('--text', default='')
    parser.add_argument('--mode', choices=('share', 'lend', 'auto'), default='share')
    parser.add_argument('--record')
    parser.add_argument('--seconds', type=float)
    parser.add_argument('--source')
    parser.add_argument('prefix')
    options = parser.parse_args()
    until = time.monotonic() + options.seconds if options.seconds else float('inf')
    if not shutil.which('objcopy'):
        skip('there is no objcopy')
    prefix = os.path.abspath(options.prefix)
    found = list(cases(options.only or GROUPS, options.program, options.text, options.source))
    chosen = found if options.program else found[options.part]
    if not chosen:
        sys.exit('there is no such test')
    results = {}
    if options.record and os.path.exists(options.record):
        with open(options.record) as f:
            results = {r['label']: r for r in map(json.loads, f)}
    print(f'{len(chosen)} of {len(found)} programs\n{"program":<44} {"with":<24} {"without":<24} chunks, or regions, helped with; why not')
    left = 0
    with tempfile.TemporaryDirectory(prefix='workshare-openmp-') as folder:
        again = os.path.join(folder, 'again.o')
        said([os.path.join(prefix, 'bin', 'mpicc'), '-c', os.path.join(HERE, 'called_again.c'), '-o', again])
        for case in chosen:
            if case.label not in results:
                if time.monotonic() > until:
                    left += 1
                    continue
                results[case.label] = result_of(prefix, case, again, options.mode)
                if options.record:
                    with open(options.record, 'a') as f:
                        f.write(json.dumps(results[case.label]) + '\n')
            r = results[case.label]
            helped = str(r['stolen']) if r['turns'] > 1 else 'called once' if r['turns'] else ''
            print(f'{r["label"][:44]:<44} {r["with"]:<24} {r["without"]:<24} {"; ".join(filter(None, (helped, r["why"])))}', flush=True)
    mine = [results[case.label] for case in chosen if case.label in results]
    print_tables(mine)
    if left:
        print(f'\n{left} programs are left for the next call')
    if not any(r['with'] == 'pass' for r in mine):
        sys.exit('none passes: what was compiled is not what should be')
    failed = [r for r in mine if r['without'] == 'pass']
    print()
    for r in failed:
        if r['label'] in DIFFERENT:
            print(f'known to differ: {r["label"]} {DIFFERENT[r["label"]]}')
        else:
            print(f'FAILED with -workshare-openmp={options.mode} only: {r["label"]}\n  ' + '\n  '.join(r['said']))
    return any(r['label'] not in DIFFERENT for r in failed)


if __name__ == '__main__':
    sys.exit(main())
