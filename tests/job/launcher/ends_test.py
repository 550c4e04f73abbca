# SPDX-License-Identifier: MIT
"""How jobs end that end badly: mpirun's status and its one message; that nobody else reaches mpirun's port; and reductions in place at a
root other than rank 0."""
import glob
import os
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile

from check import expect, finish

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import patience  # noqa: E402

MPIRUN, APP = sys.argv[1:]
HOST = os.uname().nodename
TWO = '-launcher', 'fork', '-hosts', 'a,b'  # hosts of any name are this one with the launcher fork


def start(*args, env=None):
    return subprocess.Popen([MPIRUN, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **(env or {})})


def result(job):
    ended = patience.waited_for(lambda: job.poll() is not None, 30)
    if not ended:
        job.kill()
    out, err = job.communicate()
    return job.returncode if ended else 'none: it hangs', out, err


for flag in [], ['-workshare']:
    for how in 'exit', '_exit':
        for status, code in (0, 1), (7, 7):
            expect(f'{flag} {how} {status}', result(start(*flag, '-n', '2', APP, how, str(status))),
                   (code, '', f'mpiexec: rank 1 on host {HOST} exited with status {status} before MPI_Finalize\n'))
    code, out, err = result(start(*flag, '-n', '3', APP, 'abort', '5'))
    expect(f'{flag} abort', (code, out, err.count('Abort(5)')), (5, '', 1))
expect('elsewhere', result(start(*TWO, '-n', '2', APP, 'exit', '0')), (1, '', 'mpiexec: rank 1 on host b exited with status 0 before MPI_Finalize\n'))
for hosts in (), TWO:
    for status in 0, 3:
        expect(f'after MPI_Finalize {hosts}', result(start(*hosts, '-n', '2', APP, 'after', str(status))), (status, 'rank 0 goes on\n', ''))
expect('before MPI_Init', result(start('-n', '2', APP, 'before')),
       (1, '', f'mpiexec: rank 1 on host {HOST} exited with status 0 before MPI_Init, where others wait\n'))
expect('before MPI_Init, elsewhere', result(start(*TWO, '-n', '2', APP, 'before')),
       (1, '', 'mpiexec: rank 1 on host b exited with status 0 before MPI_Init, where others wait\n'))

# A rank that is killed leaves others waiting: in MPI_Init nobody gets on without it. Otherwise -disable-auto-cleanup lets the others go on,
# until all wait for it in MPI_Finalize.
KEEP = '-disable-auto-cleanup', '-n', '3', APP
for hosts in (), TWO:
    host = 'b' if hosts else HOST
    # On one node ranks meet once more behind that barrier.
    ends = [(['killed', 'init'], 'in MPI_Init'), (['killed', 'finalize'], 'in MPI_Finalize'), (['alone'], 'before MPI_Finalize')] + (not hosts) * [(['killed', 'barrier'], 'in MPI_Finalize')]
    for args, where in ends:
        code, out, err = result(start(*hosts, *KEEP, *args))
        expect(f'{args} {hosts}', (code, err), (9, f'mpiexec: rank 1 on host {host} was killed by signal 9 (Killed) {where}, where others wait\n'))
        expect(f'{args} {hosts}: who goes on', sorted(re.findall('rank . goes on', out)), ['rank 0 goes on', 'rank 2 goes on'] if args == ['alone'] else [])
    for args in ['killed', 'init'], ['killed', 'finalize'], ['alone']:
        expect(f'{args} {hosts}, with cleanup', result(start(*hosts, '-n', '3', APP, *args))[::2], (9, ''))
# Workshare's part of MPI_Finalize meets all ranks, too; on one node libws sees by itself that one has died.
expect('with Workshare', result(start(*TWO, '-workshare', *KEEP, 'alone'))[::2],
       (9, 'mpiexec: rank 1 on host b was killed by signal 9 (Killed) before MPI_Finalize, where others wait\n'))
# Behind that barrier ranks of MPICH 4.2 may meet once more.
code, out, err = result(start(*TWO, *KEEP, 'killed', 'barrier'))
expect('killed when all had come, elsewhere', (code, err.replace(
    'mpiexec: rank 1 on host b was killed by signal 9 (Killed) in MPI_Finalize, where others wait\n', '')), (9, ''))
expect('nobody killed', result(start('-disable-auto-cleanup', '-n', '2', APP)), (0, '', ''))
expect('no MPI', result(start('-n', '2', 'true')), (0, '', ''))
expect('no MPI, status 3', result(start('-n', '2', 'sh', '-c', 'exit 3')), (3, '', ''))

# A process that MPI_Comm_spawn has started ends the job as one that mpirun has started. MPICH 4 starts none with ch4:ucx.
code, can_spawn, err = result(start('-n', '1', APP, 'spawns'))
expect('says whether it can spawn', (code, can_spawn in ('yes\n', 'no\n'), err), (0, True, ''))
if can_spawn == 'yes\n':
    for args in (), TWO, ('-workshare', '-workshare-quiet'):
        host = 'b' if args == TWO else HOST
        for how, status, code in ('exit', 0, 1), ('exit', 7, 7), ('_exit', 7, 7):
            expect(f'{args} spawned, {how} {status}', result(start(*args, '-n', '2', APP, 'spawn', how, str(status))),
                   (code, '', f'mpiexec: rank 1 on host {host} exited with status {status} before MPI_Finalize\n'))
        code, out, err = result(start(*args, '-n', '2', APP, 'spawn', 'abort', '5'))
        expect(f'{args} spawned, abort', (code, out, err.count('Abort(5)')), (5, '', 1))
        code, out, err = result(start(*args, '-n', '2', APP, 'spawn', 'alone', '0'))
        expect(f'{args} spawned, killed', (code, out.count('BAD TERMINATION'), err), (9, 1, ''))
        for status in 0, 3:
            expect(f'{args} spawned, status {status} after MPI_Finalize', result(start(*args, '-n', '2', APP, 'spawn', 'after', str(status))), (status, '', ''))


def waiting(*args, env=None):
    job = start(*args, '-n', '2', APP, 'wait', env=env)
    expect('it waits', job.stdout.readline(), 'waiting\n')
    return job


for args in (), TWO:
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGQUIT:
        job = waiting(*args)
        job.send_signal(number)
        code, out, err = result(job)
        expect(f'{args} {number.name}', (code, out, err.count('\n'), number.name in err), (128 + number, '', 1, True))


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children') as f:
        return [int(n) for n in f.read().split()]


def ports(pid):
    """Where it listens, as (address, port) of IPv4."""
    sockets = [os.readlink(name) for name in glob.glob(f'/proc/{pid}/fd/*') if os.path.islink(name)]
    with open('/proc/net/tcp') as f:
        rows = [line.split() for line in f][1:]
    return [(row[1].split(':')[0], int(row[1].split(':')[1], 16)) for row in rows if row[3] == '0A' and f'socket:[{row[9]}]' in sockets]


job = waiting()
expect('a port for a job on one node', ports(job.pid), [])
os.kill(children(job.pid)[0], signal.SIGKILL)
expect('a killed proxy', result(job), (255, '', f'mpiexec: the proxy on host {HOST} has ended unexpectedly, and its ranks with it\n'))

with tempfile.TemporaryDirectory() as folder:
    # What stands for ssh passes nothing on but its standard input, and shows its arguments.
    ssh = os.path.join(folder, 'ssh')
    with open(ssh, 'w') as f:
        f.write(f"""#!/bin/sh
echo "$@" >>{folder}/arguments
echo "$HYDI_CONTROL_SECRET" >>{folder}/secret
while [ "${{1#-}}" != "$1" ]; do shift; done
shift
unset HYDI_CONTROL_SECRET
eval "$@"
""")
    os.chmod(ssh, 0o755)
    # The name of the host does not resolve: the way to it is not known.
    for iface, address in ((), '00000000'), (('-localhost', '127.0.0.1'), '0100007F'), (('-iface', 'lo'), '0100007F'):
        job = waiting('-launcher', 'ssh', '-launcher-exec', ssh, '-hosts', 'no.such.host.invalid', *iface)
        listens = ports(job.pid)
        expect(f'{iface} listens', [a for a, _ in listens], [address])
        strangers = []
        for text in b'', struct.pack('i', 0), b'0' * 36, b'0' * 10, b'x' * 100000:
            for _ in range(30):
                s = socket.create_connection(('127.0.0.1', listens[0][1]))
                try:
                    s.sendall(text)
                except OSError:
                    pass
                strangers.append(s)
        for s in strangers[::2]:
            s.close()
        stranger = socket.create_connection(('127.0.0.1', listens[0][1]))
        stranger.sendall(b'0' * 32 + struct.pack('i', 0))
        try:
            answer = stranger.recv(100)
        except ConnectionResetError:
            answer = b''
        expect('a stranger is told', answer, b'')
        expect('the job goes on', job.poll(), None)
        job.send_signal(signal.SIGTERM)
        code, out, err = result(job)
        expect('and ends as any other', (code, out, err.count('\n')), (143, '', 1))
    with open(f'{folder}/secret') as f:
        secrets = f.read().split()
    with open(f'{folder}/arguments') as f:
        arguments = f.read()
    expect('secrets', (len(set(secrets)), {len(s) for s in secrets}), (3, {32}))
    expect('secrets in arguments', [s for s in secrets if s in arguments], [])

# The user runs what mpirun prints: with the secret in it, unless mpirun was given the secret; then proxies get it here by their input.
SECRET = 'HYDI_CONTROL_SECRET'
FOLDER = os.path.dirname(os.path.realpath(MPIRUN))  # hydra prints it as it is, without quotes
for env in {}, {SECRET: '0123456789abcdef' * 2}:
    job = start('-launcher', 'manual', '-hosts', 'elsewhere', '-localhost', '127.0.0.1', '-n', '2', APP, 'reduce', env=env)
    proxies = []
    for line in job.stdout:
        if line.startswith('HYDRA_LAUNCH: '):
            expect('the secret is printed', SECRET in line, not env)
            proxies.append(subprocess.Popen(['sh', '-c', line.split(': ', 1)[1].replace(FOLDER, shlex.quote(FOLDER))], stdin=subprocess.PIPE, text=True))
            proxies[-1].stdin.write(env.get(SECRET, '') + '\n')
            proxies[-1].stdin.close()
        if line.startswith('HYDRA_LAUNCH_END'):
            break
    expect('proxies by hand', len(proxies), 1)
    expect('a job launched by hand', result(job)[0], 0)
    for proxy in proxies:
        proxy.wait(10)
for secret in '', 'x' * 32, '0' * 31:
    code, out, err = result(start('-launcher', 'manual', '-hosts', 'elsewhere', '-n', '2', APP, 'reduce', env={SECRET: secret}))
    expect('no secret', (code != 0, out, f'{SECRET} is not 32 hexadecimal digits' in err), (True, '', True))

for args in (), ('-pmi-port',), (*TWO, '-ppn', '1'), ('-launcher', 'fork', '-hosts', 'a:1,b:2'), ('-workshare',):
    expect(f'reduce {args}', result(start(*args, '-n', '3', APP, 'reduce'))[0], 0)
finish()
