#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of a compiler plugin: compiles the programs of this folder with it and looks at what comes out.

usage: run.py [--update] [--all] [--libws=FOLDER] TEST PLUGIN WORK_FOLDER

PLUGIN is ws_gcc.so or ws_clang.so, which settles the compiler: CC and CXX, else gcc and g++, or clang-14 and clang++-14.
--all takes longer: more options, every form of a program.

accept    accept/*: compile without a warning, in several languages, levels and with and without OpenMP; run with the
          fake runtime in each of its modes
reject    reject/*: the errors are those of reject/expected.txt (clang: expected.clang.txt), to the column; --update writes
          them there. Both compilers refuse the same lines. Other versions than those of these files, GCC 12 and clang 14,
          have words of their own for some: they refuse the same lines
symbols   objects call libws and nothing of libgomp or libomp
warn      warn/*: under -Wall the warnings are those that stand in the lines
ways      the roads to an object that differ: LTO, precompiled headers, preprocessed files, ...
torture   words thrown together at random never crash the compiler (a fixed seed; WS_SEED=N for another)
wrapper   what mpicc -fws is told for good and bad compilers
debug     gdb stops in a chunk at the user's line and shows the variables (77 without gdb)
vectors   a loop with a directive is vectorized as it is without, and takes its registers as that does (77 but for x86-64)
plain     where nobody shares it, it knows its function's constants, begins where short loops are fast, and adds as without atomics (the same)
exception what leaves an iteration ends the program with a message that names the loop; with the libws of --libws
"""
import concurrent.futures
import os
import platform
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from checks import fail, finish, in_parallel, start  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
CLANG = 'clang' in os.path.basename(sys.argv[-2] if len(sys.argv) > 2 else '')
CC = os.environ.get('CC', 'clang-14' if CLANG else 'gcc').split()
CXX = os.environ.get('CXX', 'clang++-14' if CLANG else 'g++').split()
MAJOR = int(subprocess.run([*CC, '-dumpversion'], capture_output=True, text=True).stdout.split('.')[0] or 0)
MODES = ('order', 'tail', 'random')
PLAIN_TOO = ('-O2', '-O3') if CLANG else ('-O3',)     # the options for which a loop has a plain version where it stands
# How each warning begins, by its name.
WARNS = {'thread-number': "'omp_get_thread_num'", 'thread-variable': 'each helper thread writes', 'computed-goto': 'a computed'}
WARNINGS = ['-Wall', '-Wextra', '-Werror', '-Wno-unknown-pragmas']
if CLANG:       # of newer versions, about the tests; and about a comparison that clang makes itself for `omp taskloop`
    WARNINGS += ['-Wno-unknown-warning-option', '-Wno-vla-cxx-extension', '-Wno-deprecated-ofast', '-Wno-sign-compare']
elif MAJOR >= 16:   # to add to a variable is no use of it
    WARNINGS.append('-Wno-unused-but-set-variable')


def compiler(language):
    return CC + ['-x', 'c'] if language == 'c' else CXX + ['-x', 'c++']


def programs(folder):
    """(file, languages): C programs are compiled as C++ too."""
    for name in sorted(os.listdir(os.path.join(HERE, folder))):
        if name.startswith('clang_') and not CLANG:
            continue
        if name.endswith('.c'):
            yield os.path.join(HERE, folder, name), ('c', 'c++')
        elif name.endswith('.cpp'):
            yield os.path.join(HERE, folder, name), ('c++',)


def with_others(source):
    """A program's files: the source, and what its head names after `also:`."""
    with open(source) as f:
        return [source] + [os.path.join(os.path.dirname(source), name) for name in re.findall(r'also: (\S+)', f.read(500))]


class Test:
    def __init__(self, plugin, work, update, everything, libws):
        self.library = os.path.abspath(plugin)
        self.work = os.path.join(work, 'directive.clang' if CLANG else 'directive')
        self.update = update
        self.everything = everything
        self.libws = libws
        self.plain_loops = 0
        self.assembled_with = None
        os.makedirs(self.work, exist_ok=True)

    def path(self, name):
        return os.path.join(self.work, name)

    def plugin(self, options=()):
        """What mpicc adds to these options of the user's (compiler-plugin/wrappers/wrapper.sh)."""
        if not CLANG:
            return [f'-fplugin={self.library}']
        openmp = ['-fplugin-arg-ws-openmp'] if '-fopenmp' in options else ['-U_OPENMP']
        return ['--start-no-unused-arguments', f'-fplugin={self.library}', f'-fpass-plugin={self.library}', '-Xclang', '-fopenmp',
                *openmp, '--end-no-unused-arguments']

    def fake_runtime(self):
        path = self.path(f'fake_runtime.{os.getpid()}.o')
        status, output = start(CC + ['-O1', '-c', os.path.join(HERE, 'fake_runtime.c'), '-o', path])
        if status:
            sys.exit(f'the fake runtime does not compile\n{output}')
        return path

    # accept

    # The first two always, the others with --all.
    CONFIGURATIONS = {
        'c': ('-O0 -fopenmp -std=gnu2x', '-O3 -g -std=gnu17', '-O0 -std=gnu99', '-O3 -fopenmp -march=native'),
        'c++': ('-O2 -fopenmp -g -std=gnu++20', '-O0 -std=gnu++11', '-O3 -std=gnu++17', '-O0 -fopenmp -std=gnu++23'),
        'classes.cpp': ('-O0 -std=c++11', '-O3 -fopenmp -std=c++20', '-O3 -std=c++14 -fopenmp', '-O0 -fopenmp -std=c++17',
                        '-O2 -g -std=c++23'),
        'modern.cpp': ('-O0 -std=c++20', '-O3 -fopenmp -std=c++23'),
    }

    @staticmethod
    def options(text):
        """Of this compiler: clang 14 has another name for C++23."""
        return [word.replace('++23', '++2b') if CLANG else word for word in text.split()]

    def build_and_run(self, source, language, options, runtime, more=(), modes=MODES):
        label = f'{os.path.basename(source)} as {language} {options}'.rstrip()
        binary = self.path(re.sub(r'\W+', '_', f'{label} {" ".join(more)}'.replace('+', 'p')))  # c and c++ at once
        if '-save-temps' in options: # these are named by the source alone, and names.c is compiled at the same time as names.cpp
            os.makedirs(binary, exist_ok=True)
            binary = os.path.join(binary, 'program')
        expect = ['-DEXPECT_OPENMP'] if '-fopenmp' in options.split() else []
        # clang's own `omp atomic` takes it for some types.
        libatomic = ['-latomic'] if CLANG and expect else []
        command = [*compiler(language), *self.plugin(options.split()), *self.options(options), *more, *expect, *WARNINGS,
                   *with_others(source), '-x', 'none', runtime, '-pthread', *libatomic, '-o', binary]
        status, output = start(command)
        if status or output:
            fail(f'{label}: compilation ({status})', output)
            return
        plainly = set(PLAIN_TOO) & set(options.split()) and modes is MODES
        for mode in [*modes, 'plain'] if plainly else modes:
            status, output = start([binary], WS_FAKE=mode)
            if status or not output.startswith('ok'):
                fail(f'{label}: run, WS_FAKE={mode} ({status})', output)
            elif mode == 'plain':
                self.plain_loops += int(output.split()[-3])
        os.remove(binary)

    def accept(self):
        runtime = self.fake_runtime()
        jobs = []
        for number, (source, languages) in enumerate(programs('accept')):
            for language in languages:
                own = self.CONFIGURATIONS.get(os.path.basename(source))
                configurations = own or self.CONFIGURATIONS[language]
                if not self.everything: # one for each language, in turn with OpenMP and without
                    configurations = own[:2] if own else configurations[number % 2:][:1]
                for options in configurations:
                    jobs.append((self.build_and_run, source, language, options, runtime))
        in_parallel(jobs)
        if not self.plain_loops:
            fail(f'no loop ran plainly with {" or ".join(PLAIN_TOO)}')
        print(f'{len(jobs)} programs, {len(MODES)} runs each; {self.plain_loops} loops ran plainly')

    # reject

    @staticmethod
    def crashed(output):
        return 'internal compiler error' in output or 'PLEASE submit a bug report' in output or 'Stack dump' in output

    def errors_of(self, source, language, options=()):
        """The errors as 'file:line:column: text', and whether the compiler ended as it should."""
        with open(source) as f:
            flags = re.findall(r'flags: (\S+)', f.read())
        limit = ['-ferror-limit=0', '-fno-color-diagnostics'] if CLANG else []
        status, output = start([*compiler(language), *self.plugin(flags), *flags, *limit, *options, '-c', source, '-o', '/dev/null'])
        label = f'{os.path.basename(source)} as {language}'
        if status != 1 or self.crashed(output) or 'PLUGIN_' in output:
            fail(f'{label}: the compiler ended with {status}', output)
        found = []
        for line in output.split('\n'):
            error = re.match(r'(?:.*/)?([^/:]+:\d+:\d+): error: (.*)', line)
            if error:
                found.append(f'{error[1]}: {error[2]}')
                # `omp for` may be named: the user can have written one inside the loop.
                if 'omp' in re.sub(r"compiler|compute|incomp|comparison|complex|component|compound|'omp for' directive", '', error[2].lower()):
                    fail(f'{label}: an error speaks of OpenMP', line)
        return found

    def reject(self):
        path = os.path.join(HERE, 'reject', 'expected.clang.txt' if CLANG else 'expected.txt')
        found = {}      # (language, error): nothing; in order
        # Clang 18 and later crash at an `omp atomic` that holds another error.
        left_out = ['atomics.c'] if CLANG and MAJOR >= 18 else []
        tasks = [(source, language) for source, languages in programs('reject') for language in languages
                 if os.path.basename(source) not in left_out]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (source, language), errors in zip(tasks, pool.map(lambda task: self.errors_of(*task), tasks)):
                if not errors:
                    fail(f'{os.path.basename(source)} as {language}: no error')
                for error in errors:
                    found.setdefault(error, set()).add(language)

        def place(error):
            name, line, column = error.split(':')[:3]
            return name, int(line), int(column), error

        lines = []
        for error in sorted(found, key=place):
            only = '' if len(found[error]) == 2 or '.cpp' in error else f'   [{next(iter(found[error]))}]'
            lines.append(error + only)
        if self.update:
            with open(path, 'w') as f:
                f.write('\n'.join(lines) + '\n')
        with open(path) as f:
            expected = f.read().split('\n')[:-1]
        words_of = 'clang 14' if CLANG else 'GCC 12'
        if MAJOR == (14 if CLANG else 12):
            for line in sorted(set(expected) - set(lines)):
                fail(f'not reported: {line}')
            for line in sorted(set(lines) - set(expected)):
                fail(f'not expected: {line}')
        else:
            self.same_lines([line for line in expected if line.split(':')[0] not in left_out], lines, words_of, 'this version')
        print(f'{len(expected)} errors expected')
        with open(os.path.join(HERE, 'reject', 'expected.txt')) as f, open(os.path.join(HERE, 'reject', 'expected.clang.txt')) as g:
            self.same_lines(f.read().split('\n')[:-1], g.read().split('\n')[:-1], 'GCC', 'clang')

        # Without code generation, in another format, in colours: the same.
        schedule = os.path.join(HERE, 'reject', 'schedule.c')
        if sorted(self.errors_of(schedule, 'c', ['-fsyntax-only'])) != sorted(self.errors_of(schedule, 'c')):
            fail('-fsyntax-only reports other errors')
        if CLANG:
            return
        status, output = start([*CC, *self.plugin(), '-fopenacc', '-c', schedule, '-o', '/dev/null'])
        if status != 1 or "'#pragma ws' cannot be used with '-fopenacc'" not in output or output.count(' error: ') != 1:
            fail('-fopenacc is not refused', output)

    @staticmethod
    def same_lines(one, other, first, second):
        """What one compiler refuses, the other refuses too; the lines that they name may differ by two."""
        lines = []
        for errors in (one, other):
            # A jump's other end is a note of clang's.
            lines.append({(place[0], int(place[1])) for place in (line.split(':') for line in errors
                          if 'jump to label' not in line and not line.startswith('clang_'))})
        for one, other, names in ((lines[0], lines[1], f'{first}, not {second}'), (lines[1], lines[0], f'{second}, not {first}')):
            for name, line in sorted(one):
                if not any((name, near) in other for near in range(line - 2, line + 3)):
                    fail(f'refused by {names}: {name}:{line}')

    # symbols

    TASKS = {'ws_put_task', 'ws_taskloop', 'ws_taskloop_ull', 'ws_taskwait', 'ws_taskgroup_start', 'ws_taskgroup_end', 'ws_task_slot', 'ws_task_slots',
             'ws_task_reduction_start', 'ws_task_reduction_end', 'ws_task_reduction_remap'}
    CLANG_TASKS = {'ws_new_task', 'ws_start_task', 'ws_start_taskloop', 'ws_task_reductions', 'ws_task_copy'}
    ABI = {'ws_parallel', 'ws_parallel_loop', 'ws_parallel_if', 'ws_parallel_loop_if', 'ws_loop_start', 'ws_loop_next', 'ws_loop_ull_start', 'ws_loop_ull_next',
           'ws_loop_start_step', 'ws_loop_ull_start_step', 'ws_loop_end', 'ws_reduction_start', 'ws_reduction_end', 'ws_alone', 'ws_atomic_start', 'ws_atomic_end',
           'ws_critical_start', 'ws_critical_end', *TASKS, *CLANG_TASKS, 'ws_uses', 'ws_plain_begin', 'ws_plain_end', 'ws_link_with_-fws'}

    # -fws=openmp calls these (openmp_test.py), and gfortran's code does.
    OTHERS = {'ws_openmp', 'ws_openmp_loop', 'ws_too_many_iterations', 'ws_group_begin', 'ws_group_put', 'ws_group_wait', 'ws_group_wanted'}

    @staticmethod
    def standard(source):
        return ['-std=c++20'] if source.endswith('modern.cpp') else []

    def check_symbols(self, source, language, options, seen):
        label = f'{os.path.basename(source)} as {language} {options}'
        path = self.path(re.sub(r'\W+', '_', label.replace('+', 'p')) + '.o')  # c and c++ at once
        status, output = start([*compiler(language), *self.plugin(options.split()), *options.split(), *self.standard(source), '-c', source,
                                '-o', path])
        if status:
            fail(f'{label}: compilation', output)
            return
        undefined = {line.split()[-1] for line in start(['nm', '-u', path])[1].split('\n') if line}
        foreign = {name for name in undefined if re.match(r'GOMP|omp_|__kmpc|__ws|__builtin', name)}
        if '-fopenmp' in options.split():   # clang asks for the number of a thread that has `omp` in its loop
            foreign -= {'__kmpc_global_thread_num'}
        if foreign:
            fail(f'{label}: calls {", ".join(sorted(foreign))}')
        ours = {name for name in undefined if name.startswith('ws_') and not name.startswith('ws_fake')}
        if not ours <= self.ABI:
            fail(f'{label}: calls {", ".join(sorted(ours - self.ABI))}, not in abi.h')
        if bool(ours) != ('ws_link_with_-fws' in ours):
            fail(f'{label}: refers to {", ".join(sorted(ours))}')
        seen |= ours
        if '__ws' in start(['nm', path])[1]:
            fail(f'{label}: a marker is left')

    def symbols(self):
        seen = set()
        jobs = []
        for number, (source, languages) in enumerate(programs('accept')):
            for language in languages:
                both = ('-O0', '-O3 -fopenmp')
                for options in both if self.everything or 'with_openmp' in source else both[number % 2:][:1]:
                    if '-fopenmp' not in options or 'with_openmp' not in source:
                        jobs.append((self.check_symbols, source, language, options, seen))
        in_parallel(jobs)
        # clang's loops all come in one form, and its tasks in another than GCC's.
        others = {'ws_parallel_loop', 'ws_parallel_loop_if', 'ws_loop_start', 'ws_loop_next', 'ws_loop_end', 'ws_loop_start_step',
                    'ws_loop_ull_start_step', *self.TASKS - {'ws_taskwait', 'ws_taskgroup_start', 'ws_taskgroup_end'}} if CLANG else self.CLANG_TASKS
        if seen != self.ABI - others:
            fail(f'no program calls {", ".join(sorted(self.ABI - others - seen))}')
        with open(os.path.join(ROOT, 'runtime/abi/abi.h')) as f:
            declared = set(re.findall(r'\b(ws_\w+)(?:\(|;$)|"(ws_[-\w]+)"$', f.read(), re.M))
        declared = {name or quoted for name, quoted in declared} - {'ws_site', 'ws_sites'} - self.OTHERS
        if declared != self.ABI:
            fail(f'abi.h declares other functions: {", ".join(sorted(declared ^ self.ABI))}')

    # vectors

    def vectors_one(self, options):
        status, output = start([*CC, *self.plugin(), *options, '-S', os.path.join(HERE, 'vectors.c'), '-o', '-'])
        counts = {}
        for label, code in re.findall(r'^([\w.]+):(.*?)(?=^[\w.]+:\s|\Z)', re.sub(r'^\.L\w+:.*', '', output, flags=re.M), re.M | re.S):
            version = 'plain' if 'plain' in label else 'shared' if 'shared' in label else None
            if version:
                counts[version] = counts.get(version, 0) + len(re.findall(r'\bv?mulpd\b', code))
        # Clang 14 vectorizes it; GCC 12 by other rules, but no less with a directive than without.
        if status or len(counts) < 2 or counts['shared'] < counts['plain'] or CLANG and counts['plain'] < 8:
            fail(f'packed multiplications with {" ".join(options)}: {counts} ({status})', output[:2000])

    def seems_as_hot(self):
        """The plain version of a loop seems to run no more often, beside its function, than the loop without a directive does: counts beyond the most that GCC
        reckons with would be all alike to what chooses what is kept in registers."""
        status, output = start([*CC, *self.plugin(), '-O3', '-c', os.path.join(HERE, 'vectors.c'), '-o', os.devnull, '-fdump-tree-optimized=stdout'])
        hottest = {}
        for name, code in re.findall(r'^;; Function assemble_(plain|shared) (.*?)(?=^;; Function|\Z)', output, re.M | re.S):
            counts = [int(n) for n in re.findall(r'\[local count: (\d+)', code)]
            hottest[name] = max(counts, default=0) / max(counts[:1], default=1)
        if status or len(hottest) < 2 or not 1 < hottest['shared'] <= hottest['plain']:
            fail(f'how often a loop seems to run: {hottest} ({status})', output[:2000])

    # plain

    def plain_code(self, *options, to='-', source='plain.c'):
        """What the compiler says when it makes assembly of it."""
        status, output = start([*CC, *self.plugin(), *options, '-S', os.path.join(HERE, source), '-o', to])
        if status:
            fail(f'{source} with {" ".join(options)} ({status})', output)
        return output

    def machine_code(self, options, skip=0):
        """{function: [(address, bytes, instruction)]} of plain.c, for code that begins at that many bytes behind the start of a cache line."""
        if options != self.assembled_with:
            self.plain_code(*options, to=self.path('plain.s'))
            with open(self.path('plain.s')) as f:
                self.assembly, self.assembled_with = f.read(), options
        assembly, binary = self.path('skipped.s'), self.path('skipped.o')
        with open(assembly, 'w') as f:
            f.write(f'\t.text\n\t.balign 64\n\t.skip {skip}, 0x90\n' + self.assembly)
        for command in [*CC, '-c', assembly, '-o', binary], ['objdump', '-dw', binary]:
            status, output = start(command)
            if status:
                fail(f'{" ".join(command)} ({status})', output)
        functions = {}
        for name, code in re.findall(r'^[0-9a-f]+ <([\w.]+)>:\n(.*?)(?=^\n|\Z)', output, re.M | re.S):
            functions[name] = [(int(at, 16), octets.split(), what.strip()) for at, octets, what
                               in re.findall(r'^ *([0-9a-f]+):\t([0-9a-f ]+)(?:\t(.*))?$', code, re.M)]
        return functions

    @staticmethod
    def short_loops(code, most=40):
        """Where those of at most that many bytes (GCC estimates bytes), with no loop and no atomic instruction inside, begin and end."""
        back = []
        for at, octets, what in code:
            jump = re.match(r'j\w+ +([0-9a-f]+) ', what)
            if jump and code[0][0] <= int(jump[1], 16) <= at:
                back.append((int(jump[1], 16), at + len(octets)))
        atomic = [at for at, _, what in code if what.startswith('lock')]
        return [loop for loop in back if loop[1] - loop[0] <= most and not any(loop[0] <= at < loop[1] for at in atomic) and not any(other != loop and loop[0] <= other[0] and other[1] <= loop[1] for other in back)]

    def in_lines(self):
        """A short loop in two cache lines takes longer: wherever its function lies, with a directive it lies in one."""
        for options in ['-O3'], ['-O2'], ['-O3', '-mavx'], ['-O3', '-falign-loops=32'], ['-O3', '-falign-loops=64']:
            seen, plain_split = 0, 0
            for skip in range(0, 256, 16):
                for name, code in self.machine_code(options, skip).items():
                    loops = self.short_loops(code)
                    split = [loop for loop in loops if loop[0] // 64 != (loop[1] - 1) // 64]
                    if '_omp_fn' in name or ('_shared' in name and '-O3' in options):
                        seen += len(loops)
                        if split:
                            fail(f'{name} with {" ".join(options)}, {skip} bytes on: loops in two lines at {split}')
                    elif '_plain' in name:
                        plain_split += len(split)
            if seen < 16 * 4 or (not plain_split and len(options) == 1):
                fail(f'{" ".join(options)}: {seen} short loops seen, {plain_split} of those without a directive in two lines')
        for options in ['-O3', '-fno-align-loops'], ['-Os']:
            self.plain_code(*options, to=self.path('plain.s'))
            with open(self.path('plain.s')) as f:
                if '.p2align 6' in f.read():
                    fail(f'{" ".join(options)}: loops are aligned')

    def addresses(self):
        """An address that begins with %rbp takes a displacement: the short loop of a product has none."""
        for options in ['-O2'], ['-O3']:
            seen = 0
            for name, code in self.machine_code(options).items():
                for begin, end in self.short_loops(code) if name.startswith('product_shared') else []:
                    seen += 1
                    if any(begin <= at < end and '(%rbp' in what for at, _, what in code):
                        fail(f'{name} with {" ".join(options)}: addresses by %rbp')
            if not seen:
                fail(f'{" ".join(options)}: no short loop in product_shared')

    def asks_before(self):
        """A loop with atomics asks once whether its rank is alone: the plain one has no other jump than the one back."""
        for options in [[level] for level in PLAIN_TOO]:
            code = self.machine_code(options)['scatter_shared']
            loops = [[what for at, _, what in code if begin <= at < end] for begin, end in self.short_loops(code, 200)]
            if not any(any('addsd' in what for what in loop) and sum(what.startswith('j') for what in loop) == 1 for loop in loops):
                fail(f'scatter_shared with {" ".join(options)} has no loop of additions alone')

    def inlines_once(self):
        """A loop in two versions calls a function twice that its source calls once, and that is therefore inlined."""
        for options in [[level, *debug] for level in PLAIN_TOO for debug in ([], ['-g'])]:
            self.plain_code(*options, to=self.path('once.s'), source='once.c')
            with open(self.path('once.s')) as f:
                labels = set(re.findall(r'^(\w+)[\w.]*:', f.read(), re.M))
            if 'volumes' not in labels or 'called_once' in labels:
                fail(f'once.c with {" ".join(options)}: a function that is called once is not inlined')
            if 'for_avx2' not in labels:
                fail(f'once.c with {" ".join(options)}: a function for another processor is inlined')

    def others_stay(self):
        """Functions without a directive have the bytes that they have without the plugin."""
        for options in ['-O2'], ['-O3'], ['-O3', '-march=native']:
            ours = self.machine_code(options)
            plugin, self.plugin, self.assembled_with = self.plugin, lambda *_: ['-Wno-unknown-pragmas'], None
            theirs = self.machine_code(options)
            self.plugin, self.assembled_with = plugin, None
            for name in [name for name in theirs if name.endswith('_plain')]:
                def relative(code):     # jumps are relative, but objdump shows where they lead
                    return [octets for _, octets, what in code if not what.startswith(('nop', 'data16', 'cs nop', 'xchg'))]
                if relative(ours[name]) != relative(theirs[name]):
                    fail(f'{name} with {" ".join(options)} is not what it is without the plugin')

    def plain(self):
        if platform.machine() != 'x86_64':
            print('looks at code of x86-64')
            sys.exit(77)
        if CLANG:
            self.copies('-O3')
            self.asks_before()
        else:
            self.in_lines()
            self.addresses()
        self.inlines_once()
        self.others_stay()
        for options in [[level, *debug] for level in PLAIN_TOO for debug in ([], ['-g'])]:
            if CLANG:
                code, constant = self.plain_code(*options, '-emit-llvm'), r'fmul [^\n]*3\.75'
                functions = dict(re.findall(r'^define [^\n]*@([\w.]+)\((.*?)^}', code, re.M | re.S))
                self.loads_in_order(functions)
                self.keeps_types_apart(*options)
            else:
                code, constant = self.plain_code(*options, '-fdump-tree-optimized=stdout', to=os.devnull), r'\* \{? ?3\.75e\+0'
                functions = dict(re.findall(r'^;; Function ([\w.]+) (.*?)(?=^;; Function|\Z)', code, re.M | re.S))
            scale = functions.get('scale', code)
            if 'ws_plain_begin' not in scale or not re.search(constant, scale):
                fail(f'with {" ".join(options)} the plain version of a loop does not know the constant of its function', scale)

    def copies(self, *options):
        """A loop that is cut into chunks copies registers no more than one without a directive does."""
        most = {}
        for name, code in re.findall(r'^map_(plain|shared)(?:\.ws)?:(.*?)^\s+\.size', self.plain_code(*options), re.M | re.S):
            for block in re.split(r'^\.L\w+:', code, flags=re.M):
                if block.count('mulpd') > 40:
                    most[name] = max(most.get(name, 0), block.count('movapd'))
        if len(most) < 2 or most['shared'] > most['plain'] + 2:
            fail(f'copies of registers in a loop with {" ".join(options)}: {most}')

    @staticmethod
    def loads_in_order(functions):
        """An addition that is not atomic loads first what is added, as clang does without a directive, and then what its address needs."""
        def additions_in(function):
            return [block for block in re.split(r'^\d+:.*', function, flags=re.M)
                    if re.search(r'\bfadd\b', block) and 'cmpxchg' not in block and 'atomicrmw' not in block]

        for name in ('scatter_plain', 'scatter_shared'):
            additions = additions_in(functions[name])
            first = [re.search(r'\bload (\w+),', block) for block in additions]
            if not first or any(not load or load[1] != 'double' for load in first):
                fail(f'{name} loads first what its address needs', functions[name])
        for name in ('cross_plain', 'cross_shared'):
            blocks = additions_in(functions[name])
            additions, places = (sum(len(re.findall(what, block)) for block in blocks) for what in (r'\bfadd\b', r'\bload i32,'))
            if not additions or places > additions:
                fail(f'{name} loads {places} places for {additions} additions', functions[name])

    def keeps_types_apart(self, *options):
        """An addition to what can have several types, as a member of a union, is not said to be to a double or a float."""
        for which in 1, 2, 3:
            code = self.plain_code(*options, f'-DOTHER_TYPES={which}', '-emit-llvm')
            other = re.search(r'^define [^\n]*@other_\w+\(.*?^}', code, re.M | re.S)[0]
            tags = re.findall(r'^ *store (?:double|float) [^\n]*!tbaa (!\d+)', other, re.M)
            types = [re.search(rf'^{tag} = !{{(!\d+)', code, re.M)[1] for tag in tags]
            names = [re.search(rf'^{type_} = !{{!"([^"]*)"', code, re.M)[1] for type_ in types]
            if 'fadd' not in other or {'double', 'float'} & set(names):
                fail(f'an object of several types (OTHER_TYPES={which}) is added to as {names}', other)

    def vectors(self):
        if platform.machine() != 'x86_64':
            print('counts instructions of x86-64')
            sys.exit(77)
        if not CLANG:
            self.seems_as_hot()
        in_parallel([(self.vectors_one, ['-O3']), (self.vectors_one, ['-O2', '-g', *(['-ftree-slp-vectorize'] if not CLANG else [])])])

    # warn

    def warn_one(self, source, language, options, off=()):
        without = [f'-fplugin-arg-{"ws" if CLANG else "ws_gcc"}-warn-no-{name}' for name in off]
        label = f'{os.path.basename(source)} as {language} {" ".join([*options, *without])}'.rstrip()
        status, output = start([*compiler(language), *self.plugin(options), *without, *options, '-c', source, '-o', '/dev/null'])
        with open(source) as f:
            lines = list(enumerate(f, 1))
        if language == 'c':
            lines = lines[:next((at for at, text in lines if text.startswith('#ifdef __cplusplus') and at > 10), len(lines) + 1)]
        wanted = {(at, text.split('warns: ')[1].strip()) for at, text in lines if 'warns: ' in text and '-Wall' in options}
        found = re.findall(r':(\d+):\d+: warning: (.*)', output)
        named = [(at, re.fullmatch(r'(.*) \[-fws-warn=([\w-]+)\]', text)) for at, text in found]
        found = [(at, name[1]) for at, name in named if name]
        wrong = [text[0] for _, text in named if text and not text[1].startswith(WARNS[text[2]])]
        wanted = {(at, text) for at, text in wanted if not any(name in off and text.startswith(front) for name, front in WARNS.items())}
        if wrong or len(found) != len(named) or status or sorted((int(at), text) for at, text in found) != sorted(wanted):
            fail(f'{label} ({status})', output)

    def quoted(self):
        """In the quotes of the user's character set, which are no apostrophes."""
        source = os.path.join(HERE, 'warn/warnings.c')
        status, output = start([*compiler('c'), *self.plugin(), '-Wall', '-c', source, '-o', '/dev/null'],
                               LC_ALL='C.UTF-8')
        for quoted in ('count', '#pragma ws for') if CLANG else ():     # it has apostrophes everywhere
            output = output.replace(f"'{quoted}'", f'‘{quoted}’')
        if "writes its own copy of thread-local ‘count’ in the loop of ‘#pragma ws for’; use" not in output:
            fail(f'quotes ({status})', output)

    def as_errors(self):
        """-Werror=ws-NAME, also without -Wall: that one alone."""
        source = os.path.join(HERE, 'warn/warnings.c')
        for name in WARNS:
            status, output = start([*compiler('c'), *self.plugin(), f'-fplugin-arg-{"ws" if CLANG else "ws_gcc"}-warn-error-{name}', '-c', source, '-o', '/dev/null'])
            found = re.findall(r':\d+:\d+: (\w+): .* \[-fws-warn=([\w-]+)\]', output)
            if status != 1 or set(found) != {('error', name)}:
                fail(f'-Werror=ws-{name} ({status})', output)

    def warn(self):
        self.quoted()
        self.as_errors()
        in_parallel([(self.warn_one, source, language, options) for source, languages in programs('warn') for language in languages
                     for options in ([], ['-Waddress'], ['-Wall', '-Wno-address'], ['-O2', '-Wall', '-fopenmp'])]
                    + [(self.warn_one, source, language, ['-Wall'], off) for source, languages in programs('warn') for language in languages
                       for off in (*((name,) for name in WARNS), tuple(WARNS))])

    # ways

    def no_libgomp(self, binary):
        if re.search('GOMP|__kmpc', start(['nm', binary])[1]):
            fail(f'{os.path.basename(binary)}: libgomp or libomp is used')

    def automatic_parallelization_stays_off(self, runtime):
        """The plugin asks GCC for it for a moment; nothing of that may reach an LTO stream."""
        source, binary = self.path('wide.c'), self.path('wide')
        with open(source, 'w') as f:
            f.write('double a[4000000], b[4000000];\nint main(void) {\n'
                    '    for (int i = 0; i < 4000000; i++)\n        a[i] = b[i] * 2 + 1;\n'
                    '#pragma ws for\n    for (int i = 0; i < 100; i++)\n        a[i]++;\n    return a[5] != 2;\n}\n')
        status, output = start([*CC, *self.plugin(), '-O2', '-flto', source, runtime, '-pthread', '-o', binary])
        if status or start([binary])[0]:
            fail('LTO of a program without -fopenmp', output)
        else:
            self.no_libgomp(binary)

    def precompiled_header(self, runtime):
        for language, command in (('c', CC), ('c++', CXX)):
            folder = self.path(f'pch_{language}')
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            header, main = os.path.join(folder, 'total.h'), os.path.join(folder, 'main.c')
            with open(header, 'w') as f:
                f.write('static inline long total(int n) {\n    long s = 0;\n#pragma ws for reduction(+ : s)\n'
                        '    for (int i = 0; i < n; i++)\n        s += i;\n    return s;\n}\n')
            # The second uses _Pragma too, whose handling the header's state must not break.
            plain = '#include "total.h"\nint main(void) { return total(100) != 4950; }\n'
            more = ('#include "total.h"\n#define P(x) _Pragma(#x)\nint main(void) {\n    long t = 0;\n'
                    '    P(ws for reduction(+ : t))\n    for (int i = 0; i < 10; i++)\n        t++;\n'
                    '    return total(100) + t != 4960;\n}\n')
            precompiled = header + ('.pch' if CLANG else '.gch')
            status, output = start([*command, *self.plugin(), '-O2', '-pthread', '-x', f'{language}-header', header,
                                    '-o', precompiled])
            if status:
                fail(f'precompiling a header, {language}', output)
            use = []
            if CLANG:       # looks whether the header is as it was; an #include would read it
                use = ['-include-pch', precompiled]
                plain, more = (text.replace('#include "total.h"\n', '') for text in (plain, more))
            else:
                os.rename(header, header + '.gone')     # only the precompiled one is there
            for text in (plain, more):
                with open(main, 'w') as f:
                    f.write(text)
                binary = os.path.join(folder, 'main')
                status, output = start([*command, '-x', language, *self.plugin(), '-O2', '-Winvalid-pch', *use, main, '-x', 'none',
                                        runtime, '-pthread', '-o', binary])
                if status or start([binary])[0]:
                    fail(f'a precompiled header, {language}', output)

    def foreign_precompiled_header(self, language):
        """One made without the plugin lacks what a directive needs: that is said, and nothing where there is no
        directive. Clang can use one with the plugin at all only if it was made with -fopenmp."""
        folder = self.path(f'foreign_pch_{language}')
        os.makedirs(folder, exist_ok=True)
        header, main = os.path.join(folder, 'two.h'), os.path.join(folder, 'main.c')
        precompiled = header + ('.pch' if CLANG else '.gch')
        with open(header, 'w') as f:
            f.write('static inline int two(void) { return 2; }\n')
        use = ['-include-pch', precompiled] if CLANG else ['-Winvalid-pch']
        openmp = ('-fopenmp',)
        for made_with, plugin, directive, refused in (
                ((), (), 'ws for', True), ((), (), '', CLANG), (openmp, (), 'ws for', True), (openmp, (), '', False),
                (openmp, openmp, 'omp parallel for', False)):
            start([*(CC if language == 'c' else CXX), *made_with, '-x', f'{language}-header', header,
                   '-o', precompiled])
            with open(main, 'w') as f:
                f.write(('' if CLANG else '#include "two.h"\n') + 'void f(int *a) {\n'
                        + f'#pragma {directive}\n' * bool(directive)
                        + '    for (int i = 0; i < 9; i++)\n        a[i] = two();\n}\n')
            loops = [f'-fplugin-arg-{"ws" if CLANG else "ws_gcc"}-openmp-loops'] if 'omp' in directive else []
            options = [*made_with, *(self.plugin(plugin) if CLANG else self.plugin()), *loops]
            status, output = start([*compiler(language), *options, *use, '-c', main, '-o', main + '.o'])
            said = re.search("error: '#pragma ws' cannot be used with the precompiled header '.*', which was made without "
                             "'-fws'", output)
            if (bool(status), bool(said)) != (refused, refused) or self.crashed(output) or (not refused and output):
                fail(f'a precompiled header made without the plugin {made_with}, {directive}, {language} ({status})',
                     output)

    def preprocessed(self, runtime):
        for source, language in (('places.c', 'c'), ('places.c', 'c++'), ('classes.cpp', 'c++')):
            source = os.path.join(HERE, 'accept', source)
            text = self.path('preprocessed.' + ('i' if language == 'c' else 'ii'))
            status, output = start([*compiler(language), *self.plugin(), '-E', source, '-o', text])
            kind = 'cpp-output' if language == 'c' else 'c++-cpp-output'
            if status:
                fail(f'-E of {source}', output)
            binary = self.path('preprocessed')
            command = CC if language == 'c' else CXX
            status, output = start([*command, '-x', kind, *self.plugin(), '-O2', '-Wall', text, '-x', 'none', runtime,
                                    '-pthread', '-o', binary])
            if status or not start([binary])[1].startswith('ok'):
                fail(f'compiling what -E made of {source}', output)

    def other_front_ends(self):
        # f951 and lto1 load the plugin too: it has nothing to do there, and must not be in the way.
        f951 = start([*CC, '-print-prog-name=f951'])[1].strip()
        if os.path.isabs(f951):
            source = self.path('empty.f90')
            with open(source, 'w') as f:
                f.write('subroutine s(a, n)\n  integer :: n, i\n  real :: a(n)\n  do i = 1, n\n    a(i) = i\n  end do\n'
                        'end subroutine\n')
            status, output = start([*CC, *self.plugin(), '-flto', '-O2', '-c', source, '-o', self.path('empty.o')])
            if status or output:
                fail('Fortran with the plugin loaded', output)

    def simd_makes_vectors(self, language):
        """The loop over a chunk: a sum of floats, which a compiler leaves in order unless it is told that it may not."""
        source = self.path(f'sum.{"c" if language == "c" else "cpp"}')
        for simd in (True, False):
            with open(source, 'w') as f:
                f.write('float sum(const float *a, long n)\n{\n    float s = 0;\n'
                        f'#pragma ws for {"simd " if simd else ""}reduction(+ : s)\n'
                        '    for (long i = 0; i < n; i++)\n        s += a[i];\n    return s;\n}\n')
            report = ['-Rpass=loop-vectorize'] if CLANG else ['-fopt-info-vec-optimized']
            status, output = start([*compiler(language), *self.plugin(), '-O2', *report, '-c', source, '-o', source + '.o'])
            if status or bool(re.search(r':[46]:.*(loop vectorized|vectorized loop)', output)) != simd:
                fail(f'{language}: with{"" if simd else "out"} simd ({status})', output)

    WAYS = (
        ('schedules.c', 'c', '-O2 -flto'), ('reductions.c', 'c', '-O2 -flto -fopenmp'), ('atomics.c', 'c', '-O2 -flto'),
        ('classes.cpp', 'c++', '-O2 -flto -std=gnu++17'),
        ('loops.c', 'c', '-Os -fPIC'), ('loops.c', 'c++', '-Og -g3'),
        ('classes.cpp', 'c++', '-O1 -g3 -fno-pie -no-pie'),
        ('data_clauses.c', 'c', '-O2 -ftrapv -fstack-protector-all'),
        ('data_clauses.c', 'c', '-Ofast -fopenmp-simd -march=native'),
        ('reductions.c', 'c++', '-O2 -fno-exceptions -ffunction-sections -fdata-sections -Wl,--gc-sections'))
    GCC_WAYS = (('names.c', 'c', '-O2 -fdirectives-only'), ('names.cpp', 'c++', '-O2 -flto -g'), ('places.c', 'c', '-O2 -g3 -save-temps=obj'))
    # With -g clang itself warns of -save-temps.
    CLANG_WAYS = (('names.cpp', 'c++', '-O2 -save-temps=obj'), ('names.c', 'c', '-O2 -save-temps=obj'), ('places.c', 'c', '-O2 -save-temps=obj'), ('atomics.cpp', 'c++', '-O2 -flto=thin'), ('atomics.c', 'c', '-O2 -fno-strict-aliasing -mcx16'),
                  ('loops.c', 'c', '-O2 -fsanitize=undefined,address -fno-sanitize-recover=all'),
                  ('criticals.c', 'c', '-O2 -fno-integrated-as'))

    def simd_past_the_type(self):
        """GCC's simd loop would not end."""
        source = self.path('past_the_type.c')
        with open(source, 'w') as f:
            f.write('void g(int);\nvoid f(void)\n{\n#pragma ws for simd\n    for (int i = 0; i < 2147483647; i += 2000000000)\n        g(i);\n}\n')
        status, output = start([*compiler('c'), *self.plugin(), '-c', source, '-o', '/dev/null'])
        if status != 1 or "error: in '#pragma ws for simd': the last step must not leave the type of the variable" not in output:
            fail(f'a simd loop past its type ({status})', output)

    def ways(self):
        runtime = self.fake_runtime()
        accept = os.path.join(HERE, 'accept')
        ways = self.WAYS + (self.CLANG_WAYS if CLANG else self.GCC_WAYS)
        jobs = [(self.build_and_run, os.path.join(accept, name), language, options, runtime, (), ('random',))
                for name, language, options in ways]
        jobs += [(self.automatic_parallelization_stays_off, runtime), (self.precompiled_header, runtime),
                 (self.foreign_precompiled_header, 'c'), (self.foreign_precompiled_header, 'c++'),
                 (self.preprocessed, runtime), (self.simd_makes_vectors, 'c'), (self.simd_makes_vectors, 'c++')]
        if not CLANG:
            jobs += [(self.simd_past_the_type,), (self.other_front_ends,)]
        in_parallel(jobs)

    # torture

    WORDS = ('for declare reduction private firstprivate lastprivate schedule steal_schedule collapse shared default static '
             'dynamic guided auto none ( ) ( ) , : + - * && n a[0:3] a i x s 1 0 -1 2.5 "str" \'c\' [ ] { } ; # == ? '
             '__ws_mark __ws_chunk omp_out num_threads(2) _Pragma("ws") if(n) M N(x) int').split()
    LINES = ('for (int i = 0; i < n; i++) a[i] = x;', 'for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] = j;',
             'while (n--) g(n);', ';', '{', '}', 'for (auto i : b) g(i);', '#pragma ws for', '#pragma GCC ivdep',
             'int k = n;', 'if (n) g(n); else', 'for (;;)', 'for (int i = n; i > 0; i -= x) { break; }')

    def nonsense(self, dice):
        def directive():
            words = [dice.choice(('ws for', 'ws for', 'ws for', 'ws declare reduction', 'ws'))]
            text = ' '.join(words + [dice.choice(self.WORDS) for _ in range(dice.randrange(8))])
            if dice.random() < 0.2:
                return '_Pragma("%s")' % text.replace('"', '\\"')
            return '#pragma ' + text

        lines = ['#define M private(x)', '#define N(y) schedule(dynamic,y)', 'void g(int);']
        if dice.random() < 0.15:
            lines.append(directive())
        lines += ['void f(int n, int *a, double x, char *s) {', 'int b[3];']
        for _ in range(dice.randrange(1, 5)):
            lines += [directive(), dice.choice(self.LINES)]
        return '\n'.join(lines + ['}', ''])

    def crashes(self, number, language, options, text):
        source = self.path(f'torture{number}')
        with open(source, 'w') as f:
            f.write(text)
        options = options.split()
        status, output = start([*compiler(language), *self.plugin(options), *options, '-w', '-S', '-o', '/dev/null', source])
        if status not in (0, 1) or self.crashed(output):
            fail(f'{source} as {language} {" ".join(options)}: {status}', output)
        else:
            os.remove(source)

    def torture(self):
        dice = random.Random(int(os.environ.get('WS_SEED', 1)))
        in_parallel([(self.crashes, number, dice.choice(('c', 'c++')), dice.choice(('-O0', '-O2 -g', '-fopenmp')),
                      self.nonsense(dice)) for number in range(1000 if self.everything else 100)])

    # wrapper

    def wrapper(self):
        """Both plugins are asked for by one file; a blank in the path of the prefix does not matter."""
        prefix = self.path('a prefix')
        libdir = os.path.join(prefix, 'lib')
        shutil.rmtree(prefix, ignore_errors=True)
        version = start([*CC, '--version' if CLANG else '-dumpversion'])[1]
        major = re.search(r'clang version (\d+)' if CLANG else r'(\d+)', version)[1]
        name = 'clang' if CLANG else 'gcc'
        folder = os.path.join(libdir, 'workshare', f'{name}-{major}')
        os.makedirs(folder)
        plugin = os.path.join(folder, f'ws_{name}.so')
        shutil.copy(self.library, plugin)
        shutil.copy(os.path.join(ROOT, 'compiler-plugin/wrappers/wrapper.sh'), os.path.join(libdir, 'workshare'))
        script = os.path.join(prefix, 'mpicc')
        with open(script, 'w') as f:
            f.write('set -u\nlibdir=$1 CC=$2\nshift 2\nws_language=c ws_options=() allargs=()\n'
                    'for a; do case $a in -fws*) ws_options+=("$a");; *) allargs+=("$a");; esac; done\n'
                    'ws_cflags=() ws_libs=(-first)\n. "$libdir/workshare/wrapper.sh"\n'
                    'printf "%s\\n" "${ws_cflags[@]}" "${ws_libs[@]}"\n')
        # Compilers are found by PATH, as in real life: $CC is split at blanks.
        command = ' '.join(CC)
        path = f'{prefix}:{os.environ["PATH"]}'

        def ask(cc, *arguments):
            return start(['bash', script, libdir, cc, *(arguments or ('-fws',))], PATH=path)

        def gets(cc, arguments, words):
            status, output = ask(cc, *arguments)
            if status or output.split('\n')[:-1] != [*words, '-first', '-lws']:
                fail(f'wrapper for {cc} {" ".join(arguments)}: {status}', output)

        if CLANG:
            def words(openmp, *more):
                return ['--start-no-unused-arguments', f'-fplugin={plugin}', f'-fpass-plugin={plugin}', '-Xclang', '-fopenmp',
                        *([] if openmp else ['-U_OPENMP']), *more, *(['-fplugin-arg-ws-openmp'] if openmp else []),
                        '--end-no-unused-arguments']
            gets(command, ('-fws', '-fopenmp'), words(True))
            gets(command + ' -fopenmp', ('-fws',), words(True))
            gets(command, ('-fopenmp', '-fws', '-fno-openmp'), words(False))
            gets(command, ('-fopenmp=libgomp', '-fws', '-O2'), words(False))
            report = '-fplugin-arg-ws-report'
        else:
            def words(openmp, *more):
                return [f'-fplugin={plugin}', *more]
            gets(command, ('-fws', '-fopenmp'), words(True))
            report = '-fplugin-arg-ws_gcc-report'
        # What stands before a compiler and starts it: it is the compiler's version that counts, not ccache's.
        before = os.path.join(prefix, 'ccache')
        with open(before, 'w') as f:
            f.write('#!/bin/sh\n[ "$1" != --version ] || { echo "ccache version 4.7.5"; exit; }\nexec "$@"\n')
        os.chmod(before, 0o755)
        for cc in (command, ' '.join(CXX), command + ' -pipe', 'ccache ' + command, 'ccache ' + ' '.join(CXX)):
            gets(cc, ('-fws',), words(False))
        gets(command, ('-fws', '-fws-warn=no-thread-number'), words(False, report.replace('report', 'warn-no-thread-number')))
        status, output = ask(command, '-fws-warn=no-threads')
        if status != 1 or output != "mpicc: unknown option '-fws-warn=no-threads'; expected no-thread-number, no-thread-variable or no-computed-goto\n":
            fail(f'wrapper takes -fws-warn=no-threads: {status}', output)
        for written, meant in (('-Wno-ws-', 'warn-no-'), ('-Werror=ws-', 'warn-error-')):
            for warning in WARNS:
                gets(command, ('-Wall', '-fws', written + warning), words(False, report.replace('report', meant + warning)))
        for wrong in '-Wno-ws-threads', '-Wws-thread-number', '-Werror=ws-', '-Wno-error=ws-thread-number':
            status, output = ask(command, '-fws', wrong)
            if status != 1 or output != f"mpicc: unknown option '{wrong}'; expected -Wno-ws-NAME or -Werror=ws-NAME for thread-number, thread-variable or computed-goto\n":
                fail(f'wrapper takes {wrong}: {status}', output)
        gets(command, ('-fws=openmp', '-fws-report'), words(True, report.replace('report', 'openmp-loops'), report))
        for wrong in ('-fws=omp', '-fws=', '-fws-reports', '-fws-'):
            status, output = ask(command, wrong)
            if status != 1 or output != f"mpicc: unknown option '{wrong}'; expected -fws, -fws=openmp, -fws-report or -fws-warn=no-NAME\n":
                fail(f'wrapper takes {wrong}: {status}', output)

        have = f'{"GCC" if name == "gcc" else name} {major}'

        def refuses(cc, printed, message, hint=''):
            with open(os.path.join(prefix, cc), 'w') as f:
                f.write(f'#!/bin/sh\ncase $1 in --version) echo "{printed}";; *) echo 9.4.0;; esac\n')
            os.chmod(os.path.join(prefix, cc), 0o755)
            status, output = ask(cc)
            if status != 1 or output != f"mpicc: -fws needs {have} (found {message} as '{cc}'){hint}\n":
                fail(f'wrapper for {cc}: {status}', output)

        refuses('clang-13', 'Debian clang version 13.0.1-11\nTarget: x86_64', 'clang 13.0.1')
        if not CLANG:
            refuses('clang-14', 'Debian clang version 14.0.6\nTarget: x86_64', 'clang 14.0.6',
                    '; install clang-14, libclang-14-dev and llvm-14-dev and build Workshare again, for its plugin')
        refuses('apple', f'Apple clang version {major}.0.0 (clang-1400)', f'Apple clang {major}.0.0')
        refuses('gcc-9', 'gcc-9 (Debian) 9.4.0\nCopyright (C) 2019 Free Software Foundation, Inc.', 'GCC 9.4.0')
        refuses('icx', 'Intel(R) oneAPI DPC++/C++ Compiler 2023.1', 'Intel(R) oneAPI DPC++/C++ Compiler 2023.1')
        status, output = ask('no-such-compiler')
        if status != 1 or not output.startswith("mpicc: -fws: the compiler 'no-such-compiler' does not run: "):
            fail('wrapper for no compiler', output)
        os.makedirs(os.path.join(libdir, 'workshare', 'gcc-2'))
        open(os.path.join(libdir, 'workshare', 'gcc-2', 'ws_gcc.so'), 'w').close()
        status, output = ask('gcc-9')
        if output != f"mpicc: -fws needs {' or '.join(sorted((have, 'GCC 2'), key=lambda n: (n[0] == 'c', n)))} (found GCC 9.4.0 as 'gcc-9')\n":
            fail('wrapper with two plugins', output)
        shutil.rmtree(os.path.join(libdir, 'workshare', 'gcc-2'))
        os.remove(plugin)
        status, output = ask(command)
        if status != 1 or not output.startswith('mpicc: -fws needs a plugin, and none is installed'):
            fail('wrapper without plugins', output)

    # debug

    # What gdb prints in iteration 3, before the marked line and after it. Optimized, compilers do not keep all; clang, as for
    # OpenMP's loops, not the variables that are shared.
    BEFORE = {'i': '3', 'local': '35', 'n': '10', 'factor': '2', 'field->scale': '5', 'field->values[2]': '29', 'first': '0', 'sum': '51'}
    AFTER = {'i': '3', 'local': '35', 'inner': '41', 'sum': '51'}
    LOST = {'gcc': (('n',), ('local',)), 'clang': (('i', 'local', 'n', 'factor', 'field->scale', 'field->values[2]'), ('i', 'local'))}

    def debug_one(self, language, level, line):
        label = f'debug {language} {level}'
        binary = self.path(f'debug.{language}{level}')
        status, output = start([*compiler(language), *self.plugin(), '-g', level, *WARNINGS, os.path.join(HERE, 'debug.c'), '-x', 'none',
                                self.fake, '-pthread', '-o', binary])
        if status or output:
            fail(f'{label}: compilation', output)
            return
        lost = ((), ()) if level == '-O0' else self.LOST['clang' if CLANG else 'gcc']
        if CLANG and level != '-O0' and MAJOR > 14:
            lost = ((*lost[0], 'first'), lost[1])
        shown = [{name: value for name, value in values.items() if name not in missing}
                 for values, missing in zip((self.BEFORE, self.AFTER), lost)]
        commands = [f'break debug.c:{line}', 'run', 'ignore 1 2', 'continue']
        for values, after in zip(shown, ('next', 'backtrace')):
            # Through an int, as clang makes references of shared variables.
            commands += [f'printf "<{name}=%d>\\n", (int) {name}' for name in values] + [after]
        commands += ['delete', 'continue']
        status, output = start(['gdb', '-nx', '-batch', *(word for c in commands for word in ('-ex', c)), binary], WS_FAKE='alone')
        if 'ptrace: Operation not permitted' in output:
            self.untraced = True
            return
        wanted = [rf'debug\.c:{line}\n{line}\s+double inner = weight']
        wanted += [re.escape(f'<{name}={value}>') for name, value in shown[0].items()]
        wanted.append(rf'\n{line + 1}\s+field->values\[i\] = inner')
        wanted += [re.escape(f'<{name}={value}>') for name, value in shown[1].items()]
        wanted += [rf'#0 .*\bdebug\.c:{line + 1}\n', r'#\d+ .*\bsmooth ?\(n.*debug\.c:\d+\n', r'\bmain \(\) at .*debug\.c:\d+\n',
                   'sum 590\n', 'exited normally']
        at = 0
        for pattern in wanted:      # in this order
            found = re.compile(pattern).search(output, at)
            if not found:
                fail(f'{label}: {pattern}', output)
                return
            at = found.end()
        os.remove(binary)

    def debug(self):
        if not shutil.which('gdb'):
            print('gdb is not installed')
            sys.exit(77)
        self.fake, self.untraced = self.fake_runtime(), False
        with open(os.path.join(HERE, 'debug.c')) as f:
            line = 1 + next(i for i, text in enumerate(f) if text.endswith('/* here */\n'))
        in_parallel([(self.debug_one, language, level, line) for language in ('c', 'c++') for level in ('-O0', '-Og')])
        if self.untraced:
            print('gdb may not trace programs here')
            sys.exit(77)

    # exception

    def exception_one(self, level, lines):
        binary = self.path(f'exception{level}')
        status, output = start([*compiler('c++'), *self.plugin(), level, '-Wall', '-Wextra', os.path.join(HERE, 'exception.cpp'),
                                '-L', self.libws, f'-Wl,-rpath,{self.libws}', '-lws', '-o', binary])
        if status or output:
            fail(f'exception {level}: compilation', output)
            return
        for how, loop in (('owner', 'sweep'), ('critical', 'sweep'), ('reduction', 'reduction'), ('outer', 'outer')):
            status, output = start([binary, how])
            function = r'\(anonymous namespace\)::Field::sweep' if loop == 'sweep' else 'main'
            if status != -6 or 'the reason' not in output or not re.match(
                    rf'workshare: error: an exception left an iteration of the ws loop ([^:\n]*/)?exception\.cpp:{lines[loop]}:{function};', output):
                fail(f'exception {level} {how}: {status}', output)
        status, output = start([binary, 'outside'])
        if status != -6 or 'workshare:' in output:
            fail(f'exception {level} outside of loops: {status}', output)
        status, output = start([binary, 'caught'])
        if status or output:
            fail(f'exception {level} caught: {status}', output)
        os.remove(binary)

    def exception(self):
        if not self.libws:
            sys.exit(__doc__)
        with open(os.path.join(HERE, 'exception.cpp')) as f:
            lines = {text.split('// ')[1].strip(): number for number, text in enumerate(f, 1) if text.startswith('#pragma ws for') and '//' in text}
        in_parallel([(self.exception_one, level, lines) for level in ('-O0', '-O2')])


def main():
    arguments = sys.argv[1:]
    update, everything = '--update' in arguments, '--all' in arguments
    libws = next((word.split('=', 1)[1] for word in arguments if word.startswith('--libws=')), None)
    arguments = [word for word in arguments if not word.startswith('--')]
    tests = ('accept', 'reject', 'symbols', 'warn', 'ways', 'torture', 'wrapper', 'debug', 'vectors', 'plain', 'exception')
    if len(arguments) != 3 or arguments[0] not in tests:
        sys.exit(__doc__)
    getattr(Test(arguments[1], arguments[2], update, everything, libws), arguments[0])()
    finish()


main()
