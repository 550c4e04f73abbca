# SPDX-License-Identifier: MIT
"""fuzz_test.py WS_TIMELINE MAKE_TRACE [SEED [FILES]]: whatever a damaged trace holds, it is drawn, or refused in one line with status 1; a
page is then right JSON, and a picture right XML. JSON is read in this process, which is quick; OTF2 in a process for each file, as its
library is not ours and may crash."""
import contextlib
import copy
import importlib.machinery
import importlib.util
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree as xml

TIMELINE, MAKE = map(os.path.abspath, sys.argv[1:3])
SEED, FILES = (*map(int, sys.argv[3:5]), *(1, 500)[len(sys.argv[3:5]):])
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('ws_timeline_program', TIMELINE)
program = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(program)

folder = tempfile.mkdtemp(prefix='workshare-')
os.chdir(folder)
failures, drawn, refused = 0, 0, 0
ODD = [None, True, False, 0, -1, 1.5, 1e308, 1e15, 10**30, -10**30, '', 'x', '\ud800', 'a\nb\0\x1b[2J', '<b>&"', [], {}, [[]], [1, 'x', None], {'x': 1},
       float('inf'), float('-inf'), float('nan'), 'home', 'guest', 'worker', 'thread', 'X', 'chunk', 'visit', 'execution', 'phase', 'lent']


def fail(what, name):
    global failures
    failures += 1
    kept = os.path.join(tempfile.gettempdir(), f'workshare-fuzz-{SEED}-{failures}' + os.path.splitext(name)[1])
    if os.path.isfile(name):
        shutil.copy(name, kept)
    print(f'FAILED ({kept}):', what)


def check_output(name):
    with open(name, encoding='utf-8') as f:
        text = f.read()
    if name.endswith('.svg'):
        xml.fromstring(text)
    else:
        data = json.loads(re.search(r'^const data = (.*);$', text, re.M)[1], parse_constant=lambda word: float('no number: ' + word))
        if not data['panels']:
            raise ValueError('no panel')


def draw(name, title, *options):
    """Does what main() does with these arguments."""
    global drawn, refused
    output = f'out.{random.choice(("html", "svg"))}'
    sys.argv = ['ws-timeline', name, '-o', output, *options]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(said):
            program.main()
        check_output(output)
        drawn += 1
    except SystemExit as end:
        refused += 1
        if not isinstance(end.code, str) or not end.code.startswith('ws-timeline: ' + name) or '\n' in end.code or len(end.code) > 300:
            fail(f'{title}: {end.code!r}', name)
    except Exception:
        fail(f'{title}: {traceback.format_exc(limit=-3)}', name)


def places(value, path=()):
    """Where in a JSON value there are others."""
    yield path
    for key, inside in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inside, (*path, key))


def hurt_value(whole):
    """One value in it becomes another, is left out, or stands there twice."""
    whole = copy.deepcopy(whole)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        part = random.choice((whole, whole['otherData']) if isinstance(whole.get('otherData'), dict) else (whole,))
        found = [p for p in places(part) if p]
        if not found:
            continue
        *outer, key = random.choice(found)
        for step in outer:
            part = part[step]
        how = random.randrange(6)
        if how == 0:
            del part[key]
        elif how == 1 and isinstance(part, list):
            part.insert(key, copy.deepcopy(part[key]))
        elif how == 2 and type(part[key]) in (int, float):
            part[key] = random.choice((-part[key], part[key] + 1, part[key] * 1000, part[key] // 2, str(part[key])))
        else:
            part[key] = copy.deepcopy(random.choice(ODD))
    return whole


def written(whole):
    """As libws lays it out, or in another way."""
    if random.randrange(3) == 0 or not isinstance(whole.get('otherData'), dict) or not isinstance(whole.get('traceEvents'), list):
        return json.dumps(whole, indent=random.choice((None, 1))).encode()
    lines = ',\n'.join(json.dumps(e, separators=(',', ':')) for e in whole['traceEvents'])
    head = json.dumps({k: v for k, v in whole.items() if k != 'traceEvents'}, separators=(',', ':'))
    return f'{head[:-1]},\n"traceEvents":[\n{lines}\n]}}\n'.encode()


def hurt_bytes(good):
    hurt = bytearray(good)
    how = random.randrange(5)
    at = random.randrange(len(hurt))
    if how == 0:
        del hurt[at:]
    elif how == 1:
        del hurt[at:at + random.randrange(1, 200)]
    elif how == 2:
        hurt[at:at] = random.choice((b'[' * 100000, b'{"a":' * 100000, b'9' * 5000, b'\0' * 10, b'\xff\xfe', hurt[:300], b'\n'))
    else:
        for _ in range(random.randrange(1, 5)):
            hurt[random.randrange(len(hurt))] = random.choice((random.randrange(256), *b'0123456789eE-+.,:"[]{}nx \n'))
    return bytes(hurt)


random.seed(SEED)
subprocess.run([MAKE, 'good.json', '4', '2', '3', 'shared', '0'], check=True)
with open('good.json', 'rb') as f:
    good = f.read()
whole = json.loads(good)
options = [(), (), (), ('--loops',), ('--range', '50us:150us')]
draw('good.json', 'the good one')
if (drawn, refused) != (1, 0):
    fail('the good one is not drawn', 'good.json')
for turn in range(FILES):
    with open('bad.json', 'wb') as f:
        f.write(hurt_bytes(good) if turn % 2 else written(hurt_value(whole)))
    draw('bad.json', f'JSON, turn {turn}', *random.choice(options))
if not FILES / 20 < drawn < FILES * 9 / 10:
    fail(f'the damages are too heavy or too light: {drawn} of {FILES} are drawn', 'good.json')

if not subprocess.run(['/usr/bin/python3', '-c', 'import otf2'], capture_output=True).returncode:
    subprocess.run([MAKE, 'good.otf2', '2', '1', '2', 'shared', '0'], check=True)
    parts = sorted(os.path.join(at, name) for at, _, names in os.walk('good') for name in names) + 2 * ['good.otf2', 'good.def']
    counts = [0, 0]
    for turn in range(FILES // 25):
        shutil.rmtree('bad', ignore_errors=True)
        shutil.copytree('good', 'bad')
        shutil.copy('good.otf2', 'bad.otf2')
        shutil.copy('good.def', 'bad.def')
        part = random.choice(parts).replace('good', 'bad') if turn else 'bad.otf2'
        with open(part, 'rb') as f:
            hurt = f.read()
        # The first has more properties than the library could read in days.
        hurt = hurt_bytes(hurt) if turn else hurt.replace(b'Workshare 0.0.1\0\0', b'Workshare 0.0.1\0\4')
        with open(part, 'wb') as f:
            f.write(hurt)
        done = subprocess.run([TIMELINE, 'bad.otf2', '-o', 'out.html'], capture_output=True, text=True, timeout=30, errors='replace')
        if done.returncode == 0:
            check_output('out.html')
        elif done.returncode != 1 or done.stderr.count('\n') != 1 or not done.stderr.startswith('ws-timeline: bad'):
            fail(f'OTF2, turn {turn}, {part}: status {done.returncode}, {done.stderr!r}', 'bad.otf2')
        counts[done.returncode != 0] += 1
    if not all(counts):
        fail(f'OTF2: {counts[0]} drawn, {counts[1]} refused', 'good.otf2')

os.chdir('/')
shutil.rmtree(folder)
if failures:
    sys.exit(f'{failures} failed')
print(f'ok: {drawn} drawn, {refused} refused')
