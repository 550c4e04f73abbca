#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""advise_test.py MPIRUN WS_DOCTOR PLAIN MARKED OPENMP: ws-doctor advise, of jobs whose first rank has less work than the second, as it is, in an OpenMP program, and of one in
balance. The advice is followed, and what it brought compared with what it said. What is no report, or no report of these runs, gets one message."""
import json
import os
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from checks import check, fail, finish, fits, skips  # noqa: E402
import patience  # noqa: E402

MPIRUN, DOCTOR, PLAIN, MARKED, OPENMP = (os.path.realpath(p) for p in sys.argv[1:6])
ENV = {k: v for k, v in os.environ.items() if not k.startswith(('WS_', 'OMP_', 'LD_', 'PMI_', 'PMIX_', 'MPI', 'OMPI_', 'SLURM_'))}
ENV['WS_IGNORE_JOBS'] = '1'
folder = tempfile.TemporaryDirectory(prefix='ws-advise-')
TRUE = 0.1  # of runs of about a second; tools/dev/bench --only advice judges longer ones


def file(name, text=None):
    path = os.path.join(folder.name, name)
    if text is not None:
        with open(path, 'w') as f:
            f.write(text)
    return path


def run(name, command):
    """The report of a job, started by a shell's command with variables before mpirun."""
    words = shlex.split(command)
    at = words.index('mpirun')
    full = [MPIRUN, '-workshare-quiet', f'-workshare-report={file(name)}', *words[at + 1:]]
    done = subprocess.run(full, env={**ENV, **dict(w.split('=', 1) for w in words[:at])}, capture_output=True, text=True, timeout=60)
    if not check(done.returncode == 0, f'{command}: exit status {done.returncode}', done.stderr):
        finish()
    with open(file(name)) as f:
        return json.load(f)


def ask(*names):
    done = subprocess.run([DOCTOR, 'advise', '--json', *map(file, names)], capture_output=True, text=True, timeout=20)
    check(done.returncode == 0 and not done.stderr, f'advise {names}: exit status {done.returncode}', done.stderr)
    found = json.loads(done.stdout)
    fits('advice', found, f'advise {names}')
    check(all(a['gain']['low'] >= 1.02 for a in found['advice']), f'advise {names}: advice that may gain nothing', done.stdout)
    text = subprocess.run([DOCTOR, 'advise', *map(file, names)], capture_output=True, text=True, timeout=20)
    check(text.returncode == 0 and all(a['what'] in text.stdout and a['commands'][-1] in text.stdout for a in found['advice']), f'the text of advise {names}', text.stdout)
    return found


def refused(what, part, *args, text=None):
    done = subprocess.run([DOCTOR, 'advise', *args], capture_output=True, text=True, timeout=20, input=text)
    check(done.returncode == 2 and done.stderr.count('\n') == 1 and part in done.stderr and not done.stdout,
          f'{what}: exit status {done.returncode}, not one line that says {part!r}', done.stderr + done.stdout)


@patience.repeated
def followed(what, env, program, kinds, other=None):
    """The first advice is of one of these kinds, and brings what it says; `other`: the program with its loops marked."""
    before = run('before.json', f'{env}mpirun -workshare -bind-to core -n 2 {program}')
    found = ask('before.json')
    if not found['advice'] or found['advice'][0]['kind'] not in kinds:
        raise patience.Unlikely(what, lambda: fail(f'{what}: not advised: {kinds}', json.dumps(found, indent=1)))
    first = found['advice'][0]
    command = first['commands'][-1]
    check(program in command, f'{what}: the command does not start the program as it was', command)
    if other:
        command = command.replace(shlex.split(program)[0], other)
    after = run('after.json', command)
    gain = before['elapsed_s'] / after['elapsed_s']
    if abs(first['gain']['expected'] / gain - 1) > TRUE:
        raise patience.Unlikely(what, lambda: fail(f'{what}: predicted {first["gain"]}, measured {gain:.3f}'))
    # Both runs together: what was measured. The same program, by its name.
    if not other:
        both = ask('before.json', 'after.json')
        if not any(a['measured'] and abs(a['gain']['expected'] / gain - 1) < 1e-6 for a in both['advice']):
            raise patience.Unlikely(what, lambda: fail(f'{what}: the measured gain is no advice', json.dumps(both, indent=1)))


@patience.repeated
def in_balance():
    run('balanced.json', f'mpirun -workshare -bind-to core -n 2 {PLAIN} balanced')
    found = ask('balanced.json')
    # Sleeps that last longer on one rank than on the other may leave a gain to be weighed: "sharing" refuses none at all, "mark_loops" too small a one.
    if found['advice'] or not any(n['kind'] in ('sharing', 'mark_loops') for n in found['not_advised']):
        raise patience.Unlikely('in balance', lambda: fail('advice for a job in balance', json.dumps(found, indent=1)))


if len(os.sched_getaffinity(0)) > 1:
    followed('a plain program', '', f'{PLAIN} uneven', ['mark_loops'], MARKED)
    followed('an OpenMP program', 'OMP_NUM_THREADS=1 ', f'{OPENMP} uneven', ['share', 'lend'])
    in_balance()

# The modes and threads of runs.
for mode in 'off', 'share', 'share:3', 'lend', 'auto':
    told = run('mode.json', f'OMP_NUM_THREADS=2 mpirun -workshare -workshare-openmp={mode} -n 1 {OPENMP} balanced')['conditions']
    check((told['openmp'], told['openmp_threads']) == (mode, 2), f'the conditions under {mode}', json.dumps(told))

# Arguments come back as they were.
report = run('words.json', f"mpirun -workshare -n 1 {PLAIN} balanced 'a b' ''")
check(report['conditions']['arguments'] == ['balanced', 'a b', ''], 'the arguments', json.dumps(report['conditions']))
check(report['conditions']['openmp'] == 'hint' and report['conditions']['victim'] == 'auto', 'the conditions', json.dumps(report['conditions']))
fits('report', report, 'a report')

# What is no report of these runs.
other = file('other.json', json.dumps({**report, 'program': '/bin/other'}))
newer = file('newer.json', json.dumps({**report, 'schema': 'workshare-report/3'}))
old = file('old.json', json.dumps({k: v for k, v in report.items() if k != 'conditions'}))
words = file('words.json')
refused('two programs', 'different programs', words, other)
refused('a newer one', 'newer.json: it is of a newer version', newer)
refused('an old one', 'old.json: Workshare ', old)
refused('no file', 'missing.json: No such file', file('missing.json'))
refused('text', 'not JSON', file('text.json', 'WORKSHARE REPORT app'))
refused('half of one', 'ends too early', file('half.json', json.dumps(report)[:500]))
refused('standard input that is none', 'not a report of Workshare', '-', text='{"schema": "other/1"}')
refused('none', 'REPORT is required')
refused('four', 'REPORT: 3 are the most, and 4 are given; see ws-doctor advise --help', words, words, words, words)
refused('an unknown option', 'see ws-doctor advise --help', '--yaml', words)
skips.update(patience.unjudged)
finish()
