#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py PREFIX: each program of this folder compiles without a warning and prints what its head says: its lines Compile, Run and Prints.
It does so as its head runs it, and without -workshare's options."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = 12
LIMIT = 60


def field(text, name):
    return re.search(rf'^[ *!]*{name}: +(.*)$', text, re.M)[1]


def run(command, folder, environment):
    done = subprocess.run(['bash', '-c', command], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT)
    return done.returncode, done.stdout, done.stderr


def problems_of(source, folder, environment):
    text = source.read_text()
    (pathlib.Path(folder) / source.name).write_text(text)
    compile_line, run_line, prints = (field(text, name) for name in ('Compile', 'Run', 'Prints'))
    strict = ' -Wall -Werror' + ('' if source.suffix == '.f90' else ' -Wextra')
    status, out, err = run(compile_line + strict, folder, environment)
    if status or out or err:
        yield f'{source.name}: {compile_line} ends with {status}\n{out}{err}'
        return
    for line in run_line, re.sub(r' -workshare\S*( \d+)?', '', run_line):
        status, out, err = run(line, folder, environment)
        if status or out != prints + '\n':
            yield f'{source.name}: {line} ends with {status} and prints {out!r}, not {prints!r}\n{err}'
        if ('-workshare' in line) != bool(re.search('^ *workshare: ', err, re.M)):
            yield f'{source.name}: {line} prints a summary or lacks one\n{err}'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    prefix = os.path.abspath(sys.argv[1])
    environment = {**os.environ, 'PATH': f'{prefix}/bin:{os.environ["PATH"]}', 'LD_LIBRARY_PATH': f'{prefix}/lib', 'WS_IGNORE_JOBS': '1'}
    sources = sorted(path for path in HERE.iterdir() if path.suffix in ('.c', '.cpp', '.f90'))
    found = [] if len(sources) >= PROGRAMS else [f'there are {len(sources)} programs, not {PROGRAMS}']
    with tempfile.TemporaryDirectory(prefix='workshare-') as folder:
        for source in sources:
            found += problems_of(source, folder, environment)
    print(f'{len(sources)} programs')
    sys.exit('\n'.join(found) or 0)


main()
