# SPDX-License-Identifier: MIT
"""Reports as JSON: the documented schema, and what must hold of every one."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import schemas  # noqa: E402

if schemas.MISSING:
    print(schemas.MISSING)
    sys.exit(77)


def problems(report, sums_of_phases=True):
    """What is wrong with it, as lines. Phases of old reports are levels of MPI_Pcontrol, each by itself: there are no sums."""
    found = schemas.problems('report', report)
    if found:
        return found

    def holds(what, condition):
        if not condition:
            found.append(what)

    def close(a, b, slack=1e-6):
        return abs(a - b) <= slack + 1e-6 * max(abs(a), abs(b))

    for name, e in [('efficiency', report['efficiency']), ('without', report['without_stealing']['efficiency'])] + \
            [(f'node {n["node"]}', n['efficiency']) for n in report['by_node']] + \
            [(f'phase {p.get("path")}', part['efficiency']) for p in report['by_phase'] for part in (p, p.get('whole', p))]:
        if e['elapsed_s'] > 0:
            holds(f'{name}: parallel != balance * communication',
                  close(e['parallel_efficiency'], e['load_balance'] * e['communication_efficiency']))
            holds(f'{name}: {e} above 1', all(v <= 1.001 for k, v in e.items() if k != 'elapsed_s'))
    for key, value in report['totals'].items():
        if isinstance(value, (int, float)) and key not in ('instructions_per_cycle', 'frequency_hz'):
            for rows in 'by_rank', 'by_node':
                holds(f'totals of {rows} do not add up to {key}', close(value, sum(r['totals'][key] for r in report[rows])))
    for r in report['by_rank']:
        t, name = r['totals'], f'rank {r["rank"]}'
        holds(f'{name}: wall is not computing, waiting and MPI', close(t['wall_s'], t['computing_s'] + t['close_wait_s'] + t['mpi_s'], 1e-3))
        holds(f'{name}: blocked more than in MPI', t['blocked_s'] <= t['mpi_s'] * 1.02 + 1e-3)
        holds(f'{name}: lent more than blocked', t['lent_s'] <= t['blocked_s'] * 1.02 + 1e-3)
        holds(f'{name}: helped more than lent', t['helped_s'] <= t['lent_s'] * 1.02 + 1e-3)
        reasons = sum(x['time_s'] for x in t['refused'].values())
        holds(f'{name}: reasons add up to more than what was not lent', reasons <= t['blocked_s'] - t['lent_s'] + 2e-3 + 0.02 * t['blocked_s'])
        holds(f'{name}: borrowed by workers more than at all', t['borrowed_workers_s'] <= t['borrowed_s'] + 1e-9)
        if 'over_time' in r and t['wall_s'] > 0:
            for key in 'computing', 'lent', 'borrowed':
                parts = r['over_time'][key]
                holds(f'{name}: {len(parts)} slices', len(parts) == 64)
                took = sum(parts) / len(parts) * t['wall_s']
                holds(f'{name}: slices come to {took} s of {key}, not {t[key + "_s"]}', close(took, t[key + '_s'], 2e-3 + 0.005 * t['wall_s']))
        if r['loops'] is not None:
            for key in 'executions', 'iterations_kept', 'iterations_stolen', 'chunks_kept', 'chunks_stolen':
                holds(f'{name}: loops do not add up to {key}', t[key] == sum(l[key] for l in r['loops']))
    inside_of = {}
    for p in report['by_phase'] if sums_of_phases else []:
        if p['path']:
            inside_of.setdefault(tuple(p['path'][:-1]), []).append(p)
    for p in report['by_phase'] if sums_of_phases else []:
        inside = inside_of.get(tuple(p['path']), [])
        for key in 'mpi_s', 'blocked_s', 'lent_s', 'borrowed_s', 'close_wait_s', 'computing_s', 'executions', 'iterations_stolen', 'counted_s', 'instructions', 'cycles':
            if key not in p:    # of an old version
                continue
            holds(f'phase {p["path"]}: {key} of it and those inside it is not that of the whole', close(p['whole'][key], p[key] + sum(q['whole'][key] for q in inside)))
    if report['by_phase'] and sums_of_phases:
        run, all_ = report['by_phase'][0], report['totals']
        holds('the first phase is not the run', run['path'] == [] and run['level'] == 1)
        for key in 'mpi_s', 'blocked_s', 'lent_s', 'borrowed_s', 'close_wait_s', 'computing_s':
            holds(f'phases do not add up to {key}: {run["whole"][key]}, {all_[key]}', close(run['whole'][key], all_[key], 2e-3 + 0.002 * all_[key]))
        for key in 'executions_shared', 'executions_helped', 'iterations_stolen':
            holds(f'phases do not add up to {key}', run['whole'][key] == all_[key])
    for p in report['by_phase'] if sums_of_phases else []:
        parts = [q for r in report['by_rank'] for q in r.get('phases', []) if q['phase'] == p['path']]
        for key in ('mpi_s', 'blocked_s', 'lent_s', 'borrowed_s', 'close_wait_s', 'computing_s', 'executions', 'iterations_stolen', 'instructions', 'cycles') if parts else ():
            holds(f'phase {p["path"]}: {key} of its ranks does not add up', close(p[key], sum(q.get(key, 0) for q in parts)))
        holds(f'phase {p["path"]}: an efficiency of a rank is not between 0 and 1', all(0 <= q[key] <= 1 for q in parts for key in ('parallel_efficiency', 'load_balance')))
        if parts:
            holds(f'phase {p["path"]}: no rank took as long', close(p['wall_s'], max(q.get('wall_s', 0) for q in parts)))
            if report['cores'] == report['ranks']:
                mean = sum(q['parallel_efficiency'] for q in parts) / len(parts)
                holds(f'phase {p["path"]}: efficiency {p["efficiency"]}, of its ranks {mean}', close(p['efficiency']['parallel_efficiency'], mean, 1e-4))
    all_ = report['totals']
    holds('borrowed is not what cores computed for others',
          close(all_['borrowed_s'], all_['helped_s'] + all_['borrowed_workers_s'] + all_['worker_helped_s'], 1e-6))
    for key in 'executions', 'iterations_kept', 'iterations_stolen', 'chunks_kept', 'chunks_stolen':
        holds(f'loops do not add up to {key}', all_[key] == sum(l[key] for l in report['by_loop']))
    for h in all_['steal_latency'], all_['return_latency']:
        holds('a histogram does not add up', h['count'] == sum(b['count'] for b in h['buckets']))
        holds('quantiles out of order', h['p50_s'] <= h['p95_s'] <= h['longest_s'] * (1 + 1e-9))
    return found
