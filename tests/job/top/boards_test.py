#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ws-top's text, JSON and exit statuses on made-up boards, right and wrong ones. Arguments: ws-top, made_up_job,
the folder of the documentation."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import patience  # noqa: E402
import schemas  # noqa: E402
from expectation import conclude, expect  # noqa: E402

WS_TOP, MADE_UP, DOCS = sys.argv[1:4]
LIFE = 600      # seconds, which no test of a job takes that is killed when it has been seen
skips = [schemas.MISSING] if schemas.MISSING else []


def top(*args, prefix=(), limit=30):
    done = subprocess.run([*prefix, WS_TOP, *map(str, args)], capture_output=True, text=True, timeout=limit)
    for line in done.stdout.splitlines() if '--json' in args else []:
        wrong = schemas.problems('top', json.loads(line))
        expect(f'{args}: it does not fit its schema', not wrong, *wrong)
    return done.returncode, done.stdout, done.stderr


class Job:
    def __init__(self, *args):
        self.args = args

    def __enter__(self):
        self.process = subprocess.Popen([MADE_UP, *map(str, self.args)], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == 'ready\n'
        return self.process

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def following(job, how):
    """ws-top, which follows the job to its end."""
    return subprocess.Popen([WS_TOP, how, '--pid', str(job.pid), '--count', '0', '--interval', '0.3'], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def usage():
    for args in (('--help',), ('--version',)):
        code, out, err = top(*args)
        expect(f'{args}', code == 0 and 'ws-top' in out + ('' if err else ''), code, out, err)
    for args in (('--nonsense',), ('--interval', '0'), ('--interval', 'x'), ('--pid', '-3'), ('--count', 'x'),
                 ('--job', 'xyz'), ('--interval', '0.01'), ('extra',)):
        code, out, err = top(*args)
        expect(f'{args} is refused', code == 2 and err and not out, code, out, err)
    see = '; see ws-top --help'
    for args, says in ((('-i', '0'), "--interval: '0' is not a number of seconds from 0.05 to 86400" + see), (('-i', 'nan'), "--interval: 'nan' is not a number of seconds from 0.05 to 86400" + see),
                       (('-n', '1.5'), "--count: '1.5' is not a number of snapshots from 0 to 1000000000" + see), (('-n', '9' * 30), f"--count: '{'9' * 30}' is not a number of snapshots from 0 to 1000000000" + see),
                       (('-p', '0'), "--pid: '0' is not the number of a process, from 1 to 4194304" + see), (('-p',), '--pid requires a value: PID' + see),
                       (('-j', 'a', '-j', 'b'), '--job is given 2 times; once is the most'), (('--json=x',), '--json takes no value' + see), (('--all=x',), '--all takes no value' + see),
                       (('-R', ''), "--replay: '' is not the name of a file" + see), (('-r', ''), "--record: '' is not the name of a file" + see), (('-x',), 'unknown option -x' + see)):
        code, out, err = top('--once', *args)
        expect(f'{args}', code == 2 and not out and err == f'ws-top: error: {says}\n', code, out, err)
    code, out, err = top()
    expect('without a terminal it says what to use', code == 2 and '--once' in err and not out, code, out, err)
    for how in ('--once', '--json'):
        code, out, err = top(how, '--pid', 2 ** 22 - 1)
        expect('no such process', code == 1 and 'there is no process' in err and err.count('\n') == 1, code, err)
    code, out, err = top('--once', '--pid', os.getpid())
    expect('a process of no job', code == 1 and 'is not a rank of a -workshare job' in err, code, err)
    code, out, err = top('--once', '--job', '0123456789abcdef')
    expect('no such job', code == 1 and 'has a name that begins with' in err, code, err)
    with open('/dev/full', 'w') as full, Job(1, LIFE) as job:
        done = subprocess.run([WS_TOP, '--json', '--pid', str(job.pid), '-i', '0.1'], stdout=full, stderr=subprocess.PIPE, text=True)
        expect('a full disk', done.returncode == 1 and 'cannot write' in done.stderr, done)


@patience.repeated
def shares(job):
    """What ranks do, as made_up_job.cpp says, if they have a CPU when they want one: 20 ms of computing, 40 lent, 40 waiting, in each 100."""
    seen = json.loads(top('--once', '--json', '--pid', job.pid, '--interval', 0.9)[1])['jobs'][0]
    owner, thief = seen['by_rank'][:2]
    expect('the present phase', owner['phase'] == 'step/solve' and thief['phase'] is None, owner['phase'], thief['phase'])
    expect('a worker has its row', [c['kind'] for c in owner['cores']] == ['home', 'worker'], owner['cores'])
    phases = {p['phase']: p for p in seen['by_phase']}
    solve = phases.get('step/solve', {})
    expect('phases', set(phases) == {None, 'step', 'step/solve'} and solve['ranks_now'] == 1 and phases[None]['ranks_now'] == 2, phases)
    of_thief = thief['interval']
    patience.likely('shares of a thief', abs(of_thief['computing'] - .2) < .1 and abs(of_thief['lent'] - .4) < .1 and abs(of_thief['waiting'] - .4) < .1, of_thief)
    patience.likely('an owner computes, with two cores for 40 % of the time each', owner['interval']['computing'] > .99 and
           abs(owner['interval']['borrowed'] - .8) < .2 and owner['interval']['efficiency'] > 1.5, owner['interval'])
    patience.likely('what ranks do in phases', abs(solve['interval']['time_share'] - 1 / 3) < 0.05 and solve['interval']['computing'] > 0.9 and
           abs(solve['interval']['borrowed'] - .8) < .2 and abs(phases[None]['interval']['lent'] - .4) < .1, phases)


def running_job():
    with Job(3, LIFE, 1, 6) as job:
        before = time.time()
        code, out, err = top('--json', '--pid', job.pid, '--count', 3, '--interval', 0.2)
        lines = [json.loads(line) for line in out.splitlines()]
        expect('three snapshots', code == 0 and len(lines) == 3 and not err, code, out, err)
        states = set()
        for line in lines:
            expect('the schema comes first', next(iter(line)) == 'schema' and len(line['jobs']) == 1, line)
            j = line['jobs'][0]
            expect('three of six ranks', j['ranks_here'] == 3 and j['ranks'] == 6 and not j['over'], j)
            states |= {core['state'] for rank in j['by_rank'] for core in rank['cores'] if core['kind'] == 'home'}
        times = [line['at_unix_s'] for line in lines]    # of one that was late, the next comes sooner
        expect('times are those of the clock', times == sorted(times) and before <= times[0] and times[-1] <= time.time(), before, times)
        shares(job)
        name = lines[0]['jobs'][0]['job']
        code, out, err = top('--once', '--job', name[:6], '-i', 0.1)
        expect('text, the job chosen by its name', code == 0 and 'made_up' in out and '3 of 6 ranks here' in out and 'made_up.c:12 sweep' in out
               and out.count(' job ') == 1, code, out, err)
        expect('an owner computes in its phase', 'computing, step/solve' in out or 'computing, step' in out, out)
        expect('no line is longer than asked', max(map(len, out.splitlines())) <= 120, out)
        code, out, err = top('--once', '-i', 0.1)
        expect('without a choice it is among the jobs', code == 0 and name[:8] in out, out, err)


def recordings():
    with tempfile.TemporaryDirectory() as folder, Job(3, LIFE, 1, 6) as job:
        file = os.path.join(folder, 'run.jsonl')
        code, out, err = top('--json', '--pid', job.pid, '--count', 3, '--interval', 0.1, '--record', file)
        with open(file) as f:
            recorded = f.read()
        expect('a recording has the lines of --json', code == 0 and recorded == out and out.count('\n') == 3, code, out, recorded)
        expect('a replay has them again', top('--replay', file, '--json', '--count', 0) == (0, recorded, ''))
        expect('or the first', top('-R', file, '--json') == (0, recorded.splitlines(True)[0], ''))
        name = json.loads(out.splitlines()[0])['jobs'][0]['job']
        code, out, err = top('--replay', file, '--once', '--count', 0, '--job', name[:4])
        expect('as text', code == 0 and out.count(f'job {name[:8]}') == 3 and not err, code, out, err)
        code, text, err = top('--once', '--pid', job.pid, '--interval', 0.1, '--record', file)
        with open(file) as f:
            recorded = f.read()
        expect('a recording beside text', code == 0 and recorded.count('\n') == 1 and top('--replay', file, '--once') == (0, text, ''), recorded, text)
        code, out, err = top('--once', '--pid', job.pid, '-i', 0.1, '--record', os.path.join(folder, 'no/file'))
        expect('a file that cannot be written', code == 1 and 'cannot write' in err and err.count('\n') == 1 and not out, code, out, err)
        for text, says in ('', 'there is no snapshot'), ('text\n', 'line 1: it is not JSON'), (recorded + '{}\n', 'line 2: it is not a snapshot'):
            with open(file, 'w') as f:
                f.write(text)
            code, out, err = top('--replay', file, '--json')
            expect(f'{text[:9]!r} is refused', code == 2 and says in err and err.count('\n') == 1 and not out, code, out, err)
        for args in (('--replay', os.path.join(folder, 'none'), '--once'), ('--replay', file, '--record', file), ('--replay', file, '--all'), ('--record',)):
            code, out, err = top(*args)
            expect(f'{args} is refused', code == 2 and err.count('\n') == 1 and not out, code, out, err)


def ends():
    with Job(2, LIFE) as job, following(job, '--json') as shown:
        lines = [shown.stdout.readline() for _ in range(2)]
        job.send_signal(signal.SIGUSR1)
        out, err = shown.communicate(timeout=30)
        lines = [json.loads(line)['jobs'][0] for line in lines + out.splitlines()]
        expect('it ends with the job', shown.returncode == 0, shown.returncode, out, err)
        last = lines[-1]
        expect('and has its final figures', last['over'] and last['died'] == 0 and last['elapsed_s'] > lines[1]['elapsed_s'] > lines[0]['elapsed_s']
               and last['by_rank'][0]['condition'] == 'finished', last)
        expect('and the share that was lent', abs(last['by_rank'][1]['total']['lent'] - .4) < .1, last)
    with Job(2, LIFE, 0, 2, 'die') as job, following(job, '--once') as shown:
        shown.stdout.readline()
        job.send_signal(signal.SIGUSR1)
        out, err = shown.communicate(timeout=30)
        expect('ranks that die are told', shown.returncode == 0 and '2 ranks died: the job is over' in out and 'whole run' in out, out, err)


def wrong_boards():
    for kind, says in (('foreign', "is not Workshare's"), ('empty', "is not Workshare's"), ('unmade', "is not Workshare's"),
                       ('newer', 'newer Workshare'), ('short', 'cut short'), ('damaged', 'damaged')):
        with Job(kind, LIFE) as wrong, Job(1, LIFE):
            code, out, err = top('--json', '-i', 0.1)
            told = [line for line in err.splitlines() if f'process {wrong.pid}:' in line]
            expect(f'{kind}: told once, in a line', len(told) == 1 and says in told[0], err)
            expect(f'{kind}: the other job is shown', code == 0 and [r['pid'] for j in json.loads(out)['jobs'] for r in j['by_rank']], code, out)
            if kind == 'newer':
                expect('and in the JSON', {'pid': wrong.pid, 'what': told[0].split(': ', 2)[2]} in json.loads(out)['problems'], out)


def pipes():
    """Opening another's named pipe would wait for who writes into it."""
    pipe = subprocess.Popen([MADE_UP, 'pipe', str(LIFE)], stdout=subprocess.PIPE, text=True)
    try:
        if pipe.stdout.readline() != 'ready\n':
            skips.append('a pipe that is called as a board: needs a mount namespace')
            return
        with Job(1, LIFE):
            for args in (), ('--all',):
                try:
                    code, out, err = top('--json', '-i', 0.1, *args)
                except subprocess.TimeoutExpired:
                    expect(f'a pipe holds it up, {args}', False)
                    continue
                expect(f'the job is shown beside a pipe, {args}', code == 0 and 'made_up' in out and str(pipe.pid) not in err, code, err)
    finally:
        pipe.kill()
        pipe.wait()


def documented():
    """The manual has all options and keys, docs/reference/ws-top.md all fields."""
    with open(os.path.join(DOCS, 'man', 'ws-top.1.scd')) as f:
        manual = f.read()
    code, out, err = top('--help')
    options = re.findall(r'--[a-z]+', out)
    expect('options', {'--json', '--interval'} <= set(options) and all(f'*{option}*' in manual for option in options), options)

    def fields(value):
        if isinstance(value, dict):
            for key, inside in value.items():
                yield key
                yield from fields(inside)
        elif isinstance(value, list):
            for inside in value:
                yield from fields(inside)
    with open(os.path.join(DOCS, 'reference', 'ws-top.md')) as f:
        page = f.read()
    with Job('foreign', LIFE), Job(3, LIFE, 1) as job:
        found = set()
        for i in range(20):     # not always at the same place of the job's turn of 100 ms
            found |= set(fields(json.loads(top('--json', '--pid', job.pid, '-i', 0.07 + 0.013 * (i % 5))[1])))
            if 'visit_s' in found:
                break
    found = {field.replace('_without_stealing', '') for field in found}
    missing = [field for field in sorted(found) if not re.search(rf'`([^`]*\W)?{field}(\W[^`]*)?`', page)]
    expect('fields without a word', 'visit_s' in found and not missing, missing)


def children():
    """A process that inherits a rank's board is not taken for the rank."""
    with Job(1, LIFE) as job:
        code, out, err = top('--json', '--pid', job.pid, '-i', 0.1)
        j = json.loads(out)['jobs']
        expect('one rank, found once', len(j) == 1 and len(j[0]['by_rank']) == 1, out)


def other_users():
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        skips.append('other users: needs root and setpriv')
        return
    # A user of our own, for this test may run twice at a time. (Nobody's processes may be anybody's.)
    uid = 61000 + os.getpid() % 4000
    nobody = ('setpriv', '--reuid', str(uid), '--regid', str(uid), '--clear-groups', 'env', 'HOME=/')
    # The build folder may be closed to others: from a place of their own.
    folder = subprocess.run(['mktemp', '-d'], capture_output=True, text=True).stdout.strip()
    os.chmod(folder, 0o755)
    try:
        program, made_up = shutil.copy(WS_TOP, folder), shutil.copy(MADE_UP, folder)
        with Job(1, LIFE) as job:
            for args in (('--once', '-i', '0.1'), ('--once', '--all', '-i', '0.1')):
                done = subprocess.run([*nobody, program, *args], capture_output=True, text=True)
                expect(f'root\'s job is hidden from nobody, {args}', str(job.pid) not in done.stdout and done.returncode == 1, done)
            done = subprocess.run([*nobody, program, '--once', '--pid', str(job.pid)], capture_output=True, text=True)
            expect('whose it is, is said', done.returncode == 1 and 'is of user root' in done.stderr, done)
        theirs = subprocess.Popen([*nobody, made_up, '1', str(LIFE)], stdout=subprocess.PIPE, text=True)
        theirs.stdout.readline()

        def pids(*args):
            code, out, err = top('--json', '-i', 0.1, *args)
            return [r['pid'] for j in (json.loads(out)['jobs'] if out else []) for r in j['by_rank'] if r['pid'] > theirs.pid], [
                j['uid'] for j in (json.loads(out)['jobs'] if out else [])]
        with Job(1, LIFE):
            expect('root sees its own', uid not in pids()[1], pids())
            expect('root sees all on demand', uid in pids('--all')[1], pids('--all'))
        theirs.kill()
        theirs.wait()
    finally:
        shutil.rmtree(folder)


for test in (usage, running_job, recordings, ends, wrong_boards, pipes, documented, children, other_users):
    test()
conclude(skips + patience.unjudged)
