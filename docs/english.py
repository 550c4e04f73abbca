#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a script can check of the English that people read.

english.py            ends with status 1 and a line for each find on the pages for users, in the public headers, and in the comments of the folders in CLEAN
english.py --counts   prints the number of finds of each kind, by part of the project, and checks nothing. Here comments of all sources are counted
english.py FOLDER     prints the finds in the comments of that folder, and checks nothing

Checked are the words that have a plainer one, sentences of more than 35 words and cells of more than 60 on the pages for users, and sentences that begin with "Of"
or "Who". In comments, sentences of more than 35 words, too. Programs, tables of generated figures and quoted output are left out.
"""
import collections
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
WORDS_IN_A_SENTENCE, WORDS_IN_A_CELL = 35, 60
PLAINER = {'anew': 'again', 'the begin': 'the beginning', 'to be had': 'available', 'for want of': 'for lack of', 'so many': 'N, or the number of', 'so much of': 'this share of',
           'so long as': 'as long as', 'is told of': 'is reported', 'are told of': 'are reported', 'or else': 'otherwise', 'whoever': 'the rank that',
           'seldom': 'rarely', 'dear': 'expensive', 'dearer': 'more expensive', 'while which': 'during which', 'mend(?:s|ed|ing)?': 'fix', 'beside that(?=[,.;:]| it )': 'besides, or in addition',
           'deal(?:s|t|ing)? out': 'hand out', 'dealt(?! (?:with|out))': 'assigned', 'dealing(?! (?:with|out))': 'assigning',
           'deals? (?:it|them|loads|ranks|rows|the (?:loads|ranks|rows))': 'assign'}
GENERATED = {'docs/internals/papers.md', 'docs/internals/figures.md', 'docs/about/charts.md', 'docs/internals/results.md'}
HEADERS = ['include/workshare/*.h', 'include/workshare/*.hpp']
# folders whose comments have been rewritten
CLEAN = (*(f'runtime/{room}/' for room in ('abi', 'arbiter', 'base', 'book', 'check', 'host', 'launcher', 'lend', 'loop', 'measure', 'mpi', 'mpich', 'observe', 'openmp', 'options', 'policy', 'trace', 'window')),
         'compiler-plugin/', 'tools/', 'benchmarks/', 'tests/')
SOURCES = [f'{folder}/**/*.{ending}' for folder in ('runtime', 'compiler-plugin', 'tools', 'benchmarks', 'tests') for ending in ('h', 'hpp', 'c', 'cc', 'cpp')]


def is_of_users(name):
    return name in ('README.md', 'CHANGELOG.md', 'SECURITY.md') or re.match(r'docs/(start|guides|reference|about)/', name)


def prose(text):
    """A page without programs, output, comments, links' targets and code, as paragraphs, items and cells."""
    text = re.sub(r'<!--.*?-->', '', re.sub(r'^```.*?^```', '', text, flags=re.S | re.M), flags=re.S)
    text = re.sub(r'^( {4}|\t).*$', '', text, flags=re.M)
    text = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', re.sub(r'`[^`\n]*`', 'CODE', text))
    text = re.sub(r'^#+ .*$', '', text, flags=re.M)
    for block in re.split(r'\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )', text):
        if block.lstrip().startswith('|'):
            for row in block.strip().split('\n'):
                yield from (('cell', cell.strip()) for cell in re.split(r'(?<!\\)\|', row.strip('|')) if cell.strip(' -'))
        else:
            yield 'text', re.sub(r'^\s*(?:[-*]|\d+\.) ', '', ' '.join(block.split()))


def sentences(text):
    return [s for s in re.split(r'(?<=[.:;?!])\)? +(?=[A-Z`*(]|CODE)|(?<=[:;]) ', text) if s]


def in_prose(kind, text, users):
    low = re.sub(r'["“*][^"”*]*["”*]', '', text.lower())
    for word, better in PLAINER.items():
        for find in re.finditer(rf'\b(?:{word})(?!\w)', low):
            yield f'word "{find[0]}"', f'"{find[0]}": {better}'
    if re.match(r'(Of|Who|Whoever) (?!\w+\?)', text):
        yield 'begins with Of or Who', f'begins with {text.split()[0]}: {text[:60]}'
    if users:
        if kind == 'cell' and len(text.split()) > WORDS_IN_A_CELL:
            yield 'long cell', f'a cell of {len(text.split())} words: {text[:60]}'
        for sentence in sentences(text) if kind == 'text' else ():
            if len(sentence.replace('CODE, ', '').split()) > WORDS_IN_A_SENTENCE:
                yield 'long sentence', f'a sentence of {len(sentence.split())} words: {sentence[:60]}'


def comments(text):
    """Comments of C and C++, each paragraph as one text. Tables and drawings, whose lines are set with several blanks, are left out."""
    for long, lines, last in re.findall(r'/\*(.*?)\*/|((?:^[ \t]*//[^\n]*\n)+)|(?<=[;{},)\w:])[ \t]+//([^\n]*)', text, re.S | re.M):
        block = [re.sub(r'^[ \t]*(\*(?!/)|//+)?!? ?', '', line).rstrip() for line in (long or lines or last).split('\n')]
        block = ['' if line.startswith('SPDX') or re.search(r'\S {2,}\S|^ {3,}', line) else line.strip() for line in block]
        yield from (' '.join(part.split('\n')).strip() for part in re.split(r'\n{2,}|\n(?=- )', '\n'.join(block)) if part.strip())


def in_comment(text):
    yield from (find for find in in_prose('cell', text, False) if not find[0].startswith('begins'))
    for sentence in sentences(text):
        if re.match(r'(Of|Who|Whoever|Whom|Whose) (?!\w+\?)', sentence):
            yield 'begins with Of or Who', f'begins with {sentence.split()[0]}: {sentence[:90]}'
        if len(sentence.split()) > WORDS_IN_A_SENTENCE:
            yield 'long sentence', f'a sentence of {len(sentence.split())} words: {sentence[:90]}'


def finds():
    """Yields (part, file, kind, message) for each find."""
    for path in [*sorted(TOP.glob('*.md')), *sorted(TOP.glob('docs/**/*.md')), *sorted(TOP.glob('docs/man/*.scd'))]:
        name = str(path.relative_to(TOP))
        if name in GENERATED:
            continue
        users = bool(is_of_users(name))
        for kind, text in prose(path.read_text()):
            for what, message in in_prose(kind, text, users):
                yield 'pages for users' if users or name.endswith('.scd') else 'other pages', name, what, message
    for part, patterns in ('public headers', HEADERS), ('comments in sources', SOURCES):
        for path in sorted(path for pattern in patterns for path in TOP.glob(pattern) if not path.is_symlink() or part == 'public headers'):
            for text in comments(path.read_text(errors='replace')):
                for what, message in in_comment(text) if part == 'comments in sources' else in_prose('cell', text, False):
                    yield part, str(path.relative_to(TOP)), what, message


def self_test():
    """It sees each of these, and only these."""
    for text, what in (('It begins anew.', 'word "anew"'), ('There are so many threads.', 'word "so many"'), ('Of two it takes one.', 'begins with Of or Who'),
                       ('a ' * 36 + 'end.', 'long sentence'), ('Rows are dealt.', 'word "dealt"'),
                       ('It is dealt with beside that rank.', None), ('Beside that, rows wait.', 'word "beside that"'), ('It begins again.', None), ('a ' * 20 + 'end. ' + 'A' + ' a' * 20, None)):
        assert [w for w, _ in in_prose('text', text, True)] == [what] * bool(what), text


    source = '// SPDX\n//\n// One anew.\n// Goes on.\nint x; // behind\n/* A\n * block. Of it. */\n// 1    2\n'
    assert list(comments(source)) == ['One anew. Goes on.', 'behind', 'A block. Of it.'], list(comments(source))
    assert [w for w, _ in in_comment('A block. Of it. Who waits?')] == ['begins with Of or Who']
    assert [w for w, _ in in_comment('A ' + 'b ' * 35 + 'c anew. Of course; who is next.')] == ['word "anew"', 'long sentence', 'begins with Of or Who']


def main():
    self_test()
    found = list(finds())
    if sys.argv[1:] == ['--counts']:
        counts = collections.Counter((part, kind) for part, _, kind, _ in found)
        for (part, kind), count in sorted(counts.items()):
            print(f'{count:5} {part}: {kind}')
        return 0
    if sys.argv[1:]:
        if len(sys.argv) != 2 or not (TOP / sys.argv[1]).is_dir():
            sys.exit(__doc__)
        print('\n'.join(f'{name}: {message}' for part, name, _, message in found if part == 'comments in sources' and name.startswith(sys.argv[1])))
        return 0
    wrong = [f'{name}: {message}' for part, name, _, message in found if part in ('pages for users', 'public headers') or name.startswith(CLEAN)]
    print('\n'.join(wrong) or 'the pages for users, the public headers and the folders in CLEAN have none of the words and no long sentence')
    return 1 if wrong else 0


sys.exit(main())
