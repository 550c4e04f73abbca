# SPDX-License-Identifier: MIT
"""walls_test.py SOURCE: who includes whom, compared with the arrows of docs/internals/architecture.md. An arrow that is not drawn there fails, and
so does one that is drawn and not used. Policies never include each other, and only policy/registry.cpp names them; tools may use their arithmetic. What a room declares is in
the namespace of its name, and no header says `using namespace`. Atomic
operations are in base/atomics.h; a constant time stands in the file that reads it, or in base/times.h if several do."""
import collections
import os
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
NAMESPACE = re.compile(r'^namespace (ws(?:::\w+)*) \{(.*)')
KEPT = ((re.compile(r'__atomic_|__sync_|std::atomic|\bAO_[a-z]'), 'base/atomics.h', 'an atomic operation'),)
TIME = re.compile(r'\b(\w+_(?:ns|us|ms|s))\s*=[^=]')
OTHER_NAMES = {'options': 'option'}  # ws::options is a class of the public interface
ARROW = re.compile(r'^    (\w+) ─+> (.+)$')


def drawn(page):
    """{room: rooms and headers that it may include}, from the page's chapter on arrows."""
    text = open(page, encoding='utf-8').read()
    chapter = re.search(r'^## Which way the arrows point\n(.*?)^## ', text, re.MULTILINE | re.DOTALL)[1]
    return {m[1]: m[2].split(', ') for m in map(ARROW.match, chapter.splitlines()) if m}


def includes(source):
    """(file below runtime/ or tools/..., its room, line number, what it includes), for what crosses a wall. A room is a folder of
    runtime/; tools/ is one."""
    rooms = set(os.listdir(os.path.join(source, 'runtime')))
    for top in 'runtime', 'tools':
        for folder, folders, files in os.walk(os.path.join(source, top)):
            if top == 'runtime' and folder == os.path.join(source, top):
                folders[:] = [f for f in folders if f != 'mpich']  # MPICH's own
            for name in files:
                if not re.search(r'\.(c|cc|cpp|h|hpp|inc)$', name):
                    continue
                path = os.path.relpath(os.path.join(folder, name), source)
                room = top if top == 'tools' else path.split('/')[1]
                for number, line in enumerate(open(os.path.join(source, path), encoding='utf-8', errors='replace'), 1):
                    found = INCLUDE.match(line)
                    if found and found[1].split('/')[0] in rooms:
                        yield path, room, number, found[1]


def policy_of(path, source):
    """The policy's folder that a path below policy/ lies in, or None."""
    parts = path.split('/')
    return parts[1] if parts[0] == 'policy' and os.path.isdir(os.path.join(source, 'runtime/policy', parts[1])) else None


def places(source):
    """What does not stand in its place: namespaces, atomic operations, times. A line each. A block of another room may only name classes: `class Window;`."""
    for folder, folders, files in os.walk(os.path.join(source, 'runtime')):
        if folder == os.path.join(source, 'runtime'):
            folders[:] = [f for f in folders if f != 'mpich']
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), os.path.join(source, 'runtime'))
            if not re.search(r'\.(cpp|h)$', name):
                continue
            room = path.split('/')[0]
            own = 'ws::' + '::'.join([OTHER_NAMES.get(room, room)] + [policy_of(path, source)] * bool(policy_of(path, source)))
            lines = open(os.path.join(folder, name), encoding='utf-8', errors='replace').read().splitlines()
            for number, line in enumerate(lines, 1):
                for what, where, name_of_it in KEPT:
                    if what.search(line.split('//')[0]) and path != where:
                        yield f'runtime/{path}:{number} has {name_of_it}, which belongs into {where}'
                found = NAMESPACE.match(line)
                if found and not (found[1] + '::').startswith(own + '::'):
                    inside = [l for l in lines[number:lines.index('}', number)]] if '}' in lines[number:] else ['']
                    if any(not re.match(r'(class|struct) \w+;', l) for l in inside) or found[2]:
                        yield f'runtime/{path}:{number} opens {found[1]}: the room is {own}'
                if name.endswith('.h') and re.match(r'\s*using namespace', line):
                    yield f'runtime/{path}:{number} has `using namespace`, for whoever includes it'


def times_of_one(source):
    """Lines of base/times.h whose constants one file alone reads, a test or another."""
    path = os.path.join(source, 'runtime/base/times.h')
    lines = [TIME.findall(l) for l in open(path, encoding='utf-8')] if os.path.exists(path) else []
    readers = {tuple(names): set() for names in lines if names}
    for top in ('runtime', 'tests') if readers else ():
        for folder, _, files in os.walk(os.path.join(source, top)):
            for name in files:
                if name.endswith(('.cpp', '.h')):
                    file = os.path.join(folder, name)
                    read = set(re.findall(r'\btimes::(\w+)', open(file, encoding='utf-8', errors='replace').read()))
                    for names, by in readers.items():
                        if read.intersection(names):
                            by.add(os.path.relpath(file, source))
    for names, by in readers.items():
        if len(by) < 2:
            yield f'runtime/base/times.h has {", ".join(names)}, which {by.pop() if by else "nobody"} alone reads'


def check(source):
    """What is wrong, a line each."""
    arrows, used, wrong = drawn(os.path.join(source, 'docs/internals/architecture.md')), collections.defaultdict(set), []
    for path, room, number, header in includes(source):
        to = header.split('/')[0]
        if to != room:
            covering = [a for a in arrows.get(room, []) if a in (to, header)]
            used[room].update(covering)
            if not covering:
                wrong.append(f'{path}:{number} includes {header}: docs/internals/architecture.md has no arrow from {room} to that')
        named = policy_of(header, source)
        own = policy_of(path[len('runtime/'):], source)
        if named and named != own and path != 'runtime/policy/registry.cpp' and not path.startswith('tools/'):
            wrong.append(f'{path}:{number} includes {header}: only policy/registry.cpp names policies')
    wrong += places(source)
    wrong += times_of_one(source)
    wrong += [f'docs/internals/architecture.md has an arrow from {room} to {a}, which nobody uses'
              for room, tos in arrows.items() for a in tos if a not in used[room]]
    return wrong


def seeded(files, page):
    with tempfile.TemporaryDirectory() as source:
        for name, text in {'docs/internals/architecture.md': f'## Which way the arrows point\n\n{page}\n## Next\n', 'tools/x.cpp': '', **files}.items():
            os.makedirs(os.path.dirname(os.path.join(source, name)), exist_ok=True)
            with open(os.path.join(source, name), 'w') as f:
                f.write(text)
        return check(source)


# What must be found, where it is done on purpose.
FILES = {'runtime/loop/a.h': '', 'runtime/lend/b.cpp': '#include "loop/a.h"\n', 'runtime/policy/p.h': '',
         'runtime/policy/one/c.h': '#include "policy/p.h"\n#include "policy/one/d.h"\n', 'runtime/policy/two/d.h': '',
         'runtime/policy/registry.cpp': '#include "policy/one/c.h"\n'}
PAGE = '    lend ───> loop\n'
for files, page, wanted in (
        ({}, PAGE, []),
        ({}, PAGE.replace('loop', 'loop/a.h'), []),
        ({'runtime/loop/a.h': '# include "lend/b.h"'}, PAGE, ['no arrow from loop']),
        ({}, '', ['no arrow from lend']),
        ({}, PAGE.replace('loop', 'loop/other.h'), ['no arrow from lend', 'which nobody uses']),
        ({}, PAGE + '    loop ──> lend\n', ['from loop to lend, which nobody uses']),
        ({'tools/x.cpp': '#include "loop/a.h"'}, PAGE, ['no arrow from tools']),
        ({'runtime/policy/one/c.h': '#include "policy/two/d.h"'}, PAGE, ['only policy/registry.cpp']),
        ({'runtime/lend/b.cpp': '#include "loop/a.h"\n#include "policy/two/d.h"'}, '    lend ──> loop, policy\n', ['only policy/registry.cpp']),
        ({'runtime/loop/a.h': 'namespace ws::loop {\nnamespace ws::lend {\nclass B;\n}\n'}, PAGE, []),
        ({'runtime/policy/one/c.h': 'namespace ws::policy::one {\n', 'runtime/policy/p.h': 'namespace ws::policy {\n'}, PAGE, []),
        ({'runtime/loop/a.h': 'namespace ws {\n'}, PAGE, ['the room is ws::loop']),
        ({'runtime/loop/a.h': 'namespace ws::loops {\n'}, PAGE, ['the room is ws::loop']),
        ({'runtime/loop/a.h': 'namespace ws::lend {\nint b;\n}\n'}, PAGE, ['the room is ws::loop']),
        ({'runtime/policy/one/c.h': 'namespace ws::policy {\n'}, PAGE, ['the room is ws::policy::one']),
        ({'runtime/loop/a.h': 'inline void f()\n{\n    using namespace ws::lend;\n'}, PAGE, ['`using namespace`']),
        ({'runtime/loop/a.h': 'x = __atomic_load_n(&y, __ATOMIC_RELAXED);\n', 'runtime/base/atomics.h': '__atomic_load\n'}, PAGE, ['base/atomics.h']),
        ({'runtime/loop/a.h': 'std::atomic<int> y; // std::atomic\n'}, PAGE, ['base/atomics.h']),
        ({'runtime/base/times.h': 'constexpr double nap_us = 20;\n', 'runtime/lend/b.h': 'times::nap_us\n'}, PAGE, ['lend/b.h alone reads']),
        ({'runtime/base/times.h': 'constexpr double nap_us = 20;\nconstexpr double rest_s = 1;\n', 'runtime/lend/b.h': 'times::nap_us times::rest_s\n',
          'runtime/loop/c.h': 'base::times::nap_us\n'}, PAGE, ['rest_s']),
):
    found = seeded({**FILES, **files}, page)
    if len(found) != len(wanted) or any(w not in f for w, f in zip(wanted, found)):
        print(f'FAILED: of {files}, {page!r} this was said: {found}; wanted {wanted}')
        sys.exit(1)

wrong = check(sys.argv[1])
print('\n'.join(wrong) if wrong else 'ok')
sys.exit(bool(wrong))
