# SPDX-License-Identifier: MIT
"""ws-report: a report of the first version stays readable, and comes out as one of today's; what is none gets one clear message.

The argument is ws-report. version-1.json was written by a job (the test program `report phases 20 nap`, two ranks)."""
import csv
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import check_report  # noqa: E402
from expectation import conclude, expect  # noqa: E402

TOOL = os.path.abspath(sys.argv[1])
KEPT = pathlib.Path(__file__).resolve().parent / 'version-1.json'
good = KEPT.read_text()
# The same as version 2 has it: what are executions there were runs.
now = re.sub(r'"runs(_|")', r'"executions\1', good).replace('workshare-report/1', 'workshare-report/2', 1)
folder = tempfile.TemporaryDirectory(prefix='ws-report-')


def run(*args, stdout=subprocess.PIPE, **how):
    return subprocess.run([TOOL, *map(str, args)], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=20, **how)


def file(name, text):
    path = pathlib.Path(folder.name, name)
    path.write_text(text)
    return path


def refused(title, part, *args, **how):
    done = run(*args, **how)
    expect(f'{title}: exit status {done.returncode}', done.returncode == 2)
    expect(f'{title}: not one line that says {part!r}: {done.stderr!r}', done.stderr.count('\n') == 1 and part in done.stderr and
           done.stderr.startswith('ws-report: '))


# The kept report.
text = run(KEPT)
expect(f'the kept report: {text.stderr}', text.returncode == 0 and text.stderr == '')
for part in 'WORKSHARE REPORT   report, 2 ranks on 1 node', '\nEFFICIENCY\n', '\nWAITING\n', '\nSHARING\n', '\nLOOPS ', \
        'report.c:32:loop', '\nRANKS ', '\nMPI CALLS ', 'MPI_Barrier', '\nPHASES ':
    expect(f'the text has no {part!r}', part in text.stdout)
expect('a line is too long', all(len(line) <= 100 for line in text.stdout.splitlines()))
expect('it does not fit the schema: ' + '\n'.join(check_report.problems(json.loads(now), False)), not check_report.problems(json.loads(now), False))


def holds(now, kept):
    """All of `kept`, and beside it only fields that came later: none of what they count."""
    if isinstance(kept, dict):
        return all(holds(now.get(name), value) for name, value in kept.items()) and \
            all(value in (0, [], {'times': 0, 'time_s': 0}) for name, value in now.items() if name not in kept and name not in ('path', 'whole', 'refused'))
    if isinstance(kept, list):
        return len(now) == len(kept) and all(map(holds, now, kept))
    return now == kept


again = json.loads(run('--json', KEPT).stdout)
expect('JSON is not what was read', holds(again, json.loads(now)))
expect('JSON read again is another', json.loads(run('--json', file('again.json', json.dumps(again))).stdout) == again)
expect('what is written does not fit the schema: ' + '\n'.join(check_report.problems(again, False)), not check_report.problems(again, False))
expect('from standard input it is another', run('-', input=good).stdout == text.stdout)

rows = list(csv.DictReader(io.StringIO(run('--csv', KEPT).stdout)))
report = json.loads(now)


def figures(metric, **key):
    key = {'node': '', 'rank': '', 'loop': '', 'call': '', 'phase': '', **key}
    return [r['value'] for r in rows if r['metric'] == metric and all(r[k] == v for k, v in key.items())]


expect('CSV: a row of another length', all(None not in r and None not in r.values() for r in rows))
expect('CSV: the schema', figures('schema') == ['workshare-report/2'])
for rank in report['by_rank']:
    for metric in 'borrowed_s', 'iterations_stolen':
        value = figures(metric[:-2] if metric.endswith('_s') else metric, node='0', rank=str(rank['rank']))
        expect(f'CSV: {metric} of rank {rank["rank"]} is {value}', len(value) == 1 and abs(float(value[0]) - rank['totals'][metric]) < 1e-6)
loop = report['by_loop'][0]
expect('CSV: a loop', figures('iterations_kept', loop=loop['loop']) == [str(loop['iterations_kept'])])
expect('CSV: a phase', len(figures('parallel_efficiency', phase='phase -7')) == 1)
expect('CSV: units', {r['unit'] for r in rows} == {'', 's', 'count', 'ratio'})

# Two of them.
half = json.loads(good)
half['elapsed_s'] /= 2
both = run(KEPT, file('half.json', json.dumps(half)))
line = next((l.split() for l in both.stdout.splitlines() if l.strip().startswith('elapsed ')), [])
expect(f'the comparison says {line}', both.returncode == 0 and line and line[-1] == '0.5')
file('a.json', good)
same = run('a.json', 'a.json', cwd=folder.name)  # the output has the names of the files
expect('a report differs from itself', same.stdout and not re.search('new|gone|differ', same.stdout))

# What is no report.
missing = pathlib.Path(folder.name, 'missing.json')
refused('no such file', 'No such file', missing)
refused('a folder', 'Is a directory', folder.name)
pipe = pathlib.Path(folder.name, 'pipe')
os.mkfifo(pipe)
refused('a pipe that nobody writes into', 'pipe: it is a pipe without a writer', pipe)


def write_late():
    with open(pipe, 'w') as f:
        time.sleep(3)  # longer than a writer is waited for that has not come
        f.write(good)


threading.Thread(target=write_late, daemon=True).start()
expect('a pipe', run(pipe).stdout == text.stdout)
refused('an empty one', 'empty', file('empty.json', ''))
refused('text', 'not JSON', file('text.json', text.stdout))
refused('foreign JSON', 'not a report of Workshare', file('foreign.json', '{"schema": "other/1"}'))
refused('a newer one', 'newer version', file('newer.json', good.replace('workshare-report/1', 'workshare-report/3', 1)))
refused('version 1 with a word of version 2', 'there is no totals.runs_shared', file('mixed.json', good.replace('"runs_shared"', '"executions_shared"')))
refused('version 2 with a word of version 1', 'there is no totals.executions', file('mixed.json', good.replace('workshare-report/1', 'workshare-report/2', 1)))
refused('one without its totals', 'there is no totals', file('cut.json', json.dumps({k: v for k, v in report.items() if k != 'totals'})))
for cut in range(1, 8):
    refused(f'cut after {cut}/8', 'ends too early', file('cut.json', good[:len(good) * cut // 8]))
refused('the second is missing', 'missing.json', KEPT, missing)
with open('/dev/full', 'w') as full:
    refused('a full disk', 'cannot write: No space left', KEPT, stdout=full)

random.seed(7)
for turn in range(60):  # whatever it is, it is read or refused
    bytes_ = bytearray(good.encode())
    for _ in range(random.randrange(1, 4)):
        bytes_[random.randrange(len(bytes_))] = random.choice(b'0123456789eE-+.,:"[]{}nx \0')
    pathlib.Path(folder.name, 'damaged.json').write_bytes(bytes_)
    done = run(pathlib.Path(folder.name, 'damaged.json'), errors='replace')
    expect(f'damaged (turn {turn}): exit status {done.returncode}, {done.stderr!r}',
           done.returncode == 0 or (done.returncode == 2 and done.stderr.count('\n') == 1))

expect('--help', 'FILE' in run('--help').stdout and run('--help').returncode == 0)
expect('--version', run('--version').stdout.startswith('ws-report '))
for args in [], ['--nonsense', KEPT], [KEPT, KEPT, KEPT], ['--csv', KEPT, KEPT], ['--json', KEPT, KEPT], ['--csv', '--json', KEPT]:
    done = run(*args)
    expect(f'{args}: misuse: {done}', done.returncode == 2 and done.stdout == '' and done.stderr)
expect('two as CSV', 'two reports are compared as text or with --html only' in run('--csv', KEPT, KEPT).stderr)

# What a continuous integration asks.
CONDITION = '--fail-if', 'parallel_efficiency < 0.9'
done = run(*CONDITION, KEPT)
expect(f'a condition that holds: {done}', done.returncode == 1 and done.stderr == '' and
       re.fullmatch(r'failed: parallel_efficiency is 0\.\d+, < 0\.9 \(.*version-1\.json\)\n', done.stdout))
done = run('--fail-if', 'load_balance<10 %', '--fail-if', 'chunks_stolen > 1e9', KEPT)
expect(f'conditions that do not hold: {done}', done.returncode == 0 and done.stdout.count('passed: ') == done.stdout.count('\n') == 2)


def in_time(name, elapsed):
    return file(name, json.dumps({**json.loads(good), 'elapsed_s': elapsed}))


os.mkdir(pathlib.Path(folder.name, 'base'))
for i, elapsed in enumerate((1.00, 1.01, 0.99, 1.00)):
    in_time(f'base/{i}.json', elapsed)
base = pathlib.Path(folder.name, 'base')
WORSE = '--fail-if-worse', '3%', '--baseline', base
for elapsed, status in (1.00, 0), (0.5, 0), (1.04, 0), (1.08, 1):  # 3 % and a noise of 2 %
    done = run(*WORSE, in_time('now.json', elapsed))
    expect(f'{elapsed}: {done}', done.returncode == status and done.stdout.startswith(('passed: it took ', 'failed: it took ')[status]) and
           done.stdout.count('\n') == 1 and done.stderr == '')
refused('a baseline of two', '--baseline has 2 reports; --fail-if-worse needs 3 or more', '--fail-if-worse', '3%', '--baseline', KEPT, '--baseline', KEPT, KEPT)
refused('a baseline that is none', 'is not JSON', *WORSE[:2], '--baseline', file('text.json', 'text'), '--baseline', base, KEPT)
for args, says in ((('--fail-if', 'paralel_efficiency < 1', KEPT), 'did you mean parallel_efficiency?'), (('--fail-if', 'load_balance', KEPT), 'is not a condition'),
                   (('--fail-if', 'load_balance < much', KEPT), 'is not a number'), (('--fail-if-worse', '3%', KEPT), 'require each other'),
                   (('--baseline', base, KEPT), 'require each other'), (('--history', folder.name, KEPT), '--history excludes all other arguments but --output'),
                   (('--html', '--csv', KEPT), 'excludes'), ((*CONDITION, '--html', KEPT), 'exclude other output'), (('--fail-if', 'load_balance < 1'), 'FILE is required')):
    done = run(*args)
    expect(f'{args}: {done}', done.returncode == 2 and done.stdout == '' and done.stderr.count('\n') == 1 and says in done.stderr)

# Wrong values, in the same words whichever version of CLI11 this was built with.
FIRST, LAST = 'ws-report: error: ', '; see ws-report --help\n'
for args, says in ((('-o',), '--output requires a value: NAME' + LAST), (('-o', '', KEPT), "--output: '' is not the name of a file or folder" + LAST),
                   (('--history', ''), "--history: '' is not the name of a folder" + LAST), (('-o', 'a', '-o', 'b', KEPT), '--output is given 2 times; once is the most\n'),
                   (('--csv=yes', KEPT), '--csv takes no value' + LAST), (('--json=0', KEPT), '--json takes no value' + LAST), (('--html=1', KEPT), '--html takes no value' + LAST),
                   (('--cvs', KEPT), 'unknown option --cvs; did you mean --csv?\n'), (('-x', KEPT), 'unknown option -x' + LAST),
                   (('--fail-if', 'load_balance < ', KEPT), "--fail-if: '' is not a number like 0.03 or 3%" + LAST),
                   (('--fail-if', '', KEPT), "--fail-if: '' is not a condition like parallel_efficiency < 0.9" + LAST),
                   (('--fail-if', 'x < 1', KEPT), "--fail-if: no figure is called 'x'; ws-report --json FILE shows their names\n"),
                   (('--fail-if-worse=-1%', '--baseline', base, KEPT), "--fail-if-worse: '-1%' is below 0" + LAST)):
    done = run(*args)
    expect(f'{args}: {done}', done.returncode == 2 and done.stdout == '' and done.stderr == FIRST + says)

# Too little memory for a report: one of many loops, and about as much as the tool itself takes.
many = {**json.loads(now), 'by_loop': 100000 * json.loads(now)['by_loop']}
done = subprocess.run(['bash', '-c', 'ulimit -v 100000 && exec "$@"', '-', TOOL, str(file('many.json', json.dumps(many)))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
expect(f'little memory: {done.stderr}', done.returncode == 2 and done.stdout == '' and
       done.stderr == f'ws-report: {folder.name}/many.json: not enough memory; raise the limit (ulimit -v), or use a machine that has more\n')

# Pages: what is in them is looked at in a browser (tests/job/report).
odd = json.loads(good)
odd['by_loop'][0]['loop'] = '</script><b>"&'
page = pathlib.Path(folder.name, 'page.html')
done = run('--html', file('odd.json', json.dumps(odd)), KEPT, '-o', page)
expect(f'a page: {done}', done.returncode == 0 and done.stdout == '' and page.read_text().startswith('<!DOCTYPE html>'))
expect('a name ends the script', page.read_text().count('</script>') == 2)
expect('the page on stdout', run('--html', KEPT).stdout.startswith('<!DOCTYPE html>'))
refused('a folder that is not there', 'cannot write /nowhere/a.html', '--html', KEPT, '-o', '/nowhere/a.html')
history = pathlib.Path(folder.name, 'history')
for commit, elapsed in ('a1', 1), ('b/2', 1.5):
    os.makedirs(history / commit)
    in_time(f'history/{commit}/run.json', elapsed)
in_time('history/c3.json', 2)
done = run('--history', history)
expect(f'a history: {done}', done.returncode == 0 and done.stdout == f'{history}/pages/index.html\n' and
       sorted(os.listdir(history / 'pages')) == ['a1.html', 'b.html', 'badge.svg', 'c3.html', 'index.html'])
expect('again, and elsewhere', run('--history', history, '-o', f'{folder.name}/there').returncode == 0 and (pathlib.Path(folder.name) / 'there/badge.svg').exists())
os.mkdir(pathlib.Path(folder.name, 'none'))
refused('a history of nothing', 'it holds no report', '--history', pathlib.Path(folder.name, 'none'))
refused('a history that is no folder', 'it is not a folder', '--history', KEPT)
(history / 'c3.json').write_text('{')
refused('a history with half a report', 'c3.json: it ends too early', '--history', history)
conclude()
