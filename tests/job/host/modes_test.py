# SPDX-License-Identifier: MIT
"""modes_test.py MPIRUN PROGRAMS FAMILY MPICC SOURCES STAGE: `workshare` with --openmp=share, --workers and --trace under another MPI, ws-top beside such a job,
and a system that gives Workshare no threads: results are those without `workshare`, and each job ends in time."""
import atexit
from collections import Counter, defaultdict
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from job import CORES, expect, expect_lines, fail, finish, likely, likely_lines, repeated, run, side_by_side, skip
import patience
from processes import stat_of, wait_for_ranks
import schemas

FAMILY, MPICC, SOURCES, STAGE = sys.argv[3:7]
FOLDER = tempfile.mkdtemp(dir='/tmp')
atexit.register(shutil.rmtree, FOLDER)
LIMIT = 40      # seconds that a job may take
UNBOUND = {'TEST_MPIRUN': '--bind-to none' if FAMILY == 'openmpi' else '-bind-to none'}     # a rank has cores for its workers
KINDS = 'plain', 'chunks', 'dynamic', 'guided', 'barriers', 'single', 'two_loops', 'exclusion'     # of parallel regions, for any number of threads
REGIONS = os.path.join(FOLDER, 'regions')
NO_THREADS = os.path.join(FOLDER, 'no_threads.so')


def sorted_lines(result):
    return sorted(result.out.splitlines())


def same_as(alone, result):
    a, b = (Counter(r.out.splitlines()) for r in (alone, result))
    expect(result, f'differs from {alone.title}: missing {list((a - b).elements())[:5]}, more {list((b - a).elements())[:5]}', a == b)


# ---- Parallel regions of a program that knows nothing of Workshare. Each iteration counts itself.

def regions(turns, kinds, *options, title, **how):
    return run(REGIONS, turns, *kinds, options=options, limit=LIMIT, title=f'parallel regions, {title}', **how)


def shares_regions():
    """As with OMP_NUM_THREADS=4."""
    kinds = *KINDS, 'numbers'   # this one counts the threads
    alone = regions(2, kinds, title='off', workshare=False, env={'OMP_NUM_THREADS': '4'})
    expect(alone, 'not each kind is right', alone.out.count(' right, told 4\n') == len(kinds))
    result = regions(2, kinds, '-workshare-openmp=share:4', title='share', env={'OMP_NUM_THREADS': '1'}, steals=CORES > 1)
    same_as(alone, result)
    expect(result, 'regions ran without sharing', 'ran without sharing' not in result.err)
    if os.path.exists(os.path.join(STAGE, 'lib/workshare/names.so')):  # there is none without elfutils
        name = result.stats.get('loop')
        expect(result, f'the region that was helped most is named {name}, and not by file and line', name is None or '.h:' in name or '.c:' in name)


# ---- Workers, and sums whose last bits depend on the order

@repeated
def worker():
    result = run('oracle', 17, 200, ranks=1, options=('-workshare-workers', '1'), env=UNBOUND, limit=LIMIT, title='a worker')
    expect(result, 'not one worker', result.stats.get('workers') == 1)
    expect(result, 'not each loop was counted', result.stats.get('executions') == 200)
    likely(result, 'the worker did nothing', result.stats.get('worker_chunks', 0) > 0)


def equal_sums():
    alone = run('host', 'sums', workshare=False, limit=LIMIT, title='sums, off')
    expect(alone, 'it prints nothing', alone.out)

    def equal(*options):
        same_as(alone, run('host', 'sums', options=options, limit=LIMIT, title=f'sums, {" ".join(options)}'))
    trace = os.path.join(FOLDER, 'sums.json')
    modes = ('-workshare-workers', 'auto'), ('-workshare-openmp=share',), ('-workshare-trace=' + trace,)
    side_by_side(*[lambda options=options: equal(*options) for options in modes], at_once=2)


# ---- Traces

def read_trace(result, path):
    """The trace, or None. Only the first events of each kind are compared with the schema, because that takes a millisecond for each."""
    try:
        with open(path) as f:
            trace = json.load(f)
    except (OSError, ValueError) as error:
        fail(result, f'the trace: {error}')
        return None
    seen = Counter()
    sample = [e for e in trace['traceEvents'] if seen.update([(e['ph'], e.get('cat'))]) or seen[e['ph'], e.get('cat')] <= 20]
    wrong = schemas.problems('trace', {**trace, 'traceEvents': sample})
    expect(result, 'the trace does not fit its schema: ' + '; '.join(wrong[:3]), not wrong)
    return trace


def check_iterations(result, events, threads):
    """The chunks of each rank have as many iterations as its loops that ran by chunks."""
    wanted, found = defaultdict(int), defaultdict(int)
    for e in events:
        rank = threads[e['tid']]['rank']
        if e['cat'] == 'execution' and e['args']['ran'] != 'whole':
            wanted[rank] += e['args']['iterations']
        elif e['cat'] == 'chunk':
            found[rank] += e['args']['end'] - e['args']['first']
    expect(result, f'iterations of loops {dict(wanted)}, of chunks {dict(found)}', wanted == found and sum(found.values()) > 1000)


def traces():
    path = os.path.join(FOLDER, 'oracle.json')
    result = run('oracle', 7, 120, options=('-workshare-trace=' + path,), limit=LIMIT, title='trace', steals=CORES > 1)
    trace = read_trace(result, path) if result.code == 0 else None
    if not trace:
        return
    about, events = trace['otherData'], [e for e in trace['traceEvents'] if e['ph'] == 'X']
    threads = {t['tid']: t for t in about['threads']}
    figures = [about[name] for name in ('ranks', 'nodes', 'dropped', 'events')]
    expect(result, f'ranks, nodes, events dropped and kept: {figures}', figures == [2, 1, 0, len(events)])
    check_iterations(result, events, threads)
    count = Counter(e['cat'] for e in events)
    helps = [e for e in events if e['cat'] == 'chunk' and threads[e['tid']]['kind'] == 'guest']
    expect(result, f'{len(helps)} chunks by helpers, counted {result.stats.get("chunks_stolen")}', len(helps) == result.stats.get('chunks_stolen'))
    expect(result, f'nothing was lent: {count}', count['visit'] > 0 and count['lent'] > 0 or CORES < 2)
    arrows = Counter(e['ph'] for e in trace['traceEvents'] if e['ph'] in 'sf')
    expect(result, f'{count["visit"]} visits, arrows {arrows}', arrows['s'] == arrows['f'] == count['visit'])
    calls = {e['name'] for e in events if e['cat'] == 'mpi'}
    expect(result, f'calls {calls}', {'MPI_Barrier', 'MPI_Allreduce', 'MPI_Sendrecv', 'MPI_Finalize'} <= calls)


# ---- ws-top, beside a job whose rank 1 stands still in a loop until it gets SIGCONT

def ws_top(*words):
    done = subprocess.run([os.path.join(STAGE, 'bin/ws-top'), *words], capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stdout, done.stderr


class Watcher:
    def __init__(self):
        self.text, self.job, self.last = (None, '', ''), {}, {}

    def __call__(self, processes):
        ranks = wait_for_ranks(processes, 'host', 2)
        try:
            patience.waited_for(lambda: any(self.is_stopped(pid) for pid in ranks), 20)
            patience.waited_for(lambda: self.sees_lent_core(ranks[0]), 5)
            self.text = ws_top('--once', '-i', '0.1', '--pid', str(ranks[0]))
            follow = subprocess.Popen([os.path.join(STAGE, 'bin/ws-top'), '--json', '--count', '0', '-i', '0.05', '--pid', str(ranks[0])],
                                      stdout=subprocess.PIPE, text=True)
            follow.stdout.readline()    # it has seen the job
        finally:
            for pid in filter(self.is_stopped, ranks):
                os.kill(pid, signal.SIGCONT)
        lines = follow.communicate(timeout=LIMIT)[0].splitlines()
        self.last = json.loads(lines[-1])['jobs'][0] if lines else {}

    @staticmethod
    def is_stopped(pid):
        try:
            return stat_of(f'/proc/{pid}')[1][0] == 'T'
        except OSError:
            return False

    def sees_lent_core(self, pid):
        code, out, _ = ws_top('--json', '-i', '0.05', '--pid', str(pid))
        wrong = schemas.problems('top', json.loads(out)) if code == 0 else [f'exit status {code}']
        if wrong:
            raise RuntimeError('ws-top --json: ' + '; '.join(wrong[:3]))
        self.job = json.loads(out)['jobs'][0]
        return any(rank['cores'][0]['state'] == 'lent' for rank in self.job['by_rank'])


@repeated
def top():
    watcher = Watcher()
    result = run('host', 'stop', meanwhile=watcher, limit=LIMIT, title='ws-top')
    expect(result, 'a wrong sum', sorted_lines(result) == ['rank 0: sum 19900', 'rank 1: sum 19900'])
    code, text, err = watcher.text
    expect(result, f'ws-top --once: {code}, {text}{err}', code == 0 and 'host  job ' in text and '2 ranks on ' in text and not err)
    seen, last = watcher.job, watcher.last
    if not expect(result, f'not both ranks were seen: {seen}', seen and seen['ranks'] == seen['ranks_here'] == 2 and seen['nodes_here'] == 1):
        return
    core = {rank['rank']: rank['cores'][0] for rank in seen['by_rank']}
    likely(result, f'rank 0 is seen in {core[0]}', core[0]['call'] == 'MPI_Bcast' and core[0]['state'] == 'lent' and core[0]['tenant'] == 1)
    likely(result, f'the loop is not named: {core[0]}', 'host.c:' in (core[0]['loop'] or ''))
    expect(result, f'the job did not end: {last}', last and last['over'] and last['died'] == 0)
    counts = last.get('chunks_stolen'), result.stats.get('chunks_stolen')
    expect(result, f'chunks stolen, by ws-top and by the job: {counts}', counts[0] == counts[1])


# ---- No threads for Workshare

@repeated
def refused_helpers(title, *words, **how):
    result = run(*words, limit=LIMIT, title=f'no threads, {title}', **how)
    expect(result, 'something was stolen', result.stats.get('chunks_stolen') == 0)
    likely(result, 'no thread was refused', result.stats.get('guests_refused', 0) > 0)
    likely_lines(result, result.err, r'^workshare: ranks waited in MPI .*; the system refused helper threads$')


def refused():
    behind = ('-genv', 'LD_PRELOAD', NO_THREADS)
    kinds = 'plain', 'dynamic', 'barriers'

    def of_regions():
        result = regions(1, kinds, '-workshare-openmp=share:4', *behind, title='no threads', env={'OMP_NUM_THREADS': '1'})
        expect(result, 'not each kind is right', result.out.count(' right, told 4\n') == len(kinds))
        expect_lines(result, result.err, rf'^workshare: {len(kinds)} of {len(kinds)} parallel regions ran without sharing: '
                     r'.*\(the system has no memory, or no thread, for its virtual threads\)')
    front = '/bin/sh', '-c', f'LD_PRELOAD={NO_THREADS}:$LD_PRELOAD exec "$0" "$@"'
    oracle = os.path.join(os.path.abspath(sys.argv[2]), 'oracle')
    side_by_side(lambda: refused_helpers('behind', 'oracle', 17, 60, options=behind),
                 lambda: refused_helpers('in front', *front, oracle, 17, 60),
                 lambda: refused_helpers('with a worker', 'oracle', 17, 60, options=('-workshare-workers', '1', *behind)),
                 of_regions, at_once=2)


subprocess.run([MPICC, '-O1', '-g', '-fopenmp', '-o', REGIONS, os.path.join(SOURCES, '../openmp/regions.c')], check=True, timeout=60)
subprocess.run(['gcc', '-O1', '-shared', '-fPIC', '-o', NO_THREADS, os.path.join(SOURCES, '../mpi/programs/refuse_threads.c')], check=True, timeout=60)
shares_regions()
equal_sums()
traces()
if CORES < 2:
    skip('needs two cores')
else:
    worker()
    top()
    refused()
finish()
