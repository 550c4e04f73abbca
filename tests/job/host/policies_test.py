# SPDX-License-Identifier: MIT
"""Pools of tasks, rows that move (XMPI) and placement by load under another MPI: each task, row and rank is counted once, and the output is the same with and
without `workshare`, except one line, which tells what only Workshare does."""
import json
import os
import re
import sys

from job import CORES, expect, expect_lines, finish, likely, repeated, run, side_by_side
from of_mpi import SEGMENTS

FAMILY, STAGE = sys.argv[3:5]
ONLY_OWN = re.compile(r'^(?:moved|measured): (\S+)$', re.MULTILINE)     # the line that may differ
LIMIT = 40


def job(*args, **how):
    """The job, its lines that must not differ, and the value of the line that may."""
    result = run('policies', *args, limit=LIMIT, **how)
    own = ONLY_OWN.findall(result.out)
    expect(result, 'other lines than one that tells what Workshare did', len(own) == 1)
    return result, sorted(line for line in result.out.splitlines() if not ONLY_OWN.match(line)), own[0] if own else '-1'


class Same:
    """A part of the program, on some ranks: its output without `workshare`, and jobs that must print the same."""
    def __init__(self, part, ranks, lines, own):
        self.part, self.ranks = part, ranks
        result, self.lines, told = job(part, ranks=ranks, workshare=False, title=f'{part}, {ranks} ranks, off')
        expect(result, f'not {lines} lines', len(self.lines) == lines)
        expect(result, f'told {told}, wanted {own}', told == own)
        expect(result, 'it says something', not result.err)

    def with_workshare(self, *args, title='on', **how):
        result, lines, own = job(self.part, *args, ranks=self.ranks, title=f'{self.part}, {self.ranks} ranks, {title}', **how)
        expect(result, f'without Workshare it prints {self.lines}', lines == self.lines)
        return result, own


def tasks():
    """On one node nothing moves, but waiting ranks help."""
    def told(same, *args, **how):
        result, own = same.with_workshare(*args, **how)
        expect(result, f'{own} tasks moved, on one node', own == '0')
        expect_lines(result, result.err, rf'^workshare: {2 * (600 + 20 * same.ranks)} tasks ran, 0 of them moved to another node')
    of_two, of_three = Same('tasks', 2, 2, '0'), Same('tasks', 3, 2, '0')
    told(of_two, 200, steals=CORES > 1)
    side_by_side(lambda: told(of_two, 50, title='none', options=('-workshare-tasks', 'none')), lambda: told(of_three, 50, title='chaos', env={'WS_CHAOS': '3'}))
    return of_two


@repeated
def of_nodes(same, how, **env):
    """MPICH pretends that its ranks are on two nodes."""
    result, own = same.with_workshare(200, title=f'2 nodes, {how}, {env}', env={'MPIR_CVAR_NUM_CLIQUES': '2', **env}, options=('-workshare-tasks', how))
    expect_lines(result, result.err, rf'^workshare: {2 * (600 + 20 * same.ranks)} tasks ran, {own} of them moved to another node', r'\(2 ranks on 2 nodes, ')
    likely(result, 'no task moved', int(own) > 0)


@repeated
def follow_speeds(same):
    """Processors of known speeds are pretended, and rows are compared before and after each move."""
    result, own = same.with_workshare(title='speeds', env={'WS_FLEX_FAKE': '1e4,3e4', 'WS_FLEX_CHECK': '1', 'WS_ROWS_INTERVAL': '5'})
    expect_lines(result, result.err, rf'^workshare: XMPI moved rows {own} times? in \d+ intervals .* the number of processes with rows changed 2 times')
    likely(result, f'rows moved {own} times, 2 of them because the program asked for that', int(own) > 2)


def rows():
    """Without Workshare, rows move twice: when the program asks for that."""
    follow_speeds(Same('rows', 2, 3, '2'))
    spare = Same('rows', 3, 3, '2')
    env = {'WS_CHAOS': '3', 'WS_FLEX_CHECK': '1', 'WS_ROWS_INTERVAL': '5'}
    result, own = spare.with_workshare(title='a spare, chaos', env=env, options=('-workshare-spare', '1'))
    expect(result, f'rows moved {own} times', int(own) >= 2)
    if os.path.exists(os.path.join(STAGE, 'lib/workshare/papi.so')):   # there is none without PAPI
        expect(result, 'the module that counts operations was not found', 'papi.so: cannot open' not in result.err)


@repeated
def grow_and_shrink(prefix):
    """The benchmark, which compares each number. Before mpirun, `workshare` reaches the processes that the program starts, too."""
    result = run('flex_spawn', '--bytes', 1 << 20, '--iterations', 2, '--repeats', 2, '--json', ranks=2, prefix=prefix, workshare=False, limit=LIMIT, may_hang=True,
                 leaves=SEGMENTS, env={'OMPI_MCA_btl_tcp_if_include': 'lo'})
    # Open MPI 4.1 sometimes starts a process that waits for ever in PMIx_Init, with and without Workshare.
    likely(result, 'MPI_Comm_spawn hung', result.code != 'time limit')
    changes = json.loads(result.out)['changes'] if result.code == 0 else []
    expect(result, 'not 2 -> 4 -> 8 -> 4 -> 2, twice', [(c['from'], c['to']) for c in changes] == 2 * [(2, 4), (4, 8), (8, 4), (4, 2)])
    if not prefix:      # equal parts: of the processes that have rows before and after, only the first keeps some
        moved = [(1 << 20) * 1e-6 * (1 - 1 / max(c['from'], c['to'])) for c in changes]
        expect(result, f'not {moved} MB moved', all(abs(c['mb'] - mb) < 0.02 for c, mb in zip(changes, moved)))
    expect(result, 'it says something', not result.err)


def members():
    """Processes join a partition and leave it; those of Open MPI are started for it."""
    for workshare in True, False:
        result = run('flex_members', 'groups', ranks=4, workshare=workshare, limit=LIMIT)
        expect(result, 'it is not right', result.out == 'right\n')
    if FAMILY == 'openmpi':     # Debian's MPICH 4 starts none
        for mode in 'spawn', 'replace':
            for workshare in True, False:
                # Spawned processes of Open MPI 5 reach the others by TCP alone.
                result = run('flex_members', mode, 2, ranks=2, workshare=workshare, limit=LIMIT, env={'OMPI_MCA_btl_tcp_if_include': 'lo'})
                expect(result, 'it is not right', sorted(result.out.splitlines()) == ['right', 'right, in those that were started'])
        run('flex_members', 'die', 2, ranks=2, code='error', limit=LIMIT, env={'OMPI_MCA_btl_tcp_if_include': 'lo'}, leaves=SEGMENTS)
        for prefix in (), (os.path.join(STAGE, 'bin/workshare'), '--mpi', FAMILY, '--quiet'):
            grow_and_shrink(prefix)


def placement():
    for ranks in 2, 4:
        result, own = Same('placement', ranks, 5, 'no').with_workshare()
        expect(result, f'measured: {own}', own == 'yes')


side_by_side(placement, rows, members)
of_two = tasks()
if FAMILY == 'mpich':   # real nodes, also for Open MPI: ../../far/nodes
    of_nodes(of_two, 'central')
    of_nodes(of_two, 'random', WS_CHAOS='3')
finish()
