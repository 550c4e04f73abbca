# SPDX-License-Identifier: MIT
"""What the commands of a prefix say of their options."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from expectation import equal  # noqa: E402

STAGE = sys.argv[1]
TOOLS = sorted(name for name in os.listdir(f'{STAGE}/bin') if name.startswith('ws-'))


def says(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30)
    equal(f'{command}: exit status', done.returncode, 0)
    return done.stdout


def mpirun_options():
    """Workshare's, and all that stand at the begin of a line of -help."""
    names = re.findall(r'^ +(-[a-z][a-z0-9-]*)', says(f'{STAGE}/bin/mpirun', '-help'), re.MULTILINE)
    return {n for n in names if n.startswith('-workshare')}, set(names)


def tool_options(tool):
    """The long ones, which the lines of --help begin with, and the short ones of the same lines."""
    lines = re.findall(r'^ +((?:-[A-Za-z](?: [A-Z]+)?, ?)?--?[a-z][\w-]*)', says(f'{STAGE}/bin/{tool}', '--help'), re.MULTILINE)
    found = re.findall(r'(?<![\w-])--?[A-Za-z][\w-]*', '\n'.join(lines))
    return {n for n in found if n.startswith('--')}, {n for n in found if not n.startswith('--')}
