#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py LOWDOWN SOURCE NAME: a manual page on stdout, made from text that is written once: ws-... from docs/reference/directives.md and
docs/reference/report.md, functions from the comments of the headers in include/workshare. page.py SOURCE --names lists the pages of a source.

A header's comments are Doxygen's: @param, @return, @par TITLE, @code ... @endcode. The text below @file is on each page of the header."""
import pathlib
import re
import subprocess
import sys

# Sections of directives.md that every directive's page has, besides its own section.
ALL = ['Fortran', 'Restrictions']
DIRECTIVES = {
    'for': ('a loop whose iterations waiting ranks may run', ['#pragma ws for [simd] [clause...]', '!$ws do [simd] [clause...]'],
            ['MPI calls in loops']),
    'sections': ('sections of a block that waiting ranks may run', ['#pragma ws sections [clause...]', '#pragma ws section', '!$ws sections [clause...]'], []),
    'task': ('statements that waiting ranks may run', ['#pragma ws task [clause...]', '#pragma ws taskloop [clause...]',
             '#pragma ws taskgroup [task_reduction(...)]', '#pragma ws taskwait', '!$ws task [clause...]'], []),
    'declare reduction': ('a reduction of one\'s own for shared loops',
                          ['#pragma ws declare reduction(name : types : combiner) [initializer(expression)]', '!$ws declare reduction(...)'], []),
    'atomic': ('one indivisible access to memory', ['#pragma ws atomic [read|write|update|capture] [order]', '!$ws atomic [...]'], []),
    'critical': ('one thread of all ranks of the node at a time', ['#pragma ws critical [(name)]', '!$ws critical [(name)]'], []),
}
FORTRAN = {'ws.h': 'In Fortran: the module *workshare* has the functions that are about phases and metrics.', 'mpix.h': 'In Fortran: the modules *mpix* and *mpix\\_f08*.', 'xmpi.h': 'In Fortran: the module *xmpi*.'}
LINKED = {'ws.h': '-lws', 'task.h': '-lws', 'task.hpp': '-lws', 'ws.hpp': '-lws'}


def page_of(directive):
    return 'ws-' + directive.replace(' ', '-')


def sections(text):
    """The text below each heading of the second level; headings below it one level higher, links as their words."""
    found = dict(re.findall(r'^## (.+?)\n(.*?)(?=^## |\Z)', text, re.S | re.M))
    return {name: re.sub(r'\[([^\]]*)\]\([^)\s]*\)', r'\1', re.sub(r'^<!--.*?-->\n+|^###', lambda m: '##' * (m[0] == '###'), body, flags=re.M)).strip()
            for name, body in found.items()}


def of_directive(language, directive):
    about, synopsis, more = DIRECTIVES[directive]
    text = sections(language)
    out = ['# NAME', f'{page_of(directive)} - {about}', '# SYNOPSIS', '```\n' + '\n'.join(synopsis) + '\n```', '# DESCRIPTION', text[directive]]
    for name in more + ALL:
        out += [f'# {name.upper()}', text[name]]
    others = [f'**{page_of(d)}**(7)' for d in DIRECTIVES if d != directive]
    return '\n\n'.join(out + ['# SEE ALSO', ', '.join(['**workshare**(1)', '**mpicc**(1)'] + others)])


def of_phases(report):
    return '\n\n'.join(['# NAME', 'ws-phases - parts of a program that the report shows by themselves', '# SYNOPSIS', '```\nws_phase_begin(name)\nws_phase_end()\nMPI_Pcontrol(level)\n```',
                        '# DESCRIPTION', sections(report)['Phases'], '# SEE ALSO', '**workshare**(1), **ws-report**(1), **ws_phase_begin**(3), **ws_enable**(3)'])


def plain(text):
    return re.sub(r'([*_<>\[\]|`#])', r'\\\1', text)


class Comment:
    """A comment of a header, in its parts."""

    def __init__(self, text):
        self.text, self.parameters, self.parts, self.returns = [], [], [], ''
        lines = [re.sub(r'^\s*(\*|///) ?', '', line) for line in text.strip().split('\n')]
        into = self.text
        code = None
        for line in lines:
            if code is not None:
                if line.strip() == '@endcode':
                    into.append('```\n' + '\n'.join(code) + '\n```')
                    code = None
                    into.append('')
                else:
                    code.append(line)
                continue
            tag, _, rest = line.strip().partition(' ')
            if tag == '@code':
                code = []
            elif tag.startswith('@param'):
                name, _, about = rest.strip().partition(' ')
                self.parameters.append([name, about.strip()])
                into = None
            elif tag == '@return':
                self.returns = rest
                into = 'returns'
            elif tag == '@par':
                self.parts.append((rest, []))
                into = self.parts[-1][1]
            elif tag == '@file':
                continue
            elif into is None:
                if line.strip():
                    self.parameters[-1][1] += ' ' + line.strip()
                else:
                    into = self.text
            elif into == 'returns':
                if line.strip():
                    self.returns += ' ' + line.strip()
                else:
                    into = self.text
            elif not line.strip() or not into or into[-1].startswith('```'):
                into.append(plain(line.strip()))
            else:
                into[-1] = (into[-1] + ' ' + plain(line.strip())).strip()

    def about(self):
        first = re.split(r'(?<=[\w)])[.:](?: |$)', next(t for t in self.text if t))[0]
        return first[0].lower() + first[1:]

    def markdown(self):
        out = ['# DESCRIPTION', *[t for t in self.text if t]]
        if self.parameters:
            out += ['# PARAMETERS', *[f'**{plain(name)}**: {plain(about)}' for name, about in self.parameters]]
        if self.returns:
            out += ['# RETURN VALUE', plain(self.returns[0].upper() + self.returns[1:])]
        for title, texts in self.parts:
            out += [f'# {plain(title.upper())}', *[t for t in texts if t]]
        return out


COMMENT = r'/\*\*\n((?:(?!\*/).)*)\*/\n'


def described(header, name):
    """Name, comment and prototype of what a header describes by a comment of several lines."""
    text = header.read_text()
    found = {}
    if header.suffix == '.hpp':
        for comment, title in re.findall(r'((?:^///.*\n)+)(?:template <[^\n]*\n(?: +[^\n]*\n)?)?(?:void|T|class) (\w+)', text, re.M):
            code = re.search(r'@code\n((?:.*\n)*?).*@endcode', re.sub(r'^/// ?', '', comment, flags=re.M))
            found[f'ws::{title}'] = Comment(re.sub(r'/// @code\n(?:.*\n)*?/// @endcode\n', '', comment)), code[1].strip() if code else f'class {title};'
        return found
    for comment, prototype, function in re.findall(COMMENT + r'((?:static inline )?[\w ]+?\*?(\w+)\((?:[^;{]*)\)[^;{\n]*)(?=[;{\n])', text, re.S):
        prototype = re.sub(r'\s*WS_MUST_USE|static inline ', '', prototype)
        if not prototype.startswith('typedef'):
            found[function] = Comment(comment), prototype + ';'
    for comment, macro, parameters in re.findall(COMMENT + r'#define (WS_\w+)(\(\w[^)]*\))', text, re.S):
        found[macro] = Comment(comment), f'{macro}{parameters};\n\nvoid ws_critical_start(struct ws_critical *critical);\nvoid ws_critical_end(struct ws_critical *critical);'
    return found


def head(header):
    pattern = r'/// @file\n((?:///[^\n]*\n)+)' if header.suffix == '.hpp' else r'@file\n(.*?)\*/'
    return Comment(re.search(pattern, header.read_text(), re.S)[1])


def of_function(header, name):
    found = described(header, name)
    comment, prototype = found[name]
    out = ['# NAME', f'{plain(name)} - {comment.about()}', '# SYNOPSIS', f'```\n#include <workshare/{header.name}>\n\n{prototype}\n```']
    if header.name in LINKED:
        out.append(f'Link with {LINKED[header.name]}.')
    out += [FORTRAN[header.name]] if header.name in FORTRAN else []
    out += comment.markdown()
    if 'MPIX_LOADS_MEASURED' in header.read_text():
        measured = Comment(re.search(COMMENT + '#define MPIX_LOADS_MEASURED', header.read_text(), re.S)[1])
        out += ['# MPIX\\_LOADS\\_MEASURED', *[t for t in measured.text if t]]
    common = head(header)
    out += [f'# ALL FUNCTIONS OF {header.name.upper()}', *[t for t in common.text if t]]
    for title, texts in common.parts:
        out += [f'## {plain(title)}', *[t for t in texts if t]]
    others = [f'**{plain(f)}**(3)' for f in found if f != name]
    return '\n\n'.join(out + ['# SEE ALSO', ', '.join(['**workshare**(1)'] + others)])


def main():
    source = pathlib.Path(sys.argv[-2] if sys.argv[-1] != '--names' else sys.argv[1])
    name = sys.argv[-1]
    directives = {page_of(d): d for d in DIRECTIVES}
    if name == '--names':
        names = directives if source.name == 'directives.md' else ['ws-phases'] if source.name == 'report.md' else described(source, '')
        print('\n'.join(n for n in names if n != 'ws_for_at'))
        return
    if name == 'ws-phases':
        text = of_phases(source.read_text())
    else:
        text = of_directive(source.read_text(), directives[name]) if name in directives else of_function(source, name)
    section = '7' if name.startswith('ws-') else '3'
    made = subprocess.run([sys.argv[1], '-s', '-Tman', '--out-no-smarty', '--parse-no-intraemph', '-m', f'title={name}', '-m', f'section={section}'], input=text, text=True,
                          stdout=subprocess.PIPE, check=True)
    print(made.stdout.replace('\\fC', '\\fB'), end='')    # a font that not all know


if __name__ == '__main__':
    main()
