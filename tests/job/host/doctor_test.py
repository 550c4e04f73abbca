# SPDX-License-Identifier: MIT
"""doctor_test.py MPIRUN PROGRAMS FAMILY MPICC SOURCES STAGE: ws-doctor of an installation without Workshare's own MPI. It takes the program's MPI for what it is, its commands
start `workshare`, and one rank speaks under the mpirun of that MPI; its advice follows from the report of a job, and can be typed."""
import atexit
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from job import CORES, PROGRAMS, Result, expect, finish, likely, repeated, run
import schemas

MPIRUN, _, FAMILY, MPICC, SOURCES, STAGE = sys.argv[1:7]
DOCTOR = os.path.join(STAGE, 'bin/ws-doctor')
FOLDER = tempfile.mkdtemp(dir='/tmp')
atexit.register(shutil.rmtree, FOLDER)
ENV = {k: v for k, v in os.environ.items() if not k.startswith(('WS_', 'OMP_', 'LD_', 'PMI', 'OMPI_', 'SLURM_'))}
ENV.update(WS_IGNORE_JOBS='1', PATH=f'{STAGE}/bin:{ENV["PATH"]}')
NAMES = {'openmpi': 'Open MPI: ', 'mpich': 'MPICH: ', 'abi': "the standard's ABI: "}
OURS = re.compile(r'(^|[ (])-workshare|-fws\b')     # words that an installation with Workshare's own MPI has


def ask(command, schema='doctor', codes=(0, 1)):
    """What ws-doctor says as JSON, and a result for messages."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV, timeout=60, check=False, cwd=FOLDER)
    result = Result(shlex.join(command), done.returncode, done.stdout, done.stderr, 0, {})
    expect(result, 'exit status', done.returncode in codes)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        expect(result, 'not one JSON object', False)
        finish()
    expect(result, 'the schema', not schemas.problems(schema, answer))
    if found := OURS.search(done.stdout):
        expect(result, f'a word of another installation: {done.stdout[max(0, found.start() - 60):found.end() + 60]!r}', False)
    return answer, result


def programs():
    program = os.path.join(PROGRAMS, 'host')
    for command, ranks in ((DOCTOR, '--json', '-n', '2', program), 2), ((MPIRUN, '-n', '2', DOCTOR, '--json', program), 2), ((MPIRUN, '-n', '3', DOCTOR, '--json', program), 3):
        answer, result = ask(command)
        found = {f['number']: f for f in answer['findings']}
        levels = {number: f['level'] for number, f in found.items()}
        for number in 'WS601', 'WS602', 'WS603', 'WS604', 'WS605', 'WS606':
            expect(result, f'{number} is {levels.get(number)}: {found.get(number)}', levels.get(number) == 'ok')
        expect(result, f'the MPI: {found["WS603"]}', found['WS603']['measured'].startswith(NAMES[FAMILY]))
        expect(result, f'{answer["ranks"]} ranks, planned: {answer["planned"]}', answer['ranks'] == ranks and answer['planned'])
        expect(result, 'no loops', answer['loops'])
        expect(result, f'a problem: {[f for f in answer["findings"] if f["level"] == "problem"]}', 'problem' not in levels.values())
    answer, result = ask((DOCTOR, '--json', '-n', '1', '--check', 'WS101', program, 'sums'))
    fix = answer['findings'][0]['fix'] or ''
    expect(result, f'the fix: {fix}', CORES == 1 or fix.endswith(f'workshare {program} sums') and fix.startswith(f'mpirun -n {CORES} '))
    ask((DOCTOR, '--list', '--json'), 'doctor-list')


def foreign():
    """Programs without an MPI that Workshare knows."""
    subprocess.run(['cc', '-x', 'c', '-', '-o', os.path.join(FOLDER, 'plain')], input='int main(void) { return 0; }', text=True, check=True, timeout=60)
    answer, result = ask((DOCTOR, '--json', '--check', 'WS603', './plain'))
    expect(result, f'no MPI: {answer["findings"]}', answer['findings'][0]['level'] == 'warning')


@repeated
def advice():
    uneven, report = os.path.join(FOLDER, 'uneven'), os.path.join(FOLDER, 'run.json')
    if not os.path.exists(uneven):
        subprocess.run([MPICC, '-O2', '-Wno-unknown-pragmas', os.path.join(SOURCES, '../doctor/uneven.c'), '-o', uneven, '-lm'], check=True, timeout=60)
    run(uneven, 'uneven', options=(f'-workshare-report={report}',), title='a job whose ranks have different work')
    with open(report, encoding='utf-8') as f:
        told = json.load(f)
    # Not what others computed meanwhile: the words are judged, not times.
    told['conditions']['others'] = told['totals']['kept_off_s'] = 0
    with open(report, 'w', encoding='utf-8') as f:
        json.dump(told, f)
    answer, result = ask((DOCTOR, 'advise', '--json', report), 'advice', (0,))
    likely(result, 'no advice', answer['advice'])
    commands = [command for a in answer['advice'] for command in a['commands']]
    for command in commands:
        expect(result, f'a command of another installation: {command}',
               re.match(r'mpicc \$\(workshare --cflags\) .*\$\(workshare --libs\)', command) or re.match(r'(OMP_NUM_THREADS=\d+ )?mpirun .*-n 2 workshare( --\S+)* ' + uneven, command))


programs()
foreign()
if CORES >= 2:
    advice()
finish()
