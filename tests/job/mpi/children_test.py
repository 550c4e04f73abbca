# SPDX-License-Identifier: MIT
"""Programs that a rank starts inherit nothing of Workshare's, whichever function of the C library starts them; scripts that start the
ranks hand all of it on."""
import os
import shlex
import shutil
import sys
import tempfile

from job import MPIRUN, PROGRAMS, expect, expect_lines, finish, run

OWN = ('WS_IGNORE_JOBS=', 'WS_STATS_FILE=')  # of job.py
# Those that OpenMP's libraries are loaded with, and the program itself: a plain one has libws only once MPI_Init loads it.
MODES = ('-workshare',), ('-workshare-openmp=share:8',), ('-workshare-openmp=lend',), ('-workshare', '-workshare-quantum', '300', '-workshare-openmp=off')
USERS = {}, {'OMP_NUM_THREADS': '1'}, {'OMP_NUM_THREADS': '2', 'LD_PRELOAD': 'libm.so.6', 'OMP_WAIT_POLICY': 'passive', 'WS_MINE': "a user's own"}


# Nothing is taken out of a copy of the environment that a program has made before MPI_Init, unless libws is loaded first.
COPIES = 'execve, a copy', 'execvpe', 'execle', 'spawn, a copy', 'posix_spawnp', 'vfork'


def seen(result, loaded_first):
    lines = [line.split(': ', 1) for line in result.out.splitlines() if ': ' in line]
    return {f'{way}: {line}' for way, line in lines if not line.startswith(OWN) and (loaded_first or way not in COPIES)}


def title(*words):
    return ' '.join(str(word) for word in words)


for program in 'children', 'children_plain':
    for user in USERS:
        plain = run(program, 'start', workshare=False, env=user)
        expect(plain, 'a way is missing', not user or len({line.split(':')[0] for line in seen(plain, True)}) == 15)
        for options in MODES:
            # libws: by these options, or by what the program is linked with
            loaded_first = options[0].endswith(('share:8', 'lend')) or (program == 'children' and len(options) == 1)
            result = run(program, 'start', options=options, env=user, title=title(program, options, user))
            here, there = seen(result, loaded_first), seen(plain, loaded_first)
            expect(result, f'children have {sorted(here - there)} and lack {sorted(there - here)}', here == there)

# Installed in a folder with a blank: the loader finds what it loads first by names, in a folder that children do not have.
with tempfile.TemporaryDirectory(prefix='a blank ', dir=PROGRAMS) as folder:
    shutil.copytree(os.path.dirname(os.path.dirname(MPIRUN)), os.path.join(folder, 'prefix'), symlinks=True, copy_function=os.link)
    for user in {}, {'LD_LIBRARY_PATH': '/nowhere', 'LD_PRELOAD': 'libm.so.6'}:
        plain = run('children', 'start', workshare=False, env=user)
        for options in MODES[:3]:
            result = run('children', 'start', options=options, env=user, mpirun=os.path.join(folder, 'prefix/bin/mpirun'), title=title('a blank', options, user))
            here, there = seen(result, True), seen(plain, True)
            expect(result, f'children have {sorted(here - there)} and lack {sorted(there - here)}', here == there)

# What the program sets counts, whatever number it is: of the children in a copy of the environment no more than that they start.
result = run('children', 'set', options=('-workshare-openmp=share:8',), env={'OMP_NUM_THREADS': '1'})
for way in 'execve', 'execvp', 'execl', 'fexecve', 'system', 'popen', 'posix_spawn':
    expect_lines(result, result.out, f'^{way}: OMP_NUM_THREADS=8$')

SHARE = '-workshare-openmp=share:8',
CHILDREN = os.path.join(PROGRAMS, 'children')
TELL = f'{shlex.quote(CHILDREN)} tell'
ONE = {'OMP_NUM_THREADS': '1'}
PYTHON = f'import subprocess; subprocess.run([{CHILDREN!r}, "tell"], check=True, close_fds=False)'
for how, command, user in (('itself', [CHILDREN, 'tell'], ONE), ('nothing set', [CHILDREN, 'tell'], {}), ('env', ['/usr/bin/env', 'A=B', CHILDREN, 'tell'], ONE),
                           ('sh, exec', ['/bin/sh', '-c', f'exec {TELL}'], ONE), ('sh, nothing set', ['/bin/sh', '-c', f'{TELL}; exit $?'], {}),
                           ('bash', ['/bin/bash', '-c', f'{TELL}; exit $?'], ONE), ('Python', [sys.executable, '-c', PYTHON], ONE),
                           ('a number of its own', ['/bin/sh', '-c', f'export OMP_NUM_THREADS=3; exec {TELL}'], {}),
                           ('two of them', ['/bin/sh', '-c', f'/usr/bin/env OMP_NUM_THREADS=2 /bin/bash -c {shlex.quote(f"{TELL}; exit")}'], ONE)):
    result = run(*command, options=SHARE, env=user, title=f'started by {how}')
    for r in 0, 1:
        expect_lines(result, result.out, f'^rank {r}: OMP_NUM_THREADS 8, threads 8$')
    expect(result, 'no summary', result.summary())
result = run('/bin/sh', '-c', f'unset OMP_NUM_THREADS; exec {TELL}', options=SHARE, env=ONE, title='a script that unsets it')
expect_lines(result, result.err, 'no parallel region is shared: OMP_NUM_THREADS is set for some processes only, or a script has unset it')

# A program of the script's that is no rank, before the ranks: as the script says.
result = run('/bin/sh', '-c', f'/usr/bin/env OMP_NUM_THREADS=3 {shlex.quote(os.path.join(PROGRAMS, "no_mpi"))}; exec {TELL}', options=('-workshare',), env=ONE,
             title='an OpenMP program before it')
expect(result, 'other threads than the script says', result.out.count('3 threads\n') == 2)

# Jobs within: of a rank, and of a script. Neither is one with -workshare.
inner = f'{shlex.quote(MPIRUN)} -n 2 {TELL}'
result = run('/bin/sh', '-c', f'exec {inner}', ranks=1, options=SHARE, env=ONE, title='mpirun in a script')
for r in 0, 1:
    expect_lines(result, result.out, f'^rank {r}: OMP_NUM_THREADS 1, threads 1$')
expect(result, f'a summary of the inner job: {result.summary()}', not result.summary())
finish()
