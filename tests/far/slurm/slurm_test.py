# SPDX-License-Identifier: MIT
"""Jobs under Slurm: a slurmctld and two slurmds of this test's own, without munge, on two nodes of this machine (tests/far/nodes). As root, where
Debian's slurmctld, slurmd and slurm-client are installed; otherwise 77.
slurm_test.py MPIRUN PROGRAMS [FAMILY=FOLDER]..."""
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import nodes

lacking = [name for name in ('slurmctld', 'slurmd', 'slurmstepd', 'srun', 'sbatch', 'scancel', 'squeue', 'scontrol') if not shutil.which(name)]
if lacking or os.geteuid():
    print(f'{", ".join(lacking)} missing: apt-get install slurmctld slurmd slurm-client' if lacking else "Slurm's daemons are started by root only")
    sys.exit(77)
why_not = nodes.own_namespaces()
if why_not:
    print(why_not)
    sys.exit(77)
from job import PROGRAMS, MPIRUN, expect, expect_lines, finish, unfolded, Result  # noqa: E402

CPUS = 2    # of a node, pretended where there are fewer
CONTROLLERS = 'freezer', 'cpuset'
PORTS = 6817, 6818  # in the nodes' own networks nobody else has them


def cgroup_trouble():
    """Why Slurm cannot hold a job in cgroups here: of version 1, by which it knows a job's processes and which hold its CPUs; or None. With
    those of version 2 this slurmd asks systemd for a scope, which in a container, or in the test's namespaces, nobody answers."""
    for controller in CONTROLLERS:
        if not os.access(f'/sys/fs/cgroup/{controller}/cgroup.procs', os.W_OK):
            unified = os.path.exists('/sys/fs/cgroup/cgroup.controllers')
            return f'there is no cgroup of version 1 for {controller}' + (', only version 2, for which slurmd needs systemd' if unified else '')
    return None


class Slurm:
    """A partition of `count` nodes. Commands run on the first. cgroups: these hold the processes of a job, which end with it, and the CPUs
    that they may use (ConstrainCores); for one node only, as two on one machine would give a job the same."""
    def __init__(self, count, cgroups=False):
        self.nodes = nodes.Nodes(count)
        self.folder = self.nodes.folder
        home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which('slurmctld'))))
        plugins = glob.glob(f'{home}/lib/*/slurm-wlm')
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith('SLURM_')}, **self.nodes.environment,
                            'SLURM_CONF': f'{self.folder}/slurm.conf', 'WS_IGNORE_JOBS': '1'}
        if plugins and not home == '/usr':
            self.environment['LD_LIBRARY_PATH'] = f'{plugins[0]}:{os.path.dirname(plugins[0])}:' + os.environ.get('LD_LIBRARY_PATH', '')
        addresses = '\n'.join(f'NodeName={name} NodeAddr=10.77.0.{i + 1} CPUs={CPUS} State=UNKNOWN' for i, name in enumerate(self.nodes.names))
        with open(f'{self.folder}/slurm.conf', 'w') as f:
            f.write(f"""ClusterName=test
SlurmctldHost=node0(10.77.0.1)
SlurmctldPort={PORTS[0]}
SlurmdPort={PORTS[1]}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/{"cgroup" if cgroups else "linuxproc"}
TaskPlugin=task/affinity{",task/cgroup" if cgroups else ""}
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool-%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd-%n.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd-%n.log
{f"PluginDir={plugins[0]}" if plugins else ""}
{addresses}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
""")
        if cgroups:
            with open(f'{self.folder}/cgroup.conf', 'w') as f:
                f.write('CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nConstrainCores=yes\n')
        os.makedirs(f'{self.folder}/state')
        self.daemons = []
        self.start(0, 'slurmctld', '-D', '-i', '-c')
        for i in range(len(self.nodes.names)):
            os.makedirs(f'{self.folder}/spool-node{i}')
            self.start(i, 'slurmd', '-D', '-c', '-d', os.path.abspath(shutil.which('slurmstepd')))  # by that name: it looks
        for _ in range(300):
            states = self.run('sinfo', '-h', '-N', '-o', '%T').out.split()
            if states == ['idle'] * count:
                return
            time.sleep(0.1)
        logs = ''.join(open(path).read()[-1500:] for path in glob.glob(f'{self.folder}/*.log') + glob.glob(f'{self.folder}/*.out'))
        self.close()
        sys.exit(f"Slurm's nodes did not come up ({states}):\n{logs}")

    def start(self, node, *command):
        with open(f'{self.folder}/{command[0]}-{node}.out', 'w') as out:
            self.daemons.append(subprocess.Popen([*self.nodes.enter(node), *command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                 env=self.environment, start_new_session=True))

    def run(self, *command, env=None, limit=60):
        began = time.monotonic()
        try:
            done = subprocess.run([*self.nodes.prefix, *command], capture_output=True, text=True, timeout=limit, env={**self.environment, **(env or {})},
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as late:
            return Result(' '.join(command), 'time limit', str(late.stdout), str(late.stderr), limit, {})
        return Result(' '.join(command), done.returncode, done.stdout, done.stderr, time.monotonic() - began, {})

    def srun(self, *command, env=None):
        return self.run('srun', *command, env={'WS_ENABLE': '1', **(env or {})})

    def submit(self, script, *options):
        """A job's number."""
        with open(f'{self.folder}/job.sh', 'w') as f:
            f.write(f'#!/bin/bash\n{script}\n')
        return self.run('sbatch', '--parsable', '-o', f'{self.folder}/%j.out', *options, f'{self.folder}/job.sh').out.strip()

    def shown(self, number, field):
        return re.search(rf'\b{field}=(\S+)', self.run('scontrol', 'show', 'job', number).out)[1]

    def ended(self, number, title):
        """What the job came to, both streams as `out`, once it is over; sbatch's own --wait looks every few seconds only."""
        code = 'time limit'
        for _ in range(600):
            if 'ING' not in self.shown(number, 'JobState'):     # PENDING, RUNNING, COMPLETING
                code = int(self.shown(number, 'ExitCode').split(':')[0])
                break
            time.sleep(0.1)
        with open(f'{self.folder}/{number}.out') as f:
            return Result(title, code, unfolded(f.read()), '', 0, {})

    def batch(self, script, *options):
        return self.ended(self.submit(script, *options), script)

    def ranks(self):
        """Processes that have `folder` among their arguments, with what they map."""
        found = {}
        for path in glob.glob('/proc/[0-9]*'):
            try:
                with open(f'{path}/cmdline') as arguments, open(f'{path}/maps') as maps:
                    if 'imbalance' in (words := arguments.read().split('\0'))[0] and self.folder in words:
                        found[os.path.basename(path)] = maps.read()
            except OSError:
                pass
        return found

    def begun(self, result):
        """Waits until two ranks share memory."""
        for _ in range(300):
            if sum('memfd:workshare-board' in maps for maps in self.ranks().values()) == 2:
                return
            time.sleep(0.1)
        expect(result, 'the job does not begin', False)

    def check_left(self, result):
        """No rank stays, and nothing in the nodes' shared memory; what is being killed goes soon."""
        for _ in range(100):
            left = [*self.nodes.left(), *self.ranks()]
            if not left:
                return
            time.sleep(0.1)
        expect(result, f'left, files or processes: {left}', False)

    def close(self):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(daemon.pid, signal.SIGKILL)
        self.nodes.close()
        for path in glob.glob('/sys/fs/cgroup/*/slurm_node[01]'):   # Slurm leaves its own
            for folder, _, _ in os.walk(path, topdown=False):
                with contextlib.suppress(OSError):      # its last processes may be ending
                    os.rmdir(folder)


def program(name):
    return os.path.join(os.path.abspath(PROGRAMS), name)


MPIRUN = os.path.abspath(MPIRUN)
HOSTS = [argument.split('=', 1) for argument in sys.argv[3:]]   # FAMILY=FOLDER, where the programs of that MPI are
CLIQUES = program('cliques')
HELPED = '^1 guests, 2 ranks on the node$'
ONE_NODE, TWO_NODES = r'\(2 ranks on 1 node, [\d.]+ s\)\nworkshare: .* chunks', r'\(4 ranks on 2 nodes, [\d.]+ s\)\nworkshare: .* chunks'


def check(slurm, result, code=0, lines=(), told=()):
    expect(result, f'exit status {result.code}, wanted {code}', result.code == code)
    expect_lines(result, result.out, *lines)
    expect_lines(result, result.err or result.out, *told)
    slurm.check_left(result)


def mpirun_in_allocations(slurm):
    """Hosts and number of ranks are the allocation's."""
    check(slurm, slurm.batch(f'WS_CORES=2 {MPIRUN} -workshare {CLIQUES}', '-N1', '--ntasks=2'), lines=[HELPED], told=[ONE_NODE])
    if len(slurm.nodes.names) > 1:
        check(slurm, slurm.batch(f'WS_CORES=2 {MPIRUN} -workshare {CLIQUES}', '-N2', '--ntasks-per-node=2'), lines=[HELPED], told=[TWO_NODES])


def ranks_by_srun(slurm):
    for options in ('-n2',), ('-n2', '--exclusive'), ('-n2', '--cpus-per-task=1', '--cpu-bind=cores'):
        check(slurm, slurm.srun('--mpi=pmi2', '-N1', *options, CLIQUES), lines=[HELPED], told=[ONE_NODE])
    # A task's second CPU is a worker's.
    count = len(slurm.nodes.names)
    check(slurm, slurm.srun('--mpi=pmi2', f'-N{count}', f'-n{count}', '--cpus-per-task=2', program('imbalance'), 'balanced', '300', env={'WS_WORKERS': '1'}),
          lines=['^right$'], told=[f'had {count} workers?; helpers and workers used'])
    if count > 1:
        check(slurm, slurm.srun('--mpi=pmi2', '-N2', '-n4', CLIQUES), lines=[HELPED], told=[TWO_NODES])


def is_spoken(slurm, protocol):
    """Whether Slurm can start jobs by it; says why if not. For PMIx Debian has slurmd load what is in libpmix-dev."""
    tried = slurm.run('srun', protocol, '-n1', 'true')
    if tried.code:
        print(f'not tried: srun {protocol}: {tried.err.strip()}')
    return not tried.code


def jobs_of_one_rank(slurm):
    """Without --mpi, and with PMIx, srun starts as many jobs of one rank: each verdict says so, and ws-doctor."""
    for how, told, found in ([], 'srun started 2 jobs of one rank each', 'started by srun without --mpi=pmi2'), \
            (['--mpi=pmix'], 'srun --mpi=pmix started 2 jobs of one rank each, because this MPI does not know PMIx', 'started by srun --mpi=pmix'):
        if how and not is_spoken(slurm, *how):
            continue
        result = slurm.srun(*how, '-N1', '-n2', program('imbalance'), 'balanced')
        check(slurm, result)
        expect(result, 'not told twice', result.err.count(told) == 2 and result.err.count('hint: srun --mpi=pmi2 makes one job of them') == 2)
        check(slurm, slurm.run('srun', *how, '-N1', '-n2', os.path.join(os.path.dirname(MPIRUN), 'ws-doctor')), code=1,
              lines=['^WS801 problem', found, 'WS_ENABLE=1 srun --mpi=pmi2 -n 2'])


def other_mpis(slurm):
    """`srun workshare ./app`, by the protocol that this MPI speaks: PMI-2 or PMIx. On one node: on two of these, Slurm's
    PMIx fails to start any program, and MPICH 4.0.2 alone hangs in half of its jobs over TCP."""
    workshare = os.path.join(os.path.dirname(MPIRUN), 'workshare')
    for family, folder in HOSTS:
        protocol = '--mpi=pmix' if family == 'openmpi' else '--mpi=pmi2'
        if is_spoken(slurm, protocol):
            check(slurm, slurm.run('srun', protocol, '-N1', '-n2', workshare, os.path.join(folder, 'cliques')), lines=[HELPED], told=[ONE_NODE])


def two_steps(slurm):
    """Of one allocation, at the same time, and one after the other."""
    for options in '--overlap', '--exclusive':
        step = f'WS_ENABLE=1 srun {options} --mpi=pmi2 -n 2 {CLIQUES}'
        result = slurm.batch(f'{step} & {step} & wait', '-N1', '--ntasks=2')
        check(slurm, result)
        expect(result, 'not both steps', result.out.count('1 guests, 2 ranks on the node') == 2)


def ends(slurm, by_srun, end, state):
    """A job that is ended before its time leaves nothing."""
    long = f'{program("imbalance")} late 600000 {slurm.folder}'
    script = f'WS_ENABLE=1 exec srun --mpi=pmi2 {long}' if by_srun else f'exec {MPIRUN} -workshare {long}'
    number = slurm.submit(script, '-N1', '--ntasks=2')
    title = f'{script}, {end[0]}'
    slurm.begun(Result(title, '', '', '', 30, {}))
    slurm.run(*(number if word == 'JOB' else word.replace('=JOB', f'={number}') for word in end))
    result = slurm.ended(number, title)
    expect(result, f'the job is not {state}', slurm.shown(number, 'JobState') == state)
    slurm.check_left(result)


def try_all(slurm):
    try:
        mpirun_in_allocations(slurm)
        ranks_by_srun(slurm)
        jobs_of_one_rank(slurm)
        other_mpis(slurm)
        two_steps(slurm)
        for by_srun in False, True:
            ends(slurm, by_srun, ('scancel', 'JOB'), 'CANCELLED')
        # Slurm looks at times every half minute.
        ends(slurm, False, ('scontrol', 'update', 'JobId=JOB', 'EndTime=now'), 'TIMEOUT')
    finally:
        slurm.close()


def confined(slurm):
    """A job's cgroup holds as many CPUs as it asked for, though nothing else binds it. Two ranks share one all the same."""
    for cpus in 1, 2:
        result = slurm.run('srun', '-n1', f'--cpus-per-task={cpus}', '--cpu-bind=none', sys.executable, '-c', 'import os; print(len(os.sched_getaffinity(0)))')
        check(slurm, result, lines=[f'^{min(cpus, os.cpu_count())}$'])
    check(slurm, slurm.batch(f'{MPIRUN} -workshare -n 2 {program("imbalance")} balanced', '-n1', '--cpus-per-task=1'), lines=['^right$'],
          told=[r'^workshare: .*\(2 ranks on 1 node, '])


def try_in_cgroups(slurm):
    try:
        check(slurm, slurm.run('srun', '-n1', 'cat', '/proc/self/cgroup'), lines=[f'{name}:/slurm_node0/.*step' for name in CONTROLLERS])
        confined(slurm)
        mpirun_in_allocations(slurm)
        ranks_by_srun(slurm)
        ends(slurm, True, ('scancel', 'JOB'), 'CANCELLED')
    finally:
        slurm.close()


try_all(Slurm(2))
why_not = cgroup_trouble()
if why_not:
    print(f'{why_not}: tried without')
else:
    try_in_cgroups(Slurm(1, cgroups=True))
finish()
