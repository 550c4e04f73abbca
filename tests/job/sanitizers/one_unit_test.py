# SPDX-License-Identifier: MIT
"""one_unit_test.py BUILD: the sources of libws can be compiled as one unit, and so can those of the report, of XMPI, and of rank reordering. libws, the sanitizers'
library and all of ./setup try are built in units of eight or twelve files. Two files that define the same local name break only those builds in which they are in
one unit. The unit is only checked, not compiled, which takes seconds."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
LIBWS = ('runtime/mpi/libws.so.1.p/', 'runtime/liblend.a.p/', 'runtime/libshared.a.p/', 'runtime/libfree.a.p/',
         *(f'runtime/mpi/libws_{part}.a.p/' for part in ('mpi', 'cores', 'tasks')))   # the first one's options are for all
OTHERS = {'runtime/libobserve_report.a.p/': 8, 'runtime/mpi/libflex.a.p/': 8, 'runtime/mpi/libreorder.a.p/': 8}     # the least number of files
OPTIONS_WITH_FILES = {'-o', '-MQ', '-MF'}

with open(os.path.join(BUILD, 'compile_commands.json')) as f:
    commands = json.load(f)


def sources_of(entry):
    """The file that is compiled, or the files that a unit includes."""
    file = os.path.join(entry['directory'], entry['file'])
    if '-unity' not in os.path.basename(file):
        return [file]
    with open(file) as f:
        return re.findall(r'^#include *[<"](.*)[>"]', f.read(), re.MULTILINE)


def unit_of(libraries, least):
    """The options and the files of a unit of all sources."""
    entries = [e for e in commands if e.get('output', '').startswith(libraries) and e['file'].endswith('.cpp')]
    entries.sort(key=lambda e: not e['output'].startswith(libraries[0]))
    sources = [os.path.realpath(source) for entry in entries for source in sources_of(entry)]
    if len(sources) < least:
        sys.exit(f'{len(sources)} sources of {libraries} in compile_commands.json: that cannot be all')
    words, options = iter(shlex.split(entries[0]['command'])), []
    for word in words:
        if word in OPTIONS_WITH_FILES:
            next(words)
        elif word not in ('-c', '-MD', entries[0]['file'], 'ccache'):
            options.append(word)
    return options, sources


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
    if 'redefinition' not in check(unit_of(LIBWS, 90)[0], files):
        sys.exit('a name that two files have is not found')
complaints = check(*unit_of(LIBWS, 90)) + ''.join(check(*unit_of((library,), least)) for library, least in OTHERS.items())
print(complaints or 'ok')
sys.exit(bool(complaints))
