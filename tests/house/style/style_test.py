#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The form of C and C++: no line longer than 120 characters, or 140 in tables and macros; no tabs, no blanks at the end of a line, SPDX
first. tools/dev/format breaks lines. Not MPICH's own files, which follow its style, and programs whose lines hold the messages expected.
No function has more than 80 lines, except in tests."""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDERS = ['runtime', 'include', 'compiler-plugin', 'tools', 'benchmarks', 'tests']
OTHERS = ['runtime/mpich', 'tests/compiler/directive/accept', 'tests/compiler/directive/openmp', 'tests/compiler/directive/reject', 'tests/compiler/directive/warn', 'tests/compiler/fortran']
LONGEST, LONGEST_IN_TABLES = 120, 140

LONGEST_FUNCTION = 80


def is_table(line):
    """A row of a table, or a line of a macro."""
    return line.endswith('\\') or re.match(r'\s*(\{|[A-Z_]{1,12}\(|#)', line)


def problems(name, text):
    lines = text.split('\n')
    if not re.match(r'(//|/\*) SPDX-License-Identifier: MIT', lines[0]):
        yield f'{name}:1: SPDX-License-Identifier comes first'
    for number, line in enumerate(lines, 1):
        longest = LONGEST_IN_TABLES if is_table(line) else LONGEST
        if len(line) > longest:
            yield f'{name}:{number}: {len(line)} characters, {longest} is the most (tools/dev/format breaks lines)'
        if '\t' in line or line.rstrip() != line:
            yield f'{name}:{number}: a tab, or blanks at the end'
        if re.match(r'\s*\* \*/', line):
            yield f'{name}:{number}: the end of a comment stands alone'


NO_FUNCTION = r'\s*(if|for|while|switch|else|do|return|case|namespace|asm|public|private|protected)\b'


def function_begins(lines, at):
    """The number of the line with the opening brace of the function whose head begins in line `at`, or None. As both styles have it: the
    brace stands alone, or at the end of the head."""
    if not re.match(r' {0,4}[A-Za-z_~]', lines[at]) or re.match(NO_FUNCTION, lines[at]):
        return None
    depth, found = 0, False
    for number in range(at, min(at + 12, len(lines))):
        line = re.sub(r'//.*|"(\\.|[^"\\])*"|alignas\([^)]*\)', '', lines[number]).rstrip()
        if found and depth == 0 and not re.match(r'\s*(\{|:|,|->|const\b|noexcept\b|override\b)', line):
            return None     # what had the parentheses is another line: a macro's, mostly
        depth += line.count('(') - line.count(')')
        found = found or '(' in line
        if depth == 0 and line.endswith('{'):
            return number if found else None
        if depth == 0 and line.endswith((';', '}', '\\')):
            return None
    return None


def long_functions(name, text):
    lines = text.split('\n')
    at = 0
    while at < len(lines):
        begin = function_begins(lines, at)
        if begin is None:
            at += 1
            continue
        indent = len(lines[at]) - len(lines[at].lstrip())
        end = next((n for n in range(begin + 1, len(lines)) if lines[n].startswith(' ' * indent + '}')), len(lines))
        if end - begin > LONGEST_FUNCTION:
            yield f'{name}:{at + 1}: a function of {end - begin} lines, {LONGEST_FUNCTION} is the most: {lines[at].strip()}'
        at = end


def check_functions():
    """A function is seen in each of the forms that heads have, and no other block is taken for one."""
    body = '    a();\n' * LONGEST_FUNCTION
    for head in 'int f()\n{\n', 'int f() {\n', 'template <class T>\nvoid f(T a, // why (not\n       int b)\n{\n', \
            'void f(const char *a = "(",\n       int b) {\n', 'A::A(int a)\n    : a(a), b(a)\n{\n', 'bool A::b() const noexcept\n{\n':
        for indent in '', '    ':
            text = ''.join(indent + line + '\n' for line in (head + body + '}').split('\n'))
            assert len(list(long_functions('made up', text))) == 1, text
            assert not list(long_functions('made up', text.replace(f'{indent}    a();\n', '', 1))), text
    for head in 'namespace {\n', 'class A {\n', 'const int a[] = {\n', 'enum A : int {\n', 'extern "C" {\n', \
            'class alignas(64) A {\n', 'public:\n    void f();\n};\nclass B {\n', 'asm("a(");\nclass B {\n', \
            'WS_MACRO(a)\nclass B {\n':
        assert not list(long_functions('made up', head + body + '}\n')), head


def files():
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            where = os.path.relpath(path, ROOT)
            if not any(where == other or where.startswith(other + '/') for other in OTHERS):
                yield from (os.path.join(where, n) for n in sorted(names) 
                           if n.endswith(('.c', '.cc', '.cpp', '.h', '.hpp', '.inc')) and not os.path.islink(os.path.join(path, n)))


def check_format():
    """tools/dev/format breaks a long line of C, and changes nothing if one of its files is of another language or not there."""
    long = f'// {"word " * 30}\n'
    with tempfile.TemporaryDirectory() as folder:
        c, python = (os.path.join(folder, name) for name in ('a.c', 'a.py'))
        for files_given, refused in ((c, python), python), ((c, c + 'c.c'), c + 'c.c'), ((c,), None):
            for name in c, python:
                with open(name, 'w') as f:
                    f.write(long)
            done = subprocess.run([os.path.join(ROOT, 'tools/dev/format'), *files_given], capture_output=True, text=True)
            assert (done.returncode != 0) == (refused is not None) == (f'tools/dev/format: {refused}: ' in done.stderr), done
            changed = [name for name in (c, python) if open(name).read() != long]
            assert changed == ([] if refused else [c]), (files_given, changed)
        # Only the paragraphs of a comment are filled, not the examples between them, and the end does not stand alone.
        example = '/* Text:\n *\n *     int i;\n *     f("' + 'a' * 120 + '");\n *     int j;\n *\n'
        with open(c, 'w') as f:
            f.write(f'// SPDX-License-Identifier: MIT\n{example} * {"x " * 58}x */\n')
        subprocess.run([os.path.join(ROOT, 'tools/dev/format'), c], check=True)
        filled = open(c).read()
        assert example in filled and not list(problems('c', filled.replace('a' * 120, ''))), filled


def absent_folders(name, text, exists):
    """Folders of headers that a meson.build names and that are not there: Meson looks only where the line is read, as for another version of a library."""
    here = os.path.dirname(name)
    for named in re.findall(r"include_directories(?:: |\()('[^']*'(?:, '[^']*')*)", text):
        for folder in named.replace("'", '').split(', '):
            if not exists(os.path.join(here, folder)):
                yield f'{name}: include_directories: there is no folder {folder}'


def main():
    # It sees each of these.
    for text in 'int a;\n', f'// SPDX-License-Identifier: MIT\n{"a" * 121}\n', f'// SPDX-License-Identifier: MIT\n{{{"a" * 140}\n', \
            '// SPDX-License-Identifier: MIT\n\tint a;\n', '// SPDX-License-Identifier: MIT\nint a; \n', \
            '// SPDX-License-Identifier: MIT\n/* a\n * */\n':
        assert len(list(problems('made up', text))) == 1, text
    assert not list(problems('made up', f'// SPDX-License-Identifier: MIT\n{{{"a" * 139}\n'))
    for text in "include_directories: 'b')\n", "include_directories('a', 'b')\n":
        assert len(list(absent_folders('x/meson.build', text, 'x/a'.__eq__))) == 1, text
    check_format()
    check_functions()
    texts = {name: open(os.path.join(ROOT, name)).read() for name in files()}
    found = [p for name, text in texts.items() for p in problems(name, text)]
    found += [p for name, text in texts.items() if not name.startswith('tests/') for p in long_functions(name, text)]
    for name in (os.path.relpath(os.path.join(path, 'meson.build'), ROOT) for folder in FOLDERS
                 for path, _, names in os.walk(os.path.join(ROOT, folder)) if 'meson.build' in names):
        with open(os.path.join(ROOT, name)) as f:
            found += absent_folders(name, f.read(), lambda folder: os.path.isdir(os.path.join(ROOT, folder)))
    print('\n'.join(found) or 'all lines and functions are as they should be')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
