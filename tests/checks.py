# SPDX-License-Identifier: MIT
"""What scripts of tests say that fails, and how they run commands, several at once if need be.

A script calls fail() or check() as often as it likes, and finish() at its end."""
import concurrent.futures
import os
import subprocess
import sys

import schemas

failures = 0
skips = set()


def fail(what, output=''):
    global failures
    failures += 1
    print(f'FAILED: {what}', output, sep='\n' if output else '', flush=True)


def check(right, what, output=''):
    if not right:
        fail(what, output)
    return right


def fits(schema, value, what):
    """JSON that a program wrote, as docs/reference/SCHEMA.schema.json has it; without a library for that the script ends as skipped."""
    if schemas.MISSING:
        skips.add(schemas.MISSING)
    wrong = schemas.problems(schema, value)
    return check(not wrong, f'{what}: it does not fit docs/reference/{schema}.schema.json', '\n'.join(wrong))


def finish():
    print(f'{failures} failures' if failures else '; '.join(skips) or 'ok')
    sys.exit(1 if failures else 77 if skips else 0)


def start(command, folder=None, limit=60, **environment):
    """The exit status and all output of a command; status 'time' if it took longer than `limit` seconds."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', timeout=limit, cwd=folder,
                              env={**os.environ, 'LC_ALL': 'C', **environment})
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return 'time', (late.stdout or b'').decode(errors='replace')


def in_parallel(jobs):
    """Runs (function, argument, ...) each; an exception of one is raised here."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(*job) for job in jobs]:
            done.result()
