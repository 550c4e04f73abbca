# SPDX-License-Identifier: MIT
"""Machines that lack something: no name resolves, /proc is not mounted; and machines that have several networks: at which address mpirun
listens."""
import os
import re
import subprocess
import sys
import tempfile

from check import expect, finish, need, run, skip

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import patience  # noqa: E402

MPIRUN, APP = sys.argv[1:]
need('unshare')
OWN = next((own for own in (['unshare', '-m'], ['unshare', '-rm']) if run(*own, 'mount', '--bind', '/tmp', '/tmp')[0] == 0), None)
if not OWN:
    skip('mounts of its own are not permitted here')
IS_FIXED = re.search(r'Version: +4\.0', run(MPIRUN, '-version')[1])  # the launcher of MPICH 4.2 is not


def inside(setup, *command, options=()):
    return [*OWN, *options, 'sh', '-ec', f'{setup}\nexec "$@"', 'sh', *command]


with tempfile.TemporaryDirectory() as folder:
    nothing, hosts, ssh = (os.path.join(folder, name) for name in ('nothing', 'hosts', 'ssh'))
    with open(nothing, 'w'):
        pass
    with open(hosts, 'w') as f:
        f.write('127.0.0.1 localhost\n10.1.0.2 a\n10.1.0.3 b\n10.2.0.2 c\n')
    # Any host is this one; but it has nothing of mpirun's open.
    with open(ssh, 'w') as f:
        f.write('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nshift\nexec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-\neval "$@"\n')
    os.chmod(ssh, 0o755)
    BY_SSH = '-launcher', 'ssh', '-launcher-exec', ssh
    NAMELESS = f'mount --bind "{nothing}" /etc/hosts; mount --bind "{nothing}" /etc/resolv.conf'

    expect('no name resolves', run(*inside(NAMELESS, 'getent', 'hosts', os.uname().nodename))[1], '')
    for args in (), ('-launcher', 'fork', '-hosts', 'a,b'), *([(*BY_SSH, '-hosts', 'a,b')] if IS_FIXED else []):
        expect(f'without names {args}', run(*inside(NAMELESS, MPIRUN, *args, '-n', '3', APP, 'reduce'), env={'HYDRA_PROXY_RETRY_COUNT': '0'}), (0, '', ''))

    PROC_LESS = 'umount -l /proc'
    warning = "mpiexec: warning: /proc is not mounted, and MPI programs cannot start without it; mount it with 'mount -t proc proc /proc'\n"
    if run(*inside(PROC_LESS, 'true'))[0] == 0:
        expect('without /proc', run(*inside(PROC_LESS, MPIRUN, '-n', '2', 'true')), (0, '', warning))
        code, out, err = run(*inside(PROC_LESS, MPIRUN, '-workshare', '-n', '2', APP, 'reduce'))
        expect('MPI without /proc', (code != 0, err.startswith(warning)), (True, True))
        config = os.path.join(folder, 'config')
        with open(config, 'w') as f:
            f.write('-workshare\n')
        expect('a copy without /proc', run(*inside(PROC_LESS, MPIRUN, '-configfile', config, '-n', '1', 'true')),
               (1, '', 'mpiexec: error: cannot pass a copy of the configuration file to hydra: /proc is not mounted\n'))

    NETWORKS = f"""mount --bind "{hosts}" /etc/hosts
mount --bind "{nothing}" /etc/resolv.conf
ip link set lo up
for n in 1 2; do
    ip link add ws$n type veth peer name end$n
    ip link set end$n up
    ip addr add 10.$n.0.1/24 dev ws$n
    ip link set ws$n up
done"""
    if IS_FIXED and run(*inside(NETWORKS, 'true', options=['-n']))[0] == 0:
        for names, args, address in (('a', (), '10.1.0.1'), ('a,b', (), '10.1.0.1'), ('c', (), '10.2.0.1'), ('10.2.0.9', (), '10.2.0.1'), ('a,c', (), '0.0.0.0'),
                                     ('a,unknown', (), '0.0.0.0'), ('a', ('-localhost', '10.2.0.1'), '10.2.0.1'), ('a', ('-iface', 'ws2'), '10.2.0.1')):
            job = subprocess.Popen(inside(NETWORKS, MPIRUN, *BY_SSH, '-hosts', names, *args, '-n', '2', APP, 'wait', options=['-n']),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            line = job.stdout.readline()
            expect(f'{names} {args}: starts', line, 'waiting\n')
            if not line:
                job.wait()
                continue
            with open(f'/proc/{job.pid}/net/tcp') as f:
                rows = [line.split() for line in f][1:]
            sockets = [os.readlink(f'/proc/{job.pid}/fd/{fd}') for fd in os.listdir(f'/proc/{job.pid}/fd')]
            listens = ['.'.join(str(n) for n in reversed(bytes.fromhex(row[1][:8]))) for row in rows if row[3] == '0A' and f'socket:[{row[9]}]' in sockets]
            expect(f'{names} {args}: listens', listens, [address])
            job.terminate()
            if not patience.waited_for(lambda: job.poll() is not None, 30):
                job.kill()
                expect(f'{names} {args}', 'it hangs', 'it ends')
            job.wait()
finish()
