#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutated directive lines through the real compilers: no crash, no hang, no unknown word accepted.

usage: compilers.py PREFIX WORK_FOLDER LINES [SEED] [--only LANGUAGE-COMPILER]      LINES for each compiler and language

Each line stands in a small function of its own, many to a file, so that one run of a compiler judges hundreds. Lines that
pass are compiled again, with optimization. A line that fails is shown shortened to what is needed, with the command.
"""
import concurrent.futures
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

LINES_IN_A_FILE = 250
SHOWN = 20                  # different failures of a compiler
LIMIT = 60                  # seconds for one file
CRASH = re.compile(r'internal compiler error|confused by earlier errors|PLEASE submit a bug report|Segmentation fault|Assertion .* failed|'
                   r'cannot load plugin|unable to load plugin|Stack dump|terminate called|Sanitizer')

C_SEEDS = ['for', 'for private(a)', 'for firstprivate(a, b) lastprivate(c)', 'for reduction(+ : s), shared(a)', 'for reduction(max : s, b) default(none)',
           'for schedule(static)', 'for schedule(dynamic, 4)', 'for schedule(guided, g(n)) steal_schedule(auto)', 'for schedule(runtime) steal_schedule(runtime)', 'for collapse(2) steal_schedule(dynamic, n / 2)',
           'for reduction(+ : v[0 : n])', 'for lastprivate(conditional: a)', 'for default(shared) private(a) private(b)', 'for reduction(task, + : s)', 'for name("text")', 'for name("text") schedule(static)',
           'for firstprivate(d) reduction(* : d)', 'for if(n > 3)', 'for simd safelen(8) reduction(+ : s)', 'for simd simdlen(4) lastprivate(a) if(g(n))', 'for simd aligned(v : 16) collapse(2)',
           'sections', 'sections private(a) lastprivate(b) if(n)', 'sections reduction(+ : s) name("text")', 'section', 'atomic', 'atomic read', 'atomic write, release', 'atomic seq_cst update', 'atomic capture acq_rel', 'atomic relaxed',
           'critical', 'critical (name)', 'declare reduction (mine : int : omp_out += omp_in) initializer(omp_priv = 0)']
WORDS = ('parallel atomic critical declare reduction private firstprivate lastprivate schedule steal_schedule collapse shared default none static '
         'dynamic guided auto runtime read write update capture seq_cst acq_rel release acquire relaxed hint nowait ordered if num_threads linear safelen simdlen aligned sections section '
         'conditional task inscan monotonic nonmonotonic simd omp ws a b c d s v n g 1 0 - 2.5 ( ) ( ) , : + * && || [ ] [ ] { } ; < == ? = . '
         '"text" "" name "a\\tb" __ws_mark __ws_chunk __ws_critical_ omp_out omp_in mine').split()
C_WORDS = WORDS + "for & # ## :: -> 'c' sizeof int struct (int) this new auto __LINE__ _Pragma defined 0x 1e9999 $".split()
FORTRAN_WORDS = [word for word in WORDS if '&' not in word] + "do end % .and. .true. :: => 'c' real integer iand max min .eqv. FOR Private PRIVATE 1_8 (/ /) //".split()
STATEMENTS = ['for (int i = 0; i < n; i++) v[i] = a;', 'for (int i = 0; i < n; i++)\nfor (int j = 0; j < n; j++) s += i * j;',
              'for (unsigned long i = n; i > 0; i -= 2) { s += v[0]; }', 'a += b;', 'a = b;', 'b = a++;', '{ b = a; a += 2; }', '{ a = b; c = a; }', '{ a = b; }', '{\na = b;\n#pragma ws section\n{ c = a; s++; }\n}', ';', 'while (n--) a++;']
FORTRAN_STATEMENTS = ['do i = 1, n\nv(i) = a\nend do', 'do i = 1, n\ndo j = 1, n\ns = s + i * j\nend do\nend do', 'do i = n, 1, -2\ns = s + v(i)\nend do',
                      'a = a + b', 'a = b', 'b = a\na = a + 2', 'a = max(a, b)', 'a = b\n!$ws end sections', 'a = b\n!$ws section\nc = d\n!$ws end sections', 'continue', 'if (a > b) c = a']

# What may stand outside of parentheses, by directive.
DATA = {'private', 'firstprivate', 'lastprivate', 'reduction', 'shared', 'default', 'name', 'if'}
KNOWN = {'loop': DATA | {'schedule', 'steal_schedule', 'collapse'},
         'simd': DATA | {'schedule', 'steal_schedule', 'collapse', 'safelen', 'simdlen', 'aligned'},
         'sections': DATA, 'section': set(),
         'atomic': {'read', 'write', 'update', 'capture', 'seq_cst', 'acq_rel', 'release', 'acquire', 'relaxed'},
         'critical': set()}
SCHEDULES = {'static', 'dynamic', 'guided', 'auto', 'runtime'}
FIRST_INSIDE = {'schedule': SCHEDULES, 'steal_schedule': SCHEDULES,
                'default': {'shared', 'none'}}
WORD = re.compile(r'[A-Za-z_]\w*$')


def lex(text):
    return re.findall(r'"[^"]*"|\'[^\']*\'|[A-Za-z_$]\w*|\d[\w.]*|&&|\|\||::|->|==|=>|\.\w+\.|\S', text)


def unknown_word(tokens, loop):
    """A word of the line that the language does not have, or None. A line can be wrong in other ways: those are not looked for."""
    if not tokens:
        return '(no directive)'
    if loop == 'do':    # Fortran: case does not count
        tokens = [token.lower() for token in tokens]
    name = tokens[0]
    if name == 'declare':
        return None if tokens[1:2] == ['reduction'] else 'declare'
    kind = {loop: 'loop', 'sections': 'sections', 'section': 'section', 'atomic': 'atomic', 'critical': 'critical'}.get(name)
    if not kind:
        return name
    if kind == 'loop' and tokens[1:2] == ['simd']:
        kind, tokens = 'simd', tokens[1:]
    depth = 0
    for before, token in zip(tokens, tokens[1:]):
        if token == '(':
            depth += 1
        elif token == ')':
            depth -= 1
        elif depth <= 0 and WORD.match(token) and token not in KNOWN[kind]:
            return token
    if kind in ('loop', 'simd', 'sections'):
        depth = 0
        for i, token in enumerate(tokens[:-2]):
            depth += {'(': 1, ')': -1}.get(token, 0)
            if depth == 0 and token in FIRST_INSIDE and tokens[i + 1] == '(' and tokens[i + 2] not in FIRST_INSIDE[token]:
                return tokens[i + 2]
    return None


class Front:
    """One compiler for one language."""
    def __init__(self, name, prefix):
        language, compiler = name.split('-')
        self.name, self.language = name, language
        self.suffix = {'c': '.c', 'c++': '.cpp', 'fortran': '.f90'}[language]
        wrapper, variable = {'c': ('mpicc', 'MPICH_CC'), 'c++': ('mpicxx', 'MPICH_CXX'), 'fortran': ('mpifort', 'MPICH_FC')}[language]
        program = {'c': {'gcc': 'gcc', 'clang': 'clang'}, 'c++': {'gcc': 'g++', 'clang': 'clang++'}, 'fortran': {'gcc': 'gfortran'}}[language][compiler]
        self.environment = {variable: program}
        many = {'gcc': ['-fno-diagnostics-show-caret', '-fdiagnostics-color=never', '-fmax-errors=0'],
                'clang': ['-ferror-limit=0', '-fno-caret-diagnostics', '-fno-color-diagnostics', '-fbracket-depth=4096']}[compiler]
        self.command = [os.path.join(prefix, 'bin', wrapper), '-fws', '-w', *(many if language != 'fortran' else ['-fmax-errors=0', '-fdiagnostics-color=never'])]
        self.loop = 'do' if language == 'fortran' else 'for'
        self.sentinel = '!$ws' if language == 'fortran' else '#pragma ws'

    def compile(self, source, *options, command=None):
        """Exit status ('time limit' too) and output."""
        process = subprocess.Popen([*(command or self.command), *options, source], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors='replace', env={**os.environ, 'LC_ALL': 'C', **self.environment}, start_new_session=True, cwd=os.path.dirname(source))
        try:
            output = process.communicate(timeout=LIMIT)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 'time limit', ''

    # Lines and files

    def line(self, dice):
        tokens = lex(dice.choice(C_SEEDS))
        if self.language == 'fortran':
            tokens = ['do' if t == 'for' else t for t in tokens]
        words = FORTRAN_WORDS if self.language == 'fortran' else C_WORDS
        for _ in range(dice.choice((0, 1, 1, 1, 2, 2, 3, 5))):
            at = dice.randrange(len(tokens) + 1)
            how = dice.randrange(7)
            if how == 0 or not tokens:
                tokens.insert(at, dice.choice(words))
                continue
            at = min(at, len(tokens) - 1)
            if how == 1:
                del tokens[at]
            elif how == 2:
                tokens[at] = dice.choice(words)
            elif how == 3:
                other = dice.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            elif how == 4:
                tokens.insert(at, dice.choice(tokens))
            elif how == 5 and WORD.match(tokens[at]):
                place = dice.randrange(len(tokens[at]))
                tokens[at] = tokens[at][:place] + dice.choice('abcdefghijklmnopqrstuvwxyz_') + tokens[at][place + dice.randrange(2):]
            elif how == 6 and dice.random() < 0.2:
                del tokens[at:]
        return tokens

    def function(self, number, tokens, statement, sentinel=None):
        """The text, and in which of its lines (from 0) the directive stands."""
        text = f'{sentinel or self.sentinel} {" ".join(tokens)}'.rstrip()
        if self.language == 'fortran':
            return (f'subroutine f{number}(n, a, b, c, s, d, v)\nimplicit none\ninteger :: n, a, b, c, s, i, j, v(n)\nreal(8) :: d\ninteger, external :: g\n'
                    f'{text}\n{statement}\nend subroutine\n', 5)
        return (f'void f{number}(int n, int *v)\n{{\nint a = 1, b = 2, c = 3, s = 4; double d = 5;\n{text}\n{statement}\n}}\n', 3)

    def crashes_without_us(self, path, entries, options):
        """Whether the compiler crashes at its own OpenMP directives of these words, too."""
        with open(path, 'w') as f:
            for number, tokens, statement in entries:
                words = ['parallel', *tokens] if tokens[:1] == [self.loop] else tokens
                f.write(self.function(number, words, statement, '!$omp' if self.language == 'fortran' else '#pragma omp')[0])
        command = [word for word in self.command if word != '-fws'] + ['-fopenmp']
        return Fuzz.crashed(*self.compile(path, *options, command=command))

    def write(self, path, entries):
        """Returns for each entry (number, tokens, statement) its first and last line and its directive's."""
        places, at = [], 1
        with open(path, 'w') as f:
            if self.language != 'fortran':
                f.write('int g(int);\n')
                at = 2
            for number, tokens, statement in entries:
                text, offset = self.function(number, tokens, statement)
                f.write(text)
                places.append((at, at + text.count('\n') - 1, at + offset))
                at += text.count('\n')
        return places


class Fuzz:
    def __init__(self, front, work, seed):
        self.front, self.work, self.seed = front, os.path.join(work, f'fuzz.{os.getpid()}.{front.name}'), seed
        os.makedirs(self.work, exist_ok=True)
        self.counts = {'lines': 0, 'refused': 0, 'accepted': 0, 'with an unknown word': 0}
        self.failures = 0
        self.shown = []

    def path(self, name):
        return os.path.join(self.work, name + self.front.suffix)

    @staticmethod
    def crashed(status, output):
        return status not in (0, 1) or bool(CRASH.search(output))

    def errors(self, output, path):
        """The lines with an error."""
        found = {int(n) for n in re.findall(rf'{re.escape(os.path.basename(path))}:(\d+):(?:\d+:)? (?:fatal )?error', output)}
        if self.front.language == 'fortran':
            found |= {int(n) for n in re.findall(rf'{re.escape(os.path.basename(path))}:(\d+)[:.]\d+:\n(?:.*\n){{0,5}}?(?:Fatal )?Error:', output)}
        return found

    def check(self, stem, entries, options):
        """Status, output, and for each entry whether an error stands in its directive's line and whether one stands anywhere in it."""
        path = self.path(stem)
        places = self.front.write(path, entries)
        status, output = self.front.compile(path, *options)
        lines = self.errors(output, path)
        return status, output, [(place[2] in lines, any(n in lines for n in range(place[0], place[1] + 1))) for place in places]

    SYNTAX = ('-fsyntax-only',)
    FULL = ('-O1', '-S', '-o', '/dev/null')

    def trouble(self, stem, entries, options):
        """What is wrong with some lines without the others: a word for what, and the whole."""
        status, output, results = self.check(stem, entries, options)
        if self.crashed(status, output):
            return 'crash', f'the compiler ends with {status}'
        word = unknown_word(entries[0][1], self.front.loop)
        if len(entries) == 1 and word and not results[0][0] and options == self.SYNTAX:
            return 'word', f"'{word}' is accepted" if status == 0 else f"'{word}' is refused, but at another line"
        return None

    def report(self, stem, entries, options, what):
        """Shortened by a token at a time, while the same is wrong."""
        self.failures += 1
        if len(self.shown) >= SHOWN:
            return
        kind = 'crash' if 'the compiler' in what else 'word'
        tries = 0
        for which in range(len(entries)):
            at = 0
            while at < len(entries[which][1]) and tries < 80:
                number, tokens, statement = entries[which]
                shorter = entries[:which] + [(number, tokens[:at] + tokens[at + 1:], statement)] + entries[which + 1:]
                tries += 1
                now = self.trouble(stem + '_small', shorter, options)
                if now and now[0] == kind:
                    entries, what = shorter, now[1]
                else:
                    at += 1
        found = (kind, *(' '.join(tokens) for _, tokens, _ in entries))
        if found in self.shown:
            self.failures -= 1
            return
        self.shown.append(found)
        if kind == 'crash' and self.front.crashes_without_us(self.path('omp'), entries, options):
            self.failures -= 1
            print(f'{self.front.name}: crashes without us too, with OpenMP: {" / ".join(found[1:])}')
            return
        path = self.path(f'failure{len(self.shown)}')
        self.front.write(path, entries)
        status, output = self.front.compile(path, *options)
        print(f'FAILED {self.front.name}: {what}')
        for _, tokens, statement in entries:
            print(f'  {self.front.sentinel} {" ".join(tokens)}\n  ' + statement.replace('\n', '\n  '))
        print('  ' + ' '.join([*(f'{k}={v}' for k, v in self.front.environment.items()), *self.front.command, *options, path]) + '\n  '
              + '\n  '.join(output.splitlines()[-5:]), flush=True)

    def settle(self, stem, entries, options):
        """Compiles until no crash is left; the entries without an error."""
        while entries:
            status, output, results = self.check(stem, entries, options)
            if not self.crashed(status, output):
                break
            guilty = self.needed(stem + '_part', entries, options)
            self.report(stem + '_one', guilty, options, f'the compiler ends with {status}')
            entries = [e for e in entries if e not in guilty]
        else:
            return [], []
        return entries, results

    def needed(self, stem, entries, options):
        """The few that crash the compiler together, most often one."""
        size = len(entries)
        while size > 1:
            size = -(-size // 2)
            at = 0
            while at < len(entries):
                rest = entries[:at] + entries[at + size:]
                if rest and self.crashed(*self.check(stem, rest, options)[:2]):
                    entries = rest
                else:
                    at += size
        return entries

    def batch(self, number, lines):
        dice = random.Random(f'{self.seed}/{self.front.name}/{number}')
        statements = FORTRAN_STATEMENTS if self.front.language == 'fortran' else STATEMENTS
        entries = []
        for i in range(lines):
            tokens = self.front.line(dice)
            first = 0 if tokens[:1] == [self.front.loop] else 3
            statement = dice.choice(statements) if dice.random() < 0.2 else dice.choice(statements[:3] if first == 0 else statements[3:])
            entries.append((i, tokens, statement))
        stem = f'batch{number}'
        entries, results = self.settle(stem, entries, self.SYNTAX)
        good, unknown = [], 0
        for entry, (at_line, anywhere) in zip(entries, results):
            if unknown_word(entry[1], self.front.loop):
                unknown += 1
                if not at_line:     # perhaps hidden by another line's error
                    what = self.trouble(stem + '_alone', [entry], self.SYNTAX)
                    if what:
                        self.report(stem + '_alone', [entry], self.SYNTAX, what[1])
            elif not anywhere:
                good.append(entry)
        self.counts['lines'] += lines
        self.counts['accepted'] += len(good)
        self.counts['refused'] += len(entries) - len(good)
        self.counts['with an unknown word'] += unknown
        while good:     # what passes alone may have an error that only now is looked for
            good, results = self.settle(stem + '_full', good, self.FULL)
            bad = [entry for entry, (_, anywhere) in zip(good, results) if anywhere]
            if not bad:
                break
            good = [entry for entry in good if entry not in bad]
        for name in os.listdir(self.work):
            if name.startswith(stem + '.') or name.startswith(stem + '_'):
                os.remove(os.path.join(self.work, name))


def main():
    arguments = sys.argv[1:]
    only = arguments[arguments.index('--only') + 1] if '--only' in arguments else None
    if only:
        at = arguments.index('--only')
        del arguments[at:at + 2]
    if not 3 <= len(arguments) <= 4:
        sys.exit(__doc__)
    prefix, work, lines = os.path.abspath(arguments[0]), os.path.abspath(arguments[1]), int(arguments[2])
    seed = arguments[3] if len(arguments) > 3 else '1'
    failures, tried, missing = 0, 0, []
    for name in ('c-gcc', 'c++-gcc', 'c-clang', 'c++-clang', 'fortran-gcc'):
        if only and name != only:
            continue
        front = Front(name, prefix)
        fuzz = Fuzz(front, work, seed)
        # A compiler that takes a right line and refuses a wrong one has a plugin.
        loop = (FORTRAN_STATEMENTS if front.language == 'fortran' else STATEMENTS)[0]
        status, output, [(_, error)] = fuzz.check('probe', [(0, [front.loop], loop)], Fuzz.FULL)
        if status or not fuzz.check('probe', [(0, [front.loop, 'no_such_clause'], loop)], Fuzz.FULL)[2][0][1]:
            missing.append(f'{name}: {output.strip().splitlines()[-1] if output.strip() else "its directives are comments"}')
            shutil.rmtree(fuzz.work)
            continue
        tried += 1
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for done in [pool.submit(fuzz.batch, number, min(LINES_IN_A_FILE, lines - LINES_IN_A_FILE * number))
                         for number in range(-(-lines // LINES_IN_A_FILE))]:
                done.result()
        print(f'{name}: ' + ', '.join(f'{n} {what}' for what, n in fuzz.counts.items()) + f', {time.monotonic() - began:.0f} s', flush=True)
        failures += fuzz.failures
        if not fuzz.failures:
            shutil.rmtree(fuzz.work)
    for line in missing:
        print(f'not here: {line}')
    print(f'{failures} failures' if failures else 'ok')
    sys.exit(1 if failures else 0 if tried else 77)


main()
