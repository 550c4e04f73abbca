#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps the documentation true.

check.py text             links and anchors lead somewhere, pictures are well-formed and name files that there are, every option is
                          documented, README quotes what the code prints, and its samples of it agree with each other
check.py files            the names of what is installed of the documentation, one a line
check.py example PREFIX   README's program compiles, runs with and without -workshare, and gives the same answer
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / 'runtime/options'))
import generate  # noqa: E402
problems = []


def anchors(page):
    """As GitHub makes them of headings: lower case, blanks to dashes, other punctuation dropped."""
    text = re.sub(r'^```.*?^```', '', page.read_text(), flags=re.S | re.M)
    return {re.sub(r'[^\w\- ]', '', h.lower()).replace(' ', '-') for h in re.findall(r'^#+ (.*?)\s*$', text, re.M)}


def check_links(page):
    text = re.sub(r'^```.*?^```|`[^`\n]*`', '', page.read_text(), flags=re.S | re.M)
    for target in re.findall(r'\]\(([^)\s]+)\)', text):
        if '://' in target:
            continue
        name, _, anchor = target.partition('#')
        to = (page.parent / name).resolve() if name else page
        if not to.exists():
            problems.append(f'{page.relative_to(TOP)}: there is no {target}')
        elif anchor and anchor not in anchors(to):
            problems.append(f'{page.relative_to(TOP)}: {target}: no such heading')


def installed():
    """The pages, and what they link to and show."""
    pages = [TOP / 'README.md', TOP / 'CONTRIBUTING.md', *sorted(TOP.glob('docs/**/*.md'))]
    rest = [*sorted(TOP.glob('docs/**/*.svg')), *sorted(TOP.glob('docs/**/*.schema.json')), TOP / 'LICENSE', TOP / 'tests/job/mpi/blocking_calls.txt']
    return [str(path.relative_to(TOP)) for path in pages + rest]


def text():
    pages = [*TOP.glob('*.md'), *TOP.glob('docs/**/*.md')]
    for page in pages:
        check_links(page)
    for picture in TOP.glob('docs/**/*.svg'):
        try:
            xml.etree.ElementTree.parse(picture)
        except xml.etree.ElementTree.ParseError as error:
            problems.append(f'{picture.relative_to(TOP)}: {error}')
        for name in re.findall(r'\b\w+(?:/\w+)+\.(?:cpp|h|c|cc|py)\b', picture.read_text()):
            if not (TOP / name).exists() and not (TOP / 'runtime' / name).exists():
                problems.append(f'{picture.relative_to(TOP)} names {name}, and there is no such file')
    check_options()
    check_quotes()


def literals():
    """What the runtime's string literals say, one a line, with each conversion as a number sign."""
    text = ''
    for source in [*TOP.glob('runtime/**/*.cpp'), *TOP.glob('runtime/**/*.h')]:
        for whole in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', source.read_text()):
            text += ''.join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', whole)) + '\n'
    return re.sub(r'%%', '%', re.sub(r'%[-+.\d]*[a-z]+', '#', text))


def unprinted(quote, printed):
    """The parts of a quote that no literal has: between numbers, names, punctuation and what is left out."""
    quote = re.sub(r'\b(?:\w+\.c|rank|CPU|CPUs)? ?:?\d[\w.:]*(?: (?:%|[mun]?s)(?!\w))?|\w+\.c:\d+:\w+', '#', quote)
    parts = [part.strip(' .') for part in re.split(r'#|\.\.\.|[:;,()]', quote)]
    plural = {part for part in parts if part in ('ranks on', 'chunks')}    # of "rank%s on"; behind a number
    return [part for part in parts if len(part) > 3 and part not in printed and part not in plural]


def check_quotes():
    readme, printed = (TOP / 'README.md').read_text(), literals()
    assert unprinted('2 ranks on 1 node, 0.3 s: ranks waited in MPI 3 % of the day', printed) == ['of the day']
    samples = re.findall(r'^    (workshare: .*)$', readme, re.M)
    rows = re.findall(r'^\| ([^|]+) \|', re.search(r'^\| it says \|.*\n\|[-|]+\n((?:\|.*\n)+)', readme, re.M)[1], re.M)
    for quote in samples + rows:
        for part in unprinted(quote, printed):
            problems.append(f'README.md quotes {part!r}, and no code prints that')
    took = [float(re.search(r', ([\d.]+) s: ', sample)[1]) for sample in samples]
    bound, gain = (float(re.search(rf'{word} ([\d.]+) times as fast', ' '.join(samples))[1]) for word in ('up to', 'about'))
    if len(samples) != 2 or not 0.95 * gain < took[0] / took[1] < 1.05 * gain or max(gain, took[0] / took[1]) > bound:
        problems.append(f'README.md: runs of {took} s, a gain of {gain} and a bound of {bound} contradict each other')


def check_options():
    """README's tables and docs/reference/mpi_t.md against the table of options."""
    options = generate.read(TOP / 'runtime/options/options.txt')
    readme = (TOP / 'README.md').read_text()
    for heading, of in (('mpirun', [o for o in options if o.name]), ('variable', [o for o in options if not o.name])):
        wanted = {o.name or o.variable: (o.default + f' {o.unit}' * bool(o.unit)) if o.kind in ('number', 'words') else '' for o in of}
        wanted.pop('-workshare-check', None)    # a number that users do not see
        tables = re.findall(rf'^\| `?{heading}`? \| default \| \|\n\|[-|]+\n((?:\|.*\n)+)', readme, re.M)
        rows = dict(re.findall(r'^\| `([\w-]+)[^`]*` \| ([^|]*?) ?\|', ''.join(tables), re.M))
        if heading == 'mpirun' and rows.pop('-workshare-check', None) is None:
            problems.append('README.md does not name -workshare-check')
        if rows != wanted:
            problems.append(f'README.md and options.txt differ: {sorted(rows.items() ^ wanted.items())}')
    # The section of control variables; texts are words, schedules and sizes, and live those that act at once.
    table = re.search(r'^## Control variables\n(.*?)^## ', (TOP / 'docs/reference/mpi_t.md').read_text(), re.S | re.M)[1]
    rows = {name: (kind, when) for names, kind, when in re.findall(r'^\| (`WS_.*?`) \| `(\w+)` \| (.*?) \|$', table, re.M)
            for name in re.findall(r'WS_\w+', names)}
    wanted = {o.variable: ('MPI_CHAR' if o.words or o.kind in ('schedule', 'size') else 'MPI_UNSIGNED', o.live) for o in options if o.scope}
    if {name: (kind, when.startswith('acts at once')) for name, (kind, when) in rows.items()} != wanted:
        problems.append(f'docs/reference/mpi_t.md and options.txt differ: {sorted(rows)}, {sorted(wanted)}')


def example(prefix):
    program = re.search(r'^```c\n(.*?)^```', (TOP / 'README.md').read_text(), re.S | re.M)[1]
    with tempfile.TemporaryDirectory(prefix='workshare-') as folder:
        source, binary = pathlib.Path(folder, 'app.c'), pathlib.Path(folder, 'app')
        source.write_text(program)

        def run(*command):
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            if done.returncode:
                sys.exit(f'{" ".join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}')
            return done

        mpirun = f'{prefix}/bin/mpirun'
        run(f'{prefix}/bin/mpicc', '-fws', '-O3', source, '-o', binary)
        plain, shared = run(mpirun, '-n', '2', binary), run(mpirun, '-workshare', '-n', '2', binary)
        print(shared.stderr, end='')
        if not plain.stdout or plain.stdout != shared.stdout:
            problems.append(f'without -workshare it prints {plain.stdout!r}, with it {shared.stdout!r}')
        run(f'{prefix}/bin/mpicc', '-O3', source, '-o', binary)
        told = run(mpirun, '-workshare', '-n', '2', binary)
        print(told.stderr, end='')
        if told.stdout != plain.stdout or 'no ws loop ran' not in told.stderr or 'times as fast' not in told.stderr:
            problems.append(f'compiled without -fws it prints {told.stdout!r}, and is told {told.stderr!r}')
        if not shared.stderr.startswith('workshare: 2 ranks on 1 node'):
            problems.append(f'there is no verdict: {shared.stderr!r}')


if sys.argv[1:] == ['text']:
    text()
elif sys.argv[1:] == ['files']:
    print('\n'.join(installed()))
elif len(sys.argv) == 3 and sys.argv[1] == 'example':
    example(sys.argv[2])
else:
    sys.exit(__doc__)
sys.exit('\n'.join(problems) or 0)
