# SPDX-License-Identifier: MIT
"""Named phases of whole jobs: what the report says of them against the program's own clock, errors, ws_enable, -workshare-only-phase, ws_metrics."""
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'unit/observe'))
import check_report  # noqa: E402
from job import PROGRAMS, expect, finish, likely, repeated, run  # noqa: E402

folder = tempfile.TemporaryDirectory(prefix='ws-phases-')
FILE = os.path.join(folder.name, 'out.json')


@repeated
def job(shape, *arguments, program='phases', ranks=2, options=(), checked=True, **more):
    """Runs `phases` with a report; `by_path` has its phases by their paths. Checking a report with many phases would take minutes."""
    result = run(program, shape, *arguments, ranks=ranks, env={'WS_CORES': str(ranks)}, options=(f'-workshare-report={FILE}', *options), **more)
    result.report, result.by_path = None, {}
    if not expect(result, 'there is no report', os.path.exists(FILE)):
        return result
    with open(FILE) as f:
        result.report = json.load(f)
    os.unlink(FILE)
    wrong = check_report.problems(result.report) if checked else []
    likely(result, 'the report is wrong: ' + '; '.join(wrong[:5]), not wrong)
    result.by_path = {'/'.join(p['path']): p for p in result.report['by_phase']}
    result.own = {}     # by path: of each rank (own, whole, entered)
    for r, path, own, whole, entered in re.findall(r'rank (\d+) phase (\S.*) own (\S+) whole (\S+) entered (\d+)', result.out):
        result.own.setdefault(path, {})[int(r)] = float(own), float(whole), int(entered)
    return result


def near(a, b, share=0.02, slack=1e-3):
    return abs(a - b) <= share * max(a, b) + slack


def by_rank(result, path):
    """What each rank did in a phase."""
    return {rank['rank']: p for rank in result.report['by_rank'] for p in rank.get('phases', []) if '/'.join(p['phase']) == path}


def as_counted(result):
    """Elapsed times are those of the longest rank; the sum of all phases' own times is the run's."""
    if expect(result, f'phases {sorted(result.by_path)}', set(result.by_path) == set(result.own) | {''}):
        for path, ranks in result.own.items():
            p = result.by_path[path]
            expect(result, f'{path}: entered {p["entered"]}', p['entered'] == max(entered for _, _, entered in ranks.values()) == p['whole']['entered'])
            own, whole = max(own for own, _, _ in ranks.values()), max(whole for _, whole, _ in ranks.values())
            likely(result, f'{path} took {own}, without those inside: {p["wall_s"]}', near(p['wall_s'], own))
            likely(result, f'{path} took {whole}: {p["whole"]["wall_s"]}', near(p['whole']['wall_s'], whole))
            parts = by_rank(result, path)
            if expect(result, f'{path}: ranks {sorted(parts)}', set(parts) == set(ranks)):
                for rank, (own, _, entered) in ranks.items():
                    expect(result, f'{path}: rank {rank} entered {parts[rank].get("entered")}', parts[rank].get('entered') == entered)
                    likely(result, f'{path}: rank {rank} took {own}: {parts[rank].get("wall_s")}', near(parts[rank].get('wall_s', 0), own))
    run_ = result.by_path['']['whole']
    likely(result, f'the run took {result.report["elapsed_s"]}: {run_["wall_s"]}', near(run_['wall_s'], result.report['elapsed_s'], 1e-3, 1e-3))


@repeated
def nested(**more):
    result = job('nested', **more)
    as_counted(result)
    step, solve, sync = (result.by_path.get(path) for path in ('step', 'step/solve', 'sync'))
    if expect(result, 'phases are missing', step and solve and sync and step['level'] is None and result.by_path['']['level'] == 1):
        likely(result, f'solve on two ranks, 100 and 50 ms: balance {solve["efficiency"]}', 0.7 < solve['efficiency']['load_balance'] < 0.8)
        likely(result, f'rank 1 waited in sync: {sync}', near(sync['blocked_s'], 50e-3, 0.2, 10e-3) and sync['mpi_s'] >= sync['blocked_s'])
        expect(result, f'waiting in step: {step["whole"]["mpi_s"]}', step['whole']['mpi_s'] < 1e-3)
        likely(result, f'cores: {solve["cores_used"]}', near(solve['cores_used'], 1.5, 0.05))
        early = by_rank(result, 'sync').get(1, {})
        likely(result, f'only rank 1 waited in sync: {early}', near(early.get('blocked_s', 0), sync['blocked_s'], 0.05) and
               near(sum(reason['time_s'] for reason in early.get('refused', {}).values()), early.get('blocked_s', 0), 0.1, 2e-3))
        both = by_rank(result, 'step/solve')
        likely(result, f'100 and 50 ms of 100: {both}', near(both[0]['parallel_efficiency'], 1, 0.05) and near(both[1]['load_balance'], 0.5, 0.05))
        lost = sum(reason['time_s'] for reason in sync['refused'].values())
        expect(result, f'reasons of {sync["blocked_s"]} s: {lost}', lost <= sync['blocked_s'] - sync['lent_s'] + 1e-3)


@repeated
def different():
    result = job('different', ranks=3)
    as_counted(result)
    all_ = result.by_path.get('all')
    likely(result, f'all of it took 35 ms on rank 2: {all_}', all_ and near(all_['whole']['wall_s'], 35e-3, 0.1))


def names():
    result = job('names', 10000, options=('-workshare-report',), checked=False)
    expect(result, f'{len(result.by_path)} phases', len(result.by_path) == 10003)
    expect(result, 'entered', all(p['entered'] == 2 for path, p in result.by_path.items() if path.startswith('name ') or path == 'two literals'))
    expect(result, 'long names', result.by_path.get('x' * 111, {}).get('entered') == 3)
    table = result.err[result.err.index('\nPHASES '):]
    table = table[:table.index('\n\n', 2)]
    expect(result, f'a table of {len(table.splitlines())} lines', len(table.splitlines()) < 30 and 'phases that took less' in table)
    many = job('names', 20000, checked=False)
    expect(many, f'{len(many.by_path)} phases', len(many.by_path) == 16384)
    for job_ in result, many:
        rows = [len(rank['phases']) for rank in job_.report['by_rank']]
        expect(job_, f'rows of ranks: {rows}', rows == 2 * [len(job_.by_path)] and 'rank_phases_omitted' not in job_.report)
    wide = job('names', 10000, ranks=4, checked=False)     # more rows than a report has
    rows = [len(rank['phases']) for rank in wide.report['by_rank']]
    expect(wide, f'rows of ranks: {rows}', rows == 4 * [32768 // 4] and wide.report['rank_phases_omitted'] == 10003 - 32768 // 4)
    expect(wide, 'the run is not left out', by_rank(wide, '').keys() == {0, 1, 2, 3})
    rest = many.by_path.get('(other phases)', {})
    expect(many, f'those without a row: {rest.get("entered")}', rest.get('entered') == 2 * (20000 - 16382) + 5)


@repeated
def levels():
    result = job('levels', ranks=1)
    paths = {path: (p['level'], p['entered']) for path, p in result.by_path.items()}
    expect(result, f'phases {paths}', paths == {'': (1, 1), 'phase 2': (2, 1), 'phase 2/in level 2': (None, 1), 'phase 2/in level 2/phase 3': (3, 1),
                                                'solve': (None, 1), 'solve/phase 4': (4, 1)})
    if 'phase 2' in result.by_path and 'solve' in result.by_path:
        likely(result, 'times', all(near(result.by_path[path]['wall_s'], 5e-3, 0.2) for path in ('phase 2', 'solve', 'solve/phase 4')))


def warnings_of(result):
    return [line for line in result.messages() if line.startswith('workshare: warning: ')]


def says(shape, *expected, ranks=2, **more):
    result = run('phases', shape, ranks=ranks, env={'WS_CORES': str(ranks)}, **more)
    expect(result, f'warnings {warnings_of(result)}', warnings_of(result) == list(expected))


def deep():
    result = job('deep', 70, ranks=1)
    depths = [len(p['path']) for p in result.report['by_phase']]
    expect(result, f'depths {depths}', depths == list(range(64)))
    expect(result, f'warnings {warnings_of(result)}', not warnings_of(result))


@repeated
def loops(what, *arguments, options=()):
    """Only loops in "share" are shared, when that is asked for. Loops are told their phases."""
    result = job('loops', *arguments, options=options)
    share, alone = result.by_path.get('share'), result.by_path.get('alone')
    if not expect(result, 'phases are missing', share and alone):
        return
    phases = {l['loop']: l.get('phase', '?') for l in result.report['by_loop']}
    expect(result, f'phases of loops: {phases}', phases == {'in share': ['share'], 'in alone': ['alone'], 'in both': None})
    expect(result, f'executions {share["executions"]} {alone["executions"]}', share['executions'] == alone['executions'] == 20)
    likely(result, f'loops took {share["loops_s"]}', share['loops_s'] > 50e-3)
    likely(result, 'nothing was shared', share['iterations_stolen'] > 0 and share['borrowed_s'] > 0)
    likely(result, f'lent {share["lent_s"]}', share['lent_s'] > 0)
    if what == 'all':
        likely(result, 'nothing was shared in alone', alone['executions_helped'] > 0)
    else:
        expect(result, f'shared in alone: {alone["executions_shared"]} {alone["iterations_stolen"]} {alone["lent_s"]}',
               alone['executions_shared'] == alone['iterations_stolen'] == 0)
        likely(result, f'lent in alone: {alone["lent_s"]}', alone['lent_s'] < 1e-3)
    return result


@repeated
def metrics():
    result = run('phases', 'metrics', env={'WS_CORES': '2'}, ranks=2)
    rows = re.findall(r'rank (\d) took (\S+) waited (\S+) elapsed (\S+) computing (\S+) mpi (\S+) blocked (\S+) balance (\S+) parallel (\S+) transfer (\S+)', result.out)
    expect(result, 'metrics are missing', result.out.count(' transfer ') == 2)
    likely(result, 'lines are mixed', len(rows) == 2)   # mpirun of MPICH 5.0 may print a rank's line within another's
    for row in rows:
        rank, took, waited, elapsed, computing, mpi, blocked, balance, parallel, transfer = map(float, row)
        likely(result, f'rank {rank}: elapsed', elapsed >= took and elapsed < took + 60e-3)
        likely(result, f'rank {rank}: waited {waited}, {blocked} {mpi}', near(waited, blocked, 0.1, 10e-3) and mpi == blocked)
        # Rank 0 comes last, out of a sleep: the kernel may wake rank 1 on its CPU.
        likely(result, f'rank {rank}: waited {waited}', rank == 1 or waited < 5e-3)
        likely(result, f'rank {rank}: computed', near(computing, elapsed - mpi, 1e-3))
        likely(result, f'rank {rank}: 200 and 50 ms of work: balance {balance}', 0.5 < balance < 0.8)
        likely(result, f'rank {rank}: {parallel} of both cores', 0.5 < parallel < 0.8)
        likely(result, f'rank {rank}: transfer {transfer}', near(transfer, 1 - mpi / elapsed, 1e-3))


COUNTED = '\nCOUNTERS IN PHASES ', 'no instructions per cycle'


@repeated
def counted():
    """Instructions and cycles are of the phase in which they were counted; the program plays the counters."""
    result = job('counted', program='phases_counted', options=('-workshare-report',))
    dense, sparse, inside, short = (result.by_path.get(path) for path in ('dense', 'sparse', 'sparse/phase 2', 'short'))
    if not expect(result, 'phases are missing', dense and sparse and inside and short):
        return
    for name, phase, per_cycle in ('dense', dense, 2), ('sparse', sparse, 0.25), ('phase 2 in sparse', inside, 0.25):
        got = phase.get('instructions_per_cycle', 0)
        expect(result, f'{name}: {got} instructions per cycle', near(got, per_cycle, 0.01, 0))
        expect(result, f'{name}: frequency {phase.get("frequency_hz")}', 0 < phase.get('frequency_hz', 0) < 1.55e9)
        likely(result, f'{name}: counted in {phase["counted_s"]} of {phase["computing_s"]}', 0.9 < phase['counted_s'] / phase['computing_s'] <= 1.001)
    for name, per_cycle in ('dense', 2), ('sparse', 0.25):
        for rank, part in by_rank(result, name).items():
            got = part.get('instructions_per_cycle', 0)
            expect(result, f'{name} of rank {rank}: {part}', near(got, per_cycle, 0.01, 0) and 0 < part.get('frequency_hz', 0) < 1.55e9 and part['cycles'] > 0)
        expect(result, f'{name} by ranks', sorted(by_rank(result, name)) == [0, 1])
    # A phase of some tens of nanoseconds is left out, unless the thread had no CPU in one of thousands.
    likely(result, f'short: {short["counted_s"]}', short['counted_s'] == 0 and 'instructions_per_cycle' not in short)
    sums = [sum(p[field] for p in result.report['by_phase']) for field in ('counted_s', 'instructions', 'cycles')]
    total = [result.report['totals'][field] for field in ('counted_s', 'instructions', 'cycles')]
    expect(result, f'phases add up to {sums}, and ranks to {total}', all(near(a, b, 1e-9, 1e-9) for a, b in zip(sums, total)))
    expect(result, f'nothing is refused: {result.report["conditions"]["counters_refused"]}', result.report['conditions']['counters_refused'] is None)
    table = result.err[result.err.index(COUNTED[0]):] if expect(result, 'no table of counters', COUNTED[0] in result.err and COUNTED[1] not in result.err) else ''
    expect(result, 'the table of ranks in phases', re.search(r'^ +1 .* +0\.25 +\d\.\d\d +sparse$', result.err, re.MULTILINE))
    expect(result, 'the table of counters', re.search(r'^ +\S+ m?s +\S+ % +\S+ +2\.00 +\d\.\d\d +dense$', table, re.MULTILINE))


def refused():
    """Where the kernel refuses counters, the report says so once, and has no figures of them."""
    result = job('nested', options=('-workshare-report',))
    if result.report['conditions']['counters_refused'] is None:     # here it does not
        return
    expect(result, 'refused counters are said once', result.err.count(COUNTED[1]) == 1 and COUNTED[0] not in result.err)
    expect(result, 'figures of refused counters', not any('instructions_per_cycle' in p or p['cycles'] for p in result.report['by_phase']))


nested()
refused()
different()
names()
levels()
deep()
says('open', "workshare: warning: phase 'left ? open' is open at MPI_Finalize, inside 1 other; each ws_phase_begin needs a ws_phase_end (on rank 0, and on 1 other rank)")
says('ends', "workshare: warning: ws_phase_end was called once while no phase was open, after the end of phase 'the last' (on rank 1)")
says('threads', "workshare: warning: ignoring 2 calls of ws_phase_begin and ws_phase_end (phase 'of a thread') by threads that did not call MPI_Init (on rank 0)", ranks=1)
loops('all')
loops('enabled', 1)
loops('only', options=('-workshare-only-phase', 'share'))
only = ('-workshare-only-phase', 'sahre')
says('loops', "workshare: warning: phase 'sahre' of -workshare-only-phase never began, so nothing was shared; phases are 'share', 'alone'", options=only)
says('different', "workshare: warning: phase 'sahre' of -workshare-only-phase never began, so nothing was shared; phases are 'all', 'rank 0'", options=only)
metrics()
run('phases', 'metrics', workshare=False)
result = run('phases', 'nested', workshare=False)
expect(result, 'without -workshare something is said', not result.err)
if not os.path.exists(os.path.join(PROGRAMS, 'phases_caliper')):   # under another MPI
    finish()
counted()
result = run('phases_caliper', 'caliper', ranks=1)
expect(result, 'Caliper gets the regions', re.findall('caliper (.*)', result.out) == ['begin a', 'begin b', 'end b', 'end a'])
result = job('', program='phases_fortran', ranks=1)
expect(result, f'phases of Fortran: {sorted(result.by_path)}', {path: p['entered'] for path, p in result.by_path.items()} == {'': 1, 'solve': 3, 'solve/solve': 3})
run('phases_fortran', workshare=False)
finish()
