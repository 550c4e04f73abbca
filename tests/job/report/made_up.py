# SPDX-License-Identifier: MIT
"""Reports of runs that never were, of any size, made of a kept one."""
import copy
import json
import pathlib
import re

KEPT = pathlib.Path(__file__).resolve().parents[2] / 'unit/observe/version-1.json'
SLICES = 64


def report(ranks=2, loops=1, elapsed=1.0, over_time=True, started=1700000000, program='/bin/made_up', efficiency=0.9, phases=0, rank_phases=7, counted=False):
    """As a dictionary. Rank r computes for a part (r + 1) / ranks of the time. It waits for the rest, the last half of which its core is lent."""
    text = re.sub(r'"runs(_|")', r'"executions\1', KEPT.read_text()).replace('workshare-report/1', 'workshare-report/2', 1)
    made = json.loads(text)
    rank, loop = made['by_rank'][0], made['by_loop'][0]
    made.update(program=program, ranks=ranks, cores=ranks, elapsed_s=elapsed, started_unix_ns=started * 10**9, by_rank=[], by_loop=[],
                verdict='workshare: about 1.50 times as fast as without sharing (made up); ranks waited; hint: none')
    made['efficiency'].update(elapsed_s=elapsed, parallel_efficiency=efficiency)
    for r in range(ranks):
        own = copy.deepcopy(rank)
        share = (r + 1) / ranks
        t = own['totals']
        t.update(wall_s=elapsed, computing_s=elapsed * share, mpi_s=elapsed * (1 - share), blocked_s=elapsed * (1 - share), lent_s=elapsed * (1 - share) / 2,
                 helped_s=elapsed * (1 - share) / 2)
        for reason in t['refused'].values():
            reason['time_s'] = 0
        t['refused']['nothing_shared']['time_s'] = elapsed * (1 - share) / 2
        own.update(rank=r, totals=t, loops=[])
        if over_time:
            busy = [1 if s < SLICES * share else 0 for s in range(SLICES)]
            own['over_time'] = {'computing': busy, 'lent': [0 if b else 0.5 for b in busy], 'borrowed': [0.25] * SLICES}
        made['by_rank'].append(own)
    for number in range(loops):
        made['by_loop'].append({**loop, 'loop': f'file{number % 97}.c:{number}:loop_{number}', 'computing_s': 1 / (1 + number),
                                'cause': ['helped', 'too_short', 'coarse'][number % 3]})
    if phases:
        kept = made['by_phase'][0]

        def phase(path, seconds):
            figures = {name: value for name, value in kept.items() if name != 'level'}
            figures.update(wall_s=seconds, entered=1)
            refused = {**rank['totals']['refused'], 'all_wait': {'times': 1, 'time_s': seconds / 4}}
            return {'path': path, 'level': None if path else 1, **figures, 'refused': refused, 'cores_used': 1.5,
                    'whole': {**figures, 'wall_s': 2 * seconds, 'refused': refused, 'cores_used': 1.25}}
        made['by_phase'] = [phase([], elapsed)] + [phase(['step', f'phase <{n}>'], elapsed / (2 + n)) for n in range(phases)]
        made['by_loop'][0]['phase'] = ['step', 'phase <0>']
        kept = ('wall_s', 'computing_s', 'mpi_s', 'blocked_s', 'lent_s')
        for r, own in enumerate(made['by_rank']):   # the last is not in the last phase
            own['phases'] = [{'phase': p['path'], 'entered': 1, **{name: own['totals'][name] / (2 + n) for name in kept}, 'cores_used': 1.0, 'useful_s': 0.5,
                              'parallel_efficiency': (r + 1) / ranks, 'load_balance': 1 / (1 + n), 'refused': {'too_little': {'times': 1, 'time_s': 0.125}},
                              **({'counted_s': 1, 'cycles': 2 * 10**9, 'instructions': (1 + n) * 10**9} if counted else {})}
                             for n, p in enumerate(made['by_phase'][:1 + min(phases, rank_phases) - (r == ranks - 1)])]
        if phases > rank_phases:
            made['rank_phases_omitted'] = phases - rank_phases
    return made


def write(path, **how):
    pathlib.Path(path).write_text(json.dumps(report(**how)))
