# SPDX-License-Identifier: MIT
"""one_unit_test.py BUILD: the sources of libws can be compiled as one unit, and so can those of the report. The sanitizers' library and all of ./setup try are
built in units of twelve files, and two files that give one name to things of their own break those builds, and no other. Only checked, not compiled: seconds."""
import json
import os
import shlex
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
LIBWS = ('runtime/mpi/libws.so.1.p/', 'runtime/libfree.a.p/')   # the first one's options are for both
REPORT = ('runtime/libobserve_report.a.p/',)
OPTIONS_WITH_FILES = {'-o', '-MQ', '-MF'}

with open(os.path.join(BUILD, 'compile_commands.json')) as f:
    commands = json.load(f)


def unit_of(libraries, least):
    """The options and the files of a unit of all sources."""
    entries = [e for e in commands if e.get('output', '').startswith(libraries) and e['file'].endswith('.cpp')]
    entries.sort(key=lambda e: not e['output'].startswith(libraries[0]))
    if len(entries) < least:
        sys.exit(f'{len(entries)} sources of {libraries} in compile_commands.json: that cannot be all')
    words, options = iter(shlex.split(entries[0]['command'])), []
    for word in words:
        if word in OPTIONS_WITH_FILES:
            next(words)
        elif word not in ('-c', '-MD', entries[0]['file'], 'ccache'):
            options.append(word)
    return options, [os.path.realpath(os.path.join(e['directory'], e['file'])) for e in entries]


def check(options, files):
    """The compiler's complaints about a unit of these files."""
    unit = ''.join(f'#include "{file}"\n' for file in files)
    done = subprocess.run([*options, '-w', '-fsyntax-only', '-fdiagnostics-color=never', '-x', 'c++', '-'], input=unit, text=True, capture_output=True, cwd=BUILD)
    return done.stderr if done.returncode else ''


with tempfile.TemporaryDirectory() as folder:
    files = [os.path.join(folder, name) for name in ('a.cpp', 'b.cpp')]
    for file in files:
        with open(file, 'w') as f:
            f.write('namespace ws::loop { namespace { int same; } }\n')
    if 'redefinition' not in check(unit_of(LIBWS, 50)[0], files):
        sys.exit('a name that two files have is not found')
complaints = check(*unit_of(LIBWS, 50)) + check(*unit_of(REPORT, 8))
print(complaints or 'ok')
sys.exit(bool(complaints))
