# SPDX-License-Identifier: MIT
"""A /dev/shm of 64 MB, as in a default container: 64 ranks run there, with and without the flag. What does not fit ends with one line that
names the remedy. The user's own settings stay. A job that dies in MPI_Init leaves no files, and System V segments, which UCX opens to the
group, are only made without room in /dev/shm."""
import glob
import os
import shutil
import signal
import subprocess

from job import MPIRUN, PROGRAMS, expect, expect_lines, finish, run, skip

PREFIX = ('unshare', '-m', 'sh', '-c', 'mount -t tmpfs -o size=64m tmpfs /dev/shm && "$@"; status=$?; ls /dev/shm; exit $status', 'sh')


def small(ranks, out=None, **how):
    result = run('summed', ranks=ranks, prefix=PREFIX, limit=90, **how)
    expect(result, 'other output, or files in /dev/shm', result.out == (f'{ranks} ranks\n' if out is None else out))
    return result


if not shutil.which('unshare') or subprocess.run([*PREFIX, 'true'], capture_output=True).returncode:
    skip('no small /dev/shm: mounting one is not permitted here')
else:
    for flag in True, False:
        small(4, workshare=flag)
        result = small(64, workshare=flag)
        if flag:
            expect(result, 'it does not share', 'too small' not in result.err)
    too_many = r'^workshare: error: the message queues of {} ranks need .* MB and /dev/shm has .* MB free; make it larger .*UCX_POSIX_DIR'
    for ranks, env in (96, {}), (16, {'UCX_MM_RX_BUFS_GROW': '512'}):
        result = small(ranks, out='', env=env, code='error')
        expect_lines(result, result.err, too_many.format(ranks))
        expect(result, 'more than one line', len(result.err.splitlines()) == 1)
    small(15, env={'UCX_MM_RX_BUFS_GROW': '512'})
    small(16, env={'UCX_TLS': 'sysv,self,tcp'}, workshare=False)

# A rank is killed as soon as a file of MPICH or UCX has a name: run() sees what stays.


def kill_early(processes):
    while not glob.glob('/dev/shm/mpich_shar_tmp*') and not glob.glob('/dev/shm/ucx_shm_posix_*'):
        if not processes():
            return
    for pid in processes():
        try:
            if os.path.basename(os.readlink(f'/proc/{pid}/exe')) == 'summed':
                os.kill(pid, signal.SIGKILL)
                return
        except OSError:
            pass


for _ in range(10):
    run('summed', ranks=8, workshare=False, code=None, meanwhile=kill_early, title='a rank is killed in MPI_Init')

# The same between UCX's calls that make a System V segment and take its number back. A segment with a key is the program's own.
result = run('segment', '0', 'kill', ranks=1, workshare=False, code=None, title='a rank is killed after shmget()')
key = str(0x57530000 + os.getpid() % 0x10000)
subprocess.run([MPIRUN, '-n', '1', os.path.join(PROGRAMS, 'segment'), key, 'kill'], capture_output=True, timeout=60)
expect(result, 'a segment with a key is gone', subprocess.run(['ipcrm', '-M', key]).returncode == 0)
finish()
