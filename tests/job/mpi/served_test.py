# SPDX-License-Identifier: MIT
"""A rank that others put to, get from or lock while it waits stays awake for them: it slept after each answer, and each
next call had to wake it."""
import shutil
import subprocess

from job import CORES, expect_lines, finish, likely, repeated, run, skip

CALLS = 2000
# Where jobs of others use the cores a rank sleeps at once, and rightly so: out of their sight.
alone = ('unshare', '-p', '-f', '--mount-proc', '-m')
if not shutil.which('unshare') or subprocess.run([*alone, 'true'], capture_output=True).returncode:
    alone = ()


@repeated
def served():
    result = run('served', CALLS, prefix=alone)
    expect_lines(result, result.out, f'^{5 * CALLS} calls$')
    # Two a call were needed, one a rank; some are left where other programs have the cores.
    likely(result, 'ranks slept between calls', result.stats.get('naps', 5 * CALLS) < CALLS)


if CORES < 2:
    skip('needs two cores')
else:
    served()
finish()
