#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tidy_test.py BUILD [--all]: clang-tidy 14 has nothing to say, by .clang-tidy, of the C++ sources that were changed last: those that differ
from the commit before the last one. --all: of all that libws and the tools are made of. 77 without clang-tidy 14 or git."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

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


def said_of(name):
    # A file that is compiled as a part of another one has that of a neighbour as its command: of a tool it may lack the tool's own folder.
    own = [f'--extra-arg=-I{ROOT}/{"/".join(name.split("/")[:2])}'] * name.startswith('tools/')
    done = subprocess.run([TIDY, '-p', BUILD, '--quiet', *own, os.path.join(ROOT, name)], capture_output=True, text=True)
    return re.findall(r'^.*(?:warning|error): .*$', done.stdout, re.MULTILINE)


TIDY = next((path for path in map(shutil.which, ('clang-tidy-14', 'clang-tidy')) if path), None)
if not TIDY or 'version 14.' not in subprocess.run([TIDY, '--version'], capture_output=True, text=True).stdout:
    skip('needs clang-tidy 14: apt-get install clang-tidy-14')
files = sources()
if len(files) > MOST and not EVERYTHING:
    skip(f'{len(files)} files were changed: meson test -C build --suite conformance "style, all sources" looks at them')
with concurrent.futures.ThreadPoolExecutor() as pool:
    found = sorted({line for lines in pool.map(said_of, files) for line in lines})
print('\n'.join(found) or f'nothing in {len(files)} files')
sys.exit(1 if found else 0)
