#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Scripts have no name that is not defined, imported for nothing or set and never read: what pyflakes finds (77 without it)."""
import io
import os
import re
import sys

try:
    from pyflakes.api import check, checkPath
    from pyflakes.reporter import Reporter
except ImportError:
    print('needs python3-pyflakes')
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDERS = ['runtime', 'compiler-plugin', 'tools', 'benchmarks', 'tests', 'docs']


def is_script(path):
    with open(path, 'rb') as f:
        return path.endswith('.py') or re.match(rb'#!.*python', f.readline(80)) is not None


def scripts():
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            yield from (path for path in (os.path.join(where, name) for name in sorted(names)) if os.path.isfile(path) and is_script(path))


assert check('import os\n', 'made up', Reporter(io.StringIO(), sys.stdout)) == 1
wrong = sum(checkPath(path) for path in scripts())
print(f'{wrong} findings' if wrong else 'ok')
sys.exit(wrong > 0)
