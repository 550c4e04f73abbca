# SPDX-License-Identifier: MIT
"""one_unit_test.py BUILD: the sources of libws can be compiled as one unit. The sanitizers' library is built in units of twelve files, and two files that
give one name to things of their own break that build, and no other. Only checked, not compiled: seconds."""
import json
import os
import shlex
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
LIBRARIES = ('runtime/mpi/libws.so.1.p/', 'runtime/libfree.a.p/')   # the first one's options are for both
OPTIONS_WITH_FILES = {'-o', '-MQ', '-MF'}

with open(os.path.join(BUILD, 'compile_commands.json')) as f:
    entries = [e for e in json.load(f) if e.get('output', '').startswith(LIBRARIES) and e['file'].endswith('.cpp')]
entries.sort(key=lambda e: not e['output'].startswith(LIBRARIES[0]))
if len(entries) < 50:
    sys.exit(f'{len(entries)} sources of {LIBRARIES} in compile_commands.json: that cannot be all')
words = iter(shlex.split(entries[0]['command']))
command = []
for word in words:
    if word in OPTIONS_WITH_FILES:
        next(words)
    elif word not in ('-c', '-MD', entries[0]['file'], 'ccache'):
        command.append(word)


def check(files):
    """The compiler's complaints about a unit of these files."""
    unit = ''.join(f'#include "{file}"\n' for file in files)
    done = subprocess.run([*command, '-w', '-fsyntax-only', '-fdiagnostics-color=never', '-x', 'c++', '-'], input=unit, text=True, capture_output=True, cwd=BUILD)
    return done.stderr if done.returncode else ''


with tempfile.TemporaryDirectory() as folder:
    files = [os.path.join(folder, name) for name in ('a.cpp', 'b.cpp')]
    for file in files:
        with open(file, 'w') as f:
            f.write('namespace ws::loop { namespace { int same; } }\n')
    if 'redefinition' not in check(files):
        sys.exit('a name that two files have is not found')
complaints = check([os.path.realpath(os.path.join(e['directory'], e['file'])) for e in entries])
print(complaints or 'ok')
sys.exit(bool(complaints))
