#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps the documentation true.

check.py text             links and anchors lead somewhere, pictures are well-formed and name files that exist, quoted programs are those of
                          docs/examples, quoted messages are printed by the code, the page of options is the table of options, pages of functions are
                          the comments of the headers, pages of tools name their options, and samples of output are of a single run and agree with each
                          other
check.py files            the names of what is installed of the documentation, one a line
check.py site FOLDER      the HTML documentation in FOLDER: each link, anchor and picture is there
check.py example PREFIX   README's program compiles, runs with and without -workshare, and gives the same answer
"""
import html.parser
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOP / folder) for folder in ('runtime/options', 'tools/dev', 'docs/man')]
sys.dont_write_bytecode = True
import bars  # noqa: E402
import generate  # noqa: E402
import page as manual  # noqa: E402
README_LINES = 120
SHORT = 3       # parts of a quote that have no more letters are not looked for
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


def pages():
    return [*sorted(TOP.glob('*.md')), *sorted(TOP.glob('docs/**/*.md'))]


def installed():
    """The pages, and what they link to and show."""
    rest = [path for ending in ('svg', 'png', 'schema.json') for path in sorted(TOP.glob(f'docs/**/*.{ending}'))]
    rest += [path for path in sorted(TOP.glob('docs/examples/*')) if path.suffix in ('.c', '.cpp', '.f90')]
    rest += [TOP / 'LICENSE', TOP / 'CITATION.cff', TOP / 'tests/job/mpi/blocking_calls.txt']
    return [str(path.relative_to(TOP)) for path in pages() + rest]


def text():
    for page in pages():
        check_links(page)
        check_programs(page)
    for picture in TOP.glob('docs/**/*.svg'):
        try:
            xml.etree.ElementTree.parse(picture)
        except xml.etree.ElementTree.ParseError as error:
            problems.append(f'{picture.relative_to(TOP)}: {error}')
        for name in re.findall(r'\b\w+(?:/\w+)+\.(?:cpp|h|c|cc|py)\b', picture.read_text()):
            if not (TOP / name).exists() and not (TOP / 'runtime' / name).exists():
                problems.append(f'{picture.relative_to(TOP)} names {name}, and there is no such file')
    if (TOP / 'docs/pictures/gains.svg').read_text() != bars.gains((TOP / 'README.md').read_text()):
        problems.append("docs/pictures/gains.svg is not README's table: tools/dev/picture --prefix prefix gains")
    check_options()
    check_functions()
    check_tools()
    check_samples()
    check_readme()
    check_messages()


def check_programs(page):
    """A block behind <!-- from FILE --> is a part of that file."""
    shown = page.relative_to(TOP)
    for name, block in re.findall(r'^<!-- from (\S+) -->\n+```\w*\n(.*?)^```', page.read_text(), re.S | re.M):
        if not (TOP / name).is_file():
            problems.append(f'{shown} quotes {name}, and there is no such file')
        elif block not in (TOP / name).read_text():
            problems.append(f'{shown}: the block is not in {name}')
    if page == TOP / 'docs/README.md':
        quoted = ''.join(p.read_text() for p in pages())
        for program in TOP.glob('docs/examples/*'):
            if program.suffix in ('.c', '.cpp', '.f90') and f'<!-- from {program.relative_to(TOP)} -->' not in quoted:
                problems.append(f'{program.relative_to(TOP)} is quoted on no page')


def literals():
    """What string literals of the product say, one a line, with each conversion as a number sign."""
    text = ''
    sources = [path for folder in ('runtime', 'tools', 'compiler-plugin') for ending in ('cpp', 'h', 'c', 'cc') for path in TOP.glob(f'{folder}/**/*.{ending}')]
    for source in sources:
        for whole in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', source.read_text()):
            text += ''.join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', whole)) + '\n'
    return re.sub(r'%%', '%', re.sub(r'%[-+.\d]*[a-z]+', '#', text))


def unprinted(quote, printed):
    """The parts of a quote that no literal has: between numbers, names, punctuation and what is left out."""
    quote = re.sub(r'\b(?:\w+\.c|rank|CPU|CPUs)? ?:?\d[\w.:]*(?: (?:%|[mun]?s)(?!\w))?|\w+\.c:\d+:\w+', '#', quote)
    parts = [part.strip(' .') for part in re.split(r'#|\.\.\.|[:;,()]', quote)]
    plural = {part for part in parts if part in ('ranks on', 'chunks')}    # of "rank%s on"; behind a number
    return [part for part in parts if len(part) > SHORT and part not in printed and part not in plural]


def check_messages():
    """The tables of docs/guides/troubleshooting.md, whose first column is headed "message"."""
    printed, page = literals(), TOP / 'docs/guides/troubleshooting.md'
    rows = [row for table in re.findall(r'^\| message \|.*\n\|[-|]+\n((?:\|.*\n)+)', page.read_text(), re.M)
            for row in re.findall(r'^\| `([^`]*)` \|', table, re.M)]
    if len(rows) < 20:
        problems.append(f'{page.relative_to(TOP)} explains only {len(rows)} messages')
    for row in rows:
        for part in unprinted(row, printed):
            problems.append(f'{page.relative_to(TOP)} quotes {part!r}, and no code prints that')


def check_readme():
    readme, printed = (TOP / 'README.md').read_text(), literals()
    assert unprinted('ranks waited in MPI 3 % of the day (2 ranks on 1 node, 0.3 s)', printed) == ['of the day']
    if readme.count('\n') > README_LINES:
        problems.append(f'README.md has {readme.count(chr(10))} lines, {README_LINES} is the most')
    samples = [re.sub(r'\n    workshare: ', '; ', sample.replace('\n    workshare:   ', ' ')) for sample in re.findall(r'^    (workshare: .*\n(?:    workshare: .*\n)*)', readme, re.M)]
    for sample in samples:
        for part in unprinted(sample, printed):
            problems.append(f'README.md quotes {part!r}, and no code prints that')
    took = [float(re.search(r', ([\d.]+) s\)', sample)[1]) for sample in samples]
    bound, gain = (re.search(rf'{word} ([\d.]+) times as fast', ' '.join(samples)) for word in ('up to', 'about'))
    if len(samples) != 2 or not bound or not gain:
        problems.append('README.md shows no two summaries: one with the bound, and one with the gain')
    elif not 0.95 * float(gain[1]) < took[0] / took[1] < 1.05 * float(gain[1]) or max(float(gain[1]), took[0] / took[1]) > float(bound[1]):
        problems.append(f'README.md: runs of {took} s, a gain of {gain[1]} and a bound of {bound[1]} contradict each other')


def check_samples():
    """Blocks behind <!-- sample: NAME --> with one name are of one run; tools/dev/samples renews them."""
    shown = {}
    for page in pages():
        for name, block in re.findall(r'<!-- sample: (\w+)(?: stderr)? -->\n\n((?:(?: {4}.*)?\n)+)', page.read_text()):
            shown.setdefault(name, []).append((page, [line.strip() for line in block.strip().splitlines()]))
    for name, blocks in shown.items():
        page, whole = max(blocks, key=lambda one: len(one[1]))
        for other, lines in blocks:
            if [line for line in lines if line not in whole]:
                problems.append(f'{other.relative_to(TOP)} and {page.relative_to(TOP)} show two runs as {name}: tools/dev/samples')
    if not {'bound', 'gain', 'report'} <= set(shown):
        problems.append(f'no page shows the samples of tools/dev/samples, only {sorted(shown)}')


def check_options():
    """docs/reference/options.md and docs/reference/mpi_t.md against the table of options."""
    options = generate.read(TOP / 'runtime/options/options.txt')
    page = (TOP / 'docs/reference/options.md').read_text()
    if generate.renewed(options, page) != page:
        problems.append('docs/reference/options.md is not what options.txt makes of it: '
                        'runtime/options/generate.py page runtime/options/options.txt docs/reference/options.md')
    # The section of control variables; texts are words, schedules and sizes, and live those that act at once.
    table = re.search(r'^## Control variables\n(.*?)^## ', (TOP / 'docs/reference/mpi_t.md').read_text(), re.S | re.M)[1]
    rows = {name: (kind, when) for names, kind, when in re.findall(r'^\| (`WS_.*?`) \| `(\w+)` \| (.*?) \|$', table, re.M)
            for name in re.findall(r'WS_\w+', names)}
    wanted = {o.variable: ('MPI_CHAR' if o.words or o.kind in ('schedule', 'size') else 'MPI_UNSIGNED', o.live) for o in options if o.scope}
    if {name: (kind, when.startswith('acts at once')) for name, (kind, when) in rows.items()} != wanted:
        problems.append(f'docs/reference/mpi_t.md and options.txt differ: {sorted(rows)}, {sorted(wanted)}')


def check_functions():
    """Pages of the reference have what the headers say of their functions, and name no others."""
    variables = {option.variable for option in generate.read(TOP / 'runtime/options/options.txt')}
    known = {*variables, *re.findall(r'\w+', ''.join(file.read_text() for file in [*TOP.glob('include/workshare/*.*'), TOP / 'docs/reference/mpi_t.md']))}
    shown = set()
    for page in TOP.glob('docs/reference/*.md'):
        text = page.read_text()
        headers = re.findall(r'^<!-- FUNCTIONS of (.*): begin -->$', text, re.M)
        shown |= set(' '.join(headers).split())
        if manual.renewed(text) != text:
            problems.append(f'{page.relative_to(TOP)} is not what the headers make of it: docs/man/page.py --renew {page.relative_to(TOP)}')
        for name in sorted(set(re.findall(r'(?<![\w/])(?:ws|WS|XMPI|MPIX)_\w+|(?<=ws::)\w+', text)) - known if headers else ()):
            problems.append(f'{page.relative_to(TOP)} names {name}, and neither a header, the table of options nor mpi_t.md does')
    if shown != {header.name for header in TOP.glob('include/workshare/*.h*') if manual.described(header, '')}:
        problems.append(f'docs/reference has the functions of {sorted(shown)}, and these are not all headers with functions')


def check_tools():
    """The page of a tool has the options of its man page, which a test compares with --help, and that of workshare those of the table of options."""
    own = re.findall(r'"(--[a-z]+)"', (TOP / 'runtime/launcher/workshare.cpp').read_text())
    table = [option.name for option in generate.read(TOP / 'runtime/options/options.txt')]
    wanted = {'workshare': {*own, *(name.replace('-workshare-', '--') for name in table if name.startswith('-workshare-'))}}
    for manpage in TOP.glob('docs/man/ws-*.1.scd'):
        wanted[manpage.name.partition('.')[0]] = {name for line in re.findall(r'^\*-.*', manpage.read_text(), re.M) for name in re.findall(r'--[\w-]+', line)}
    for tool, names in wanted.items():
        section = re.search(r'^## Options\n.*?(?=^## |\Z)', (TOP / f'docs/reference/{tool}.md').read_text(), re.S | re.M)
        listed = set(re.findall(r'(?<![\w#])--[a-z][\w-]*', ''.join(re.findall(r'^\| (\[?`.*?) \|', section[0], re.M)))) if section else set()
        if listed != names or len(names) < 4:
            problems.append(f'docs/reference/{tool}.md: options that only the page or only the program has: {sorted(listed ^ names)}')


class Html(html.parser.HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], {'', '#'}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == 'id' or tag == 'a' and name == 'name':
                self.anchors.add(value)
            elif name in ('href', 'src'):
                self.links.append(value or '')


def site(folder):
    found = {path.resolve(): Html(path.read_text()) for path in pathlib.Path(folder).rglob('*.html')}
    for name in 'index.html', 'search.html', 'docs/start/tutorial.html':
        if (pathlib.Path(folder) / name).resolve() not in found:
            problems.append(f'{folder} has no {name}')
    if not (pathlib.Path(folder) / 'searchindex.js').exists():
        problems.append(f'{folder} cannot be searched: it has no searchindex.js')
    count = 0
    for path, page in found.items():
        for link in page.links:
            if '://' in link or link.startswith(('mailto:', 'data:')):
                continue
            count += 1
            name, _, anchor = link.partition('#')
            to = (path.parent / urllib.parse.unquote(name.split('?')[0])).resolve() if name else path
            if not to.exists():
                problems.append(f'{path}: there is no {link}')
            elif to in found and urllib.parse.unquote(anchor) not in found[to].anchors:
                problems.append(f'{path}: {link}: no such anchor')
    print(f'{len(found)} pages, {count} links')


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
        if not re.match(r'workshare: .* \(2 ranks on 1 node, [\d.]+ s\)\n', shared.stderr.replace('\nworkshare:   ', ' ')):
            problems.append(f'there is no summary: {shared.stderr!r}')


if sys.argv[1:] == ['text']:
    text()
elif sys.argv[1:] == ['files']:
    print('\n'.join(installed()))
elif len(sys.argv) == 3 and sys.argv[1] == 'site':
    site(sys.argv[2])
elif len(sys.argv) == 3 and sys.argv[1] == 'example':
    example(sys.argv[2])
else:
    sys.exit(__doc__)
sys.exit('\n'.join(problems) or 0)
