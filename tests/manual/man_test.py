# SPDX-License-Identifier: MIT
"""The man pages: each tool has one, that names its options; workshare(1) names mpirun's and all WS_ variables; mandoc has nothing
against them, but for what scdoc writes always."""
import glob
import os
import re
import subprocess
import sys

from programs import STAGE, TOOLS, expect, finish, mpirun_options, says, tool_options

SOURCE = sys.argv[2]
PAGES = f'{STAGE}/share/man/man1'
# Empty paragraphs and long lines of input are scdoc's; names of programs are lower case.
USUAL = ('skipping paragraph macro', 'input text line longer than 80 bytes', 'lower case character in document title')


def page(name):
    path = f'{PAGES}/{name}.1'
    if not os.path.exists(path):
        expect('a man page', f'no {name}(1)', name)
        return ''
    with open(path) as f:
        return re.sub(r'\\f.|\\&', '', f.read()).replace('\\-', '-')


def missing(text, words):
    return sorted(w for w in words if not re.search(rf'(?<![\w-]){re.escape(w)}(?![\w-])', text))


ours = [os.path.basename(p)[:-6] for p in glob.glob(f'{SOURCE}/docs/man/*.1.scd')]
expect('tools with and without a page', sorted(ours), sorted(TOOLS + ['workshare', 'mpicc']))
for name in ours:
    expect(f'{name}(1): installed', os.path.exists(f'{PAGES}/{name}.1'), True)
    lint = subprocess.run(['mandoc', '-Tlint', f'{PAGES}/{name}.1'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    expect(f'{name}(1): mandoc', [m for m in lint.stdout.splitlines() if not any(u in m for u in USUAL)], [])
    see = page(name).partition('SEE ALSO')[2]
    expect(f'{name}(1) sends to pages that are not there', [n for n in re.findall(r'([\w-]+)\(1\)', see)
                                                           if not os.path.exists(f'{PAGES}/{n}.1')], [])

text = page('workshare')
options, _ = mpirun_options()
expect('mpirun has options of Workshare', len(options) > 5, True)
expect('workshare(1) does not name', missing(text, options), [])
with open(f'{SOURCE}/runtime/mpi/options.cpp') as f:
    variables = set(re.findall(r'"(WS_[A-Z_]+)"', f.read()))
expect('options.cpp reads variables', len(variables) > 10, True)
expect('workshare(1) does not name', missing(text, variables), [])
expect('workshare(1) names variables that there are not', sorted(set(re.findall(r'\bWS_[A-Z_]+\b', text)) - variables), [])
with open(f'{STAGE}/lib/workshare/wrapper.sh') as f:
    flags = set(re.findall(r'^    (-fws[\w=-]*)\)', f.read(), re.MULTILINE))
expect('mpicc has flags of Workshare', flags, {'-fws', '-fws=openmp', '-fws-report'})
for name in 'workshare', 'mpicc', 'mpicxx', 'mpifort':
    expect(f'{name}(1) does not name', missing(page(name), flags), [])
for wrapper in 'mpicc', 'mpicxx', 'mpifort':
    expect(f'{wrapper} -help does not name', missing(says(f'{STAGE}/bin/{wrapper}', '-help'), flags | {'-show'}), [])

with open(f'{STAGE}/share/workshare/version') as f:
    version = f.read().strip()
expect('mpirun --version', f'Workshare Version: {version}' in re.sub(' +', ' ', says(f'{STAGE}/bin/mpirun', '--version')), True)
for tool in TOOLS:
    long, short = tool_options(tool)
    expect(f'{tool} has --help and --version', {'--help', '--version'} <= long, True)
    expect(f'{tool}(1) does not name', missing(page(tool), long | short), [])
    expect(f'{tool} --version', version in says(f'{STAGE}/bin/{tool}', '--version'), True)
finish()
