# SPDX-License-Identifier: MIT
"""Jobs under Slurm: a slurmctld and a slurmd of this test's own, on this machine, without munge and cgroups. As root, where Debian's
slurmctld, slurmd and slurm-client are installed; otherwise 77."""
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from job import PROGRAMS, MPIRUN, expect, expect_lines, finish, leftovers, segments, Result

lacking = [name for name in ('slurmctld', 'slurmd', 'slurmstepd', 'srun', 'sbatch', 'scancel', 'squeue', 'scontrol') if not shutil.which(name)]
if lacking or os.geteuid():
    print(f'{", ".join(lacking)} missing: apt-get install slurmctld slurmd slurm-client' if lacking else "Slurm's daemons are started by root only")
    sys.exit(77)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Slurm:
    """One node with two CPUs."""
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='slurm-', dir='/tmp')
        home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which('slurmctld'))))
        plugins = glob.glob(f'{home}/lib/*/slurm-wlm')
        host = socket.gethostname()
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith('SLURM_')}, 'SLURM_CONF': f'{self.folder}/slurm.conf',
                            'WS_IGNORE_JOBS': '1'}
        if plugins and not home == '/usr':
            self.environment['LD_LIBRARY_PATH'] = plugins[0] + ':' + os.environ.get('LD_LIBRARY_PATH', '')
        with open(f'{self.folder}/slurm.conf', 'w') as f:
            f.write(f'''ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
{f"PluginDir={plugins[0]}" if plugins else ""}
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
''')
        os.makedirs(f'{self.folder}/state')
        os.makedirs(f'{self.folder}/spool')
        self.daemons = []
        for command in ['slurmctld', '-D', '-i', '-c'], ['slurmd', '-D', '-c', '-d', os.path.realpath(shutil.which('slurmstepd'))]:
            with open(f'{self.folder}/{command[0]}.out', 'w') as out:
                self.daemons.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.environment, start_new_session=True))
        for _ in range(200):
            state = self.run('sinfo', '-h', '-o', '%T').out.strip()
            if state == 'idle':
                return
            time.sleep(0.1)
        logs = ''.join(open(path).read()[-1500:] for path in glob.glob(f'{self.folder}/*.log') + glob.glob(f'{self.folder}/*.out'))
        self.close()
        sys.exit(f"Slurm's node did not come up ({state!r}):\n{logs}")

    def run(self, *command, env=None, limit=60):
        began = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env={**self.environment, **(env or {})}, stdin=subprocess.DEVNULL,
                                  cwd=self.folder)
        except subprocess.TimeoutExpired as late:
            return Result(' '.join(command), 'time limit', str(late.stdout), str(late.stderr), limit, {})
        return Result(' '.join(command), done.returncode, done.stdout, done.stderr, time.monotonic() - began, {})

    def batch(self, script, *options, wait=True):
        """Its output, both streams in one, once it has ended, with `wait`, else at once."""
        with open(f'{self.folder}/job.sh', 'w') as f:
            f.write(f'#!/bin/bash\n{script}\n')
        result = self.run('sbatch', '--parsable', '-o', f'{self.folder}/job.out', *options, f'{self.folder}/job.sh')
        self.number = result.out.strip()
        if wait and self.wait():
            result.code = int(re.search(r'ExitCode=(\d+)', self.run('scontrol', 'show', 'job', self.number).out)[1])
            with open(f'{self.folder}/job.out') as f:
                result.out = f.read()
        result.title = script
        return result

    def wait(self):
        """Until the job is over; sbatch's own --wait looks every few seconds only."""
        for _ in range(300):
            if 'ING' not in self.run('squeue', '-h', '-t', 'all', '-o', '%T', '-j', self.number).out: # PENDING, RUNNING, COMPLETING
                return True
            time.sleep(0.1)
        return False

    def close(self):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(daemon.pid, signal.SIGKILL)
        shutil.rmtree(self.folder)


def ended(result, before, code=0):
    expect(result, f'exit status {result.code}, wanted {code}', result.code == code)
    left = leftovers(before)
    expect(result, f'left in shared memory: {left}', not left)


slurm = Slurm()
try:
    program = os.path.join(os.path.abspath(PROGRAMS), 'cliques')
    verdict = r'^workshare: 2 ranks on 1 node, .* chunks'

    # Hosts and number of ranks are the allocation's.
    before = segments()
    result = slurm.batch(f'WS_CORES=2 {MPIRUN} -workshare {program}', '--ntasks=2')
    ended(result, before)
    expect_lines(result, result.out, '^1 guests, 2 ranks on the node$', verdict)

    # Slurm starts the ranks itself.
    for options in ('--mpi=pmi2',), ('--mpi=pmi2', '--exclusive'), ('--mpi=pmi2', '--cpus-per-task=1', '--cpu-bind=cores'):
        before = segments()
        result = slurm.run('srun', *options, '-n', '2', program, env={'WS_ENABLE': '1'})
        ended(result, before)
        expect_lines(result, result.out, '^1 guests, 2 ranks on the node$')
        expect_lines(result, result.err, verdict)

    # Without a word on how, srun starts as many jobs of one rank: each verdict says so.
    before = segments()
    result = slurm.run('srun', '-n', '2', os.path.join(os.path.abspath(PROGRAMS), 'imbalance'), 'balanced', env={'WS_ENABLE': '1'})
    ended(result, before)
    expect(result, 'not told twice', result.err.count('srun started 2 jobs of one rank each; with srun --mpi=pmi2 they are one job') == 2)

    # Two steps of one allocation at the same time.
    before = segments()
    step = f'WS_ENABLE=1 srun --overlap --mpi=pmi2 -n 2 {program}'
    result = slurm.batch(f'{step} & {step} & wait', '--ntasks=2')
    ended(result, before)
    expect(result, 'not both steps', result.out.count('1 guests, 2 ranks on the node') == 2)

    # A job that is cancelled leaves nothing.
    before = segments()
    result = slurm.batch(f'exec {MPIRUN} -workshare -n 2 {os.path.join(os.path.abspath(PROGRAMS), "imbalance")} late 60000', '--ntasks=2', wait=False)
    for _ in range(300):
        if shared := segments()[0] - before[0]:
            break
        time.sleep(0.1)
    expect(result, 'the job shares no memory', shared)
    slurm.run('scancel', slurm.number)
    expect(result, 'the cancelled job is there still', slurm.wait())
    expect(result, 'it was not cancelled', 'CANCELLED' in slurm.run('scontrol', 'show', 'job', slurm.number).out)
    ended(result, before)
finally:
    slurm.close()
finish()
