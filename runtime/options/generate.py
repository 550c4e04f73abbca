#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What follows from options.txt, on stdout:

  generate.py header OPTIONS.TXT          options_table.h, for libws and ws-doctor
  generate.py installed OPTIONS.TXT       share/workshare/options, for mpiexec and completion
  generate.py man OPTIONS.TXT PAGE.scd    the man page, with its lists of options in place of the lines @OPTIONS@, @VARIABLES@ and @TESTS@
  generate.py page OPTIONS.TXT PAGE.md    the page of the reference, with its lists renewed between the lines <!-- OPTIONS: begin --> and end
"""
import json
import re
import sys

KINDS = 'flag', 'number', 'words', 'size', 'schedule', 'file', 'text'
ONCE = 'variable', 'option', 'kind', 'words', 'endings', 'alone', 'needs', 'default', 'policy', 'mpi_t', 'tests', 'enables', 'calms', 'preloads', \
    'linked', 'numbered', 'former'
SEVERAL = 'help', 'about', 'former_word'
POLICIES = 'core', 'steal', 'reorder', 'dpb', 'flex', 'nblb', 'observe'
SCOPES = 'READONLY', 'LOCAL', 'ALL', 'ALL_EQ'


class Option:
    """A row of the table. Lines that it may have once are texts, '' if it lacks them; help and about are lists."""

    def __init__(self, where):
        self.where = where
        for key in ONCE:
            setattr(self, key, '')
        for key in SEVERAL:
            setattr(self, key, [])

    def wrong(self, what):
        sys.exit(f'{self.where}: {self.variable} {what}')

    def complete(self):
        """Takes the lines apart; ends with a message where they contradict each other."""
        self.name = re.match(r'[\w-]*', self.option)[0]
        self.placeholder = self.option[len(self.name):]
        kind, *rest = self.kind.split(' ', 3) or ['']
        if kind not in KINDS:
            self.wrong(f'is of no kind ({self.kind})')
        self.kind = kind
        self.least, self.most, self.unit = 0, 1, ''
        if kind == 'number':
            self.least, self.most, self.unit = int(rest[0]), int(rest[1]), rest[2] if rest[2:] else ''
        self.words = self.words.split()
        self.former_names = self.former.split()
        self.former_option = ''.join(n for n in self.former_names if n.startswith('-'))
        self.former_variable = ''.join(n for n in self.former_names if n.startswith('WS_'))
        if self.former_names not in ([], [self.former_variable], [self.former_option, self.former_variable]):
            self.wrong('has former names that are not -OPTION WS_VARIABLE')
        self.former_words = [(line.split() + [''])[:3] for line in self.former_word]
        self.needs, _, words = self.needs.partition(' ')
        self.needs_words = words.split()
        self.any_ending = self.endings.endswith(' or any')
        self.endings = self.endings.replace(' or any', '').split()
        self.live = self.mpi_t.endswith(' live')
        self.scope = self.mpi_t.replace(' live', '')
        self.field = self.variable[3:].lower()
        if self.policy not in POLICIES or not self.help or not self.about:
            self.wrong('lacks its policy, help or about')
        if self.scope and self.scope not in SCOPES or self.tests not in ('', 'yes') or self.enables not in ('', 'yes') or self.calms not in ('', 'openmp'):
            self.wrong('has a word that is not known')
        if self.linked and (self.linked.split()[0] not in self.words or len(self.linked.split()) != 2):
            self.wrong('is, for linked programs, none of its words with a library')
        if any(word in self.words or now not in self.words for word, now, _ in self.former_words):
            self.wrong('has a former word that is one of its words, or is called none of them now')
        if self.numbered and (self.numbered.split()[0] not in self.words or len(self.numbered.split()) != 3):
            self.wrong('has a number behind none of its words')
        if (kind == 'words') > bool(self.words) or (kind == 'file') != bool(self.endings):
            self.wrong(f'lacks its words or endings, or has some as a {kind}')
        if len(self.endings) > 4:
            self.wrong('has more than four endings, for which row.h has no room')
        if kind in ('flag', 'number', 'words') and self.default not in self.words and not (
                self.default.isdigit() and kind != 'words' and self.least <= int(self.default) <= self.most):
            self.wrong(f'has no right default ({self.default})')

    def wanted(self):
        """The value, in words, after "is not"."""
        if self.kind == 'flag':
            return '0 or 1'
        if self.kind == 'number':
            return f'{"".join(w + " or " for w in self.words)}a number{" of " * bool(self.unit)}{self.unit} from {self.least} to {self.most}'
        if self.kind == 'words':
            more = (' or {0}:V, V from {1} to {2}'.format(*self.numbered.split()) if self.numbered else '')
            return ' or '.join(self.words) if len(self.words) == 2 else 'one of ' + ', '.join(self.words) + more
        if self.kind == 'size':
            return 'a size from 64K to 1T such as 512M, 4G or 65536 (KiB)'
        if self.kind == 'file':
            return 'the name of a file' + (f' that ends in {" or ".join(self.endings)}' if not self.any_ending else '')
        return ''


def read(path):
    """The options of the table, in its order."""
    options = []
    with open(path) as f:
        for number, line in enumerate(f, 1):
            key, _, value = line.strip().partition(' ')
            value = value.strip()
            if not key or key.startswith('#'):
                continue
            if key == 'variable':
                options.append(Option(f'{path}:{number}'))
            if not options or key not in ONCE + SEVERAL or (key in ONCE and getattr(options[-1], key)):
                sys.exit(f'{path}:{number}: {key!r} is none of {", ".join(ONCE + SEVERAL)}, or given twice')
            if key in SEVERAL:
                getattr(options[-1], key).append(value)
            else:
                setattr(options[-1], key, value)
    for option in options:
        option.complete()
    for option in options:
        if option.needs and option.needs not in [o.name for o in options]:
            option.wrong(f'needs {option.needs}, and there is no such option')
        for word, _, with_ in option.former_words:
            if with_ and with_ not in [o.variable for o in options]:
                option.wrong(f'has a former word with {with_}, and there is no such variable')
        if [o.variable for o in options].count(option.variable) > 1:
            option.wrong('is there twice')
    return options


def c_text(text):
    return json.dumps(text)


def c_list(texts):
    return '{' + ', '.join(map(c_text, texts)) + '}'


def c_numbered(option):
    word, least, most = (option.numbered or 'x 0 0').split()
    return f'{{{c_text(word) if option.numbered else "nullptr"}, {least}, {most}}}'


def word_name(option, word):
    return f'{option.field}_{re.sub("[-,]", "_", word)}'


def field(option):
    """The field of struct Options, with its default."""
    if option.kind == 'flag':
        return f'bool {option.field} = {"true" if option.default == "1" else "false"};'
    if option.kind == 'number' and option.words:  # the first word is -1, the next -2
        words = ', '.join(f'{word_name(option, w)} = {-1 - i}' for i, w in enumerate(option.words))
        value = -1 - option.words.index(option.default) if option.default in option.words else option.default
        return f'int {option.field} = {value};\n    enum {{ {words} }};'
    if option.kind == 'number':
        return f'{"unsigned" if option.most < 1 << 32 else "uint64_t"} {option.field} = {option.default};'
    if option.kind == 'words':
        return (f'enum {option.field.title().replace("_", "")} : unsigned {{ {", ".join(word_name(option, w) for w in option.words)} }} '
                f'{option.field} = {word_name(option, option.default)};')
    return {'size': f'uint64_t {option.field} = 0;', 'schedule': f'OptionSchedule {option.field};',
            'file': f'std::string {option.field};', 'text': f'std::string {option.field};'}[option.kind]


def header(options):
    print('// Made by runtime/options/generate.py of options.txt beside it.\n#pragma once\n\n#include "options/row.h"\n\n'
          'namespace ws::option {\n\nstruct Options {')
    for option in options:
        print(f'    // {option.variable}: {" ".join(option.help)}{", in " * bool(option.unit)}{option.unit}\n    {field(option)}')
    print('};\n\ninline constexpr OptionRow option_rows[] = {')
    for o in options:
        print(f'    {{{c_text(o.variable)}, OptionKind::{o.kind}, {o.least}u, {o.most}u, {c_text(o.unit)}, {c_list(o.words)},\n'
              f'     {c_numbered(o)}, {c_list(o.endings)}, {str(o.any_ending).lower()}, {c_text(o.default)}, {c_text(o.policy)}, OptionScope::{(o.scope or "none").lower()},'
              f' {str(o.live).lower()}, {str(bool(o.tests)).lower()}, {c_text(" ".join(o.help))},\n'
              f'     {c_text(o.name)}, {str(bool(o.placeholder)).lower()}, {c_text(o.alone)}, {c_text(o.former_option)}, {c_text(o.former_variable)}, '
              f'{{{", ".join(c_list(words) for words in o.former_words)}}}}},')
    print('};\n\n// f(row, field) for each.\ntemplate <class AnyOptions, class F> void each_option(AnyOptions& o, F f)\n{')
    for i, option in enumerate(options):
        print(f'    f(option_rows[{i}], o.{option.field});')
    print('}\n\n} // namespace ws::option')


def installed(options):
    print("# Workshare's options, for mpiexec and for completion. Made when Workshare was built; mpiexec takes no notice of what it does not know.")
    for o in options:
        print(f'\nvariable {o.variable}')
        lines = [('option', o.option), ('kind', f'number {o.least} {o.most}' if o.kind == 'number' else o.kind), ('words', ' '.join(o.words)),
                 ('endings', ' '.join(o.endings)), ('any_ending', 'yes' * o.any_ending), ('alone', o.alone), ('former', o.former),
                 *[('former_word', ' '.join(words)) for words in o.former_words], ('needs', ' '.join([o.needs, *o.needs_words])), ('enables', o.enables), ('calms', o.calms), ('preloads', o.preloads),
                 ('linked', o.linked), ('numbered', o.numbered), ('wanted', o.wanted()), *[('help', h) for h in o.help]]
        print('\n'.join(f'{key} {value}' for key, value in lines if value))


def tail(option):
    """What the man page says of each in the same way."""
    said = ''
    if option.kind == 'number' and option.most < 1 << 32 and option.placeholder + option.unit:
        said = f' From {option.least} to {option.most}{" " * bool(option.unit)}{option.unit}'
    if option.kind in ('number', 'words') and (option.placeholder or option.unit):
        said += f'{";" if said else ""} {option.default} if not given'
    return said + '.' * bool(said)


def placeholder(option):
    """In scdoc's words: {usec} as _USEC_, {n|auto} as _N_|*auto*."""
    if option.kind == 'words':
        return ' ' + '|'.join(f'*{w}*' for w in option.words) if len(option.words) == 2 else ' _NAME_'
    words = '|'.join(f'*{w}*' if w in option.words else f'_{w.upper()}_' for w in re.sub(r'[^\w|]', '', option.placeholder).split('|') if w)
    return ('=' if '=' in option.placeholder else ' ') + words if words else ''


def entry(head, option, variable):
    about = '\n'.join(option.about) + tail(option)
    return f'{head}\n' + ''.join(f'\t{line}\n' for line in (about + variable).split('\n'))


def man(options, page):
    lists = {'@OPTIONS@': [], '@VARIABLES@': [], '@TESTS@': []}
    for o in options:
        if o.name:
            heads = [f'*{o.name}*'] if o.placeholder.startswith('[') else []
            heads.append(f'*{o.name}*{placeholder(o)}')
            lists['@OPTIONS@'].append(entry(', '.join(heads), o, f' ({o.variable}{"=1" * (not o.placeholder)})'))
        else:
            lists['@TESTS@' if o.tests else '@VARIABLES@'].append(entry(f'*{o.variable}*', o, ''))
    with open(page) as f:
        for line in f:
            sys.stdout.write('\n'.join(lists[line.strip()]) if line.strip() in lists else line)


GROUPS = {'core': 'Sharing', 'steal': 'Ranks that help', 'dpb': 'OpenMP', 'flex': 'Rows (XMPI)', 'nblb': 'Tasks', 'observe': 'Summary, report and timeline'}


def markdown(text):
    """scdoc's *bold* and _file_ as code."""
    text = re.sub(r'(?<![\w*])\*([^*]+)\*(?!\w)', lambda m: f'`{m[1]}`' if m[1][0] in '-_' or re.fullmatch(r'[\w():-]+( -s)?', m[1]) else m[1], text)
    return re.sub(r'(?<![\w`])_([\w./]+)_(?!\w)', r'`\1`', text)


def markdown_entry(option):
    value = re.sub(r'\w+', lambda m: m[0] if m[0] in option.words else m[0].upper(), re.sub('[{}]', '', option.placeholder))
    head = f'{option.name}{value}' if option.name else option.variable
    facts = []
    if option.kind == 'number' and (option.placeholder or option.unit) and option.most < 1 << 32:
        facts.append(f'Range: {option.least} to {option.most:,}{" " * bool(option.unit)}{option.unit}.')
    if option.kind in ('number', 'words') and (option.placeholder or option.unit):
        facts.append(f'Default: `{option.default}`.')
    if option.name:
        facts.append(f'Variable: `{option.variable}{"=1" * (not option.placeholder)}`.')
    if option.live:
        facts.append('MPI_T can change it while the job runs.')
    if option.former_variable:
        facts.append(f'Former name: `{option.former_option or option.former_variable}`.')
    return f'###{"#" * bool(option.name)} `{head}`\n\n{markdown(" ".join(option.about))}\n' + f'\n{" ".join(facts)}\n' * bool(facts)


def lists_of_page(options):
    """The lists, by the name that their place in the page has."""
    ours = [o for o in options if o.name]
    lists = {'OPTIONS': '\n'.join(f'### {title}\n\n' + '\n'.join(markdown_entry(o) for o in ours if o.policy == policy) for policy, title in GROUPS.items())}
    for name, chosen in ('VARIABLES', [o for o in options if not o.name and not o.tests]), ('TESTS', [o for o in options if not o.name and o.tests]):
        lists[name] = '\n'.join(markdown_entry(o) for o in chosen)
    return lists


def renewed(options, text):
    for name, made in lists_of_page(options).items():
        text, count = re.subn(rf'(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)', lambda m: f'{m[1]}\n{made}\n{m[2]}', text, flags=re.S)
        if count != 1:
            sys.exit(f'the page has no lines <!-- {name}: begin --> and <!-- {name}: end -->')
    return text


def page(options, path):
    with open(path) as f:
        text = renewed(options, f.read())
    with open(path, 'w') as f:
        f.write(text)


if __name__ == '__main__':
    if len(sys.argv) < 3 or sys.argv[1] not in ('header', 'installed', 'man', 'page'):
        sys.exit(__doc__)
    globals()[sys.argv[1]](read(sys.argv[2]), *sys.argv[3:])
