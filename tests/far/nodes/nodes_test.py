# SPDX-License-Identifier: MIT
"""Jobs over 2 to 4 nodes that share nothing but a network: stealing inside each, reordering, report and timeline."""
import json
import os
import sys

import nodes

why_not = nodes.own_namespaces()
if why_not:
    print(why_not)
    sys.exit(77)
from job import expect, expect_lines, finish, run  # noqa: E402


def job(on, *args, env=None, options=(), **how):
    before = on.sent()
    result = run(*args, prefix=on.prefix, options=(*on.options, *options), env={**on.environment, **(env or {})}, **how)
    expect(result, f'nodes that sent nothing to others: {on.sent()} after {before}',
           all(now - then > 1000 for now, then in zip(on.sent(), before)))
    expect(result, f'left on the nodes: {on.left()}', not on.left())
    return result


for count in (2, 4):
    on = nodes.Nodes(count)
    spread = ('-ppn', '2')
    # Ranks help only on their node. The work sleeps: as many cores as there are ranks can be pretended.
    result = job(on, 'cliques', ranks=2 * count, options=spread, env={'WS_CORES': '4'}, limit=60)
    expect_lines(result, result.out, '^1 guests, 2 ranks on the node$')
    expect(result, 'the summary says another number of nodes', any(f'{2 * count} ranks on {count} nodes' in line for line in result.summary()))
    expect(result, 'nothing was stolen', result.stats.get('chunks_stolen', 0) > 0)
    on.close()

# Ranks are given other places, of nodes too; the program checks each answer.
on = nodes.Nodes(2)
job(on, 'reorder', 'graph', 2, ranks=8, options=('-ppn', '4', '-bind-to', 'core'), limit=100)

# One report and one timeline of all nodes, written where rank 0 is.
trace, report = (os.path.join(on.folder, name) for name in ('t.json', 'r.json'))
result = job(on, 'cliques', ranks=4, options=('-ppn', '2', f'-workshare-trace={trace}', f'-workshare-report={report}'), env={'WS_CORES': '4'}, limit=60)
with open(report) as f:
    reported = json.load(f)
hosts = [node['host'] for node in reported['by_node']]
expect(result, f'the report has other nodes: {hosts}', hosts == ['node0', 'node1'])
with open(trace) as f:
    events = json.load(f)['traceEvents']
named = {e['pid']: e['args']['name'] for e in events if e['name'] == 'process_name'}
drawn = sorted(named[pid] for pid in {e['pid'] for e in events if e['ph'] == 'X'})
expect(result, f'the timeline has other nodes: {drawn}', drawn == ['node 0 (node0)', 'node 1 (node1)'])
on.close()
finish()
