#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""job_test.py MPIRUN WS_DOCTOR APP: ws-doctor under mpirun, with ranks as they come, on one core, apart, and with a wrong option; and
that each fix, typed as it is printed, repairs what it is for."""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from checks import fail, finish, fits  # noqa: E402

MPIRUN, DOCTOR, APP = (os.path.abspath(p) for p in sys.argv[1:4])
ENV = {k: v for k, v in os.environ.items() if not k.startswith(('WS_', 'OMP_', 'LD_', 'PMI_', 'PMIX_', 'MPI', 'OMPI_', 'SLURM_'))}
ENV['PATH'] = f'{os.path.dirname(MPIRUN)}:{ENV["PATH"]}'


def ask(command, **environment):
    """{number: what the doctor finds}; and the ranks."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, env={**ENV, **environment}, shell=isinstance(command, str))
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        fail(f'{command}: exit status {done.returncode}', done.stdout + done.stderr)
        return {}, None
    fits('doctor', answer, command)
    worst = any(f['level'] in ('warning', 'problem') for f in answer['findings'])
    if done.returncode != worst or done.stderr:
        fail(f'{command}: exit status {done.returncode}', done.stdout + done.stderr)
    return {f['number']: f for f in answer['findings']}, answer


def quoted(word):
    """As the doctor prints a path."""
    return shlex.quote(word).replace("'\"'\"'", "'\\''")


def expect(what, found, number, level, measured=''):
    f = found.get(number, {'level': 'missing', 'measured': ''})
    if f['level'] != level or measured not in f['measured']:
        fail(f'{what}: no {level} {number} with {measured!r}', json.dumps(f, indent=1))


JOB = [MPIRUN, '-workshare', '-n', '2', DOCTOR, '--json', APP]
# The doctor sleeps most of the time, to see what others do meanwhile: so several run at once.
pool = concurrent.futures.ThreadPoolExecutor(3)
small = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$@"', 'sh']
as_it_is = pool.submit(ask, JOB)
on_one_core = pool.submit(ask, ['taskset', '-c', str(min(os.sched_getaffinity(0))), *JOB])
misled = pool.submit(ask, JOB, MPIR_CVAR_NUM_CLIQUES='2', WS_SPINN='1')
without = pool.submit(ask, [MPIRUN, '-n', '2', DOCTOR, '--json', APP], WS_SPIN='long')
alone = pool.submit(ask, [DOCTOR, '--json', APP])
in_little_memory = None
if subprocess.run([*small, 'true'], stderr=subprocess.DEVNULL).returncode == 0:
    in_little_memory = pool.submit(ask, [*small, *JOB])

found, answer = as_it_is.result()
for number, text in ('WS601', ''), ('WS603', "Workshare's: "), ('WS605', '2 ws loops'), ('WS704', ''), ('WS801', '2 ranks on 1 node'), ('WS802', '2 ranks'), ('WS803', '2 ranks'):
    expect('a job', found, number, 'ok', text)
if answer and (answer['ranks'], answer['planned'], len(answer['loops'])) != (2, False, 2):
    fail('the head of a job', json.dumps(answer, indent=1))

# The fixes are tried, with the doctor in the place of the program.
found, _ = on_one_core.result()
if len(os.sched_getaffinity(0)) > 1:
    expect('on one core', found, 'WS102', 'problem', 'ranks 0, 1 on core')
    mended, _ = ask(found['WS102']['fix'].replace(quoted(APP), f'{quoted(DOCTOR)} --json {quoted(APP)}'))
    expect('mended', mended, 'WS102', 'ok')
found, _ = misled.result()
expect('cliques', found, 'WS803', 'problem', '1 of 2')
expect('misspelt', found, 'WS702', 'warning', 'WS_SPINN')
fixes = '; '.join(found[n]['fix'] for n in ('WS803', 'WS702') if n in found)
found, _ = ask(f'{fixes}; {shlex.join(JOB)}', MPIR_CVAR_NUM_CLIQUES='2', WS_SPINN='1')
expect('no cliques', found, 'WS803', 'ok')
expect('spelt', found, 'WS702', 'ok')
found, _ = without.result()
expect('without -workshare', found, 'WS704', 'warning')
expect('without -workshare', found, 'WS802', 'skipped')
expect('a wrong value', found, 'WS701', 'problem', 'WS_SPIN=long')
# MPI_Init fails: MPICH has mpirun kill the job, but the doctor still says what it found. UCX 1.18, of Debian 13, finds room in System V's shared memory.
if in_little_memory:
    found, answer = in_little_memory.result()
    expect('a small /dev/shm', found, 'WS201', 'problem', '64 KiB')
    if found.get('WS801', {}).get('level') == 'ok':
        expect('a small /dev/shm that suffices', found, 'WS802', 'ok', '2 ranks')
    else:
        expect('a small /dev/shm', found, 'WS801', 'problem', 'MPI_Init')
    if answer and answer['ranks'] != 2:
        fail('the ranks of a job without MPI')
    mended, _ = ask([*small, 'sh', '-c', found['WS201']['fix'] + '\nexec "$@"', 'sh', *JOB])
    for number in 'WS201', 'WS801', 'WS802':
        expect('with UCX elsewhere', mended, number, 'ok')
found, answer = alone.result()
expect('alone', found, 'WS801', 'skipped')
expect('alone', found, 'WS603', 'ok')
if answer and not answer['planned']:
    fail('alone, but no plan')
finish()
