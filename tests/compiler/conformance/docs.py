#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs.py PREFIX: each example of docs/reference/directives.md compiles without a warning with each compiler, or gives, at its line,
the error that a comment in it shows."""
import os
import re
import subprocess
import sys
import tempfile

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../docs/reference/directives.md')
LANGUAGES = {'c': ('mpicc', '.c', {'MPICH_CC': 'gcc'}, {'MPICH_CC': 'clang'}),
             'cpp': ('mpicxx', '.cpp', {'MPICH_CXX': 'g++'}, {'MPICH_CXX': 'clang++'}),
             'fortran': ('mpifort', '.f90', {'MPICH_FC': 'gfortran'})}
C_WARNINGS = ['-Wall', '-Wextra', '-Werror', '-Wno-sign-compare']  # clang warns of a comparison that it makes itself for `omp taskloop`
WARNINGS = {'c': C_WARNINGS, 'cpp': C_WARNINGS, 'fortran': ['-Wall', '-Werror', '-Wno-unused-variable']}


def compile_example(prefix, language, environment, options, source):
    done = subprocess.run([os.path.join(prefix, 'bin', LANGUAGES[language][0]), '-fws', *options,
                           *WARNINGS[language], '-c', source, '-o', source + '.o'],
                          capture_output=True, text=True, timeout=60, env={**os.environ, 'LC_ALL': 'C', **environment})
    return done.returncode, done.stdout + done.stderr


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    prefix, failures, count, missing = os.path.abspath(sys.argv[1]), [], 0, set()
    with open(PAGE) as f:
        examples = re.findall(r'^```(c|cpp|fortran)\n(.*?)^```', f.read(), re.M | re.S)
    with tempfile.TemporaryDirectory(prefix='workshare-') as folder:
        for language, (_, suffix, *environments) in LANGUAGES.items():
            mine = [text for kind, text in examples if kind == language]
            if not mine:
                failures.append(f'there is no example in {language}')
            for environment in environments:
                compiler = next(iter(environment.values()))
                probe = os.path.join(folder, 'probe' + suffix)
                with open(probe, 'w') as f:
                    f.write('end\n' if language == 'fortran' else 'int probe;\n')
                status, output = compile_example(prefix, language, environment, [], probe)
                if status and re.search('-fws needs', output):
                    missing.add(output.strip())
                    continue
                for number, text in enumerate(mine, 1):
                    source = os.path.join(folder, f'example{number}{suffix}')
                    with open(source, 'w') as f:
                        f.write(text)
                    error = re.search(r'^(.*?)[/!]/? error: (.*)$', text, re.M)
                    line = text[:error.start()].count('\n') + 1 if error else 0
                    for options in (['-O0'], ['-O3', '-fopenmp']):
                        status, output = compile_example(prefix, language, environment, options, source)
                        count += 1
                        name = f'{language} example {number}, {compiler} {" ".join(options)}'
                        if error:
                            shown = re.search(rf'example{number}{re.escape(suffix)}:{line}:(.*\n){{1,6}}?.*{re.escape(error[2])}', output)
                            if status != 1 or not shown:
                                failures.append(f'{name}: not the error it shows, but ({status})\n{output}')
                        elif status or output:
                            failures.append(f'{name} does not compile\n{output}')
    for line in sorted(missing):
        print(f'not here: {line}')
    print('\n'.join(failures) or f'ok: {len(examples)} examples, compiled {count} times')
    sys.exit(bool(failures))


main()
