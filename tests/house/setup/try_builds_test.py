# SPDX-License-Identifier: MIT
"""try_builds_test.py SETUP BUILD: what `./setup try` builds can be built, here without optimization, and a rank under this machine's MPI lends its core with it.
BUILD stays: the second time only what has changed is built. `soak setup try` runs the command itself."""
import os
import re
import sys

from check import expect, finish, likely, patience, run, skip

SETUP, BUILD = os.path.realpath(sys.argv[1]), sys.argv[2]
TOP = os.path.dirname(SETUP)
sys.path.insert(0, os.path.join(TOP, 'tools/dev'))
import measure  # noqa: E402


def build():
    with open(SETUP) as f:
        options = re.search(r'^ +compile demo (-Dmpi=system .*?) \$\{meson_options', f.read(), re.M)[1].split()
    again = ['--reconfigure'] if os.path.exists(os.path.join(BUILD, 'build.ninja')) else []
    for command in ['meson', 'setup', *again, *options, '-Doptimization=0', BUILD, TOP], ['ninja', '-C', BUILD, 'demo']:
        code, out, err = run(*command, limit=900)
        if 'no MPI library was found' in out:
            skip('no MPI library was found')
        expect(f'exit status of {command[0]}; stdout: {out[-3000:]}; stderr: {err[-1000:]}', code, 0)
        if code:
            finish()


@patience.repeated
def lends():
    job = measure.any_mpis(os.path.join(BUILD, 'stage'), os.path.join(BUILD, 'benchmarks'), 2, 'none', 60)[0]
    result = job.run('double_loop', ['--work', '5ms', '--repeats', 20], workshare=True)
    likely(f'nothing was stolen: {result["workshare"]}', result['workshare']['chunks_stolen'] > 0)


build()
if len(os.sched_getaffinity(0)) < 2:
    skip('lending needs two cores')
lends()
finish()
