#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ws-top on jobs that run: what it sees, against what the job itself counts; jobs that are killed; jobs without -workshare."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from job import among_jobs, expect, finish, likely, repeated, run
import patience
from processes import kill, wait_for_ranks

SEES = among_jobs(alone=False)

WS_TOP = sys.argv[3]


def attached(pid):
    def by_all():
        seen = subprocess.run([WS_TOP, '--json', '-i', '0.05', '--pid', str(pid)], capture_output=True, text=True)
        return seen.returncode == 0 and json.loads(seen.stdout)['jobs'][0]['ranks_here'] == json.loads(seen.stdout)['jobs'][0]['ranks']
    return patience.waited_for(by_all, 10)


class Watcher:
    """Follows a job to its end; afterwards `seen` are the snapshots."""
    def __init__(self, ranks, beside=lambda pids: None, interval='0.05'):
        self.ranks, self.beside, self.interval = ranks, beside, interval
        self.seen, self.code, self.err, self.text = [], None, 'ws-top did not run', ''

    def __call__(self, processes):
        pids = wait_for_ranks(processes, 'top_job', self.ranks)
        if not attached(pids[0]):
            self.beside(pids)
            return
        watch = subprocess.Popen([WS_TOP, '--json', '--count', '0', '-i', self.interval, '--pid', str(pids[0])], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.beside(pids)
        out, self.err = watch.communicate(timeout=120)
        self.code = watch.returncode
        self.seen = [json.loads(line)['jobs'][0] for line in out.splitlines()]


@repeated
def watched_to_its_end():
    def once(pids):
        watcher.text = subprocess.run([WS_TOP, '--once', '-i', '0.2', '--pid', str(pids[1])], capture_output=True, text=True).stdout
    watcher = Watcher(3, once)
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'run.json')
        result = run('top_job', 30, 150, ranks=3, options=(f'-workshare-report={report}',), env={'WS_IGNORE_JOBS': '0', 'WS_CORES': '3'}, meanwhile=watcher)
        with open(report) as f:
            reported = {'/'.join(phase['path']): phase for phase in json.load(f)['by_phase']}
    seen = watcher.seen
    likely(result, f'ws-top ended with {watcher.code}: {watcher.err}', watcher.code == 0 and len(seen) > 10)
    homes = [(rank['rank'], rank['cores'][0]) for job in seen for rank in job['by_rank']]
    for state in ('computing', 'lent'):
        likely(result, f'no rank was ever {state}', any(core['state'] == state for _, core in homes))
    likely(result, 'no rank waited with its core kept', any(core['state'] in ('blocked', 'asleep') for _, core in homes))
    expect(result, 'a core was lent to another than rank 0', all(core['tenant'] == 0 for _, core in homes if core['state'] == 'lent'))
    likely(result, 'rank 0 waited, or so it seemed', all(core['state'] == 'computing' for rank, core in homes if rank == 0 and core['wait_s'] > 0.02))
    phases = {rank['phase'] for job in seen for rank in job['by_rank']}
    expect(result, f'phases {phases}', phases <= {None, 'round', 'round/loop'})
    likely(result, f'phases {phases}', {'round', 'round/loop'} <= phases)
    calls = {core['call'] for rank, core in homes if rank == 2 and core['call']}
    likely(result, f'rank 2 was seen in {calls}', {'MPI_Recv', 'MPI_Allreduce'} <= calls)
    guests = [guest for job in seen for guest in job['by_rank'][0]['guests']]
    likely(result, 'the guests of rank 0, and their loop', {guest['home'] for guest in guests} == {1, 2} and
           any('top_job.c' in (guest['loop'] or '') for guest in guests))
    likely(result, 'the loop that runs on a lent core', any('top_job.c' in (core['loop'] or '') for _, core in homes if core['state'] == 'lent'))
    for job in seen:
        for rank in job['by_rank']:
            shares = rank['interval']
            if not expect(result, f'shares: {shares}', -1e-9 <= min(shares['computing'], shares['lent'], shares['waiting']) and
                          abs(shares['computing'] + shares['lent'] + shares['waiting'] - 1) < 1e-6 or job['over']):
                return
    middle = [job['interval'] for job in seen[2:-2] if job['interval']['elapsed_s'] > 0]
    likely(result, 'steals were seen as they happened', sum(m['steals_per_s'] > 0 for m in middle) > len(middle) / 4)
    # The job's own end: all figures once more.
    last = seen[-1]
    lent = sum(rank['total']['lent'] * rank['wall_s'] for rank in last['by_rank'])
    borrowed = sum(rank['total']['borrowed'] * rank['wall_s'] for rank in last['by_rank'])
    idle = sum((rank['total']['lent'] + rank['total']['waiting']) * rank['wall_s'] for rank in last['by_rank'])
    stats = result.stats

    def near(what, own, theirs):
        likely(result, f'{what}: {own} here, {theirs} there', abs(own - theirs) < 0.05 * theirs + 0.02)
    expect(result, f'the last snapshot is of the end: {last["over"]}, {last["died"]}', last['over'] and last['died'] == 0)
    expect(result, f'chunks: {last["chunks_stolen"]}', last['chunks_stolen'] == stats['chunks_stolen'])
    likely(result, 'nothing was stolen', stats['chunks_stolen'] > 0)
    near('wall', last['elapsed_s'], stats['elapsed_s'])
    near('lent', lent, stats['lent_s'])
    near('waited', idle, stats['blocked_s'])
    near('borrowed', borrowed, stats['borrowed_s'])
    in_phases = {phase['phase'] or '': phase for phase in last['by_phase']}
    expect(result, f'phases {set(in_phases)}', set(in_phases) == set(reported) == {'', 'round', 'round/loop'})
    for name, phase in reported.items():
        own = in_phases[name]
        expect(result, f'{name}: entered {own["entered"]} times, {phase["entered"]} as reported', own['entered'] == phase['entered'])
        near(f'{name}: time', own['longest_s'], phase['wall_s'])
        all_ranks = own['total']['time_share'] * sum(rank['wall_s'] for rank in last['by_rank'])
        near(f'{name}: lent', own['total']['lent'] * all_ranks, phase['lent_s'])
        near(f'{name}: borrowed', own['total']['borrowed'] * all_ranks, phase['borrowed_s'])
        near(f'{name}: waiting', (own['total']['lent'] + own['total']['waiting']) * all_ranks, phase['blocked_s'])
    likely(result, f'it was worth it: {last["total"]}', last['total']['parallel_efficiency'] >
           last['total']['parallel_efficiency_without_stealing'] + 0.1)
    because = last['total'].get('refused', {})
    likely(result, f'nothing was shared while rank 0 slept outside of its loop: {because}', because.get('nothing_shared', 0) > 0.5)
    likely(result, f'as text: {watcher.text}', 'top_job  job ' + last['job'][:8] in watcher.text and '3 ranks on' in watcher.text
           and 'top_job.c' in watcher.text)


@repeated
def killed():
    def kill(pids):
        time.sleep(0.3)
        os.kill(pids[1], signal.SIGKILL)
    watcher = Watcher(3, kill)
    result = run('top_job', 1000, 50, ranks=3, env={'WS_IGNORE_JOBS': '0', 'WS_CORES': '3'}, code='error', meanwhile=watcher)
    likely(result, watcher.err, watcher.code is not None)
    expect(result, f'ws-top ended with {watcher.code}: {watcher.err}', watcher.code == 0 and not watcher.err)
    likely(result, 'that ranks died is told', watcher.seen and watcher.seen[-1]['over'] and watcher.seen[-1]['died'] >= 1)


@repeated
def as_several_nodes():
    watcher = Watcher(4)
    result = run('top_job', 30, 100, ranks=4, env={'WS_IGNORE_JOBS': '0', 'WS_CORES': '2', 'MPIR_CVAR_NUM_CLIQUES': '2'}, meanwhile=watcher)
    likely(result, f'ws-top ended with {watcher.code}: {watcher.err}', watcher.code == 0)
    if watcher.seen:
        job = watcher.seen[-1]
        expect(result, f'two nodes: {job["nodes_here"]}', job['nodes_here'] == 2 and sorted(rank['node'] for rank in job['by_rank']) == [0, 0, 1, 1])


def without_workshare():
    told = []

    def look(processes):
        ranks = wait_for_ranks(processes, 'top_job', 2)
        told.append(subprocess.run([WS_TOP, '--once', '--pid', str(ranks[0])], capture_output=True, text=True))
        for rank in ranks:
            kill(rank)
    result = run('top_job', 1000, 200, workshare=False, code='error', meanwhile=look)
    expect(result, f'a job without -workshare: {told}', told and told[0].returncode == 1 and 'is not a rank of a -workshare job' in told[0].stderr)


watched_to_its_end()
killed()
as_several_nodes()
without_workshare()
finish()
