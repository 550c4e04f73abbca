# SPDX-License-Identifier: MIT
"""Whole jobs with -workshare-trace: every chunk is in the file once and in its region, leases and visits match, both formats tell the
same kind of story, drops are counted, and what cannot be written is said once and changes nothing else."""
import bisect
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict

from job import CORES, MPIRUN, expect, expect_lines, fail, finish, likely, repeated, run, skip
import schemas

folder = tempfile.mkdtemp(prefix='workshare-')
STAGE = os.path.dirname(os.path.dirname(MPIRUN))


def traced(name, *args, options=(), **how):
    """A job with a trace, and the trace as JSON."""
    path = os.path.join(folder, name)
    result = run(*args, options=['-workshare-trace', path, *options], **how)
    try:
        with open(path) as f:
            trace = json.load(f)
        # Only the first 20 events of each kind: a library in Python needs a millisecond for each event.
        seen = Counter()
        sample = [e for e in trace['traceEvents'] if seen.update([(e['ph'], e.get('cat'))]) or seen[e['ph'], e.get('cat')] <= 20]
        wrong = schemas.problems('trace', {**trace, 'traceEvents': sample})
        expect(result, 'the trace does not fit its schema: ' + '; '.join(wrong[:3]), not wrong)
        return result, trace
    except (OSError, ValueError) as error:
        fail(result, f'the trace: {error}')
        return result, None


def slices(trace):
    return [e for e in trace['traceEvents'] if e['ph'] == 'X']


def ends_of(e):
    return e['ts'], e['ts'] + e['dur']


def check_chunks(result, trace):
    """The chunks of each region that ran by chunks are its iterations, each once."""
    threads = {t['tid']: t for t in trace['otherData']['threads']}
    regions, chunks = defaultdict(list), defaultdict(list)
    for e in slices(trace):
        rank = threads[e['tid']]['rank']
        if e['cat'] == 'execution' and e['args']['ran'] != 'whole':
            regions[rank].append((*ends_of(e), e['name'], e['args']))
        if e['cat'] == 'chunk':
            chunks[rank].append((*ends_of(e), e['name'], e['args']))
    lost = 0
    for rank, of_rank in regions.items():
        of_rank.sort(key=lambda r: r[0])
        begins = [r[0] for r in of_rank]
        parts = defaultdict(list)
        for begin, end, name, args in chunks[rank]:
            i = bisect.bisect_right(begins, begin + 0.0015) - 1
            region = of_rank[i]
            if i < 0 or end > region[1] + 0.0015 or name != region[2]:
                lost += 1
            parts[i].append((args['first'], args['end']))
        for i, region in enumerate(of_rank):
            at = 0
            for first, end in sorted(parts[i]):
                if first != at:
                    break
                at = end
            expect(result, f'a region of rank {rank} at {region[0]} us has {region[3]} and the chunks {sorted(parts[i])[:20]}',
                   at == region[3]['iterations'])
    expect(result, f'{lost} chunks lie in no region of theirs', lost == 0)
    return sum(len(r) for r in regions.values()), sum(len(c) for c in chunks.values())


def check_lends(result, trace):
    """Each visit is inside a lease of that core to that rank, and each arrow leads from one to the other. Returns the number of visits
    for which the core was lent, and of those for which the guest had stayed on it."""
    threads = {t['tid']: t for t in trace['otherData']['threads']}
    leases, visits, stayed, arrows = defaultdict(list), 0, 0, Counter()
    for e in slices(trace):
        if e['cat'] == 'lent':
            t = threads[e['tid']]
            leases[t['node'], t['core'], e['args']['tenant']].append(ends_of(e))
    for e in slices(trace):
        if e['cat'] == 'visit':
            visits += 1
            t = threads[e['tid']]
            begin, end = ends_of(e)
            expect(result, f'a visit of rank {t["rank"]} on core {t["core"]} at {begin} us is in no lease',
                   any(b - 0.0015 <= begin and end <= e + 0.0015 for b, e in leases[t['node'], t['core'], t['rank']]))
            if 'latency_ns' in e['args']:
                expect(result, f'a steal took {e["args"]["latency_ns"]} ns', 0 < e['args']['latency_ns'] < 10e9)
            else:
                stayed += 1
    for e in trace['traceEvents']:
        if e['ph'] in 'sf':
            arrows[e['ph'], threads[e['tid']]['kind']] += 1
    expect(result, f'{visits} visits, but arrows {arrows}', arrows == ({('s', 'home'): visits, ('f', 'guest'): visits} if visits else {}))
    return visits - stayed, stayed


def check_nesting(result, trace):
    """Of two events of a thread one lies inside the other, or they do not overlap."""
    by_thread = defaultdict(list)
    for e in slices(trace):
        by_thread[e['tid']].append((round(e['ts'] * 1000), -round((e['ts'] + e['dur']) * 1000)))
    for tid, events in by_thread.items():
        ends = []
        for begin, end in sorted(events):
            while ends and ends[-1] <= begin:
                ends.pop()
            if not expect(result, f'events of thread {tid} overlap at {begin} ns', not ends or -end <= ends[-1]):
                break
            ends.append(-end)


# Chunks, leases, MPI calls: the oracle counts its iterations itself.
result, trace = traced('oracle.json', 'oracle', 7, 120, ranks=2, steals=CORES > 1)
if trace:
    about = trace['otherData']
    regions, chunks = check_chunks(result, trace)
    expect(result, f'{regions} regions, {chunks} chunks', regions > 10 and chunks > 100)
    expect(result, 'dropped', about['dropped'] == 0)
    check_nesting(result, trace)
    lent, stayed = check_lends(result, trace)
    if CORES > 1:
        expect(result, 'nothing was lent', lent > 0)
        expect(result, f'{lent} visits of lent cores, counted: {result.stats}', lent == result.stats['lends'])
    stolen = sum(e['cat'] == 'chunk' and about['threads'][e['tid'] - 1]['kind'] == 'guest' for e in slices(trace))
    expect(result, f'{stolen} chunks by guests, counted: {result.stats}', stolen == result.stats['chunks_stolen'])
    calls = {e['name'] for e in slices(trace) if e['cat'] == 'mpi'}
    expect(result, f'calls: {calls}', {'MPI_Finalize'} < calls and all(c.startswith('MPI_') for c in calls))


# A guest stays for its owner's next loops: the core is not lent again, so such visits have no latency.
@repeated
def staying():
    result, trace = traced('chain.json', 'imbalance', 'chain', 1, ranks=2, steals=CORES > 1)
    if trace and CORES > 1:
        lent, stayed = check_lends(result, trace)
        likely(result, f'{stayed} visits without a latency, {lent} with one', stayed > lent > 0)
        expect(result, f'{lent} visits of lent cores, counted: {result.stats}', lent == result.stats['lends'])


staying()

# Several nodes: their clocks are compared by messages. Here they are the same clock, so the comparison must find that.
@repeated
def of_nodes():
    result, trace = traced('nodes.json', 'cliques', ranks=4, env={'MPIR_CVAR_NUM_CLIQUES': '2', 'WS_CORES': '4'})
    if not trace:
        return
    begins = [p['begin_ns'] for p in trace['otherData']['processes']]
    expect(result, f'nodes: {trace["otherData"]["nodes"]}', trace['otherData']['nodes'] == 2)
    last = [max(sum(ends_of(e)[1:]) for e in slices(trace) if e['tid'] == t['tid']) for t in trace['otherData']['threads'] if t['kind'] == 'home']
    # All leave MPI_Finalize's first barrier together, give or take what two cores do with four ranks.
    likely(result, f'the ranks begin at {begins} ns and end at {last} us', min(begins) == 0 and max(begins) < 200e6 and max(last) - min(last) < 200e3)


of_nodes()

# Named phases, one in the other, and levels, which have their number. Both formats have the same.
result, trace = traced('phases.json', 'phases', 'nested')
if trace:
    check_nesting(result, trace)
    phases = Counter(e['name'] for e in slices(trace) if e['cat'] == 'phase')
    expect(result, f'phases {phases}', phases == {'step': 10, 'solve': 10, 'inner': 20, 'sync': 10})
    expect(result, 'a named phase has a level', all('args' not in e for e in slices(trace) if e['cat'] == 'phase'))
    both = sorted((e['tid'], *ends_of(e), e['name']) for e in slices(trace) if e['cat'] == 'phase' and e['name'] in ('step', 'solve'))
    pairs = [(a, b) for a, b in zip(both, both[1:]) if a[3] == 'step']
    expect(result, 'solve is not inside step', len(pairs) == 10 and all(b[3] == 'solve' and a[0] == b[0] and a[1] <= b[1] and b[2] <= a[2] for a, b in pairs))
result, trace = traced('levels.json', 'phases', 'levels', ranks=1)
if trace:
    levels = {e['name']: e['args']['level'] for e in slices(trace) if e['cat'] == 'phase' and 'args' in e}
    expect(result, f'levels {levels}', levels == {'phase 2': 2, 'phase 3': 3, 'phase 4': 4})
path = os.path.join(folder, 'phases.otf2')
result = run('phases', 'nested', options=['-workshare-trace', path])
if shutil.which('otf2-print'):
    printed = subprocess.run(['otf2-print', path], capture_output=True, text=True).stdout
    entered = Counter(re.findall(r'^ENTER .*Region: "(step|solve|inner|sync)"', printed, re.M))
    expect(result, f'OTF2 regions {entered}', entered == {'step': 10, 'solve': 10, 'inner': 20, 'sync': 10})

# OTF2, without stealing.
path = os.path.join(folder, 'plain.otf2')
result = run('imbalance', 'late', 5, options=['-workshare-trace', path, '-workshare-victim', 'none'])
printed = subprocess.run(['otf2-print', path], capture_output=True, text=True)
expect(result, f'otf2-print: {printed.returncode} {printed.stderr[-300:]}', printed.returncode == 0 and not printed.stderr)
expect(result, 'the archive tells of leases although there were none', printed.stdout.count('"core lent"') == 0)
for what in 'imbalance.c', 'MPI_Finalize', 'chunk of':
    expect(result, f'the archive does not tell of {what}', what in printed.stdout)
expect(result, 'was stolen from', result.stats.get('chunks_stolen') == 0)

# Memory: the newest or the oldest stay, the rest is counted. A MiB holds 6000 or so events of each of two threads or more.
@repeated
def little_memory(keep):
    result, trace = traced(keep + '.json', 'tiny_regions', 20000, ranks=1, options=['-workshare-trace-buffer=1', '-workshare-trace-keep=' + keep])
    if not trace:
        return
    about = trace['otherData']
    expect(result, f'kept {about["events"]}, dropped {about["dropped"]}', about['dropped'] > 0 and 0 < about['events'] < 2**20 / 40)
    expect(result, 'the file says how many, and which', about['kept'] == keep)
    expect_lines(result, result.err, rf'lacks {about["dropped"]} of {about["dropped"] + about["events"]} events, the {"oldest" if keep == "newest" else "newest"} ones')
    first, last = min(e['ts'] for e in slices(trace)), max(ends_of(e)[1] for e in slices(trace))
    length = about['length_ns'] / 1000
    likely(result, f'{keep}: events from {first} to {last} us of {length}', last > 0.99 * length if keep == 'newest' else last < 0.9 * length)


little_memory('newest')
little_memory('oldest')

# Threads that come and go, a loop each: there is room for all.
result, trace = traced('threads.json', 'threads', 'come', 3, 20, options=['-workshare-trace-buffer=1'])
if trace:
    about = trace['otherData']
    others = sum(t['kind'] == 'thread' for t in about['threads'])
    expect(result, f'{others} other threads, dropped {about["dropped"]}', others >= 20 and about['dropped'] == 0)

# What cannot be written is said once: at the start, where the job ends before the program computes, or at the end, where the
# program's own exit status stays.
os.symlink('/dev/full', os.path.join(folder, 'full.json'))
os.makedirs(os.path.join(folder, 'taken.otf2'))
os.makedirs(os.path.join(folder, 'mine'))
for name in 'file', 'mine/notes':
    with open(os.path.join(folder, name), 'w'):
        pass
for path, reason, code in ((os.path.join(folder, 'full.json'), 'No space left on device', 0),
                           ('/proc/none/x.json', 'No such file or directory', 'error'), ('/dev/null/x.otf2', 'Not a directory', 'error'),
                           (os.path.join(folder, 'taken.otf2'), 'Is a directory', 'error'),
                           (os.path.join(folder, 'mine.otf2'), 'its events go into the folder .*, which has files of yours', 'error'),
                           (os.path.join(folder, 'file.otf2'), 'its events go into the folder .*, which is a file', 'error')):
    result = run('imbalance', 'late', 2, options=['-workshare-trace', path], title=f'trace to {path}', code=code)
    said = [line for line in result.err.splitlines() if line.startswith('workshare: error: cannot write')]
    expect(result, f'messages: {said}', len(said) == 1 and re.fullmatch(f'workshare: error: cannot write the trace to {re.escape(path)}: {reason}.*', said[0]))
    expect(result, 'the program ran', code == 0 or result.out == '')



def unwritten(path, reason, *args, ranks=2, **how):
    result = run(*args, ranks=ranks, options=['-workshare-trace', path], title=f'trace to {path}, {reason}', limit=20, **how)
    said = [line for line in result.err.splitlines() if line.startswith('workshare: error: cannot write')]
    expect(result, f'messages: {said}', len(said) == 1 and said[0].startswith(f'workshare: error: cannot write the trace to {path}: {reason}'))
    expect(result, 'no summary', 'code' in how or result.summary())


# A pipe: its reader gets the trace, or a part of it; without one the job ends all the same.
pipe = os.path.join(folder, 'pipe.json')
os.mkfifo(pipe)
with open(os.path.join(folder, 'read'), 'w+') as read, subprocess.Popen(['cat', pipe], stdout=read) as reader:
    with open(pipe, 'w'):  # which waits until `cat` has opened it, and keeps it there until the job has ended
        result = run('imbalance', 'late', 2, options=['-workshare-trace', pipe], limit=20)
    reader.wait()
    read.seek(0)
    expect(result, 'the pipe got no trace', json.loads(read.read() or '{}').get('schema', '').startswith('workshare-trace/'))
unwritten(pipe, 'No such device or address', 'imbalance', 'late', 2)
with subprocess.Popen(['head', '-c', '9', pipe], stdout=subprocess.DEVNULL), open(pipe, 'w'):
    unwritten(pipe, 'Broken pipe', 'tiny_regions', 20000, ranks=1)
os.mkfifo(os.path.join(folder, 'pipe.otf2'))
unwritten(os.path.join(folder, 'pipe.otf2'), 'an OTF2 archive needs a regular file', 'imbalance', 'late', 2, code='error')

# A disk that is full, or a limit that is reached, in the middle of what the OTF2 library writes for a thread.
# UCX has files of 5 MB in /dev/shm, which the limit must leave room for.
for kind, reason in ('json', 'File too large'), ('otf2', 'File is too large'):
    unwritten(os.path.join(folder, f'limited.{kind}'), reason, 'tiny_regions', 400000, ranks=1,
              prefix=('bash', '-c', 'ulimit -f 8000 && exec "$@"', 'bash'))
small = os.path.join(folder, 'small')
os.mkdir(small)
for size in '100k', '5m', '9m':
    full = ('unshare', '-m', 'sh', '-c', f'mount -t tmpfs -o size={size} tmpfs {small} && exec "$@"', 'sh')
    if subprocess.run([*full, 'true'], capture_output=True).returncode:
        skip('no full disk: mounting one is not permitted here')
        break
    for kind in 'json', 'otf2':
        unwritten(os.path.join(small, f'trace.{kind}'), 'No space left on device', 'tiny_regions', 400000, ranks=1, prefix=full)

# Without its module: a copy of the stage that lacks it. libws itself brings no OTF2 into programs.
linked = subprocess.run(['ldd', os.path.join(STAGE, 'lib/libws.so.1')], capture_output=True, text=True).stdout
expect(result, f'libws is linked with OTF2: {linked}', 'libc.so' in linked and 'trace-format' not in linked)
alone = os.path.join(folder, 'alone')
shutil.copytree(STAGE, alone, symlinks=True, ignore=lambda path, names: [n for n in names if n in ('include', 'share', 'trace.so', 'ws_gcc.so', 'ws_clang.so')])

environment = {'LD_LIBRARY_PATH': os.path.join(alone, 'lib')}
result = run('imbalance', 'late', 2, options=['-workshare-trace', os.path.join(folder, 'x.json')], env=environment, title='without the module',
             code='error')
expect_lines(result, result.err, 'cannot write the trace to .*cannot load the module that writes traces')

if not shutil.which('otf2-print'):
    skip('otf2-print is missing')
shutil.rmtree(folder)
finish()
