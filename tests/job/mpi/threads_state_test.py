# SPDX-License-Identifier: MIT
"""What an iteration finds in its thread: guests and workers compute with the rank's rounding and locale, also where the program
changes them when guests are there already, have its
signal mask, and as much stack as it has."""
import os
import subprocess
import tempfile

from job import CORES, finish, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()
for env in {}, {'WS_CHAOS': '3'}:
    run('threads_state', 'float', env=env, steals=True)
run('threads_state', 'float', ranks=1, options=('-workshare-workers', '1'), steals=True)  # a worker
run('threads_state', 'mask', steals=True)
# The stack of a guest is as large as the rank's, whatever thread-local storage takes.
run('huge_tls', prefix=('sh', '-c', 'ulimit -s 8192; exec "$@"', 'sh'), steals=True)

with tempfile.TemporaryDirectory() as folder:
    with open(folder + '/source', 'w') as f:
        f.write('LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n')
    try:
        subprocess.run(['localedef', '-c', '-i', folder + '/source', folder + '/xx_XX'], capture_output=True)
    except FileNotFoundError:
        pass
    if os.path.exists(folder + '/xx_XX/LC_NUMERIC'):
        run('threads_state', 'locale', 'xx_XX', env={'LOCPATH': folder}, steals=True)
    else:
        skip('localedef makes no locale here')
finish()
