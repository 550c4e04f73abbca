#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py LOWDOWN SOURCE NAME: a manual page on stdout, made from text that is written once: ws-... from docs/reference/directives.md and
docs/reference/report.md, functions from the comments of the headers in include/workshare. page.py SOURCE --names lists the pages of a source.
page.py --renew PAGE.md... rewrites what pages of the reference say of functions, between the lines <!-- FUNCTIONS of HEADER...: begin --> and end.

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
FORTRAN = {'ws.h': 'In Fortran: the module *workshare* has *ws\\_wait\\_begin*, *ws\\_wait\\_end*, *ws\\_phase\\_begin*, *ws\\_phase\\_end*, *ws\\_enable* and *ws\\_metrics*.', 'mpix.h': 'In Fortran: the modules *mpix* and *mpix\\_f08*.', 'xmpi.h': 'In Fortran: the module *xmpi*.'}
HEADERS = pathlib.Path(__file__).resolve().parents[2] / 'include/workshare'
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
    """Text for lowdown, in which nothing is markup. Code stays as it is."""
    return text if text.startswith('```') else re.sub(r'([*_<>\[\]|`#])', r'\\\1', text)


def marked(text):
    """Text for a page: strings, and names of functions, types, files and options, are code."""
    if text.startswith('```'):
        return text
    code = r'(?<![\w`-])(?:"[^"]*"|NULL|E[A-Z]{4,}|(?:mpirun )?-workshare[\w-]*|<[\w/]+\.hp*>|[\w/]+\.(?:hp*|md)\b|sizeof\(.*?\)|(?:struct )?(?:\w+(?:::|_))+\w+(?:\([\w, ]*\))?|\w+\([\w, ]*\))'
    text = ''.join(part if part.startswith('`') else re.sub(code, r'`\g<0>`', part).replace('*', '\\*') for part in re.split(r'(`[^`]*`)', text))
    return re.sub(r'the head of `(\w+)\.(hp*)`', r'[all functions of `\1.\2`](#all-functions-of-\1\2)', text)


def paragraphs(texts, shown=plain):
    return [shown(text) for text in texts if text]


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
                into.append(line.strip())
            else:
                into[-1] = (into[-1] + ' ' + line.strip()).strip()

    def about(self):
        first = re.split(r'(?<=[\w)])[.:](?: |$)', next(t for t in self.text if t))[0]
        return first[0].lower() + first[1:]

    def markdown(self):
        out = ['# DESCRIPTION', *paragraphs(self.text)]
        if self.parameters:
            out += ['# PARAMETERS', *[f'**{plain(name)}**: {plain(about)}' for name, about in self.parameters]]
        if self.returns:
            out += ['# RETURN VALUE', plain(self.returns[0].upper() + self.returns[1:])]
        for title, texts in self.parts:
            out += [f'# {plain(title.upper())}', *paragraphs(texts)]
        return out

    def reference(self):
        """The same for a page of the reference, without what there is not: "Errors: None." """
        out = paragraphs(self.text, marked)
        if self.parameters:
            out.append('\n'.join(['| argument | meaning |', '|---|---|', *(f'| `{name}` | {marked(about)} |' for name, about in self.parameters)]))
        if self.returns:
            out.append(f'**Returns** {marked(self.returns)}.')
        return out + self.reference_of_parts()

    def reference_of_parts(self):
        return ['\n\n'.join([f'**{title}.** {texts[0]}', *texts[1:]])
                for title, texts in ((title, paragraphs(texts, marked)) for title, texts in self.parts) if title != 'Source' and texts != ['None.']]


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


def types(header):
    """Name, comment and text of what a C header describes besides: structs, and types of functions."""
    found = re.findall(r'/\*\*\s((?:(?!\*/).)*?)\s*\*/\n(typedef [^;{]*;|struct \w+ \{\n.*?\n\};)', header.read_text(), re.S)
    return {re.search(r'(struct \w+) \{|(\w+)(?:\(.*\))?;', text, re.S).expand(r'\1\2'): (Comment(about), text) for about, text in found}


def members(header, name):
    """Signatures and comment of what a class describes by itself. A signature without a comment of its own shares the one before."""
    body = re.search(rf'^class {name} \{{\n(.*?)^\}};', header.read_text(), re.S | re.M)
    for comment, code in re.findall(r'((?:^    ///.*\n)+)((?:^(?!    ///)(?!private:).+\n)+)', body[1] if body else '', re.M):
        signatures = re.findall(r'^    (?:template <[^>]*> )?(?:constexpr )?(\w.*\))(?= ?[{;:]| const| noexcept|$)', code, re.M)
        yield [re.sub(r', const location&.*(?=\))', '', signature) for signature in signatures], Comment(re.sub(r'^ {4}/// ?', '', comment, flags=re.M))


def reference(header):
    """What a page of the reference says of all that a header offers."""
    out = [f'### All functions of `{header.name}`', *head(header).reference_of_parts()]
    for name, (comment, text) in [*types(header).items(), *described(header, '').items()]:
        out += [f'### `{name}`', f'```\n{text}\n```', *comment.reference()]
        for signatures, about in members(header, name.removeprefix('ws::')):
            first, *more = about.reference()
            out += [' '.join([*(f'`{signature}`:' for signature in signatures)]).replace('`: `', '`, `') + ' ' + first, *more]
    return '\n\n'.join(out)


def renewed(text):
    """A page of the reference, with what it says of functions made again."""
    return re.sub(r'(<!-- FUNCTIONS of ([\w. ]+): begin -->\n).*?(<!-- FUNCTIONS: end -->)',
                  lambda m: m[1] + ''.join(f'\n{reference(HEADERS / name)}\n' for name in m[2].split()) + '\n' + m[3], text, flags=re.S)


def head(header):
    pattern = r'/// @file\n((?:///[^\n]*\n)+)' if header.suffix == '.hpp' else r'@file\n(.*?)\*/'
    return Comment(re.search(pattern, header.read_text(), re.S)[1])


def of_function(header, name):
    found = described(header, name)
    comment, prototype = found[name]
    out = ['# NAME', f'{plain(name)} - {plain(comment.about())}', '# SYNOPSIS', f'```\n#include <workshare/{header.name}>\n\n{prototype}\n```']
    if header.name in LINKED:
        out.append(f'Link with {LINKED[header.name]}.')
    out += [FORTRAN[header.name]] if header.name in FORTRAN else []
    out += comment.markdown()
    if 'MPIX_LOADS_MEASURED' in header.read_text():
        measured = Comment(re.search(COMMENT + '#define MPIX_LOADS_MEASURED', header.read_text(), re.S)[1])
        out += ['# MPIX\\_LOADS\\_MEASURED', *paragraphs(measured.text)]
    for type_name, (about, text) in types(header).items():
        if re.search(rf'\b{type_name}\b', prototype) and re.search(r'[({]', text):
            out += [f'# {plain(type_name.upper())}', f'```\n{text}\n```', *paragraphs(about.text)]
    common = head(header)
    out += [f'# ALL FUNCTIONS OF {header.name.upper()}', *paragraphs(common.text)]
    for title, texts in common.parts:
        out += [f'## {plain(title)}', *paragraphs(texts)]
    others = [f'**{plain(f)}**(3)' for f in found if f != name]
    return '\n\n'.join(out + ['# SEE ALSO', ', '.join(['**workshare**(1)'] + others)])


def main():
    if sys.argv[1] == '--renew':
        for path in map(pathlib.Path, sys.argv[2:]):
            path.write_text(renewed(path.read_text()))
        return
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
