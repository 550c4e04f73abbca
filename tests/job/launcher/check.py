# SPDX-License-Identifier: MIT
"""What the tests of this folder share: run a command, compare, report."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import patience  # noqa: E402
from expectation import conclude, equal as expect  # noqa: E402


def run(*command, env=None, cwd=None, limit=60):
    """(exit status, stdout, stderr) of a command that ends within `limit` seconds."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=cwd, stdin=subprocess.DEVNULL,
                          env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def expect_message(what, result, *parts, status=1):
    """One message: a single line on stderr that has all the parts, nothing on stdout, the exit status."""
    code, out, err = result
    expect(f'{what}: exit status', code, status)
    expect(f'{what}: stdout', out, '')
    expect(f'{what}: lines of the message', err.rstrip('\n').count('\n') + 1, 1)
    missing = [part for part in parts if part not in err]
    expect(f'{what}: message {err!r} lacks', missing, [])


def skip(reason):
    print(reason)
    sys.exit(77)


def need(program):
    return shutil.which(program) or skip(f'{program} is not installed')


def finish():
    conclude(patience.unjudged)
