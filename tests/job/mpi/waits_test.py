# SPDX-License-Identifier: MIT
"""A rank lends its core between ws_wait_begin and ws_wait_end, and with -workshare-waits in calls that take long. Every iteration runs once, and each mistake has
one message."""
import json
import os
import tempfile

from job import CORES, PROGRAMS, expect, expect_lines, finish, likely, repeated, run, skip

WARNING = 'workshare: warning: ignoring a ws_wait_end without a ws_wait_begin on the same thread; call them in pairs'


@repeated
def one_long():
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'run.json')
        result = run('waits', 'long', 2000, 500, options=[f'-workshare-report={report}'])
        expect_lines(result, result.out, r'^\d\.\d+ times as fast$', r'^the end took \d+ us$')
        with open(report) as f:
                ranks = [rank['totals'] for rank in json.load(f)['by_rank']]
    for rank, least, most in (0, 0.5, 60), (1, 0, 0):
        waits = ranks[rank]['waits_program_s']
        expect(result, f'rank {rank} counts {waits} s of waits outside of MPI', least <= waits <= most)
        expect(result, f'rank {rank} waited less than outside of MPI', waits <= ranks[rank]['blocked_s'])
    expect(result, 'waits for a GPU or a file', ranks[0]['waits_gpu_s'] == ranks[0]['waits_io_s'] == 0)
    faster = float(result.out.split(' times as fast')[0].split()[-1])
    likely(result, f'{faster} times as fast with a second core', faster > 1.85)


@repeated
def disabled():
    """ws_enable(0) counts from the next wait on, as api.md says."""
    result = run('waits', 'enable', 1)
    expect_lines(result, result.out, *4 * [r'^lent for \d+\.\d ms$'])
    on, off, switched, still_off = (float(line.split()[2]) for line in result.out.splitlines() if line.startswith('lent for'))
    expect(result, f'lent for {off} and {still_off} ms while sharing was off', off == still_off == 0)
    likely(result, f'lent for {on} ms, and {switched} ms where it was switched off inside', on > 10 and switched > 10)


def with_mistakes(workshare):
    for ranks in 1, 2:
        result = run('waits', ranks=ranks, workshare=workshare)
        messages = [line for line in result.messages() if 'ws_wait' in line]
        expect(result, f'messages: {messages}', messages == ranks * [WARNING])


@repeated
def in_call(call, kinds, *off):
    """A rank that waits in that call is helpful with -workshare-waits, and only then; and not after ws_enable(0)."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'run.json')
        result = run('wait_calls', call, 1000, *off, options=['-workshare-waits', kinds, f'-workshare-report={report}'], title=f'wait_calls {call}, {kinds}')
        with open(report) as f:
            counted = json.load(f)['by_rank'][0]['totals']
    lends = not off and (call == 'gpu' and 'gpu' in kinds or call != 'gpu' and 'io' in kinds)
    waits = {kind: counted[f'waits_{kind}_s'] for kind in ('program', 'gpu', 'io')}
    mine = waits.pop('gpu' if call == 'gpu' else 'io')
    expect(result, f'waits of {mine} s, and {waits}', (mine > 0.05) == lends and not any(waits.values()))
    faster = float(result.out.split(' times as fast')[0].split()[-1])
    if CORES > 1:
        likely(result, f'{faster} times as fast with a second core', faster > 1.8 if lends else faster < 1.1)


for call, kinds in ('read', 'io'), ('write', 'gpu,io'), ('poll', 'io'), ('select', 'io,gpu'), ('recv', 'io'), ('gpu', 'gpu'), ('gpu', 'io'), ('read', 'gpu'):
    in_call(call, kinds)
in_call('read', 'io', 'off')
for chaos in None, '3':
    run('wait_calls', 'mix', 200, options=['-workshare-waits=gpu,io'], env={'WS_CHAOS': chaos} if chaos else None)
run('wait_calls', 'mix', 20, workshare=False)
result = run('/usr/bin/env', 'WS_WAITS=io', os.path.join(PROGRAMS, 'wait_calls'), 'mix', 20, title='WS_WAITS behind mpirun')
expect_lines(result, result.err, '^workshare: warning: -workshare-waits has no effect, because libws-waits.so was not loaded first; ')

if CORES < 2:
    skip('one core: nothing can be gained')
else:
    one_long()
    disabled()
run('waits', 'many', 300, steals=True)
run('waits', 'many', 300, ranks=4)
run('waits', 'many', 300, env={'WS_CHAOS': '7'})
run('waits', 'many', 300, workshare=False)
run('waits', 'long', 50, 100, workshare=False)
result = run('waits_fortran')
expect_lines(result, result.out, '^ fine$')
with_mistakes(True)
with_mistakes(False)
finish()
