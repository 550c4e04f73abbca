#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py LOWDOWN SOURCE NAME: a manual page on stdout, made of what is written elsewhere: ws-... of docs/reference/directives.md, MPIX_... and
XMPI_... of the headers in include/workshare. page.py SOURCE --names lists those that there are."""
import pathlib
import re
import subprocess
import sys

# Of language.md: the sections that a directive's page has, besides its own.
ALL = ['Fortran', 'Restrictions']
DIRECTIVES = {
    'for': ('a loop whose iterations waiting ranks may run', ['#pragma ws for [simd] [clause...]', '!$ws do [simd] [clause...]'],
            ['MPI calls in loops']),
    'sections': ('sections of a block that waiting ranks may run', ['#pragma ws sections [clause...]', '#pragma ws section', '!$ws sections [clause...]'], []),
    'declare reduction': ('a reduction of one\'s own for shared loops',
                          ['#pragma ws declare reduction(name : types : combiner) [initializer(expression)]', '!$ws declare reduction(...)'], []),
    'atomic': ('one indivisible access to memory', ['#pragma ws atomic [read|write|update|capture] [order]', '!$ws atomic [...]'], []),
    'critical': ('one thread of all ranks of the node at a time', ['#pragma ws critical [(name)]', '!$ws critical [(name)]'], []),
}


def page_of(directive):
    return 'ws-' + directive.replace(' ', '-')


def sections(language):
    """The text below each heading of the second level; headings below it one level higher, links as their words."""
    found = dict(re.findall(r'^## (.+?)\n(.*?)(?=^## |\Z)', language, re.S | re.M))
    return {name: re.sub(r'\[([^\]]*)\]\([^)\s]*\)', r'\1', re.sub(r'^###', '##', text, flags=re.M)).strip() for name, text in found.items()}


def of_directive(language, directive):
    about, synopsis, more = DIRECTIVES[directive]
    text = sections(language)
    out = ['# NAME', f'{page_of(directive)} - {about}', '# SYNOPSIS', '```\n' + '\n'.join(synopsis) + '\n```', '# DESCRIPTION', text[directive]]
    for name in more + ALL:
        out += [f'# {name.upper()}', text[name]]
    others = [f'**{page_of(d)}**(7)' for d in DIRECTIVES if d != directive]
    return '\n\n'.join(out + ['# SEE ALSO', ', '.join(['**workshare**(1)', '**mpicc**(1)'] + others)])


def plain(text):
    return re.sub(r'([*_<>\[\]|`#])', r'\\\1', text)


def paragraphs(comment):
    """Of a C comment: what begins with a word and two blanks is a paragraph with that word in bold."""
    out = []
    for line in comment.splitlines():
        line = re.sub(r'^ ?\*? ?', '', line.strip('/').rstrip(), count=1)
        label = re.match(r'  (\S+) {2,}(\S.*)', line)
        if label:
            out.append(f'**{plain(label[1])}**: {plain(label[2])}')
        elif not line.strip():
            out.append('')
        elif re.match(r'[A-Z][^.]*:$', line):
            out.append('\n## ' + plain(line.rstrip(':')) + '\n')
        elif out and out[-1] and not out[-1].startswith('\n##'):
            out[-1] += ' ' + plain(line.strip())
        else:
            out.append(plain(line.strip()))
    return '\n\n'.join(p for p in out if p)


def functions(header):
    """Name, comment and prototype of each."""
    return {name: (comment, prototype) for comment, prototype, name in
            re.findall(r'/\*((?:(?!\*/).)*)\*/\n(int ((?:MPIX|XMPI)_\w+)\([^;]*\);)', header, re.S)}


def of_function(header, name):
    file, fortran = ('xmpi.h', 'the module *xmpi*') if name.startswith('XMPI') else ('mpix.h', 'the modules *mpix* and *mpix\\_f08*')
    comment, prototype = functions(header)[name]
    head = re.search(r'SPDX.*?\n(.*?)\*/', header, re.S)[1]
    measured = re.search(r'/\*((?:(?!\*/).)*)\*/\n#define MPIX_LOADS_MEASURED', header, re.S)
    constants = ['# MPIX\\_LOADS\\_MEASURED', paragraphs(measured[1])] if measured else []
    about = re.split(r'[:.]', ' '.join(re.sub(r'^ \* ?', '', comment, flags=re.M).split()))[0]
    out = ['# NAME', f'{plain(name)} - {plain(about[0].lower() + about[1:])}', '# SYNOPSIS', f'```\n#include <workshare/{file}>\n\n{prototype}\n```',
           f'In Fortran: {fortran}.', '# DESCRIPTION', paragraphs(comment), *constants, f'# ALL FUNCTIONS OF {file.upper()}', paragraphs(head)]
    others = [f'**{plain(f)}**(3)' for f in functions(header) if f != name]
    return '\n\n'.join(out + ['# SEE ALSO', ', '.join(['**workshare**(1)'] + others)])


def main():
    language = header = pathlib.Path(sys.argv[-2] if sys.argv[-1] != '--names' else sys.argv[1]).read_text()
    name = sys.argv[-1]
    known = {page_of(d): d for d in DIRECTIVES}
    if name == '--names':
        print('\n'.join(functions(header) or known))
        return
    text = of_directive(language, known[name]) if name in known else of_function(header, name)
    section = '7' if name in known else '3'
    made = subprocess.run([sys.argv[1], '-s', '-Tman', '--out-no-smarty', '--parse-no-intraemph', '-m', f'title={name}', '-m', f'section={section}'], input=text, text=True,
                          stdout=subprocess.PIPE, check=True)
    print(made.stdout.replace('\\fC', '\\fB'), end='')    # a font that not all know


main()
