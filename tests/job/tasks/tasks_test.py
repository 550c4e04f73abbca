# SPDX-License-Identifier: MIT
"""tasks_test.py MPIRUN PROGRAMS PART: pools of tasks in jobs. oracle: each task exactly once, whoever moves them; soak: 10^8 of them, and the
longest and the largest; cases: what task.h promises, and its errors; threads:
that put tasks; delivered: large results that other ranks need; trouble: killed and stopped ranks; fine: tasks that take less than a microsecond."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from job import CORES, MPIRUN, expect, expect_lines, finish, likely, likely_lines, repeated, run, skip
import patience
from processes import wait_for_ranks

ALGORITHMS = 'central', 'neighbours', 'random', 'lifeline'


def job(*args, nodes=1, how=None, env=None, trace=None, workers=None, **rest):
    options = (('-bind-to', 'none', '-workshare-workers', str(workers)) if workers else ()) + (('-workshare-tasks', how) if how else ()) + (('-workshare-trace=' + trace,) if trace else ())
    return run(*args, options=options, env={**({'MPIR_CVAR_NUM_CLIQUES': str(nodes)} if nodes > 1 else {}), **(env or {})}, **rest)


def moved(result):
    found = re.search(r'right: put \d+ run \d+ out (\d+) in (\d+)', result.out)
    expect(result, f'no line that says right: {result.out}', found)
    return int(found[2]) if found else 0


@repeated
def moves(least, *args, **how):
    """Tasks move, more than that number; how many of them."""
    result = job('tasks_oracle', *args, **how)
    came = moved(result)
    likely(result, f'only {came} tasks move', came > least)
    if not how.get('env', {}).get('WS_CHAOS'):
        expect_lines(result, result.err, r'\d+ tasks ran, \d+ of them moved to another node')
    return result


def oracle():
    moved(job('tasks_oracle', 100000, ranks=1, workshare=False))
    moved(job('tasks_oracle', 20000, ranks=3, workshare=False))
    moved(job('tasks_oracle', 100000, ranks=1))
    result = job('tasks_oracle', 100000, ranks=2, how='none')
    expect(result, 'with none nothing moves', moved(result) == 0)
    result = job('tasks_oracle', 20000, 20, ranks=2, steals=True)  # one node: cores are lent, tasks stay
    expect(result, 'within a node nothing moves', moved(result) == 0)
    for how in ALGORITHMS:
        for ranks, nodes in ((2, 2), (6, 3)):
            moves(0, 10000, 20, ranks=ranks, nodes=nodes, how=how)
    result = moves(0, 10000, 20, 0, 1, ranks=4, nodes=2, env={'WS_REPORT': '1', 'WS_CHAOS': '3'})
    came = moved(result)
    table = [line.split() for line in result.err.partition('\nTASKS\n')[2].splitlines()[1:3]]
    number = lambda text: float(text.replace(',', '').replace('k', 'e3').replace('M', 'e6'))  # noqa: E731
    expect(result, f'the report has each node: {table}', len(table) == 2 and all(len(row) == 8 for row in table))
    expect(result, f'as many tasks as ran: {table}', abs(sum(number(row[1]) for row in table) - 80800) < 500)
    expect(result, f'as many as moved, {came}: {table}', came > 0 and all(abs(sum(number(row[k]) for row in table) - came) <= 0.01 * came + 1 for k in (2, 3)))
    # Each letter with tasks is an arrow in the timeline, from the rank that gives to the one that gets.
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, 'a.json')
        result = moves(0, 10000, 20, ranks=4, nodes=2, trace=trace)
        came = moved(result)
        with open(trace) as f:
            events = [e for e in json.load(f)['traceEvents'] if e.get('cat') == 'tasks']
        ends = {ph: sorted((e['id'], e['pid']) for e in events if e['ph'] == ph) for ph in 'sf'}
        expect(result, 'an arrow has one end only', ends['s'] and [i for i, _ in ends['s']] == [i for i, _ in ends['f']])
        expect(result, 'an arrow within a node', all(a != b for (_, a), (_, b) in zip(ends['s'], ends['f'])))
        arrived = sum(e['args']['tasks'] for e in events if e['ph'] == 'X' and e['args']['letter'] % 2)
        expect(result, f'{arrived} tasks of {came} in the timeline', arrived == came)
    # Under chaos tasks move at random, too: some of them often.
    for seed in range(1, 5):
        moves(100, 60000, ranks=6, nodes=3, env={'WS_CHAOS': str(seed)})
    moved(job('tasks_oracle', 10000, ranks=4, nodes=2, env={'WS_STEAL_ALL': '1'}))


def soak():
    for seed in ('0', '1'):
        moved(job('tasks_oracle', 50000000, ranks=4, nodes=2, env={'WS_CHAOS': seed}, limit=1700))
    # The longest and the largest: 10 s, and more bytes than an int can count.
    result = job('tasks_cases', 'idle', 10, ranks=3, nodes=2)
    expect_lines(result, result.out, '^right$')
    result = job('tasks_cases', 'large', 2100, 2, ranks=2, nodes=2, limit=300)
    expect_lines(result, result.out, '^right$', 'rank 1: in 2100 MB')


@repeated
def large(*args, out, right='', **how):
    result = job('tasks_cases', 'large', *args, ranks=2, nodes=2, **how)
    expect_lines(result, result.out, '^right$', right)
    likely_lines(result, result.out, out)


def cases():
    for ranks, nodes, workshare in ((1, 1, False), (4, 2, True), (3, 1, True)):
        for case in ('arguments', 'after_the_end', 'fails', 'overflow', 'lists', 'with_mpi', 'priorities', 'waits') + ('kinds_differ',) * (ranks > 1):
            result = job('tasks_cases', case, ranks=ranks, nodes=nodes, workshare=workshare)
            expect_lines(result, result.out, '^right$')
    for ranks, nodes, workshare in ((1, 1, False), (4, 2, True), (3, 3, True)):
        for program in 'tasks_pool', 'tasks_squares':
            result = job(program, *(['moves'] if workshare else []), ranks=ranks, nodes=nodes, workshare=workshare)
            expect_lines(result, result.out, '^right$')
    expect_lines(result, job('tasks_cases', 'new_kinds', ranks=1, workshare=False).out, '^right$')
    for too_many in 3, 300: # words of 8 bytes
        expect_lines(result, job('tasks_cases', 'lists', too_many, ranks=4, nodes=2).out, '^right$')
    # MPI_Finalize with a pool that is not freed, which is freed too late.
    for ranks, nodes, workshare in ((2, 1, False), (2, 1, True), (4, 2, True)):
        result = job('tasks_cases', 'late', ranks=ranks, nodes=nodes, workshare=workshare)
        expect_lines(result, result.out, '^right$')
        lines = [line for line in result.err.splitlines() if line not in result.summary()]
        wanted = ['workshare: error: a pool of tasks was freed after MPI_Finalize (ws_pool_free); free it, or destroy its ws::task_pool, earlier']
        if workshare:
            wanted.insert(0, f'workshare: warning: pools of tasks that were not freed, of all ranks: {ranks}; call ws_pool_free')
        expect(result, f'other lines than these: {wanted}', lines == wanted)
    large(4, out=r'rank 1: in [1-9]\d* MB')
    result = job('tasks_cases', 'unfreed', ranks=2, nodes=2)
    expect_lines(result, result.err, '^workshare: warning: pools of tasks that were not freed, of all ranks: 2; call ws_pool_free$')
    for nodes in 1, 2:
        result = job('tasks_former', ranks=2, nodes=nodes)
        expect_lines(result, result.out, '^right$')
    # A rank takes no more than it has room for; what does not move still runs.
    large(4, out=r'rank 0: .* no room [1-9]', right='rank 1: in 0 MB', env={'WS_TASKS_MEMORY': '3'})
    large(4, 30, out=r'rank 0: .* no room [1-9](.|\n)*rank 1: in [1-9]\d* MB|rank 1: in [1-9]\d* MB(.|\n)*rank 0: .* no room [1-9]', env={'WS_TASKS_MEMORY': '9'})
    # An exception that leaves a task of C has nobody who could catch it.
    result = job('tasks_pool', 'escapes', ranks=2, nodes=2, code='error')
    expect_lines(result, result.err, "terminate called after throwing an instance of 'std::runtime_error'", 'nobody catches this')
    result = job('tasks_cases', 'priorities', how='centre', code='error')
    expect_lines(result, result.err, "'centre' is not one of central, neighbours, random, lifeline, none")


def delivered():
    """Large results go once to each rank whose tasks need them, and are as without a pool."""
    for ranks, workshare in ((1, False), (1, True)):
        result = job('tasks_delivered', ranks=ranks, workshare=workshare)
        expect_lines(result, result.out, '^right: 0 bytes moved')
    for ranks, nodes in ((4, 2), (6, 3)):
        result = job('tasks_delivered', ranks=ranks, nodes=nodes)
        expect_lines(result, result.out, '^right: [1-9]')
    for ranks in 2, 4, 5:
        for seed in range(4):
            result = job('tasks_delivered', 'apart', ranks=ranks, nodes=ranks, env={'WS_CHAOS': str(seed)} if seed else None)
            expect_lines(result, result.out, '^right: [1-9]')


def threads():
    """What threads put while the pool runs is run once, also where it moves while the run ends."""
    for ranks, nodes, how in ((1, 1, None), (2, 1, None), (2, 2, None), (3, 3, None), (4, 2, 'random'), (2, 2, None)):
        result = job('tasks_cases', 'threads_put', 100, ranks=ranks, nodes=nodes, how=how)
        expect_lines(result, result.out, '^right$')
    for seed in range(1, 7):
        result = job('tasks_cases', 'threads_put', 100, ranks=2, nodes=2, env={'WS_CHAOS': str(seed)})
        expect_lines(result, result.out, '^right$')


@repeated
def fine():
    """Two ranks of one node are faster than one, and the summary says by how much."""
    if CORES < 2:
        skip('nothing is faster on one core')
    took = {}
    for ranks in 1, 2, 1, 2, 1, 2:
        result = run('tasks_fine', 300000, ranks=ranks, options=('-bind-to', 'core'))
        expect(result, f'tasks are lost or doubled: {result.out}', result.out.startswith('right '))
        took.setdefault(ranks, []).append(float(result.out.split()[1]))
    gain = min(took[1]) / min(took[2])
    likely(result, f'only {gain:.2f} times as fast on two cores: {took}', gain > 1.4)
    claim = re.search(r'about ([\d.]+) times as fast', result.err)
    likely(result, f'{claim and claim[1]} is claimed, measured was {gain:.2f}: {took}', claim and abs(float(claim[1]) / gain - 1) < 0.25)


def trouble():
    result = job('tasks_cases', 'idle', ranks=3, nodes=2)
    expect_lines(result, result.out, '^right$')

    # The scheduler works in the blocked time of rank 0, by the policy's steps.
    @repeated
    def scheduler_waits():
        result = job('tasks_cases', 'scheduler_waits', ranks=4, nodes=4)
        expect_lines(result, result.out, '^right$')
        likely_lines(result, result.out, r'^rank 3 has got [1-5]\d\d tasks$')
        likely_lines(result, result.err, r'polls for messages by waiting ranks: [1-9]\d+, by idle workers: \d+, within tasks: \d+')
    scheduler_waits()

    killed = []

    def kill(processes):
        ranks = wait_for_ranks(processes, 'tasks_cases', 4)
        killed[:] = [ranks[-1]]
        time.sleep(0.3)
        os.kill(ranks[-1], signal.SIGKILL)
    result = job('tasks_cases', 'sleepers', 20000, ranks=4, nodes=2, code='error', meanwhile=kill)
    # mpirun names it, or a rank of its node was faster to end the job; that nothing is left run() looks for.
    expect(result, f'who died, {killed}, is not named: {result.out}{result.err}',
           re.search(rf'PID {killed[0]} ', result.out + result.err) and re.search(r'EXIT CODE: 9|signal 9|KILLED', result.out + result.err)
           or f'(pid {killed[0]}) died' in result.err)

    # Without the scheduler, which is a part of rank 0, the others do what they have; and all end when it goes on.
    ran = []

    def stop(processes):
        ranks = wait_for_ranks(processes, 'tasks_cases', 3)
        while min(tasks_run(ranks)) < 50:
            if not processes():     # it was over before it was seen
                return
            time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):   # it is over by now
            os.kill(ranks[0], signal.SIGSTOP)
            ran.append(tasks_run(ranks))
            time.sleep(1)
            ran.append(tasks_run(ranks))
            os.kill(ranks[0], signal.SIGCONT)

    @repeated
    def without_scheduler():
        ran.clear()
        result = job('tasks_cases', 'sleepers', 6000, ranks=3, nodes=3, meanwhile=stop)
        expect_lines(result, result.out, '^right$')
        likely(result, f'the others did not go on: {ran}', len(ran) == 2 and all(after - before > 100 for before, after in zip(ran[0][1:], ran[1][1:])))
    without_scheduler()

    # What looks at letters while a rank is in a long task has the core of a worker if there is one.
    if len(os.sched_getaffinity(0)) > 1:
        found = []

        def look(processes):
            for pid in wait_for_ranks(processes, 'tasks_cases', 2):
                found.append(threads_of(pid, lambda cpus: 'ws pulse' in cpus and cpus['ws pulse'] == cpus.get('ws worker')))   # it binds itself once it runs
        result = job('tasks_cases', 'sleepers', 8000, ranks=2, nodes=2, workers=1, meanwhile=look)
        expect_lines(result, result.out, '^right$')
        expect(result, f'the pulse is not where the worker is: {found}', len(found) == 2 and all(f and f.get('ws pulse') == f.get('ws worker') for f in found))

        # A worker with nothing to do looks itself while the rank is in a task, every 500 us; the pool still needs no core.
        @repeated
        def worker_looks():
            result = job('tasks_cases', 'idle', 2, ranks=2, nodes=2, workers=1)
            expect_lines(result, result.out, '^right$')
            likely_lines(result, result.err, r'by idle workers: [1-9]\d\d+, within tasks')
        worker_looks()


def tasks_run(pids):
    """How many tasks each process has run, as ws-top shows it; 0 where it shows nothing yet."""
    top = subprocess.run([os.path.join(os.path.dirname(MPIRUN), 'ws-top'), '--json', '--interval', '0.05'], capture_output=True, text=True).stdout
    ran = {r['pid']: r['counters']['tasks_run'] for line in top.splitlines() for j in json.loads(line)['jobs'] for r in j['by_rank']}
    return [ran.get(pid, 0) for pid in pids]


def threads_of(pid, is_awaited):
    """The CPUs of a process's threads, by name: once is_awaited(them), else those seen last."""
    found = {}

    def are_there():
        found.clear()
        with contextlib.suppress(OSError):      # a thread, or all of the job, may end meanwhile
            for tid in os.listdir(f'/proc/{pid}/task'):
                with open(f'/proc/{pid}/task/{tid}/status') as f:
                    status = dict(line.rstrip('\n').split(':\t', 1) for line in f if ':\t' in line)
                found[status['Name']] = status['Cpus_allowed_list']
        return is_awaited(found)
    patience.waited_for(are_there, 15)
    return found


{'oracle': oracle, 'soak': soak, 'cases': cases, 'threads': threads, 'delivered': delivered, 'trouble': trouble, 'fine': fine}[sys.argv[3]]()
finish()
