# SPDX-License-Identifier: MIT
"""python_test.py SOURCE LIBWS: `import workshare` without libws, with one that prints what it is asked (fake_libws.c), and its readers of reports, as lists and
as data frames of pandas. 77 without pandas, which the frames were not tested with then."""
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

SOURCE, LIBWS = sys.argv[1], os.path.abspath(sys.argv[2])
sys.path.insert(0, os.path.join(SOURCE, 'tests'))
from checks import fail, finish, skips  # noqa: E402

MODULE = os.path.join(SOURCE, 'tools/python')
GOLDEN = os.path.join(SOURCE, 'tests/unit/observe/golden/report.json')
PROGRAM = '''
import workshare

@workshare.phase('solve')
def solve(x):
    with workshare.waiting():
        return 2 * x

@workshare.waiting()
def fails():
    raise KeyError('mine')

print(solve(21), workshare.is_active(), flush=True)
try:
    fails()
except KeyError as error:
    print(error, flush=True)
with workshare.phase('größer'), workshare.phase('inner'):
    pass
print(workshare.enable(False), workshare.enable(), workshare.metrics(), flush=True)
'''
# What pandas makes of each table, and a figure by its name. `old` lacks a figure of the ranks and has no loops, phases and calls.
FRAMES = '''
import sys, warnings
warnings.simplefilter('error')
import pandas, workshare
golden, old = sys.argv[1:]
for reader in workshare.runs, workshare.ranks, workshare.loops, workshare.phases, workshare.rank_phases, workshare.calls:
    one, two = reader(golden), reader(golden, old)
    assert isinstance(one, pandas.DataFrame) and list(one.file.unique()) == [golden], reader
    assert [c for c in one if c.endswith('_s') and one[c].dtype != float] == [], (reader, one.dtypes)
    assert list(two[:len(one)].index) == list(range(len(one))) and list(two.columns) == list(one.columns), reader
    print(reader.__name__, len(one), len(two), len(reader(old)), len(reader()))
ranks = workshare.ranks(golden, old)
print(ranks.lent_s.isna().tolist(), ranks.groupby('file', sort=False)['rank'].count().tolist(), ranks.lent_s.sum() == workshare.ranks(golden).lent_s.sum())
table = workshare.rank_phases(golden).pivot(index='rank', columns='phase', values='wall_s')
print(table.shape, sorted(table.columns))
'''
WITHOUT = "42 False\n'mine'\nFalse False None\n"
WITH = ("phase solve begins\nwait begins\nwait ends\nphase ends\n42 True\nwait begins\nwait ends\n'mine'\nphase größer begins\nphase inner begins\nphase ends\n"
        "phase ends\nTrue False {'elapsed_s': 2.5, 'computing_s': 1.5, 'mpi_s': 1.0, 'blocked_s': 0.5}\n")


def python(program, *arguments, path=MODULE, interpreter=sys.executable, **environment):
    done = subprocess.run([interpreter, '-X', 'utf8', '-c', program, *arguments], env={**os.environ, 'PYTHONPATH': path, **environment}, timeout=30,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding='utf-8', check=False)
    return done.stdout


def same(what, found, wanted):
    if found != wanted:
        fail(what, f'{found!r}\nwanted: {wanted!r}')


same('without libws', python(PROGRAM), WITHOUT)
# stdout of C has a buffer of its own, so that it is flushed at each line
same('with libws', python('import ctypes; ctypes.CDLL(None).setvbuf(ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stdout"), None, 2, 0)\n' + PROGRAM, LD_PRELOAD=LIBWS),
     WITH)

# The fields of metrics() are those of the header, in its order.
with open(os.path.join(SOURCE, 'include/workshare/ws.h'), encoding='utf-8') as f:
    struct = re.search(r'^struct ws_metrics \{(.*?)^\};', f.read(), re.S | re.M)
sys.path.insert(0, MODULE)
import workshare  # noqa: E402
from workshare import process  # noqa: E402
same('struct ws_metrics', [f'{"uint64_t" if name == "size" else "double"} {name}' for name, _ in process._Metrics._fields_],
     re.findall(r'^\s*(\w+ \w+);', struct[1], re.M))

# Reports, as lists: pandas is hidden.
sys.modules['pandas'] = None
with open(GOLDEN, encoding='utf-8') as f:
    golden = json.load(f)
for function, name in (workshare.ranks, 'by_rank'), (workshare.loops, 'by_loop'), (workshare.phases, 'by_phase'), (workshare.calls, 'by_call'):
    table = function(GOLDEN)
    same(f'rows of {name}', len(table), len(golden[name]))
    same(f'columns of {name}', {tuple(row) for row in table}, {tuple(table[0])})
    same(f'no lists or dicts in {name}', [v for row in table for v in row.values() if isinstance(v, (list, dict))], [])
same('lent_s', [row['lent_s'] for row in workshare.ranks(GOLDEN)], [rank['totals']['lent_s'] for rank in golden['by_rank']])
parts = workshare.rank_phases(GOLDEN)
same('ranks and phases', [(row['rank'], row['phase'], row['wall_s']) for row in parts],
     [(rank['rank'], '/'.join(p['phase']), p.get('wall_s', 0)) for rank in golden['by_rank'] for p in rank['phases']])
both = workshare.runs(GOLDEN, GOLDEN)
same('two runs', [row['elapsed_s'] for row in both], 2 * [golden['elapsed_s']])
same('efficiency', both[0]['efficiency_parallel_efficiency'], golden['efficiency']['parallel_efficiency'])

with tempfile.TemporaryDirectory() as folder:
    part = os.path.join(folder, 'part.json')
    with open(part, 'w', encoding='utf-8') as f:
        of_phase = golden['by_rank'][0]['phases'][0]
        blocked = of_phase.pop('blocked_s')
        json.dump(golden, f)
        of_phase['blocked_s'] = blocked
    same('a figure that a rank lacks is 0', [row['blocked_s'] for row in workshare.rank_phases(part)], [0] + [row['blocked_s'] for row in parts[1:]])
    for text, said in ('{', 'not JSON'), ('[]', 'not a report of Workshare'), ('{"schema": "workshare-top/3"}', 'not a report of Workshare'), \
            ('{"schema": "workshare-report/9"}', 'a report of version 9; this reads version 2'):
        bad = os.path.join(folder, 'bad.json')
        with open(bad, 'w', encoding='utf-8') as f:
            f.write(text)
        try:
            workshare.runs(GOLDEN, bad)
            fail(f'{text}: is read', '')
        except ValueError as error:
            if not str(error).startswith(f'{bad}: {said}'):
                fail(f'{text}', str(error))

    # With pandas: here one that knows what it was given.
    with open(os.path.join(folder, 'pandas.py'), 'w', encoding='utf-8') as f:
        f.write('class DataFrame:\n    def __init__(self, rows, columns):\n        self.rows, self.columns = rows, columns\n')
    same('pandas', python(f'import workshare; t = workshare.loops({GOLDEN!r}); print(type(t).__name__, len(t.rows), t.columns[0])', path=f'{MODULE}:{folder}'),
         f'DataFrame {len(golden["by_loop"])} file\n')

    # Pandas itself: Debian's package is for Debian's Python.
    interpreter = next((p for p in (sys.executable, '/usr/bin/python3') if python('import pandas', interpreter=p) == ''), None)
    if interpreter:
        lacks = {**golden, 'by_loop': [], 'by_phase': [], 'by_call': [], 'by_rank': [{**rank, 'totals': {k: v for k, v in rank['totals'].items() if k != 'lent_s'}, 'phases': []}
                                                                                for rank in golden['by_rank']]}
        old = os.path.join(folder, 'old.json')
        with open(old, 'w', encoding='utf-8') as f:
            json.dump(lacks, f)
        ranks, cells = len(golden['by_rank']), sum(len(rank['phases']) for rank in golden['by_rank'])
        rows = {'runs': (1, 1), 'ranks': (ranks, ranks), 'loops': (len(golden['by_loop']), 0), 'phases': (len(golden['by_phase']), 0), 'rank_phases': (cells, 0),
                'calls': (len(golden['by_call']), 0)}
        names = sorted({'/'.join(p['phase']) for rank in golden['by_rank'] for p in rank['phases']})
        same('data frames', python(FRAMES, GOLDEN, old, interpreter=interpreter),
             ''.join(f'{name} {n} {n + more} {more} 0\n' for name, (n, more) in rows.items()) +
             f'{ranks * [False] + ranks * [True]} {[ranks, ranks]} True\n({ranks}, {len(names)}) {names}\n')
        # What docs/guides/python.md shows.
        with open(os.path.join(SOURCE, 'docs/guides/python.md'), encoding='utf-8') as f:
            shown = re.search(r'^```python\n(import workshare\n\nranks = .*?)^```', f.read(), re.S | re.M)[1]
        lines = python(f'files = [{old!r}, {GOLDEN!r}]\n' + shown.replace("'run.json'", repr(GOLDEN)) + 'print(len(history))\n',
                       interpreter=interpreter).splitlines()
        same('the example', (lines[0].split(), len(lines), lines[-1]), (['rank', 'computing_s', 'blocked_s', 'lent_s'], ranks + 2, '2'))
    else:
        skips.add('python3-pandas is missing: data frames were tested with a stand-in only')

    # The wheel, as pip would unpack it.
    os.makedirs(os.path.join(folder, 'stage/share/workshare'))
    with open(os.path.join(folder, 'stage/share/workshare/version'), 'w', encoding='utf-8') as f:
        f.write('1.2.3-rc1\n')
    done = subprocess.run([sys.executable, os.path.join(SOURCE, 'tools/dev/package'), os.path.join(folder, 'stage'), folder, 'wheel'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=30, check=False)
    wheel = done.stdout.strip()
    if done.returncode or not wheel.endswith('/workshare-1.2.3rc1-py3-none-any.whl'):
        fail('the wheel', done.stdout)
    else:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(os.path.join(folder, 'unpacked'))
            record = archive.read(next(name for name in archive.namelist() if name.endswith('/RECORD'))).decode()
            same('RECORD', sorted(line.split(',')[0] for line in record.splitlines()), sorted(archive.namelist()))
        same('from the wheel', python(PROGRAM, path=os.path.join(folder, 'unpacked')), WITHOUT)
finish()
