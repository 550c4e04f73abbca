# SPDX-License-Identifier: MIT
"""A thread that waits in MPI beside the one that called MPI_Init uses up no core under -workshare, and answers as fast as one that does."""
import json
import re
import tempfile

from job import expect, finish, likely, repeated, run


def serve(**how):
    result = run('server', 20, ranks=2, **how)
    found = re.fullmatch(r'cpu ([\d.]+) median ([\d.]+) us\n', result.out)
    expect(result, 'no figures', found)
    return result, float(found[1]), float(found[2])


# A wake-up, and not a nap of the thread or a quantum of the rank: these would be in each of several runs, programs beside us are not.
@repeated
def answers():
    _, _, plain_us = serve(workshare=False)
    with tempfile.NamedTemporaryFile(suffix='.json') as file:
        result, cpu, us = serve(options=(f'-workshare-report={file.name}',))
        rank = json.load(file)['by_rank'][1]['totals']
    expect(result, 'the waiting thread used a core', cpu < 0.4)
    expect(result, 'its waits are not counted', rank['threads_blocked_s'] > 0.2)
    likely(result, f'answers came late: {us} us, {plain_us} us without', us < plain_us + 2000)


answers()
finish()
