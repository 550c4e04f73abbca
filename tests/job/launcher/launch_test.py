# SPDX-License-Identifier: MIT
"""Processes that mpirun cannot start: it ends at once, with one message that says which, where and why, and leaves nothing behind. And
the status that it ends with when a rank exits where it should not."""
import os
import signal
import subprocess
import sys
import tempfile
import uuid

from check import expect, finish

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import patience  # noqa: E402
from processes import end_processes  # noqa: E402

MPIRUN, APP, FORK_FAILS = sys.argv[1:]
TOKEN = 'TEST_LAUNCH'  # in the environment of all that mpirun starts


def launch(what, *args, env=None, files=None, limit=20):
    """(exit status, stdout, stderr); files: how many may be open."""
    token = uuid.uuid4().hex
    command = [MPIRUN, *args]
    if files:
        command = ['sh', '-c', f'ulimit -n {files} && exec "$@"', 'sh', *command]
    with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as err:
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={**os.environ, **(env or {}), TOKEN: token})
        code = job.returncode if patience.waited_for(lambda: job.poll() is not None, limit) else 'none: it hangs'
        left = end_processes(f'{TOKEN}={token}', 0 if code == 'none: it hangs' else 5)  # other hosts' processes see mpirun's end
        job.wait()
        expect(f'{what}: processes left', [] if code == 'none: it hangs' else left, [])
        out.seek(0), err.seek(0)
        return code, out.read(), err.read()


def refused(what, message, *args, **how):
    expect(what, launch(what, *args, **how), (255, '', f'mpiexec: cannot start {message}\n'))


HOST = os.uname().nodename
NO_FORK = 'fork: Resource temporarily unavailable'
for n in 0, 2, 3:
    refused(f'fork fails after {n}', f'rank {n} on host {HOST}: {NO_FORK}', '-n', '4', APP,
            env={'LD_PRELOAD': FORK_FAILS, 'FORK_FAILS': f'hydra_pmi_proxy:{n}'})
refused('no proxy', f'the proxy on host {HOST}: {NO_FORK}', '-n', '2', APP, env={'LD_PRELOAD': FORK_FAILS, 'FORK_FAILS': 'mpirun:0'})
# Hosts of any name are this one with the launcher fork.
refused('no second proxy', f'the proxy on host b: {NO_FORK}', '-launcher', 'fork', '-hosts', 'a,b', '-n', '2', APP,
        env={'LD_PRELOAD': FORK_FAILS, 'FORK_FAILS': 'mpirun:1'})

with tempfile.TemporaryDirectory() as folder:
    text = os.path.join(folder, 'text')
    with open(text, 'w') as f:
        f.write('no program')
    pipe = os.path.join(folder, 'pipe')
    os.mkfifo(pipe)
    refused('a pipe', f'rank 0 on host {HOST}: exec {pipe}: Permission denied', '-workshare', '-n', '1', pipe)
    for name, reason in (f'{folder}/missing', 'No such file or directory'), (pipe, 'Permission denied'), (text, 'Permission denied'), ('no-such-program', 'No such file or directory'):
        refused(name, f'rank 0 on host {HOST}: exec {name}: {reason}', '-n', '1', name)
        refused(f'{name} for one rank', f'rank 1 on host {HOST}: exec {name}: {reason}', '-n', '1', APP, ':', '-n', '1', name)
        refused(f'{name} on one host', f'rank 1 on host b: exec {name}: {reason}', '-launcher', 'fork', '-hosts', 'a,b',
                '-n', '1', APP, ':', '-n', '1', name)
    code, out, err = launch('for all', '-n', '4', text)
    expect('for all: one message', (code, out, err.count('\n'), 'Permission denied' in err), (255, '', 1, True))
    refused('wdir', f'rank 0 on host {HOST}: chdir {folder}/gone: No such file or directory', '-wdir', f'{folder}/gone', '-n', '2', APP)
    refused('launcher', f'the proxy on host elsewhere: exec {folder}/ssh: No such file or directory', '-launcher', 'ssh',
            '-launcher-exec', f'{folder}/ssh', '-hosts', 'elsewhere', '-n', '1', APP)

    # What stands for ssh fails on host `gone`, is killed on `killed`, hangs on `silent`, and starts the proxy here for any other host.
    ssh = os.path.join(folder, 'ssh')
    with open(ssh, 'w') as f:
        f.write("""#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
case $host in
    gone) echo "ssh: no way to $host" >&2; exit 255 ;;
    killed) kill -KILL $$ ;;
    silent) exec sleep 60 ;;
    *) exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-   # another host has nothing of mpirun's open, its listening socket above all
       eval "$@" ;;
esac
""")
    os.chmod(ssh, 0o755)
    by_ssh = '-launcher', 'ssh', '-launcher-exec', ssh, '-hosts'
    once = {'HYDRA_PROXY_RETRY_COUNT': '0'}  # a proxy that finds mpirun gone would try again for 100 s
    for hosts in 'gone', 'gone,b', 'b,gone', f'{HOST},gone', 'silent,gone', 'silent,b,gone':
        expect(hosts, launch(hosts, *by_ssh, hosts, '-n', '3', APP, env=once),
               (255, '', f'ssh: no way to gone\nmpiexec: cannot start the proxy on host gone: {ssh} ended with exit status 255\n'))
    expect('killed', launch('killed', *by_ssh, 'b,killed', '-n', '2', APP, env=once),
           (255, '', f'mpiexec: cannot start the proxy on host killed: {ssh} ended with signal 9\n'))
    expect('by ssh', launch('by ssh', *by_ssh, 'b', '-n', '2', APP), (0, '', ''))
    code, out, err = launch('leave', '-n', '2', APP, 'leave')
    told = f'mpiexec: rank 0 on host {HOST} exited with status 7 before MPI_Finalize\n'
    expect('the status of a rank that left', (code, err), (7, told))

seen = set()
for files in range(6, 46, 2):
    code, out, err = launch(f'{files} files', '-n', '4', 'true', files=files)
    seen.add(code)
    if code:
        expect(f'{files} files', (code, out, err.count('\n'), 'cannot start' in err, 'Too many open files' in err), (255, '', 1, True, True))
expect('with few files and with enough', seen, {0, 255})

# The reader of its output may go: mpirun ends then, as any program does.
token = uuid.uuid4().hex
with subprocess.Popen([MPIRUN, '-n', '2', 'yes'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**os.environ, TOKEN: token}) as job:
    line = job.stdout.readline()
    job.stdout.close()
    code = job.returncode if patience.waited_for(lambda: job.poll() is not None, 20) else 'none: it hangs'
    expect('the reader goes', (line, code, end_processes(f'{TOKEN}={token}', 5)), (b'y\n', -signal.SIGPIPE, []))
finish()
