# SPDX-License-Identifier: MIT
"""Several nodes on one machine, for real: each has its own network, /dev/shm, System V memory and host name, so that its ranks share no
memory with those of others, and messages between nodes go over TCP. mpirun's ssh is replaced by nsenter.

All of it is in namespaces of the calling script, and ends with it, however it ends."""
import os
import shutil
import subprocess
import sys
import tempfile

ENTER = '--net --mount --ipc --uts --root'    # --root: in a chroot, too
TOOLS = ('unshare', 'nsenter', 'ip', 'mount')


def own_namespaces():
    """Starts the script again in namespaces of its own; a reason where that is not permitted."""
    if os.environ.get('TEST_NODES_PARENT') == str(os.getppid()):
        return None
    lacking = [tool for tool in TOOLS if not shutil.which(tool)]
    if lacking:
        return f'{", ".join(lacking)} missing'
    inside = ['unshare', '--net', '--mount', '--propagation', 'private', '--']
    probe = subprocess.run([*inside, 'sh', '-c', 'ip link add ws0 type veth peer name ws1 && ip link add ws2 type bridge'], capture_output=True, text=True)
    if probe.returncode:
        return f'namespaces cannot be made here: {probe.stderr.strip().splitlines()[-1] if probe.stderr.strip() else "no reason given"}'
    done = subprocess.run([*inside, 'sh', '-c', 'export TEST_NODES_PARENT=$$; "$@"; exit $?', 'sh', sys.executable, *sys.argv])
    sys.exit(done.returncode)


class Nodes:
    """node0, node1, ... joined by a bridge. `prefix` runs a command on the first of them."""
    def __init__(self, count):
        self.names = [f'node{i}' for i in range(count)]
        self.holders = []
        self.folder = tempfile.mkdtemp(prefix='nodes-')
        hosts = os.path.join(self.folder, 'hosts')
        with open(hosts, 'w') as f:
            f.write('127.0.0.1 localhost\n' + ''.join(f'10.77.0.{i + 1} {name}\n' for i, name in enumerate(self.names)))
        self.sh('ip link set lo up; ip link add nodes type bridge; ip link set nodes up')
        for i, name in enumerate(self.names):
            # The holder keeps the namespaces: it ends with its standard input, and so with this script.
            holder = subprocess.Popen(['unshare', '--net', '--mount', '--ipc', '--uts', '--propagation', 'private', 'sh', '-c',
                                       f'hostname {name} && mount -t tmpfs shm /dev/shm && mount --bind "{hosts}" /etc/hosts && echo ready && read -r end',
                                       ], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.holders.append(holder)
            if holder.stdout.readline() != 'ready\n':
                raise OSError(f'{name} could not be made')
            self.sh(f'ip link add to{i} type veth peer name eth0 netns {holder.pid} && ip link set to{i} master nodes up')
            self.sh(f'ip addr add 10.77.0.{i + 1}/24 dev eth0 && ip link set eth0 up && ip link set lo up', node=i)
        # ssh's place: SCRIPT OPTION... HOST COMMAND, the command quoted for a shell.
        self.launcher = os.path.join(self.folder, 'enter')
        places = ' '.join(f'{name}) pid={holder.pid} ;;' for name, holder in zip(self.names, self.holders))
        with open(self.launcher, 'w') as f:
            f.write('#!/bin/sh\nwhile :; do case $1 in -*) shift ;; *) break ;; esac; done\n'
                    f'case $1 in {places} *) echo "no node $1" >&2; exit 255 ;; esac\nshift\n'
                    f'exec nsenter -t $pid {ENTER} --wd="$PWD" sh -c "$*"\n')
        os.chmod(self.launcher, 0o755)
        self.prefix = self.enter(0)
        self.options = ('-launcher', 'ssh', '-launcher-exec', self.launcher, '-hosts', ','.join(self.names))
        # Else UCX sees by the one kernel that ranks of two nodes are on one machine, and tries its shared memory.
        self.environment = {'UCX_TLS': 'tcp,self', 'UCX_NET_DEVICES': 'eth0'}

    def enter(self, node):
        return ('nsenter', '-t', str(self.holders[node].pid), *ENTER.split(), f'--wd={os.getcwd()}')

    def sh(self, command, node=None):
        done = subprocess.run([*(self.enter(node) if node is not None else ()), 'sh', '-c', command], capture_output=True, text=True)
        if done.returncode:
            raise OSError(f'{command}: {done.stderr.strip()}')
        return done.stdout

    def sent(self):
        """Bytes that each node has sent to others so far."""
        lines = [self.sh("grep eth0: /proc/net/dev", node=i) for i in range(len(self.names))]
        return [int(line.split(':')[1].split()[8]) for line in lines]

    def left(self):
        """What is in the nodes' shared memory."""
        return [line for i in range(len(self.names)) for line in self.sh('find /dev/shm -type f', node=i).splitlines()]

    def close(self):
        # With a namespace its half of a pair goes, and so the other, but some time later.
        self.sh('; '.join(f'ip link del to{i}' for i in range(len(self.names))) + '; ip link del nodes')
        for holder in self.holders:
            holder.stdin.close()
            holder.wait(10)
        shutil.rmtree(self.folder)
