#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps the documentation true.

check.py text             links and anchors lead somewhere, pictures are well-formed and name files that there are, every option is
                          documented
check.py example PREFIX   README's program compiles, runs with and without -workshare, and gives the same answer
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parent.parent
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


def text():
    pages = [*TOP.glob('*.md'), *TOP.glob('docs/*.md')]
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
    readme = (TOP / 'README.md').read_text()
    options = set(re.findall(r'"(WS_[A-Z_]+)"', (TOP / 'runtime/mpi/options.cpp').read_text()))
    launcher = (TOP / 'runtime/mpich/files/src/pm/hydra/ui/mpich/workshare_options.h').read_text()
    options |= {f'-workshare{o}' for o in re.findall(r'^    \{"([a-z-]*)", "WS_', launcher, re.M)}
    if not any(o.startswith('WS_') for o in options) or not any(o.startswith('-') for o in options):
        problems.append('found no options in the source: this test has to be adapted')
    problems.extend(f'README.md does not name {o}' for o in sorted(options) if f'`{o}' not in readme)


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
elif len(sys.argv) == 3 and sys.argv[1] == 'example':
    example(sys.argv[2])
else:
    sys.exit(__doc__)
sys.exit('\n'.join(problems) or 0)
