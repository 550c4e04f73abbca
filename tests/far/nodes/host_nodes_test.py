# SPDX-License-Identifier: MIT
"""host_nodes_test.py MPIRUN PROGRAMS FAMILY: jobs of another MPI under `workshare` over 2 and 3 nodes that share nothing but a network. Ranks help on their own
node, results are right, and a killed rank ends the job."""
import sys

import nodes

why_not = nodes.own_namespaces()
if why_not:
    print(why_not)
    sys.exit(77)
from job import expect, expect_lines, finish, likely, repeated, run  # noqa: E402

FAMILY = sys.argv[3]
LIMIT = 15 if FAMILY == 'openmpi' else 6


def options(on, ranks_per_node):
    """What this MPI's launcher needs for these nodes."""
    if FAMILY == 'openmpi':
        hosts = ','.join(f'{name}:{ranks_per_node}' for name in on.names)
        return (f'--host {hosts} --mca plm_rsh_agent {on.launcher} --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0 --mca btl tcp,self,vader '
                '--mca pml ob1 --mca osc ^ucx')
    return ' '.join([*on.options, '-ppn', str(ranks_per_node)])


def job(on, *args, ranks_per_node=2, env=None, **how):
    before = on.sent()
    # MPICH 4.0.2 alone hangs in MPI_Finalize of half of the jobs over TCP.
    result = run(*args, ranks=ranks_per_node * len(on.names), prefix=on.prefix, title=f'{" ".join(map(str, args))}, {len(on.names)} nodes',
                 may_hang=FAMILY == 'mpich' and how.get('code') != 'error', env={**on.environment, 'TEST_MPIRUN': options(on, ranks_per_node), **(env or {})}, **how)
    expect(result, f'nodes that sent nothing to others: {on.sent()} after {before}', all(now - then > 1000 for now, then in zip(on.sent(), before)))
    expect(result, f'left on the nodes: {on.left()}', not on.left() or result.code == 'time limit')
    return result


@repeated
def double_loops(on):
    """The work sleeps: as many cores as there are ranks can be pretended."""
    result = job(on, 'host', 'double', env={'WS_CORES': '4'}, limit=LIMIT)
    times = {int(words[1]): float(words[2]) for words in map(str.split, result.out.splitlines()) if words[0] == 'loop'}
    expect(result, f'a loop on each node: {times}', list(sorted(times)) == [2 * i for i in range(len(on.names))] and 'wrong' not in result.out)
    expect(result, 'the summary says another number of nodes', any(f'{2 * len(on.names)} ranks on {len(on.names)} nodes' in line for line in result.summary()))
    if FAMILY == 'openmpi':
        likely(result, f'loops in which nobody helped: {times}', all(time < 0.75 for time in times.values()))
    else:   # each run may hang at its end
        expect(result, 'nothing was stolen', result.stats.get('chunks_stolen', 0) > 0)


for count in (2, 3) if FAMILY == 'openmpi' else (2,):
    on = nodes.Nodes(count)
    double_loops(on)
    result = job(on, 'cliques', env={'WS_CORES': '4'}, limit=LIMIT)
    expect_lines(result, result.out, '^1 guests, 2 ranks on the node$')
    if count == 2:
        result = job(on, 'oracle', 5, 60, limit=2 * LIMIT)
        expect(result, 'regions were counted', result.stats.get('executions', 0) == 4 * 60)
        alone, shared = (sorted(job(on, 'host', 'sums', limit=LIMIT, workshare=workshare).out.splitlines()) for workshare in (False, True))
        expect(result, 'sums differ from those without', alone == shared and alone)
    ended = job(on, 'death', 'owner', code='error', limit=40)
    expect(ended, 'the job took more than 20 s to end', ended.seconds < 20)
    on.close()
finish()
