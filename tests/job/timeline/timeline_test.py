# SPDX-License-Identifier: MIT
"""timeline_test.py WS_TIMELINE MAKE_TRACE: what ws-timeline makes of good traces and says of bad ones. 77 when OTF2 could not be read here."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as xml

TIMELINE, MAKE = map(os.path.abspath, sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(TIMELINE), '../share/workshare/timeline'))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import schemas  # noqa: E402
from expectation import conclude, expect  # noqa: E402
from ws_timeline import rows, svg, traces  # noqa: E402

os.chdir(tempfile.mkdtemp(prefix='workshare-'))


def make(path, ranks=2, nodes=1, steps=3, kind='shared', dropped=0):
    subprocess.run([MAKE, path, str(ranks), str(nodes), str(steps), kind, str(dropped)], check=True)
    return path


def timeline(*args, code=0):
    done = subprocess.run([TIMELINE, *args], capture_output=True, text=True, timeout=60)
    expect(f'{args}: exit status {done.returncode}, wanted {code}: {done.stderr}', done.returncode == code)
    return done


def data_of(page):
    with open(page) as f:
        return json.loads(re.search(r'^const data = (.*);$', f.read(), re.M)[1])


def refused(path, *words, code=1):
    done = timeline(path, code=code)
    lines = done.stderr.splitlines()
    expect(f'{path}: one line that names it and says {words}: {done.stderr!r}',
           len(lines) == 1 and os.path.basename(path) in lines[0] and all(w in lines[0] for w in words) and 'Traceback' not in done.stderr)
    expect(f'{path}: a page was written', not os.path.exists(re.sub(r'\.(json|otf2)$', '', path) + '.html'))


# ---- Rows: made_up.h says what they must be ----

make('run.json', ranks=4, nodes=2, steps=5)
for kind in 'shared', 'parallel', 'tasks':
    with open(make(f'fits-{kind}.json', kind=kind, dropped=3)) as f:
        written = json.load(f)
    wrong = schemas.problems('trace', written)
    expect(f'{kind}: it does not fit its schema: ' + '; '.join(wrong[:3]), next(iter(written)) == 'schema' and not wrong)
panel = rows.Panel(traces.read('run.json'))
expect('rows', [(r.node, r.core, r.rank) for r in panel.rows] == [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 3)])
for row in panel.rows:
    expect('parts follow each other', row.parts[0][0] == 0 and row.parts[-1][1] == 500000 and
           all(a[1] == b[0] for a, b in zip(row.parts, row.parts[1:])))
first = [(begin, end, *panel.states[state][:2], a, b) for begin, end, state, a, b in panel.rows[1].parts if end <= 100000]
expect(f'the first step of core 1: {first}', first == [
    *((c * 8000, c * 8000 + 8000, 'chunk', 1, c * 10, c * 10 + 10) for c in range(6)),
    (48000, 50000, 'wait', 1, 0, 0), (50000, 51000, 'lent', 0, 0, 0),
    *((51000 + c * 9000, 60000 + c * 9000, 'chunk', 0, 80 + c * 10, 90 + c * 10) for c in range(4)),
    (87000, 88000, 'lent', 0, 0, 0), (88000, 100000, 'wait', 1, 0, 0)])
totals = panel.totals()
expect(f'totals {totals}', totals[0]['loops'] == 450000 and totals[0]['helped'] == 180000 and totals[1]['for_others'] == 180000 and
       totals[1]['waiting'] == 70000 and totals[1]['handing'] == 10000 and totals[1]['lends'] == 5 and totals[0]['kept'] == 40 and totals[0]['stolen'] == 20)
expect(f'lends {panel.lends}', [l[:4] for l in panel.lends[:2]] == [(51000, 1, 0, 0), (51000, 3, 2, 2)] and len(panel.lends) == 10)

# Parallel regions are no loops: they have their number of threads.
make('parallel.json', kind='parallel', steps=4)
regions = rows.Panel(traces.read('parallel.json'))
found = [[(b, e, *regions.states[state]) for b, e, state, *_ in r.parts if e <= 100000] for r in regions.rows]
expect(f'parts of parallel regions: {found}', found == [
    [(0, 90000, 'parallel', 0, '6 threads, 2 lent'), (90000, 100000, 'wait', 0, 'MPI_Barrier')],
    [(0, 50000, 'parallel', 1, '4 threads'), (50000, 100000, 'wait', 1, 'MPI_Barrier')]])
expect(f'times of parallel regions: {regions.totals()}', [(t['parallel'], t['loops'], t['compute']) for t in regions.totals()] == [(360000, 0, 0), (200000, 0, 0)])
timeline('parallel.json', '-o', 'parallel.svg')
texts = [t.text for t in xml.parse('parallel.svg').iter('{http://www.w3.org/2000/svg}text')]
expect(f'the picture tells of threads: {texts}', '6 threads, 2 lent' in texts and 'n threads: a parallel region' in texts)
timeline('parallel.json')
expect('the page has them as they are', ['parallel', 1, '4 threads'] in data_of('parallel.html')['panels'][0]['states'])

# Letters with tasks are arrows, from when they are sent to when they come.
make('tasks.json', ranks=3, kind='tasks', steps=2)
moves = rows.Panel(traces.read('tasks.json')).moves
expect(f'letters with tasks: {moves}', moves == [(s * 100000 + 10000, s * 100000 + 20000, r, (r + 1) % 3, 10 * r + 5) for s in range(2) for r in range(3)])
expect('those of the second step', rows.Panel(traces.read('tasks.json', (100000, 200000)), 100000, 200000).moves == moves[3:])
timeline('tasks.json', '-o', 'tasks.svg')
drawn = [p.get('d') for p in xml.parse('tasks.svg').iter('{http://www.w3.org/2000/svg}path') if p.get('class') == 'v']
expect(f'arrows of tasks: {drawn}', len(drawn) == 6 + 1 and all(re.fullmatch(r'M([\d.]+),(\d+)L([\d.]+),(\d+)', d) for d in drawn[:6]))  # and the legend's
expect('the picture says what they are', 'tasks move to that rank' in open('tasks.svg').read())
timeline('tasks.json')
expect('and so does the page', data_of('tasks.html')['panels'][0]['moves'] == [list(m) for m in moves])

# Threads that come and go share rows.
trace = traces.read('run.json')
for begin, end in (0, 50), (10, 20), (20, 30), (50, 60):
    t = traces.Thread(1, 0, 1, 'thread', 0)
    t.events = [('mpi', begin, end, 'MPI_Send', 0, 0, 0)]
    t.ended = end, end
    trace.threads.append(t)
with_threads = rows.Panel(trace)
found = [[(b, e) for b, e, state, *_ in r.parts if with_threads.states[state][0] == 'wait'] for r in with_threads.rows if r.kind == 'thread']
expect(f'rows of threads: {found}', found == [[(0, 50), (50, 60)], [(10, 20), (20, 30)]])

# Sums keep every nanosecond, however coarse.
for resolution in 1, 5000, 20000, 10**9:
    for row in panel.rows:
        exact, coarse = {}, {}
        for begin, end, state, _, _ in row.parts:
            exact[state] = exact.get(state, 0) + end - begin
        for part in rows.reduced(row.parts, resolution):
            for state, (ns, _) in (part[2].items() if len(part) == 3 else [(part[2], (part[1] - part[0], 1))]):
                coarse[state] = coarse.get(state, 0) + ns
        expect(f'sums at {resolution} ns', exact == coarse)

# ---- Both formats tell the same ----

no_otf2 = subprocess.run(['/usr/bin/python3', '-c', 'import otf2'], capture_output=True).returncode != 0
if not no_otf2:
    make('parallel.otf2', kind='parallel', steps=4)
    timeline('parallel.otf2', '-o', 'other.html')
    one, other = (data_of(page)['panels'][0] for page in ('parallel.html', 'other.html'))
    expect('parallel regions are the same in both formats', all(one[what] == other[what] for what in ('states', 'totals')))
    make('tasks.otf2', ranks=3, kind='tasks', steps=2)
    timeline('tasks.otf2', '-o', 'other.html')
    expect('letters with tasks are the same in both formats', data_of('other.html')['panels'][0]['moves'] == [list(m) for m in moves])
    make('same.otf2', ranks=4, nodes=2, steps=5)
    timeline('same.otf2')
    timeline('run.json')
    a, b = data_of('same.html'), data_of('run.html')
    for data in a, b:
        states = data['panels'][0]['states']
        expect('a page from OTF2 has states', len(states) > 4)
    expect('the pages of the two formats differ in their sums', a['panels'][0]['totals'] == b['panels'][0]['totals'])
    expect('the pages of the two formats differ in their rows', [r['label'] for r in a['panels'][0]['rows']] == [r['label'] for r in b['panels'][0]['rows']])
    expect('the pages of the two formats differ in their leases', [l[:4] for l in a['panels'][0]['lends']] == [l[:4] for l in b['panels'][0]['lends']])
    os.remove('run.html')

# ---- Pictures and pages ----

make('plain.json', ranks=4, nodes=2, steps=7, kind='plain')
expect('it says what it wrote', timeline('run.json', 'plain.json', '-o', 'both.svg').stdout == 'both.svg\n')
tree = xml.parse('both.svg')
texts = [t.text for t in tree.iter('{http://www.w3.org/2000/svg}text')]
for text in 'without stealing: 700 us', 'mpirun -workshare: 500 us', 'node 0, core 0: rank 0', 'node 1, core 1: rank 3', 'waiting in MPI', 'rank 3', 'a core is lent to that rank':
    expect(f'{text!r} is not in the picture', text in texts)
expect('the plain run is above', texts.index('without stealing: 700 us') < texts.index('mpirun -workshare: 500 us'))
arrows = [p for p in tree.iter('{http://www.w3.org/2000/svg}path') if p.get('marker-end')]
expect(f'{len(arrows)} arrows', len(arrows) == 10 + 1)  # and the legend's
# Chunks that follow each other touch; what looks white is idle.
wide = 0
for path in tree.iter('{http://www.w3.org/2000/svg}path'):
    if re.fullmatch(r'ch\d', path.get('class') or ''):
        boxes = sorted((float(y), float(x), float(w)) for x, y, w in re.findall(r'M([\d.]+),([\d.]+)h([\d.]+)', path.get('d')))
        for (y, x, w), (next_y, next_x, _) in zip(boxes, boxes[1:]):
            wide += w > 4
            expect(f'a white line between chunks at {x + w}', y != next_y or not 0.15 < next_x - x - w < 1.5)
expect('there are wide chunks', wide > 3)
with open('both.svg') as f:
    expect('the picture is for light and dark', 'prefers-color-scheme: dark' in f.read())

timeline('plain.json', 'run.json', '-o', 'swapped.html')
expect('the plain run is above, whatever is named first', [p['title'] for p in data_of('swapped.html')['panels']] == ['without stealing: 700 us', 'mpirun -workshare: 500 us'])
timeline('run.json', 'plain.json', '-o', 'both.html', '--title', 'a <b>title</b> & more')
with open('both.html') as f:
    page = f.read()
expect('the title is text', 'a &lt;b&gt;title&lt;/b&gt; &amp; more' in page and '<b>title' not in page)
expect('no network', not re.search(r'(src|href)\s*=\s*"(?!data:)|@import|https?://(?!www\.w3\.org)', page))
expect('two panels', [p['title'] for p in data_of('both.html')['panels']] == ['without stealing: 700 us', 'mpirun -workshare: 500 us'])

timeline('run.json', '-o', 'part.html', '--range', '100us:200us')
part = data_of('part.html')['panels'][0]
expect(f'the range: {part["begin"]} {part["end"]}', (part['begin'], part['end']) == (100000, 200000) and part['totals'][1]['lends'] == 1)

whole, near = traces.read('run.json'), traces.read('run.json', (100000, 200000))
expect('events outside of the range are kept', 0 < sum(len(t.events) for t in near.threads) < sum(t.found for t in near.threads) / 3)
whole, near = (rows.Panel(t, 100000, 200000) for t in (whole, near))
expect('without them the range is another', [[(b, e, p.states[s], x, y) for b, e, s, x, y in r.parts] for r in near.rows for p in [near]] ==
       [[(b, e, p.states[s], x, y) for b, e, s, x, y in r.parts] for r in whole.rows for p in [whole]] and near.totals() == whole.totals() and near.lends == whole.lends)
if not no_otf2:
    timeline('same.otf2', '-o', 'part2.html', '--range', '100us:200us')
    also = data_of('part2.html')['panels'][0]
    expect('the range of the two formats differs', also['totals'] == part['totals'] and len(also['lends']) == len(part['lends']) and also['phases'] == part['phases'])

dropped = make('dropped.json', dropped=7)
expect('what was dropped is said', 'lacks 7 events' in timeline(dropped).stderr and '7 events were dropped' in open('dropped.html').read())

# ---- A long one: small, and quickly made ----

make('long.json', ranks=16, steps=600)  # 200000 events or so
began = time.monotonic()
timeline('long.json')
took, size = time.monotonic() - began, os.path.getsize('long.html')
expect(f'{size} bytes', size < 3e6)
expect(f'{took:.1f} s', took < 30)
data = data_of('long.html')['panels'][0]
for row in data['rows']:
    flat, i, total = row['parts'], 0, 0
    while i < len(flat):
        total += flat[i]
        state = flat[i + 1]
        i += 2 + (3 * -state if state < 0 else {'chunk': 2, 'loop': 1}.get(data['states'][state][0], 0))
    expect('the sums of a long page are not its length', total == 600 * 100000)
timeline('long.json', '-o', 'long.svg')
expect(f'a long picture has {os.path.getsize("long.svg")} bytes', os.path.getsize('long.svg') < 3e6)

# ---- Bad input ----

good = open('run.json').read()


def write(name, text):
    with open(name, 'w') as f:
        f.write(text)
    return name


refused(write('empty.json', ''), 'is empty')
refused('missing.json', 'No such file')
refused(write('cut.json', good[:len(good) // 2]), 'truncated')
refused(write('cut2.json', good[:200]), 'truncated')
refused(write('cut3.json', good.rsplit('\n', 2)[0] + '\n'), 'truncated')
schema = f'"workshare-trace/{traces.FORMAT}"'
refused(write('newer.json', good.replace(schema, f'"workshare-trace/{traces.FORMAT + 1}"')), f'version {traces.FORMAT + 1}', 'newer')
refused(write('versionless.json', good.replace(schema, '"workshare-trace/x"')), 'version')
refused(write('foreign3.json', good.replace(schema, '"workshare-report/1"')), 'not a trace of Workshare')
# As the first version wrote its head
old = good.replace(f'{{"schema":{schema},', '{').replace('"otherData":{', '"otherData":{"format":"workshare-trace","version":1,') \
    .replace('"started_unix_ns"', '"began_unix_ns"').replace('"cat":"execution"', '"cat":"region"')
expect('the former names are not tried', old.count('"region"') > 5 and 'execution' not in old)
panel = rows.Panel(traces.read('run.json'))
for name, text in ('former.json', old), ('former2.json', json.dumps(json.loads(old))):
    former = rows.Panel(traces.read(write(name, text)))
    expect(f'{name}: other rows', [(r.node, r.core, r.rank) for r in former.rows] == [(r.node, r.core, r.rank) for r in panel.rows])
    expect(f'{name}: other loops', rows.Panel.of_loops(traces.read(name)).end == rows.Panel.of_loops(traces.read('run.json')).end < panel.end)
refused(write('newer1.json', old.replace('"version":1', '"version":9')), 'version 9', 'newer')
refused(write('versionless1.json', old.replace('"version":1', '"version":"x"')), 'version')
refused(write('foreign.json', '{"traceEvents":[{"ph":"X","ts":1,"dur":2,"name":"x"}]}'), 'not a trace of Workshare')
refused(write('foreign2.json', '[1, 2]'), 'not a trace of Workshare')
refused(write('text.json', 'hello\nworld\n'), 'not a trace of Workshare')
refused(write('damaged.json', good.replace('"dur":8.000', '"dur":eight', 1)), 'damaged', 'line')
refused(write('lacking.json', good.replace('"args":{"first":0,"end":10}', '"args":{}', 1)), 'damaged')
lines = good.splitlines(True)
refused(write('fewer.json', ''.join(lines[:-10] + lines[-9:])), 'damaged')
refused(write('bytes.json', '\0\1\2'), 'not a trace')
with open('bytes.json', 'wb') as f:
    f.write(bytes(range(128, 256)) * 9)
refused('bytes.json', 'not a trace')
os.mkdir('folder.json')
refused('folder.json', 'directory')
os.mkfifo('pipe.json')
refused('pipe.json', 'it is a pipe without a writer')
os.mkfifo('pipe.svg')
expect('a pipe that nobody reads', timeline('run.json', '-o', 'pipe.svg', code=1).stderr == 'ws-timeline: pipe.svg: No such device or address\n')


def write_late(name):
    with open('pipe.json', 'wb') as pipe, open(name, 'rb') as f:
        time.sleep(3)  # longer than a writer is waited for that has not come
        pipe.write(f.read())


threading.Thread(target=write_late, args=['run.json'], daemon=True).start()
timeline('pipe.json', '-o', 'of_pipe.html')
timeline('run.json', '-o', 'of_file.html')
expect('a trace out of a pipe', data_of('of_pipe.html')['panels'] == data_of('of_file.html')['panels'])
if not no_otf2:
    threading.Thread(target=write_late, args=['same.otf2'], daemon=True).start()
    refused('pipe.json', 'cannot be read from a pipe')
if not no_otf2:
    shutil.copy('same.otf2', 'alone.otf2')
    refused('alone.otf2', 'damaged or incomplete')
    with open('same.otf2', 'rb') as f, open('cut.otf2', 'wb') as g:
        g.write(f.read()[:40])
    refused('cut.otf2', 'damaged or incomplete')
    make('hurt.otf2')
    with open('hurt/0.evt', 'rb+') as f:
        f.truncate(os.path.getsize('hurt/0.evt') // 2)
    refused('hurt.otf2', 'damaged or incomplete')
    make('piped.otf2')
    os.remove('piped/0.evt')
    os.mkfifo('piped/0.evt')
    refused('piped.otf2', 'piped/0.evt is not a regular file')
# Laid out anew by another tool, it is still a trace.
write('anew.json', json.dumps(json.loads(good), indent=1))
timeline('anew.json')
expect('a trace laid out anew', data_of('anew.html')['panels'][0]['totals'] == totals)

for args in [], ['run.json', '-o', 'x.png'], ['run.json', '--range', 'soon'], ['run.json', '--range', '2ms:1ms'], ['run.json', '--colour']:
    expect(f'{args}: one line', re.fullmatch('ws-timeline: error: .*; (see ws-timeline --help|did you mean .*[?])\n', timeline(*args, code=2).stderr))
for args, says in (([], 'FILE is required'), (['run.json', '-o'], '--output requires a value'), (['run.json', '--loops=3'], '--loops takes no value'), (['a', 'b', 'c'], 'unexpected argument c'),
                   (['run.json', '--range', 'soon'], "--range: 'soon' is not a range like 1.2s:1.3s, 200ms: or :50us")):
    expect(f'{args}: {says}', timeline(*args, code=2).stderr == f'ws-timeline: error: {says}; see ws-timeline --help\n')
expect('a range behind the end', 'ends at 500 us' in timeline('run.json', '--range', '1s:', code=1).stderr)
expect('an unwritable page', 'No such file' in timeline('run.json', '-o', 'no/where.html', code=1).stderr)
expect('a full disk', 'No space left' in subprocess.run(f'ln -s /dev/full full.html && {shlex.quote(TIMELINE)} run.json -o full.html', shell=True, capture_output=True, text=True).stderr)
done = subprocess.run(f'{shlex.quote(TIMELINE)} run.json -o said.svg > /dev/full', shell=True, capture_output=True, text=True)
expect(f'a full disk for what it says: {done}', done.returncode == 1 and done.stderr == 'ws-timeline: cannot write: No space left on device\n')
names = svg.joined([[0, 10, 'MPI_Barrier'], [10, 11, 'rank 0'], [11, 20, 'MPI_Barrier'], [20, 25, 'rank 1'], [25, 26, '']], 2)
expect(f'names on what is wide enough: {names}', names == [[0, 20, 'MPI_Barrier'], [20, 26, 'rank 1']])
panel = rows.Panel(traces.read('run.json'))
panel.phases = [(i * 5000, f'phase {i}') for i in range(100)]
names = [(float(x), float(y)) for x, y in re.findall(r'x="([\d.]+)" y="([\d.]+)">phase \d+<', svg.draw([panel], ['a title']))]
expect(f'names of phases lie over each other or the title: {names}', len(names) > 5 and all(b[0] - a[0] > 45 for a, b in zip(names, names[1:])) and names[0][1] > 30)
for option in '--help', '--version':
    expect(option, 'ws-timeline' in timeline(option).stdout)

shutil.rmtree(os.getcwd())
conclude(list(filter(None, ('python3-otf2 is missing: no OTF2 was read' if no_otf2 else '', schemas.MISSING))))
