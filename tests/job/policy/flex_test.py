# SPDX-License-Identifier: MIT
"""flex_test.py MPIRUN PROGRAMS: XMPI in whole jobs. Processors of known speeds are pretended (WS_FLEX_FAKE), so that where rows end is known;
rows are compared before and after each move (WS_FLEX_CHECK)."""
import json
import os
import re
import tempfile

from job import PROGRAMS, expect, expect_lines, finish, likely, loadable, repeated, run, skip

EVERY_5 = ('-workshare-rows-interval', '5')
INTERVAL = (*EVERY_5, '-workshare-rows-cpu-loss', '100')     # whatever others use of the processors


def job(program, *args, speeds=None, options=INTERVAL, env=None, **how):
    env = {'WS_FLEX_CHECK': '1', **({'WS_FLEX_FAKE': speeds} if speeds else {}), **(env or {})}
    return run(program, *map(str, args), options=options if how.get('workshare', True) else (), env=env, **how)


def counts(result):
    """Rows of each rank at the end, and the moves that each has seen."""
    found = {int(r): (int(n), int(m)) for r, n, m in re.findall(r'^rank (\d+) rows (\d+) from \d+ moves (\d+)$', result.out, re.MULTILINE)}
    return [found[r][0] for r in sorted(found)], [found[r][1] for r in sorted(found)]


def gained(result):
    """Of what moves were to gain, the part that was measured afterwards, in %; None: it is not told."""
    found = re.search(r'with (-?\d+) % of the expected gain', result.err)
    return int(found[1]) if found else None


# ---- everything moves, by speed: all structures, several numbers of processes, rows of unequal weight (a sparse matrix is among them)
@repeated   # what a move takes is no pretence, nor when it pays
def by_speed(mode, ranks, speeds):
    result = job('flex_rows', mode, 1000, 30, ranks=ranks, speeds=speeds)
    rows, moves = counts(result)
    wanted = [float(s) * 1000 / sum(map(float, speeds.split(','))) for s in speeds.split(',')]
    likely(result, f'moves {moves}', moves == [1] * ranks)
    expect(result, f'rows {rows}, wanted about {wanted}', len(rows) == ranks and all(abs(a - b) < 6 for a, b in zip(rows, wanted)))
    expect(result, 'the verdict says nothing', 'XMPI moved rows 1 time' in result.err and 'pretended' in result.err)
    likely(result, f'gained {gained(result)} %', gained(result) is not None and 85 <= gained(result) <= 115)


for mode in 'all', 'split':
    for ranks, speeds in (2, '1e4,3e4'), (3, '1e4,2e4,3e4'), (5, '3e4,1e4,1e4,2e4,1e4'):
        by_speed(mode, ranks, speeds)


@repeated
def rows_are(right, *args, **how):
    result = job(*args, **how)
    rows = counts(result)[0]
    likely(result, f'rows {rows}', right(rows))


@repeated
def something_moves(*args, **how):
    result = job(*args, **how)
    likely(result, 'nothing moved', re.search(r'moves [1-9]', result.out))


# Chances are that speeds turn round: rows travel far, in rounds.
rows_are(lambda rows: rows[5] > 900, 'flex_rows', 'all', 1000, 60, ranks=6, speeds='1,1,1,1,1,200')
# An interval of one iteration is over when rows begin to move
for program, args in (('flex_rows', ('all', 1000, 12)), ('flex_rows', ('split', 1000, 12)), ('flex_vectors', ())):
    something_moves(program, *args, ranks=3, speeds='1e4,2e4,3e4', options=('-workshare-rows-interval', '1'))
# More processes than rows, and processes without rows
for mode in 'all', 'split':
    result = job('flex_rows', mode, 3, 30, ranks=5, speeds='1e4,2e4,3e4')
    expect(result, f'rows {counts(result)[0]}', sum(counts(result)[0]) == 3)
job('flex_rows', 'all', 0, 12, ranks=2, speeds='1,2')
job('flex_rows', 'all', 100, 12, ranks=1, speeds='1')
# Equal processors: nothing moves, in 1,000 intervals
result = job('flex_rows', 'all', 1000, 1000, ranks=3, speeds='2e4', options=('-workshare-rows-interval', '1'))
expect(result, f'moves {counts(result)[1]}', counts(result)[1] == [0, 0, 0])


# Two decompositions, one on a communicator that the program has freed
@repeated
def two_at_once():
    result = job('flex_rows', 'two', 900, 60, ranks=4, speeds='1e4,1e4,2e4,2e4')
    others = [int(n) for n in re.findall(r'^other \d+ rows (\d+)', result.out, re.MULTILINE)]
    likely(result, f'the other has {others}', sorted(others) == [33, 33, 67, 67])


def alike_by_nodes(rows):
    clique = [0, 2, 1, 3] if abs(rows[0] - rows[2]) < abs(rows[0] - rows[1]) else [0, 1, 2, 3]
    a, b, c, d = (rows[i] for i in clique)
    return abs(a - b) <= 6 and abs(c - d) <= 6 and abs(a - c) > 50


two_at_once()
# By nodes: ranks of a node have equal rows, nodes by their speed
rows_are(alike_by_nodes, 'flex_rows', 'node', 1200, 30, ranks=4, speeds='1e4,3e4,1e4,7e4', env={'MPIR_CVAR_NUM_CLIQUES': '2'})


# ---- what a move is told by
@repeated   # when it pays
def is_told():
    with tempfile.TemporaryDirectory() as folder:
        trace, report = os.path.join(folder, 'a.json'), os.path.join(folder, 'b.txt')
        result = job('flex_rows', 'split', 1000, 30, ranks=3, speeds='1e4,2e4,3e4', options=(*INTERVAL, '-workshare-trace=' + trace, '-workshare-report=' + report))
        with open(trace) as f:
            moved = [e for e in json.load(f)['traceEvents'] if e.get('cat') == 'rows']
        likely(result, f'events {moved}', len(moved) == 3 and all(e['args']['rows'] > 100 and e['args']['bytes'] > 1000 for e in moved))
        with open(report) as f:
            expect_lines(result, f.read(), r'looks of the ranks at balance; 3 times their rows moved, [\d.]+ MB sent and received',
                         r'measured after moves: \d+ % of the gain that was expected')


is_told()


# ---- where the plan is made: by ranks 1 and 2 while they wait in MPI, in both forms of an iteration's end; by rank 0, for which they wait, at that end.
# None is carried out, as the program says that it has no iterations left, so each interval of one iteration has one.
def planned(report):
    with open(report) as f:
        ranks = [r['totals'] for r in json.load(f)['by_rank']]
    return [(r['flex_plans'], r['flex_plans_blocked']) for r in ranks]


@repeated
def plans(mode, ranks, rows):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'plans.json')
        result = job('flex_rows', mode, rows, 30, 'ws_flex_iterations', '1', ranks=ranks,
                     options=('-workshare-rows-interval', '1', '-workshare-rows-cpu-loss', '100', '-workshare-report=' + report))
        made = planned(report)
        expect(result, f'plans, and those in blocked time: {made}', made[0][0] > 3 and len({p[0] for p in made}) == 1)
        if ranks == 3:  # the numbers of more than 16 are reduced, which needs each of them on the way
            likely(result, f'plans, and those in blocked time: {made}', all(p[1] > 0 for p in made[1:]))


plans('waits', 3, 200)
plans('waits-split', 3, 200)
plans('waits', 36, 1800)
# A partition that ends while numbers are under way, which some have looked at in blocked time and others have not
for ranks in 3, 36:
    job('flex_rows', 'left', 200, 6, ranks=ranks, options=INTERVAL)

# ---- without -workshare nothing moves, and all works
for program, args in (('flex_rows', ('all', 1000, 30)), ('flex_rows', ('split', 100, 30)), ('flex_rows', ('two', 100, 30)), ('flex_vectors', ()), ('flex_module', ())):
    result = job(program, *args, ranks=3, workshare=False)
    expect(result, 'something moved', re.search(r'moves 0', result.out) and not re.search(r'moves [1-9]', result.out))

# ---- what the program says itself: row i costs i units. Half of the cost lies in the last 29 %.
@repeated
def by_work():
    result = job('flex_rows', 'work', 2000, 40, ranks=2)
    rows = counts(result)[0]
    expect(result, 'the verdict does not say by what', 'by XMPI_Set_work' in result.err)
    likely(result, f'rows {rows}', len(rows) == 2 and 0.64 < rows[0] / 2000 < 0.78)


by_work()


# If some say it and others do not, work is what all have: rows. One move, by the speeds.
@repeated
def by_work_of_some(speeds, wanted):
    result = job('flex_rows', 'some', 1000, 100, ranks=len(wanted), speeds=speeds)
    expect(result, 'work is measured by what some say', 'by registered rows' in result.err and 'by XMPI_Set_work' not in result.err)
    rows, moves = counts(result)
    likely(result, f'rows {rows}, moves {moves}', all(abs(r - w) < 6 for r, w in zip(rows, wanted)) and moves == [1] * len(wanted))


by_work_of_some('1000,4000', [200, 800])
by_work_of_some('1000,2000,3000,4000', [100, 200, 300, 400])


# Units that change from one interval to another are not compared.
@repeated
def by_work_sometimes():
    result = job('flex_rows', 'sometimes', 1000, 100, ranks=2, speeds='1000,4000')
    rows, moves = counts(result)
    likely(result, f'rows {rows}, moves {moves}', abs(rows[0] - 200) < 6 and moves == [1, 1])
    likely(result, f'gained {gained(result)} %', gained(result) is None or 80 <= gained(result) <= 120)


by_work_sometimes()

# A move that makes iterations longer is undone, and moves become rare: without that there are as many as every seventh interval.
@repeated
def undoes():
    result = job('flex_rows', 'worse', 1000, 400, ranks=2)
    _, moves = counts(result)
    likely(result, 'no word of a move that was undone', re.search(r'[1-9]\d* moves? (was|were) undone, because nothing was gained', result.err))
    likely(result, f'moves {moves}', max(moves) <= 8)


undoes()

# ---- C++ and Fortran
for program in 'flex_vectors', 'flex_vectors_20', 'flex_module':
    something_moves(program, ranks=3, speeds='1e4,2e4,3e4')

# ---- memory: during a move an eighth of the data beyond what a process has before or after it, and MPI's own; what is refused moves nothing
@repeated   # MPI keeps what comes before its receiver runs
def needs_little(speeds):
    ranks = len(speeds.split(','))
    result = job('flex_rows', 'large', 600, 8, ranks=ranks, speeds=speeds, env={'WS_FLEX_CHECK': '0'})
    over = [float(x) for x in re.findall(r'over ([\d.-]+)', result.out)]
    expect(result, 'nothing moved', ' moves 1' in result.out)
    likely(result, f'beyond the larger of the two: {over}', len(over) == ranks and max(over) <= 0.16)


needs_little('1e4,3e4')
needs_little('1e3,3e4,6e4')     # in rounds


@repeated   # a move is tried when it would pay
def moves_nothing(stays, *args, **how):
    result = job('flex_rows', *args, 30, **how)
    expect(result, 'rows have moved', stays(result))
    likely(result, 'not said once', result.err.count('has no memory for more') == 1 and 'for lack of memory' in result.err)


moves_nothing(lambda result: counts(result) == ([334, 333, 333], [0, 0, 0]), 'little', 1000, ranks=3, speeds='1e4,2e4,3e4')
moves_nothing(lambda result: 'rank 1 rows 300 -> 300' in result.out and ' moves 0' in result.out, 'starved', 600, ranks=2, speeds='1e4,3e4', env={'WS_FLEX_CHECK': '0'})


# ---- the checksums find a row that its move has changed: the last process gets fewer rows than it had, and one is not what it was
@repeated
def is_found():
    result = job('flex_rows', 'corrupt', 1000, 30, ranks=3, speeds='3e4,2e4,1e4', code=None, limit=30)
    likely(result, 'it is not said', 'XMPI: a move has changed rows; ending the job' in result.err)
    expect(result, 'exit status 0 where an error was wanted', result.code != 0)


is_found()

# ---- more and fewer processes have rows; half of them begin without
for mode in 'resize', 'resize-split':
    result = job('flex_rows', mode, 1000, 8, ranks=4, speeds='1e4,2e4', options=(*INTERVAL, '-workshare-spare', '2'), env={'FLEX_WITH_ROWS': '2'})
    expect(result, 'the verdict says nothing', 'the number of processes with rows changed 5 times' in result.err)
job('flex_rows', 'resize', 1000, 8, ranks=3, workshare=False)
result = job('flex_rows', 'resize', 1000, 8, ranks=2, options=('-workshare-spare', '2'), code='error')
expect(result, 'no message', '-workshare-spare 2 leaves no row to any of 2 processes' in result.err)



# A goal: 1000 rows of 0.1 ms are to take 33 ms, which four of six processes can. And a manager, who allows fewer.
@repeated   # how long iterations take is no pretence
def by_goal(allowed, wanted):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'cores')
        with open(file, 'w') as f:
            f.write(f'{allowed}\n')
        result = job('flex_rows', 'goal', 1000, 30, ranks=6, options=(*INTERVAL, '-workshare-spare', '3', '-workshare-cores-file', file),
                     env={'FLEX_WITH_ROWS': '3'})
        rows = [n > 0 for n in counts(result)[0]]
        likely(result, f'ranks with rows: {rows}', rows in [[True] * n + [False] * (6 - n) for n in wanted])


by_goal(100, (4, 5))    # as many as there are, and one more if waking takes long
by_goal(2, (2,))
result = job('flex_rows', 'all', 100, 12, ranks=2, options=(*INTERVAL, '-workshare-cores-file', '/none/at/all'))
expect(result, 'not said once', result.err.count('-workshare-cores-file /none/at/all: No such file or directory; no number is changed') == 1)

# ---- wrong calls
for ranks in 1, 3:
    for workshare in True, False:
        job('flex_errors', ranks=ranks, workshare=workshare)
result = job('flex_errors', 'fatal', ranks=2, workshare=False, code='error')
expect(result, 'no message', 'XMPI_Register' in result.err and 'address is NULL' in result.err and 'went on' not in result.out)


# ---- processes join and leave
for ranks in 4, 7:
    job('flex_members', 'groups', ranks=ranks)
    job('flex_members', 'groups', ranks=ranks, speeds=','.join(['1e4', '3e4', '2e4', '1e4', '1e4', '3e4', '2e4'][:ranks]))
    job('flex_members', 'groups', ranks=ranks, workshare=False)


@repeated   # rows are looked at when they are to move
def is_an_error(mode, wanted):
    result = job('flex_rows', mode, 1000, 30, ranks=3, speeds='1e4,2e4,3e4')
    likely(result, f'no error on all ranks: {wanted}', len(re.findall(r'error 1: .*', result.out)) == 3 and wanted in result.out)


for mode, wanted in (('unlike', 'registered different structures'), ('gone', '*address is NULL (rank 1)'),
                     ('unmapped', 'the memory of *address is not there any more (rank 1)'),
                     ('static', '*address is not memory from malloc(): it is a static variable (rank 1)'),
                     ('stack', '*address is not memory from malloc(): it is on the stack (rank 1)'),
                     ('inside', '*address is not memory from malloc(): it is inside other memory'),
                     ('small', r'the memory of *address has 72 bytes, but')):
    is_an_error(mode, wanted)
result = job('flex_rows', 'constant', 40, 4, ranks=2, options=('-workshare-flex-interval', '2'), env={'WS_FLEX_TH1': '100'})
for former, now in ('-workshare-flex-interval', '-workshare-rows-interval'), ('WS_FLEX_TH1', 'WS_ROWS_CPU_LOSS'):
    expect(result, f'{former} is not taken', f'{former} is now called {now}' in result.err)
for options, wanted in ((('-workshare-rows-patience', 'long'), "'long' is not auto or a number from 1 to 1000"),
                        (('-workshare-rows-interval', '0'), "'0' is not auto or a number"), (('-workshare-rows-cpu-loss', '101'), "'101' is not a number")):
    result = job('flex_rows', 'all', 10, 1, options=options, code=1)
    expect(result, f'{wanted!r} is not said', wanted in result.err)

# ---- a process dies while rows move, before or after: the job ends. They move at the end of the sixth iteration.
@repeated
def moves_in_six():
    result = job('flex_rows', 'split', 1000, 6, ranks=3, speeds='1e4,2e4,3e4')
    likely(result, 'nothing moved', counts(result)[1] == [1, 1, 1])


moves_in_six()
job('flex_rows', 'die-moving', 1000, 6, ranks=3, speeds='1e4,2e4,3e4', code='error', limit=30)
job('flex_rows', 'die-resizing', 1000, 6, ranks=4, options=('-workshare-spare', '2'), code='error', limit=30, env={'FLEX_WITH_ROWS': '2'})
for die in 6, 7:
    job('flex_rows', 'die', 1000, die, ranks=3, speeds='1e4,2e4,3e4', code='error', limit=30)

# ---- algorithm 1 in jobs: others have rank 1's pretended processor, from the first interval on. Rows move at the end of the iteration after an interval.
def moved_at(result):
    return [int(i) for i in re.findall(r'^moved at (\d+)$', result.out, re.MULTILINE)]


@repeated   # whether a move pays
def loaded(right, mode, *keys, options=(), iterations=30, told=''):
    result = job('flex_rows', mode, 400, iterations, *keys, ranks=2, speeds='1e5', options=(*EVERY_5, *options))
    likely(result, f'moved at {moved_at(result)}', right(moved_at(result)) and told in result.err)


def first_at(*iterations):
    return lambda moved: moved[:1] in [[i] for i in iterations]


def never(moved):
    return not moved


for k in 1, 3, 5:  # lines 7 and 8: k intervals in a row
    loaded(first_at(5 * k), 'load', options=('-workshare-rows-patience', str(k)))
loaded(first_at(10), 'load', 'ws_flex_k', '2')
# lines 1 to 5 and 9: below TH1 the processor is the process's own, and the imbalance the rows'
loaded(first_at(5), 'load', options=('-workshare-rows-cpu-loss', '99'))
loaded(first_at(5), 'load', 'ws_flex_th1', '99')
# line 12
for options, keys in ((('-workshare-rows-imbalance', '100'), ()), ((), ('ws_flex_th2', '100'))):
    loaded(never, 'load', *keys, options=('-workshare-rows-patience', '1', *options))
# a burst of two intervals: nothing moves, and it is said why; with k = 1 it does, after one of the two
loaded(never, 'burst', told='because of bursts of foreign load')
loaded(first_at(5, 10), 'burst', 'ws_flex_k', '1')
# the interval by info, and the end of the program: a move in its last iteration would not pay
loaded(first_at(3), 'load', 'ws_flex_k', '1', 'ws_flex_interval', '3')
loaded(never, 'load', 'ws_flex_k', '1', 'ws_flex_iterations', '6', iterations=6, told='because it would not have paid')
# auto: the first interval has 5 iterations, later ones as few as last as long as it takes to see others' loads
loaded(bool, 'load', 'ws_flex_k', 'auto', 'ws_flex_interval', 'auto', iterations=200)


# ---- a move that gained nothing: the next one would pay if it kept its promise, and is not made. Each takes 0.4 s; the first is to gain 17 ms an iteration, the
# second 20 ms, and some 20 iterations are left then.
@repeated
def gains_nothing():
    result = job('flex_rows', 'constant', 400, 26, 'ws_flex_iterations', '26', 'ws_flex_interval', '1', ranks=2, options=('-workshare-rows-cpu-loss', '100'))
    likely(result, f'moves {counts(result)[1]}, gained {gained(result)} %, or it is not said why rows stay', counts(result)[1] == [1, 1] and
           gained(result) is not None and gained(result) < 50 and 'because earlier moves had gained less than expected' in result.err)


gains_nothing()

# ---- waiting in MPI is no time of the process: equal numbers would come out with it, and nothing would move
rows_are(lambda rows: len(rows) == 3 and 15 < rows[0] < 50 and abs(rows[1] - rows[2]) < 40, 'flex_rows', 'waits', 200, 12, ranks=3,
         options=INTERVAL)

# ---- counters of the processor: PAPI, or why not
result = job('flex_rows', 'all', 1000, 12, ranks=2)
expect(result, 'the verdict does not say what work is measured by', re.search(r'by (registered rows|instructions|floating-point operations)', result.err))
counters = os.path.join(PROGRAMS, 'fake_papi.so')
if not os.path.exists(counters):
    skip('no counters: built without PAPI')
    finish()
counters = loadable(counters)
for counts_what, wanted in ('flop', 'floating-point operations'), ('instructions', 'instructions'), ('nothing', 'registered rows'):
    result = run('flex_rows', 'all', '1000', '30', options=INTERVAL, env={'LD_PRELOAD': counters, 'FAKE_PAPI': counts_what}, ranks=2)
    expect(result, f'not by {wanted}', f'by {wanted}' in result.err)
# Processors that count differently are made equal: rank 1's counts ten times what it does, and its rows take twice the computing. Rank 0 gets half of
# that, with 500 rows; by the counts as they are it would get 418. What others take of a processor counts, too.
@repeated
def made_equal():
    result = run('flex_rows', 'costly', '800', '300', options=('-workshare-rows-interval', '15', '-workshare-rows-cpu-loss', '100'),
                 env={'LD_PRELOAD': counters, 'FAKE_PAPI': 'flop', 'FAKE_PAPI_TIMES': '10'}, ranks=2)
    rows = counts(result)[0]
    likely(result, f'rows {rows}', len(rows) == 2 and 455 < rows[0] < 545)


made_equal()
result = run('flex_rows', 'all', '1000', '30', options=INTERVAL, env={'LD_PRELOAD': counters, 'FAKE_PAPI': 'refused'}, ranks=2)
expect(result, 'what the kernel refuses is not told', 'by registered rows (PAPI: /proc/sys/kernel/perf_event_paranoid forbids it)' in result.err)
finish()
