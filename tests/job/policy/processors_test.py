# SPDX-License-Identifier: MIT
"""processors_test.py MPIRUN PROGRAMS: mpirun -workshare-openmp on MPI+OpenMP programs that know nothing of it. With WS_CORES the machine's cores
are pretended, and threads sleep for their work."""
import json
import os
import re
import shutil
import sys
import tempfile

from job import CORES, expect, finish, likely, repeated, run, side_by_side, skip

COMPILERS = sys.argv[3:]  # besides GCC: suffixes of the program's name
NODE = {'WS_CORES': '16', 'OMP_NUM_THREADS': '8', 'OMP_WAIT_POLICY': 'passive'}  # else they would spin on the few real cores


def told(result):
    """{rank: {what: number}} of the program's lines, and the time of a turn."""
    ranks = {}
    for line in result.out.splitlines():
        if line.startswith('rank '):
            words = line.split()
            ranks[int(words[1])] = {words[i]: int(words[i + 1]) for i in range(2, len(words), 2)}
    turn = re.search(r'^turn ([\d.]+)$', result.out, re.MULTILINE)
    return ranks, float(turn[1]) if turn else 0


def all_turns(result):
    return float(re.search(r'^all turns ([\d.]+)$', result.out, re.MULTILINE)[1])


def deal(result):
    """The processors of each rank at the end, by the verdict."""
    found = re.search(r'^workshare: cores ([\d+]+)(?: -> ([\d+]+))?', result.err, re.MULTILINE)
    return [int(n) for n in (found[2] or found[1]).split('+')] if found else None


def job(mode, *args, program='processors', options=(), env=NODE, **how):
    return run(program, *map(str, args), options=('-workshare-openmp', mode or 'off', *options), env=env, **how)


def reported(program, *args, **how):
    """A job, with the sums of its report."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'report.json')
        result = run(program, *args, **{**how, 'options': (*how['options'], f'-workshare-report={path}')})
        with open(path) as f:
            result.totals = json.load(f)['totals']
    return result


# ---- sleeping work, 2 ranks x 8 threads on 16 pretended cores: 160 to 40
@repeated
def balances(program):
    plain = job(None, 'sleep', 40, 2, 160000, 40000, program=program)
    ranks, plain_turn = told(plain)
    expect(plain, 'without the option threads change', all((r['told'], r['least'], r['most']) == (8, 8, 8) for r in ranks.values()))
    result = job('balance', 'sleep', 60, 2, 160000, 40000, program=program)
    ranks, turn = told(result)
    expect(result, 'omp_get_max_threads tells the most from the start',
           all((r['told'], r['before'], r['procs']) == (16, 16, 16) for r in ranks.values()))
    expect(result, 'thread numbers below that', all(r['highest'] < 16 for r in ranks.values()))
    likely(result, 'a region after the change has as many threads as its rank has cores',
           all(abs(ranks[r]['last'] - deal(result)[r]) <= 1 for r in (0, 1)))  # the last change may come after the last region
    likely(result, f'12 or 13 of 16 cores for rank 0, and turns that are shorter: {turn} of {plain_turn}',
           deal(result) in ([12, 4], [13, 3]) and turn < 0.8 * plain_turn)


# Rank 1 waits while rank 0 is in its 3rd of 8 regions.
@repeated
def lends(program):
    _, alone = told(job(None, 'sleep', 15, 8, 320000, 80000, program=program))
    result = job('lend', 'sleep', 30, 8, 320000, 80000, program=program)
    ranks, turn = told(result)
    likely(result, f'regions have the cores of a rank that waits, and turns are shorter: {turn} of {alone}', ranks[0]['most'] == 16 and turn < 0.85 * alone)
    likely(result, 'a region that opens while nobody waits has its own', ranks[0]['least'] == 8)
    expect(result, 'the verdict tells of lent cores', re.search(r'[1-9]\d* parallel regions had lent cores, for [\d.]+ core seconds ', result.err))


@repeated
def leaves_equals(program):
    result = job('balance', 'sleep', 30, 2, 60000, 60000, program=program)
    likely(result, 'no change where ranks are equal', deal(result) in ([8, 8], [9, 7], [7, 9]))


# What the program says itself is the most that it wants.
@repeated
def obeys(program):
    result = job('auto', 'sleep', 30, 4, 120000, 40000, 'set=4', program=program)
    ranks, _ = told(result)
    expect(result, 'more threads than omp_set_num_threads() says', all(r['told'] == 4 or r['most'] <= 4 for r in ranks.values()))
    expect(result, 'more threads than omp_set_num_threads() says', all(r['most'] <= 4 for r in ranks.values()))
    expect(result, 'no rank gets cores that it has no threads for', deal(result) == [8, 8])
    limited = re.search(r'(\d+) parallel regions could have had more cores, but the program asked for no more threads', result.err)
    likely(result, 'no word of the regions that asked for few threads', limited and int(limited[1]) > 100)


def obeys_clause(program):
    result = job('auto', 'sleep', 30, 4, 120000, 40000, 'clause=6', program=program)
    ranks, _ = told(result)
    expect(result, 'more threads than the clause says', all(r['most'] <= 6 for r in ranks.values()))


# Three jobs at a time: their threads sleep for their work, so the times of a job hardly depend on the other.
side_by_side(*(lambda check=check, program=program: check(program) for program in ['processors'] + ['processors_' + c for c in COMPILERS]
               for check in (balances, lends, leaves_equals, obeys, obeys_clause)), at_once=3)


# The rank with more work changes. A deal that has lost is taken back, and the summary claims no more than the whole job gained.
@repeated
def changing(deal_rule, mode, every, most, *light):
    work = (200000, *(light or (60000,)))
    ranks, env = len(work), {**NODE, 'WS_CORES': str(8 * len(work))}
    args = ('sleep', 60, 1, *work, f'every={every}')
    plain = all_turns(job(None, *args, ranks=ranks, env=env))
    result = job(mode, *args, options=('-workshare-openmp-deal', deal_rule), ranks=ranks, env=env)
    took = all_turns(result)
    claimed = re.search(r'the whole job was about ([\d.]+) times as fast', result.err)
    likely(result, f'{mode}, {deal_rule}: {took:.3f} s where none takes {plain:.3f} s', took < most * plain)
    likely(result, f'{mode}, {deal_rule}: {claimed} is claimed of {plain / took:.2f}', not claimed or float(claimed[1]) < 1.08 * plain / took)


# Without its fix the first took 1.4 to 1.5 times as long.
side_by_side(*(lambda how=how: changing(*how) for how in (
    ('whole', 'balance', 20, 1.1),
    ('paper', 'balance', 20, 1.1),
    *(('whole', 'balance', every, 1.07) for every in (5, 7, 10)),   # one turn is lost once, of 60; three were lost without its fix
    ('whole', 'balance', 20, 1.05, 5000),   # a turn under 15+1 cores, the best deal, would take as long as eight; all of one was lost at once
    ('whole', 'balance', 20, 1.05, 60000, 60000),
    ('whole', 'auto', 20, 1.05),
    ('whole', 'balance', 1000, 0.85))), at_once=3)   # the last one never changes


# One move at a time.
@repeated
def paper():
    result = job('balance', 'sleep', 120, 2, 80000, 20000, options=('-workshare-openmp-deal', 'paper'))
    likely(result, 'the paper\'s rule reaches 11 of 16 cores or more', (deal(result) or [0])[0] >= 11)


# 4 ranks, 16 cores, work 8 : 4 : 2 : 2.
@repeated
def four():
    result = job('balance', 'sleep', 60, 2, 160000, 80000, 40000, 40000, ranks=4, env={'WS_CORES': '16', 'OMP_NUM_THREADS': '4'})
    likely(result, f'about 8+4+2+2: {deal(result)}', deal(result) in ([8, 4, 2, 2], [7, 4, 3, 2], [7, 4, 2, 3], [8, 3, 3, 2], [8, 3, 2, 3], [7, 5, 2, 2]))


# A program without an outer loop that can be seen: half a second at a time is measured instead, and that is told. By chance calls
# may look like turns in the end.
@repeated(chances=4)
def irregular():
    result = job('balance', 'sleep', 500, 2, 80000, 20000, 'irregular=1')
    likely(result, 'without turns cores move by what half seconds measure, and that is told',
           (deal(result) or [0])[0] >= 11 and 'no iterations of an outer loop were found' in result.err)


@repeated
def regular():
    result = job('balance', 'sleep', 60, 2, 80000, 20000)
    likely(result, 'a word of turns where they are found', 'no iterations of' not in result.err)


# Ranks of other nodes are none of ours: two cliques of two.
@repeated
def two_nodes():
    result = job('balance', 'sleep', 60, 2, 160000, 40000, 40000, 160000, ranks=4, env={**NODE, 'MPIR_CVAR_NUM_CLIQUES': '2'})
    ranks, _ = told(result)
    likely(result, 'each node deals for itself', len(deal(result)) == 2 and 15 <= ranks[0]['last'] + ranks[1]['last'] <= 17)
    likely(result, 'the verdict tells of both nodes', re.search(r'\(on node [01]\); 2 of 2 nodes have another assignment', result.err))


# Only the ranks of the second node have regions to which cores are lent: the verdict's figures are all nodes'.
@repeated
def lent_on_second_node():
    result = reported('processors', 'sleep', '20', '2', '1000', '1000', '40000', '160000', ranks=4, options=('-workshare-openmp', 'lend'),
                      env={**NODE, 'MPIR_CVAR_NUM_CLIQUES': '2'})
    found = re.search(r'(\d+) parallel regions had lent cores', result.err)
    expect(result, "the verdict's count is not the report's, of all ranks", not found or int(found[1]) == result.totals['openmp_lent'])
    likely(result, 'cores are lent', found and int(found[1]) > 0)


# An owner that goes on in the middle of a region with its cores has its own region at once; the other's goes on beside it until its end, for 60 ms
# in each of 10 turns, on 2 cores; and that is told.
@repeated
def comes_back():
    result = reported('comes_back', '10', ranks=3, options=('-workshare-openmp', 'lend'), env={'WS_CORES': '6', 'OMP_NUM_THREADS': '2'})
    times = re.search(r'for ([\d.]+) core seconds \(([\d.]+) beside their owners\)', result.err)
    longest, late, used = float(re.search(r'longest ([\d.]+)', result.out)[1]), float(times[2]), float(times[1])
    recalled, left = result.totals['openmp_recalled'], result.totals['openmp_left']
    likely(result, 'an owner that comes back goes on at once, beside the threads on its cores',
           'lent 4' in result.out and longest < 0.04 and 0.3 < late < 1.6 and late < used and recalled == left == 20)


# Threads that have done their part leave a core whose owner was recalled from its wait: it is shared from the message to then, for 30 ms a core in
# each turn, and not until the region is over, for 120.
@repeated
def leaves(program):
    result = reported(program, '3', ranks=3, options=('-workshare-openmp', 'lend'), env={'WS_CORES': '6', 'OMP_NUM_THREADS': '2'})
    late = re.search(r'\(([\d.]+) beside their owners\)', result.err)
    counts = [result.totals[name] for name in ('openmp_recalled', 'openmp_left')]
    likely(result, f'threads that have done their part leave cores that were recalled: {counts}',
           'threads 4' in result.out and counts == [6, 6] and late and 0.1 < float(late[1]) < 0.4)
    expect(result, 'the verdict tells of recalled cores', '6 were recalled before the end, and 6 of them were left then' in result.err)


# The other threads of a region in which a rank waits are on its cores.
@repeated
def waits_inside():
    result = run('waits_inside', '5', ranks=2, options=('-workshare-openmp', 'lend'), env={'WS_CORES': '4', 'OMP_NUM_THREADS': '2'})
    inside, outside = map(int, re.search(r'threads (\d+) (\d+)', result.out).groups())
    expect(result, f'cores that a region of the waiting rank has are not lent: {inside}', inside == 2)
    likely(result, f'they are lent where it waits outside of regions: {outside}', outside == 4)


side_by_side(paper, four, irregular, regular, two_nodes, lent_on_second_node, at_once=3)
# These compute.
comes_back()
waits_inside()
for program in ['leaves'] + ['leaves_' + c for c in COMPILERS]:
    leaves(program)

# ---- what tells of it
@repeated
def is_told():
    with tempfile.TemporaryDirectory() as folder:
        report, trace = os.path.join(folder, 'report.json'), os.path.join(folder, 'trace.json')
        result = job('auto', 'sleep', 40, 2, 160000, 40000, options=(f'-workshare-report={report}', f'-workshare-trace={trace}', '-workshare-report'))
        with open(report) as f:
            told_by = json.load(f)
        expect(result, f'the report has all cores: {told_by["totals"]["openmp_cores"]}', told_by['totals']['openmp_cores'] == 16)
        over_time = [rank['openmp_cores_over_time'] for rank in told_by['by_rank']]
        likely(result, f'no core has moved: {over_time}', all(len(t) > 1 for t in over_time))
        expect(result, f'the report has them over time: {over_time}',
               all(t[0] == {'deal': 0, 'at_s': 0, 'periods': 0, 'cores': 8} for t in over_time) and
               all(a['at_s'] < b['at_s'] < told_by['elapsed_s'] and a['deal'] < b['deal'] and a['periods'] <= b['periods'] for t in over_time for a, b in zip(t, t[1:])) and
               [t[-1]['cores'] for t in over_time] == [rank['totals']['openmp_cores'] for rank in told_by['by_rank']])
        expect(result, 'the report as text has them', re.search(r'CORES OF PARALLEL REGIONS\n  of the ranks, at the end: \d+, \d+\n'
                                                                r'  after \d+ periods, [\d.]+ m?s: 8\+8 -> \d+\+\d+\n', result.err))
        with open(trace) as f:
            events = json.load(f)['traceEvents']
        regions = [e for e in events if e.get('cat') == 'parallel']
        expect(result, f'each region of the ranks is in the trace: {len(regions)}', len(regions) >= 2 * 2 * 40)
        tracks = {e['name'] for e in events if e['ph'] == 'C'}
        expect(result, f'a track of cores for each rank: {tracks}', tracks == {'cores of rank 0', 'cores of rank 1'})


is_told()


# ---- the real cores: one each, one thread each
@repeated
def real(program):
    bound = {'options': ('-bind-to', 'core'), 'env': {'OMP_NUM_THREADS': '1'}}
    plain = job(None, 'compute', 20, 32, 58000, 1000, program=program, **bound)
    lent = job('lend', 'compute', 20, 32, 58000, 1000, program=program, **bound)
    likely(lent, 'a rank computes on the core of one that waits', told(lent)[1] < 0.8 * told(plain)[1])


if CORES >= 2:
    for program in ['processors'] + ['processors_' + c for c in COMPILERS]:
        real(program)
    result = job('balance', 'compute', 30, 2, 8000, 4000, options=('-bind-to', 'core'), env={'OMP_NUM_THREADS': '1', 'OMP_PROC_BIND': 'true'})
    expect(result, 'each keeps the core that it needs', deal(result) == [1, 1])
else:
    skip('needs two cores')

# ---- C++ and Fortran, with either library
@repeated
def in_language(program, mode):
    result = job(mode, program=program, env={**NODE, 'WS_CHAOS': '1'} if mode == 'auto' else NODE)
    ranks, _ = told(result)
    expect(result, f'{program}, {mode}: most is told from the start', all(r['told'] == 16 for r in ranks.values()))
    lent = ranks[0]['most'] == 16 or re.search(r'[1-9]\d* parallel regions had lent', result.err)
    likely(result, f'{program}, {mode}: cores {"are lent" if mode == "lend" else "move"}', lent if mode == 'lend' else (deal(result) or [0])[0] >= 11)


@repeated
def deep(program):
    result = job('auto', 'deep', program=program, env={**NODE, 'OMP_STACKSIZE': '12M'})
    likely(result, 'threads have the stacks that the user asks for', max(r['most'] for r in told(result)[0].values()) > 8)


# With random delays: every iteration is counted.
@repeated
def delayed(chaos):
    result = job('auto', 'sleep', 30, 4, 80000, 20000, env={**NODE, 'WS_CHAOS': str(chaos)})
    likely(result, f'cores are lent under WS_CHAOS={chaos}', re.search(r'[1-9]\d* parallel regions had lent cores', result.err))


# Regions are passed on as they are.
def passed_on(program):
    for mode in None, 'lend', 'auto':
        job(mode, program=program, env={'WS_CORES': '8', 'OMP_NUM_THREADS': '4'})
    run(program, workshare=False, env={'OMP_NUM_THREADS': '4'})


def of_each(call, name, *args):
    return [lambda program=program: call(program, *args) for program in [name] + [f'{name}_{c}' for c in COMPILERS]]


side_by_side(*(call for name in ('processors_cpp', 'processors_f') for mode in ('balance', 'lend', 'auto') for call in of_each(in_language, name, mode)),
             *of_each(deep, 'processors_cpp'), *of_each(passed_on, 'many_variables'), *(lambda seed=seed: delayed(seed) for seed in range(1, 4)), at_once=3)

# ---- what cannot be
result = run('waiter', options=('-workshare-openmp', 'auto'))
expect(result, 'no word of a program without OpenMP', 'has no effect in rank 0' in result.err and 'no OpenMP library' in result.err)
result = job('balance', 'sleep', 5, 2, 1000, 1000, ranks=4, env={'WS_CORES': '3', 'OMP_NUM_THREADS': '2'})
expect(result, 'no word of fewer cores than ranks', 'fewer cores than ranks' in result.err)
expect(result, 'then regions are as without', all((r['told'], r['least'], r['most']) == (2, 2, 2) for r in told(result)[0].values()))
for options, wanted in ((('-workshare-openmp', 'lent'), "'lent' is not one of off, share, lend, balance, auto"),
                        (('-workshare-openmp-deal', 'paper'), 'requires -workshare-openmp'),
                        (('-workshare-openmp', 'auto', '-workshare-openmp-deal', 'whol'), "'whol' is not whole or paper")):
    result = run('processors', 'sleep', '1', '1', '1', options=options, code=1)
    expect(result, f'{wanted!r} is not said', wanted in result.err)

# Not mpirun's to refuse: the processes are given it.
result = run('processors', 'sleep', '5', '2', '1000', '1000', options=('-genv', 'WS_OPENMP', 'lent'), env=NODE)
said = [line for line in result.err.splitlines() if 'WS_OPENMP' in line]
expect(result, f'one line names the mode that there is not: {said}', len(said) == 1 and 'WS_OPENMP=lent is none of off, share, lend, balance, auto' in said[0] and '; ignoring it' in said[0])
expect(result, 'with it regions are as without', all((r['told'], r['before'], r['least'], r['most']) == (8, 8, 8, 8) for r in told(result)[0].values()))

result = job('auto', 'sleep', 5, 2, 1000, 1000, program='processors_static')
expect(result, 'no word of an OpenMP library that is linked statically', 'linked statically' in result.err)

# The program's MPI library is of another installation, or none of Workshare's: mpirun loads this one's libws all the same.
own = os.path.realpath(os.path.join(os.path.dirname(sys.argv[1]), '../lib'))
plain_mpi = '/usr/lib/x86_64-linux-gnu/libmpich.so.12'
if ' ' in own:
    skip('in a folder with a blank mpirun puts its own libraries in front')
else:
    with tempfile.TemporaryDirectory() as folder:
        for name, source in ('libmpich.so.12', 'libmpich.so.12'), ('libws.so.1', 'libws.so.1'):
            shutil.copy(os.path.join(own, source), os.path.join(folder, name))
        result = job('auto', 'sleep', 5, 2, 1000, 1000, env={**NODE, 'LD_LIBRARY_PATH': folder})
        said = [line for line in result.err.splitlines() if 'has no effect' in line]
        expect(result, f'one line names the other installation: {said}', len(said) == 1 and 'in rank 0' in said[0] and own in said[0] and 'of another installation' in said[0])
        expect(result, 'with it regions are as without', all((r['told'], r['before'], r['least'], r['most']) == (8, 8, 8, 8) for r in told(result)[0].values()))
if ' ' not in own and os.path.exists(plain_mpi):
    result = job('auto', 'sleep', 5, 2, 1000, 1000, env={**NODE, 'LD_LIBRARY_PATH': os.path.dirname(plain_mpi)})
    said = [line for line in result.err.splitlines() if 'has no effect' in line]
    expect(result, f'one line names the plain MPICH: {said}', len(said) == 1 and f"not Workshare's but {plain_mpi}" in said[0])
    expect(result, 'with it regions are as without', all((r['told'], r['before'], r['least'], r['most']) == (8, 8, 8, 8) for r in told(result)[0].values()))
elif ' ' not in own:
    skip('no plain MPICH to run with')

# Differing between ranks: an error, or as one rank's alone, and never a hang.
half = os.path.join(sys.argv[2], 'processors'), 'sleep', '5', '2', '1000'
result = run(*half, ':', '-n', '1', '-env', 'WS_OPENMP', 'auto', *half, ranks=1, code=1, limit=30)
expect(result, 'no word of WS_OPENMP that differs', 'WS_OPENMP differs between the ranks' in result.err)
run(*half, ':', '-n', '1', '-env', 'WS_WORKERS', '1', *half, ranks=1, options=('-workshare-openmp', 'auto'), limit=30)

# ---- a rank dies while its cores are away
result = job('auto', 'sleep', 200, 16, 160000, 20000, 'die=20', code='error', limit=30)
finish()
