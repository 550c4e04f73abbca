# SPDX-License-Identifier: MIT
"""probe_test.py MPIRUN PROGRAMS LIBRARY: jobs with a libws that has one more policy, probe.cpp. Blocked ranks give it their time,
when it is due even while they could steal; it sees the loads of all; one rank decides at a time; it sets the threads of OpenMP regions."""
import atexit
import os
import re
import shutil
import sys
import tempfile

from job import CORES, MPIRUN, expect, finish, likely, repeated, run, skip

library = sys.argv[3]
beside = tempfile.mkdtemp(dir='/tmp')
atexit.register(shutil.rmtree, beside)
os.symlink(os.path.abspath(library), os.path.join(beside, 'libws.so.1'))
os.symlink(os.path.join(os.path.dirname(MPIRUN), '../lib/libmpich.so.12'), os.path.join(beside, 'libmpich.so.12'))


def job(*args, env=None, **how):
    """The result, and {rank: {what: number}} of the probe's lines."""
    result = run(*args, env={'LD_LIBRARY_PATH': beside, **(env or {})}, **how)
    told = {}
    for line in result.err.splitlines():
        if line.startswith('probe: '):
            words = line.split()[1:]
            numbers = {words[i]: float(words[i + 1]) for i in range(0, len(words), 2)}
            told[int(numbers['rank'])] = numbers
    expect(result, f'lines of the probe: {sorted(told)}', sorted(told) == list(range(how.get('ranks', 2))))
    return result, told


if CORES < 2:
    skip('needs two cores')
    finish()

# Rank 0 has three times the work of rank 1, which steals and gives steps meanwhile. 40 turns of 15.5 and 5.5 ms.
@repeated
def steps(env):
    result, told = job('loads', 40, 3, env=env, options=('-bind-to', 'core'))
    ratio = told[0]['useful_s'] / told[1]['useful_s']
    expect(result, 'borrowed, though nobody helped', 'WS_VICTIM' not in env or told[0]['borrowed_s'] == 0)
    expect(result, 'wrong sums were seen', all(t['wrong'] == 0 for t in told.values()))
    likely(result, f'loads {told}', abs(ratio / (15.5 / 5.5) - 1) < 0.1)
    likely(result, 'nothing was borrowed', 'WS_VICTIM' in env or told[0]['borrowed_s'] > 0.05)
    likely(result, f'rank 1 was given no steps when they were due: {told[1]}', told[1]['due'] >= 10)
    # At least one more in each turn, unless the policy takes no idle time and so gets only steps that are due.
    likely(result, f'rank 1 gave steps {told[1]}', (told[1]['steps'] > 2 * told[1]['due']) == (env.get('PROBE_IDLE') != '0'))


# A rank with nothing to steal sleeps, but not beyond the moment when a step is due, here every 5 ms. A sleep of the usual length, here
# 12.8 ms, would miss half of them.
@repeated
def steps_of_a_sleeper():
    result, told = job('late', 600, env={'PROBE_IDLE': '0'})
    likely(result, f'a rank that slept was given {told[1]["due"]} of 120 steps', told[1]['due'] >= 80)


for env in {}, {'PROBE_IDLE': '0'}, {'WS_VICTIM': 'none'}, {'PROBE_IDLE': '0', 'WS_VICTIM': 'none'}:
    steps(env)
steps_of_a_sleeper()

# No rank decides while another one does.
@repeated
def decides(ranks):
    result, told = job('oracle', 3, 200, ranks=ranks, env={'PROBE_DUE_US': '500'})
    decisions = sum(t['decisions'] for t in told.values())
    expect(result, f'two decide: {told}', all(t['at_once'] == 0 for t in told.values()))
    likely(result, f'{decisions} decisions', decisions > 10)


decides(2)
decides(6)

# Between nodes, and where there is no window.
result, told = job('oracle', 4, 50, ranks=2)
result = run('oracle', 4, 50, ranks=4, env={'LD_LIBRARY_PATH': beside, 'MPIR_CVAR_NUM_CLIQUES': '2'})
expect(result, 'not a line for each rank', len(re.findall('^probe: ', result.err, re.MULTILINE)) == 4)

# A turn of the program is a step and its barrier, on each node. Turns are counted only for a policy that wants them.
STEPS = 80


def words_of(result):
    return [{w[i]: float(w[i + 1]) for i in range(0, len(w), 2)} for w in
            (line.split()[1:] for line in result.err.splitlines() if line.startswith('probe: '))]


@repeated
def periods(ranks, cliques):
    result = run('loads', STEPS, 3, ranks=ranks, limit=100, env={'LD_LIBRARY_PATH': beside, 'MPIR_CVAR_NUM_CLIQUES': str(cliques),
                                                                'PROBE_PERIODS': '1', 'PROBE_IDLE': '0'})
    told = words_of(result)
    expect(result, f'of {ranks} ranks {len(told)} told', len(told) == ranks)
    likely(result, f'turns of {STEPS}: {told}', all(STEPS - 5 <= t['turns'] <= STEPS + 1 for t in told))
    likely(result, f'periods {told}', all(t['period_s'] > 0.005 for t in told))


for ranks, cliques in (2, 1), (4, 2):
    periods(ranks, cliques)
result = run('loads', 20, 3, env={'LD_LIBRARY_PATH': beside})
told = words_of(result)
expect(result, f'unasked: {told}', told and all(t['turns'] == 0 and t['period_s'] == 0 for t in told))

OF_PROBE = '-workshare-openmp=off',  # else mpirun's own libws is loaded first
for threads in 1, 3:
    result, told = job('region_threads', ranks=1, options=OF_PROBE, env={'PROBE_THREADS': str(threads), 'OMP_NUM_THREADS': '2'})
    expect(result, f'other threads than {threads}', result.out == f'{threads} {threads}\n')
result, told = job('region_threads', 'child', ranks=1, options=OF_PROBE, env={'PROBE_THREADS': '3', 'OMP_NUM_THREADS': '2'})
expect(result, 'a child of fork() has the rank\'s policies', result.out == '2 4\n')
result, told = job('region_threads', ranks=1, options=OF_PROBE, env={'OMP_NUM_THREADS': '2'})
expect(result, 'other threads than the program asked for', result.out == '2 4\n')
finish()
