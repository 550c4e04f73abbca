# SPDX-License-Identifier: MIT
"""The man pages: each directive, each MPIX function and each tool has one; a tool's page names its options; workshare(1) names mpirun's
options and all WS_ variables. mandoc complains of nothing but what scdoc always writes."""
import glob
import os
import re
import subprocess
import sys

from programs import STAGE, TOOLS, equal, mpirun_options, says, tool_options
from expectation import conclude

SOURCE = sys.argv[2]
PAGES = f'{STAGE}/share/man/man1'
# Empty paragraphs and long lines of input are scdoc's; names of programs are lower case.
USUAL = ('skipping paragraph macro', 'input text line longer than 80 bytes', 'lower case character in document title')


def page(name):
    path = f'{PAGES}/{name}.1'
    if not os.path.exists(path):
        equal('a man page', f'no {name}(1)', name)
        return ''
    with open(path) as f:
        return re.sub(r'\\f.|\\&', '', f.read()).replace('\\-', '-')


def missing(text, words):
    return sorted(w for w in words if not re.search(rf'(?<![\w-]){re.escape(w)}(?![\w-])', text))


# Release tarballs of MPICH contain its man pages; a git checkout has none.
ITS_OWN = set() if os.path.exists(f'{PAGES}/hydra_nameserver.1') else {'mpiexec'}
ours = [os.path.basename(p)[:-6] for p in glob.glob(f'{SOURCE}/docs/man/*.1.scd')]
equal('tools with and without a page', sorted(ours), sorted(TOOLS + ['workshare', 'mpicc']))
for name in ours:
    equal(f'{name}(1): installed', os.path.exists(f'{PAGES}/{name}.1'), True)
    lint = subprocess.run(['mandoc', '-Tlint', f'{PAGES}/{name}.1'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    equal(f'{name}(1): mandoc', [m for m in lint.stdout.splitlines() if not any(u in m for u in USUAL)], [])
    see = page(name).partition('SEE ALSO')[2]
    equal(f'{name}(1) sends to pages that are not there', [n for n, s in re.findall(r'([\w-]+)\((\d)\)', see)
                                                           if n not in ITS_OWN and not os.path.exists(f'{STAGE}/share/man/man{s}/{n}.{s}')], [])

text = page('workshare')
options, _ = mpirun_options()
equal('mpirun has options of Workshare', len(options) > 5, True)
equal('workshare(1) does not name', missing(text, options), [])
sys.path.insert(0, f'{SOURCE}/runtime/options')
table = __import__('generate').read(f'{SOURCE}/runtime/options/options.txt')
variables = {o.variable for o in table}
equal('the table has variables', len(variables) > 10, True)
equal('workshare(1) does not name', missing(text, variables), [])
equal('workshare(1) names variables that there are not', sorted(set(re.findall(r'\bWS_[A-Z_]+\b', text)) - variables), [])
flowing = ' '.join(text.split())
for o in table:
    if o.unit:
        equal(f'workshare(1): range and default of {o.variable}', re.search(
            rf'{o.name or o.variable} (?:(?! WS_).)*From {o.least} to {o.most} {o.unit}; {o.default} if not given', flowing) is not None, True)
with open(f'{STAGE}/lib/workshare/wrapper.sh') as f:
    wrapper_text = f.read()
flags = set(re.findall(r'^    (-fws[\w=-]*)\)', wrapper_text, re.MULTILINE))
equal('mpicc has flags of Workshare', flags, {'-fws', '-fws=openmp', '-fws-report'})
# Warnings: each front that a name may have, and the names.
fronts = {front: set() for front in ('-Wno-ws-', '-Werror=ws-', '-fws-warn=no-')}
for front, names in fronts.items():
    names |= set(re.findall(rf'(?<![\w-]){front}([a-z][a-z-]*)(?= [|]|[)])', wrapper_text))
warnings = fronts['-Wno-ws-']
equal('mpicc has names of warnings', (len(warnings) > 2, [names for names in fronts.values() if names != warnings]), (True, []))
with open(f'{SOURCE}/docs/reference/directives.md') as f:
    said = f.read()
for where, text in [(f'{name}(1)', page(name)) for name in ('workshare', 'mpicc', 'mpicxx', 'mpifort')] + [('directives.md', said)] + \
        [(f'{wrapper} -help', says(f'{STAGE}/bin/{wrapper}', '-help')) for wrapper in ('mpicc', 'mpicxx', 'mpifort')]:
    equal(f'{where} does not name', missing(text, flags | warnings | {front + 'NAME' for front in fronts}), [])
for wrapper in 'mpicc', 'mpicxx', 'mpifort':
    equal(f'{wrapper} -help does not name', missing(says(f'{STAGE}/bin/{wrapper}', '-help'), {'-show'}), [])

# Directives, by the grammar, and functions, by the header, have pages that say what they take.
with open(f'{SOURCE}/docs/reference/directives.md') as f:
    grammar = re.search(r'^```bnf\n(.*?)^```', f.read(), re.S | re.M)[1]
rules = {name: re.findall(r'"([a-z_]+)"', text) for name, text in re.findall(r'^(\w+) +::= (.*(?:\n +.*)*)', grammar, re.M)}
directives = [words[0] for name, words in rules.items() if words and words[0] == name]
equal('directives', {'for', 'atomic', 'critical', 'declare'} <= set(directives), True)
functions = []      # header, name, parameters
for header in 'ws.h', 'task.h', 'mpix.h', 'xmpi.h':
    with open(f'{SOURCE}/include/workshare/{header}') as f:
        found = re.findall(r'^(?:static inline )?(?:int|void|const char) \*?((?:ws|MPIX|XMPI)_\w+)\(([^;{]*?)\)[^;{)]*[;{\n]', f.read(), re.M)
    functions += [(header, name, re.findall(r'\w+', parameters)) for name, parameters in found if name not in ('ws_for_at', 'ws_pool_prepare')]
    equal(f'functions of {header}', len(found) > 2, True)
functions += [('ws.h', name, ['ws_critical']) for name in ('ws_critical_start', 'ws_critical_end')]
functions += [('ws.hpp', f'ws::{name}', []) for name in ('for_each', 'for_chunks', 'transform_reduce', 'options', 'critical', 'phase')]
functions += [('task.hpp', 'ws::task_pool', ['submit', 'total']), ('xmpi.hpp', 'ws::partition', ['add_csr', 'end_iteration'])]
equal('functions', len(functions) > 30, True)
FULL = {'declare': 'declare-reduction'}
WORDS = {'for': rules['clause'] + rules['kind'], 'atomic': rules['word'] + rules['order']}
for name, section, words in [(f'ws-{FULL.get(d, d)}', 7, WORDS.get(d, [])) for d in directives] + [('ws-phases', 7, ['MPI_Pcontrol', 'ws_phase_begin', 'ws_phase_end'])] + \
        [(f, 3, [header, *parameters]) for header, f, parameters in functions]:
    path = f'{STAGE}/share/man/man{section}/{name}.{section}'
    if not os.path.exists(path):
        equal('a man page', f'no {name}({section})', name)
        continue
    shown = subprocess.run(['mandoc', '-Tutf8', path], capture_output=True, text=True).stdout
    shown = re.sub('.\b', '', shown)
    equal(f'{name}({section}) does not name', sorted(w for w in set(words) if w not in shown), [])
    equal(f'{name}({section}) has sections', [s for s in ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'SEE ALSO', *('SOURCE',) * (section == 3)) if f'\n{s}\n' not in shown], [])
    equal(f'{name}({section}) has more of its header than comments', [s for s in ('#ifndef', '#endif') if s in shown], [])
    lint = subprocess.run(['mandoc', '-Tlint', '-Wwarning', path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    equal(f'{name}({section}): mandoc', [m for m in lint.stdout.splitlines() if 'paragraph macro' not in m and 'missing date' not in m], [])

# The documentation is installed with all that its pages link to.
docs = f'{STAGE}/share/doc/workshare'
for folder, _, files in os.walk(docs):
    for file in (f for f in files if f.endswith('.md')):
        with open(f'{folder}/{file}') as f:
            text = re.sub(r'^```.*?^```|`[^`\n]*`', '', f.read(), flags=re.S | re.M)
        equal(f'{file} links to what is not installed', [t for t in re.findall(r'\]\(([^)#\s]+)', text)
                                                       if '://' not in t and not os.path.exists(f'{folder}/{t}')], [])
equal('documentation', {'directives.md', 'api.md', 'report.md'} <= set(os.listdir(f'{docs}/docs/reference')), True)

with open(f'{STAGE}/share/workshare/version') as f:
    version = f.read().strip()
equal('mpirun --version', f'Workshare Version: {version}' in re.sub(' +', ' ', says(f'{STAGE}/bin/mpirun', '--version')), True)
for tool in TOOLS:
    long, short = tool_options(tool)
    equal(f'{tool} has --help and --version', {'--help', '--version'} <= long, True)
    equal(f'{tool}(1) does not name', missing(page(tool), long | short), [])
    equal(f'{tool} --version', version in says(f'{STAGE}/bin/{tool}', '--version'), True)
conclude()
