# SPDX-License-Identifier: MIT
"""The report of whole jobs: its figures against what the program counted itself, its files, the verdict's causes."""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'unit/observe'))
import check_report  # noqa: E402
from job import expect, finish, in_tiny_shm, likely, repeated, run  # noqa: E402

folder = tempfile.TemporaryDirectory(prefix='ws-report-')
FILE = os.path.join(folder.name, 'out.json')


def compare_with_stats(result):
    """A name that the statistics share with the report means the same there. (loops_s is bounded in one of them.)"""
    compared = 0
    for name, value in result.stats.items():
        other = {**result.report, **result.report['totals']}.get(name)
        if name != 'loops_s' and isinstance(value, (int, float)) and isinstance(other, (int, float)):
            compared += 1
            expect(result, f'{name} is {value} in the statistics, {other} in the report', abs(value - other) <= 1e-9 * (1 + abs(other)))
    expect(result, f'{compared} names are in both', compared > 20)


@repeated
def job(shape, steps, *how, ranks=2, cores=None, options=(), env=None, report=FILE, **more):
    """Runs `report`, with a report. Work that sleeps lasts the same on a machine that has other things to do."""
    environment = {'WS_CORES': str(cores or ranks), **(env or {})}
    flags = (f'-workshare-report={report}',) if report else ()
    result = run('report', shape, steps, *how, ranks=ranks, options=(*flags, *options), env=environment, **more)
    result.report = None
    wrong = []
    if report == FILE and os.path.exists(FILE):
        with open(FILE) as f:
            result.report = json.load(f)
        os.unlink(FILE)
        wrong = check_report.problems(result.report)
        compare_with_stats(result)
    result.own = {int(r): {'iterations': int(n), 'loops': float(l), 'mpi': float(m), 'took': float(t), 'worked': float(w)}
                  for r, n, l, m, t, w in re.findall(r'rank (\d+) iterations (\d+) loops (\S+) mpi (\S+) took (\S+) worked (\S+)',
                                                     result.out)}
    likely(result, 'the report is wrong: ' + '; '.join(wrong[:5]), not wrong)   # by sums of times, too
    return result


def near(a, b, share=0.05, slack=5e-3):
    return abs(a - b) <= share * max(a, b) + slack


def counted_right(result, steps_take_all=True):
    """What each rank counted itself is in the report. Of times load can change what lies between its clock and ours: for functions under @repeated."""
    if not expect(result, 'there is no report', result.report is not None):
        return
    for r in result.report['by_rank']:
        own, t = result.own[r['rank']], r['totals']
        expect(result, f'rank {r["rank"]} ran {own["iterations"]} iterations: {t["iterations_kept"]} + {t["iterations_stolen"]}',
               own['iterations'] == t['iterations_kept'] + t['iterations_stolen'])
    barrier = [c for c in result.report['by_call'] if c['call'] == 'MPI_Barrier']
    expect(result, f'barriers: {barrier}', len(barrier) == 1)
    expect(result, f'untimed: {result.report["totals"]["untimed_s"]}', result.report['totals']['untimed_s'] == 0)
    for r in result.report['by_rank']:
        own, t = result.own[r['rank']], r['totals']
        likely(result, f'rank {r["rank"]} was {own["loops"]} s in its loops: {t["loops_s"]} + {t["close_wait_s"]}',
               near(own['loops'], t['loops_s'] + t['close_wait_s']))
        if steps_take_all:
            likely(result, f'rank {r["rank"]} was {own["mpi"]} s in its barriers: {t["mpi_s"]}', near(own['mpi'], t['mpi_s'], slack=30e-3))
        likely(result, f'rank {r["rank"]}: blocked {t["blocked_s"]} of {t["mpi_s"]}', near(t['blocked_s'], t['mpi_s'], 0.1, 40e-3))
        likely(result, f'the run took {own["took"]}: {t["wall_s"]}', near(own['took'], t['wall_s'], slack=60e-3))


def stolen_right(result):
    t = result.report['totals']
    likely(result, 'nothing was stolen', t['iterations_stolen'] > 0 and t['chunks_stolen'] > 0)
    expect(result, 'statistics and report differ', t['iterations_stolen'] == result.stats['iterations_stolen'] and
           t['chunks_stolen'] == result.stats['chunks_stolen'])
    expect(result, 'no latencies', t['steal_latency']['count'] > 0 and t['return_latency']['count'] > 0)
    # A rank that was recalled as its wait was over, and went on beside its guest, did not wait for the return.
    expect(result, f'{t["return_latency"]["count"]} returns of {t["lends"]} lends',
           t['lends'] - result.stats['recalls'] <= t['return_latency']['count'] <= t['lends'])


def plain(shape, steps):
    result = run('report', shape, steps, 'nap', workshare=False)
    return max(float(t) for t in re.findall(r'took (\S+)', result.out))


# What it would have taken without stealing: as long as one rank after the other worked; and against a run without. Others on the machine
# make that longer, never shorter.
@repeated
def gains(shape):
    result = job(shape, 20, 'nap')
    counted_right(result)
    took, least = max(own['took'] for own in result.own.values()), sum(own['worked'] for own in result.own.values())
    without = plain(shape, 20)
    estimate = result.report['without_stealing']['speedup'] * took
    likely(result, f'without stealing {shape} takes {without:.3f} s, of which {least:.3f} s work; the estimate is {estimate:.3f} s',
           0.92 * least < estimate < 1.1 * without)
    stolen_right(result)
    ratio = re.search(r'^workshare: about (\S+) times as fast as without', result.err)
    likely(result, 'the summary tells no gain', ratio and float(ratio[1]) > 1.3)


# Help that brought nothing, as all wait for another rank. (No plain run to compare with: its three ranks would spin on two cores.)
@repeated
def gains_nothing():
    result = job('absorb', 10, 'nap', ranks=3)
    counted_right(result, False)
    stolen_right(result)
    likely(result, f'an estimate of {result.report["without_stealing"]["speedup"]}', result.report['without_stealing']['speedup'] < 1.05)


# Phases; and the same report as text on stderr, followed by the verdict.
@repeated
def in_phases():
    result = job('phases', 10, 'nap', options=('-workshare-report',))
    lines = result.err.splitlines()
    expect(result, 'the text is not on stderr', lines[0].startswith('WORKSHARE REPORT   report, 2 ranks on 1 node') and '\nPHASES ' in result.err)
    expect(result, 'the summary is not the end', result.summary() and result.summary() == lines[-len(result.summary()):] and not result.messages())
    phases = {p['level']: p for p in result.report['by_phase']}
    if expect(result, f'phases {sorted(phases)}', sorted(phases) == [-7, 1, 2]):
        expect(result, 'entered', [phases[n]['entered'] for n in (-7, 1, 2)] == [10, 1, 10])
        expect(result, 'borrowed in another phase', phases[-7]['borrowed_s'] == phases[1]['borrowed_s'] == 0)
        likely(result, 'phases do not add up', near(sum(p['wall_s'] for p in phases.values()), result.report['elapsed_s'], slack=2e-3))
        likely(result, 'nothing was borrowed', phases[2]['borrowed_s'] > 0)
        likely(result, f'balance {phases[2]["without_stealing"]}', 0.45 < phases[2]['without_stealing']['load_balance'] < 0.6)
        likely(result, f'balance {phases[-7]["efficiency"]}', phases[-7]['efficiency']['load_balance'] > 0.7)
    counted_right(result)


# `coarse`: if the guest gets most of the long iterations, too little is left to have a cause.
@repeated(chances=9)
def says(part, shape, **how):
    result = job(shape, 15, 'nap', report=None, **how)
    likely(result, f'the summary does not say {part}', re.search(part, result.err))


# Workers lend their cores, too.
@repeated
def has_workers():
    result = job('one', 10, 'nap', cores=4, options=('-workshare-workers', '1'))
    expect(result, f'{result.stats["workers"]} workers', result.stats['workers'] == 2)
    likely(result, 'workers have lent nothing', result.report['totals']['worker_helped_s'] > 0)


gains('one')
gains('rotate')
gains_nothing()
has_workers()
in_phases()
# Causes that a job provokes; tests/unit/observe has them all.
for shape, how, part in \
        ('serial', {}, r'rank 1 computed \S+ m?s of \S+ m?s outside of ws loops while others waited, mostly in MPI_Barrier'), \
        ('coarse', {}, r'at the ends of shared loops: a chunk of [^:\n]*report.c:\d+:coarse_loop took up to 1\d'), \
        ('one', {'ranks': 4, 'env': {'MPIR_CVAR_NUM_CLIQUES': '2'}},
         r'was for communication, while no rank of the node computed, mostly in MPI_Barrier'):
    says(part, shape, **how)

# Nodes, names that need quoting, and a number of ranks that is summarised.
csv_file = os.path.join(folder.name, 'out.csv')
result = job('names', 3, 'nap', ranks=4, env={'MPIR_CVAR_NUM_CLIQUES': '2'}, report=csv_file, options=('-workshare-report', '-workshare-quiet'))
with open(csv_file) as f:
    text = f.read()
expect(result, 'a name is quoted wrongly', ',"a, ""quoted"" name",' in text)
expect(result, 'a summary in a quiet job', result.summary() == [])
phases = {row['phase']: row['value'] for row in csv.DictReader(text.splitlines()) if row['metric'] == 'entered'}
expect(result, f'phases {list(phases)}', len(phases) == 91 and phases['(run)'] == '1' and phases['phase 1061'] == '3')
expect(result, 'no table of the nodes', '\nNODES ' in result.err and ' on 2 nodes,' in result.err)
page = os.path.join(folder.name, 'out.html')
result = job('one', 2, report=page)
with open(page) as f:
    text = f.read()
expect(result, 'no page', text.startswith('<!DOCTYPE html>') and '<title>report, 2 ranks on 1 node</title>' in text and '"over_time":{"slices":64' in text)
result = job('one', 2, ranks=20, cores=2)
expect(result, 'ranks are missing', len(result.report['by_rank']) == 20)
for ranks in 1, 2:  # without stealing, without loops
    result = job('none', 3, ranks=ranks)
    expect(result, 'efficiency of a job without stealing', result.report['without_stealing']['speedup'] == 1)

# Files that cannot be written: at the start one message, and the job does not begin; at the end the text instead, and the program's
# own exit status.
missing = os.path.join(folder.name, 'no/such/folder.json')
result = job('one', 2, report=missing, code='error')
expect(result, 'the program ran', result.out == '')
said = result.err.splitlines()
expect(result, f'messages {said}', said == [f'workshare: error: cannot write the report to {missing}: No such file or directory'])
result = job('one', 2, report='/dev/full')
said = [line for line in result.err.splitlines() if line.startswith('workshare: error: cannot write')]
expect(result, f'messages {said}', said == ['workshare: error: cannot write the report to /dev/full: No space left on device; it follows as text'])
expect(result, 'the report is lost', '\nRANKS ' in result.err and result.summary())

# A pipe: its reader gets the report; without one the job ends all the same.
pipe = os.path.join(folder.name, 'pipe')
os.mkfifo(pipe)
with subprocess.Popen(['cat', pipe], stdout=subprocess.PIPE, text=True) as reader:
    result = job('one', 2, report=pipe)
    expect(result, 'the pipe got no report', reader.communicate()[0].startswith('WORKSHARE REPORT '))
result = job('one', 2, report=pipe, limit=20)
expect(result, 'no message', f'cannot write the report to {pipe}: ' in result.err and '\nRANKS ' in result.err)

# Without a window ranks' calls are timed all the same.
tiny = in_tiny_shm()


@repeated
def without_window():
    result = job('one', 10, 'nap', env=tiny['env'], prefix=tiny['prefix'])
    first = result.report['by_rank'][0]
    expect(result, f'it ran without stealing: {first["inactive"]}', '/dev/shm' in (first['inactive'] or ''))
    likely(result, f'{first["totals"]["mpi_s"]} s in MPI', near(first['totals']['mpi_s'], result.own[0]['mpi'], slack=30e-3))


if tiny:
    without_window()

# A run to compare with, in which nobody helps: the verdict and the table of waiting say so.
result = job('one', 2, options=('-workshare-victim', 'none', '-workshare-report'))
expect(result, 'stolen', result.report['totals']['iterations_stolen'] == 0 and result.report['reason'].startswith('-workshare-victim none '))
expect(result, 'waiting without a reason', re.search(r'lost: spun, without a look for work .* 100.0 %', result.err))
finish()
