#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tidy_test.py BUILD [--all]: clang-tidy 14 has nothing to say, by .clang-tidy, of the C++ sources that were changed last: those that differ
from the commit before the last one. --all: of all that libws and the tools are made of. 77 without clang-tidy 14 or git."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD, EVERYTHING = sys.argv[1], '--all' in sys.argv
MOST = 12   # files: more take longer than a test should


def skip(why):
    print(why)
    sys.exit(77)


def sources():
    command = ['git', 'ls-files'] if EVERYTHING else ['git', 'diff', '--name-only', '--diff-filter=d', 'HEAD~1']
    done = subprocess.run([*command, '--', 'runtime/*.cpp', 'tools/*.cpp'], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        skip('needs git, and the commit before the last one')
    return done.stdout.split()


def commands():
    """One compile command per source, including the sources that the build compiles as part of a larger unit. Commands for Workshare's own MPI come first."""
    found = {}
    with open(os.path.join(BUILD, 'compile_commands.json')) as f:
        built = sorted(json.load(f), key=lambda entry: '/host/' in entry['file'])
    for entry in built:
        unit = os.path.join(entry['directory'], entry['file'])
        sources = [unit]
        if re.search(r'-unity\d+\.cpp$', unit) and os.path.exists(unit):
            with open(unit) as f:
                sources = re.findall(r'#include *<(.*)>', f.read())
        for source in map(os.path.realpath, sources):
            found.setdefault(source, {**entry, 'file': source, 'command': entry['command'].replace(f'-c {entry["file"]}', f'-c {source}')})
    return list(found.values())


def said_of(name):
    done = subprocess.run([TIDY, '-p', folder, '--quiet', os.path.join(ROOT, name)], capture_output=True, text=True)
    return re.findall(r'^.*(?:warning|error): .*$', done.stdout, re.MULTILINE)


TIDY = next((path for path in map(shutil.which, ('clang-tidy-14', 'clang-tidy')) if path), None)
if not TIDY or 'version 14.' not in subprocess.run([TIDY, '--version'], capture_output=True, text=True).stdout:
    skip('needs clang-tidy 14: apt-get install clang-tidy-14')
files = sources()
if len(files) > MOST and not EVERYTHING:
    skip(f'{len(files)} files were changed: meson test -C build --suite conformance "style, all sources" looks at them')
with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
    with open(os.path.join(folder, 'compile_commands.json'), 'w') as f:
        json.dump(commands(), f)
    found = sorted({line for lines in pool.map(said_of, files) for line in lines})
print('\n'.join(found) or f'nothing in {len(files)} files')
sys.exit(1 if found else 0)
