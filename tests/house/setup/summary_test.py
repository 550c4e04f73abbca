# SPDX-License-Identifier: MIT
"""summary_test.py SUMMARY: how ./setup test closes, from logs that are made here; and which tests it runs again."""
import json
import os
import sys
import tempfile

from check import expect, finish, run

SUMMARY = sys.argv[1]
BUSY = 'rank 1 was late: not judged, as others used 20% to 30% of the CPUs in 4 runs'
FIRST = [('workshare:fast / right', 'OK', ''), ('workshare:mpi / wrong', 'FAIL', 'line 7'), ('workshare:mpi / slurm', 'SKIP', 'no slurmctld is here'),
         ('workshare:mpi / timed, with a comma', 'SKIP', BUSY), ('mpi - workshare:timed by a newer Meson', 'SKIP', BUSY + '\nthe end')]
LATER = [('workshare:mpi / timed, with a comma', 'OK', ''), ('mpi - workshare:timed by a newer Meson', 'SKIP', BUSY)]

folder = tempfile.TemporaryDirectory()


def log(name, tests):
    path = os.path.join(folder.name, name)
    with open(path, 'w') as f:
        f.writelines(json.dumps({'name': n, 'result': result, 'stdout': output, 'duration': 1.2}) + '\n' for n, result, output in tests)
    return path


def summary(*arguments):
    status, out, error = run(SUMMARY, *arguments)
    return status, out.splitlines(), error


first, later, missing = log('first.json', FIRST), log('later.json', LATER), os.path.join(folder.name, 'missing.json')
status, out, _ = summary(first, missing)
expect('one log', (status, out[-1]), (1, '1 passed, 1 failed, 3 skipped'))
for line in f'  (all of it: {first[:-5]}.txt)', '  line 7', 'skipped workshare:mpi / slurm: no slurmctld is here':
    expect(line, line in out, True)
status, out, _ = summary(first, later)
expect('the later result counts', (status, out[-1]), (1, '2 passed, 1 failed, 2 skipped'))
expect('names', summary('--not-judged', first), (0, ['timed, with a comma', 'timed by a newer Meson'], ''))
status, out, _ = summary(log('good.json', [*FIRST[:1], *LATER[:1]]))
expect('nothing failed', (status, out[-1]), (0, '2 passed, 0 failed'))
for arguments in (missing,), ('--not-judged', missing):
    status, out, error = summary(*arguments)
    expect('no log', (status, out, error.startswith('the tests did not run: ')), (1, [], True))
finish()
