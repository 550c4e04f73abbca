#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""machines_test.py WS_DOCTOR DOCS: each check on made-up machines: folders with the files that the kernel would have, and what is no file
in facts.json. Each check must be silent on a good machine, and each must speak on a bad one, if a bad one can be made up."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from checks import fail, finish, fits  # noqa: E402

DOCTOR = sys.argv[1]
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(('WS_', 'OMP_', 'GOMP_', 'KMP_', 'LD_', 'UCX_', 'PMI_', 'PMIX_', 'MPI', 'HYD', 'OMPI_'))}
FAST = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None   # thousands of little files, for moments
tried = set()       # checks that were made to complain


def good_files():
    """A node with 8 cores of one thread, and a v2 cgroup without limits."""
    return {
        '/proc/self/status': 'Name:\tws-doctor\nUid:\t1000\t1000\t1000\t1000\nThreads:\t1\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-7\n',
        '/proc/7/status': 'Uid:\t1000\t1000\t1000\t1000\nThreads:\t5\n',
        '/proc/8/status': 'Uid:\t0\t0\t0\t0\nThreads:\t500\n',
        '/proc/self/limits': limits(),
        '/proc/self/cgroup': '0::/user/job\n',
        '/proc/meminfo': 'MemTotal:       65536000 kB\nMemAvailable:   60000000 kB\n',
        '/proc/cpuinfo': 'processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n',
        '/proc/stat': stat(0, 0),
        '/proc/stat.later': stat(1, 0),
        '/proc/sys/kernel/numa_balancing': '0\n',
        '/sys/devices/system/cpu/online': '0-7\n',
        '/sys/devices/system/clocksource/clocksource0/current_clocksource': 'tsc\n',
        '/sys/fs/cgroup/user/job/cpu.max': 'max 100000\n',
        '/sys/fs/cgroup/user/job/cpuset.cpus.effective': '0-7\n',
        '/sys/fs/cgroup/user/job/pids.max': 'max\n',
        **{f'/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor': 'performance\n' for cpu in range(8)},
    }


def limits(stack='8388608', processes='100000', space='unlimited', files='1024'):
    return ''.join(f'{name:<26}{value:<21}unlimited            units\n' for name, value in
                   (('Max stack size', stack), ('Max processes', processes), ('Max address space', space), ('Max open files', files)))


def stat(busy, stolen):
    """Hundredths of a second in which each CPU computed."""
    return 'cpu  1 2 3 4\n' + ''.join(f'cpu{cpu} {1000 + busy} 0 0 5000 0 0 0 {stolen} 0 0\n' for cpu in range(8)) + 'intr 12\n'


def good_facts(**more):
    return {'topology': 'package:1 core:8 pu:1', 'host': 'node1', 'kernel': '6.1', 'pid_namespace': 'pid:[1]', 'shm_bytes': 2**34,
            'shm_free': 2**34, 'skew_us': 0.0, **more}


def write(folder, files, facts):
    for name, text in files.items():
        if text is not None:
            path = pathlib.Path(str(folder) + name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    pathlib.Path(folder, 'facts.json').write_text(json.dumps(facts))


def ask(arguments, **environment):
    done = subprocess.run([DOCTOR, *map(str, arguments)], capture_output=True, text=True, timeout=30, env={**CLEAN, **environment})
    if done.returncode not in (0, 1) or done.stderr:
        fail(f'{arguments}: exit status {done.returncode}', done.stdout + done.stderr)
        return None
    answer = json.loads(done.stdout)
    fits('doctor', answer, arguments)
    return answer, done.returncode


def findings(ranks, arguments=(), **environment):
    """What is found on the machines of these ranks, each (files, facts): {number: finding}; and the exit status."""
    with tempfile.TemporaryDirectory(prefix='ws-doctor-', dir=FAST) as top:
        roots = []
        for number, (files, facts) in enumerate(ranks):
            folder = pathlib.Path(top, str(number))
            write(folder, {**good_files(), **files}, good_facts(**facts))
            roots += ['--root', folder]
        answer = ask(['--json', *roots, *arguments], **environment)
    if answer is None:
        return {}, None
    found = {}
    for f in answer[0]['findings']:
        found.setdefault(f['number'], []).append(f)
    return found, answer[1]


def expect(what, number, level, text='', files=None, facts=None, ranks=None, arguments=(), fix='', others=('ok', 'skipped'), **environment):
    """The one finding on a machine that is good except for these files and facts, or with these ranks. There must be no other finding."""
    if ranks is None:
        ranks = [(files or {}, facts or {})]
    found, status = findings(ranks, arguments, **environment)
    mine = found.get(number, [])
    tried.update({number} if level not in ('ok', 'skipped') else set())
    if not any(f['level'] == level and text in f['measured'] and fix in (f['fix'] or '') for f in mine):
        fail(f'{what}: no {level} {number} with {text!r} and {fix!r}', json.dumps(mine, indent=1))
    for f in mine:
        if f['level'] in ('note', 'warning', 'problem') and not (f['cause'] and f['fix']):
            fail(f'{what}: {number} has no cause or no fix', json.dumps(f, indent=1))
    for other, list_ in found.items():
        if other != number and others is not None:
            for f in list_:
                if f['level'] not in others:
                    fail(f'{what}: {other} as well', json.dumps(f, indent=1))
    if status is not None and status != any(f['level'] in ('warning', 'problem') for list_ in found.values() for f in list_):
        fail(f'{what}: exit status {status}')


def job(count, cpus=None, enable=True, **facts):
    """Ranks under mpirun, each bound to a CPU of its own."""
    return [({'/proc/self/status': good_files()['/proc/self/status'].replace('0-7', cpus[r] if cpus else str(r))},
             {'under_mpirun': True, 'rank': r, 'size': count, 'libws_loaded': True, 'environment': {'WS_ENABLE': '1'} if enable else {}, **facts})
            for r in range(count)]


# Good ones.
expect('a good machine', 'WS101', 'ok', '8 ranks, 8 cores (CPUs 0-7)')
expect('a good job', 'WS802', 'ok', '8 ranks', ranks=job(8))
expect('all CPUs of two nodes', 'WS801', 'ok', '4 ranks on 2 nodes',
       ranks=job(2, cpus=['0-3', '4-7']) + [(f, {**x, 'host': 'node2', 'rank': 2 + i}) for i, (f, x) in enumerate(job(2, cpus=['0-3', '4-7']))])

# Cores.
expect('more ranks than cores', 'WS101', 'warning', '9 ranks, 8 cores', arguments=['-n', '9'], fix='-n 8')
expect('one rank', 'WS101', 'warning', '1 rank, 8 cores', arguments=['-n', '1'], fix='-n 8 ./app')
expect('one rank on each node', 'WS101', 'warning', '1 rank, 8 cores', ranks=[(f, {**x, 'host': f'node{i}'}) for i, (f, x) in enumerate(job(2, cpus=['0-7', '0-7']))],
       fix='mpirun -ppn 8 -workshare -n 16 ./app')
expect('too many', 'WS101', 'problem', '1024 ranks', arguments=['-n', '1024'], others=None)
expect('all bound to one core of many', 'WS101', 'warning', '2 ranks, 1 core', ranks=job(2, cpus=['3', '3']), fix='-bind-to core', others=None)
expect('hardware threads are no cores', 'WS101', 'warning', '8 ranks, 4 cores', facts={'topology': 'package:1 core:4 pu:2'}, arguments=['-n', '8'],
       others=('ok', 'skipped', 'note'))
expect('hardware threads', 'WS107', 'note', '4 cores, 8 hardware threads', facts={'topology': 'package:1 core:4 pu:2'}, arguments=['-n', '8'], others=None)
expect('no topology', 'WS107', 'warning', 'hwloc', facts={'topology': 'nonsense'})
expect('two on a core', 'WS102', 'problem', 'ranks 1, 2 on core 3', ranks=job(3, cpus=['0', '3', '3']), fix='-bind-to core', others=None)
expect('two on a core by its threads', 'WS102', 'problem', 'ranks 0, 1 on core 0', ranks=job(3, cpus=['0', '1', '2-7'], topology='package:1 core:4 pu:2'), others=None)
expect('not bound', 'WS103', 'note', 'rank 0: CPUs 0-7', ranks=job(2, cpus=['0-7', '0-7']), fix='-bind-to core')
expect('bound', 'WS103', 'ok', 'rank 1: CPUs 1', ranks=job(8))
QUOTA = {'/sys/fs/cgroup/user/job/cpu.max': '150000 100000\n'}
expect('a quota', 'WS104', 'problem', '/sys/fs/cgroup/user/job/cpu.max gives 1.50 CPUs to 8 ranks', files=QUOTA, fix='-n 1')
expect('a quota that is enough', 'WS104', 'ok', '1.50', files=QUOTA, arguments=['-n', '1'], others=None)
expect('a quota further up', 'WS104', 'problem', '/sys/fs/cgroup/user/cpu.max gives 2.00', files={'/sys/fs/cgroup/user/cpu.max': '20000 10000\n'})
V1 = {'/proc/self/cgroup': '5:cpu,cpuacct:/x/job\n4:pids:/job\n3:memory:/job\n2:cpuset:/job\n', '/sys/fs/cgroup/cpu,cpuacct/x/job/cpu.cfs_period_us': '100000\n'}
expect('a quota of version 1', 'WS104', 'problem', '/sys/fs/cgroup/cpu,cpuacct/x/job/cpu.cfs_quota_us gives 4.00',
       files={**V1, '/sys/fs/cgroup/cpu,cpuacct/x/job/cpu.cfs_quota_us': '400000\n'})
expect('no quota of version 1', 'WS104', 'ok', '', files={**V1, '/sys/fs/cgroup/cpu,cpuacct/x/job/cpu.cfs_quota_us': '-1\n'})
expect('a container sees its cgroup as the root', 'WS104', 'problem', '/sys/fs/cgroup/cpu.max gives 0.50',
       files={'/proc/self/cgroup': '0::/../../elsewhere\n', '/sys/fs/cgroup/cpu.max': '50000 100000\n'})
expect('CPUs left out', 'WS105', 'note', 'of CPUs 0-15 the ranks may use 0-7', files={'/sys/devices/system/cpu/online': '0-15\n'})
expect('cpusets apart', 'WS106', 'problem', 'rank 0 may never use CPUs 4-7',
       ranks=[({**f, '/sys/fs/cgroup/user/job/cpuset.cpus.effective': cpus}, x) for (f, x), cpus in zip(job(2, cpus=['0-3', '4-7']), ('0-3', '4-7'))])

# Memory.
expect('no /dev/shm', 'WS201', 'problem', 'no /dev/shm', facts={'shm_bytes': -1, 'shm_free': -1}, fix='mount')
expect('a /dev/shm of 64 KiB', 'WS201', 'problem', '64 KiB', facts={'shm_bytes': 65536, 'shm_free': 65536}, fix='remount')
SMALL = {'shm_bytes': 2**20, 'shm_free': 2**20}
expect("a /dev/shm without room for UCX", 'WS201', 'problem', '1.0 MiB', facts=SMALL, fix='export UCX_POSIX_DIR=/tmp ')
for name, value, level in (('UCX_POSIX_DIR', '/tmp', 'ok'), ('UCX_TLS', 'sysv,self,tcp', 'ok'), ('UCX_POSIX_DIR', '/dev/shm/x', 'problem'),
                           ('UCX_TLS', 'posix,self', 'problem'), ('UCX_TLS', '^tcp', 'problem')):
    expect(f'{name}={value}', 'WS201', level, '', facts=SMALL, **{name: value})
expect('a /dev/shm without room for the window', 'WS201', 'problem', '4.0 KiB free', facts={'shm_bytes': 2**30, 'shm_free': 4096}, fix='remount')
expect("Docker's /dev/shm", 'WS201', 'problem', '64 MiB', facts={'shm_bytes': 2**26, 'shm_free': 2**26}, arguments=['-n', '96'], fix='--shm-size', others=None)
expect("Docker's /dev/shm for 64 ranks", 'WS201', 'ok', 'for UCX', facts={'shm_bytes': 2**26, 'shm_free': 2**26}, arguments=['-n', '64'], others=None)
expect("Docker's /dev/shm for few ranks", 'WS201', 'ok', '64 MiB', facts={'shm_bytes': 2**26, 'shm_free': 2**26})
expect('a /dev/shm in use', 'WS201', 'note', '', facts={'shm_bytes': 2**34, 'shm_free': 2**28}, fix='ls -l /dev/shm')
expect('no memory', 'WS202', 'problem', '100 MiB', files={'/proc/meminfo': 'MemTotal: 65536000 kB\nMemAvailable: 102400 kB\n'})
expect('a limit of memory', 'WS202', 'problem', '/sys/fs/cgroup/user/memory.max has 128 MiB left',
       files={'/sys/fs/cgroup/user/memory.max': f'{2**28}\n', '/sys/fs/cgroup/user/memory.current': f'{2**27}\n'}, fix='--memory')
expect('a limit of version 1', 'WS202', 'problem', 'memory.limit_in_bytes', files={**V1, '/sys/fs/cgroup/memory/job/memory.limit_in_bytes': f'{2**28}\n'})
expect('no limit of version 1', 'WS202', 'ok', 'the machine', files={**V1, '/sys/fs/cgroup/memory/job/memory.limit_in_bytes': '9223372036854771712\n'})
expect('an address space', 'WS202', 'note', '1.0 GiB', files={'/proc/self/limits': limits(space=str(2**30))}, fix='ulimit -v')
expect('a small address space', 'WS202', 'warning', '96 MiB', files={'/proc/self/limits': limits(space=str(96 * 2**20))}, fix='ulimit -v')
expect('a small stack', 'WS203', 'problem', '64 KiB', files={'/proc/self/limits': limits(stack='65536')}, fix='ulimit -s')
expect('any stack', 'WS203', 'ok', 'unlimited', files={'/proc/self/limits': limits(stack='unlimited')})

# Threads.
expect('few processes', 'WS301', 'problem', 'ulimit -u is 60; the user has 5 threads, and the job makes up to 80', files={'/proc/self/limits': limits(processes='60')},
       fix='ulimit -u')
ROOT = good_files()['/proc/self/status'].replace('1000', '0')
expect('few processes for root', 'WS301', 'ok', 'not enforced', files={'/proc/self/limits': limits(processes='60'), '/proc/self/status': ROOT})
CAPABLE = good_files()['/proc/self/status'].replace('CapEff:\t0000000000000000', 'CapEff:\t0000000001000000')
expect('few processes for the capable', 'WS301', 'ok', 'not enforced', files={'/proc/self/limits': limits(processes='60'), '/proc/self/status': CAPABLE})
PIDS = {'/sys/fs/cgroup/user/job/pids.max': '100\n', '/sys/fs/cgroup/user/job/pids.current': '50\n'}
expect('few threads in the cgroup', 'WS302', 'problem', 'pids.max is 100, 50 are there', files=PIDS, fix='--pids-limit')
expect('enough threads in the cgroup', 'WS302', 'ok', 'pids.max is 100', files=PIDS, arguments=['-n', '2'])
expect('few threads of version 1', 'WS302', 'problem', '/sys/fs/cgroup/pids/job/pids.max', files={**V1, '/sys/fs/cgroup/pids/job/pids.max': '5\n'})
expect('OpenMP threads', 'WS303', 'warning', 'OMP_NUM_THREADS=4 in 8 ranks, 8 cores', fix='OMP_NUM_THREADS=1', OMP_NUM_THREADS='4')
expect('OpenMP threads that fit', 'WS303', 'ok', 'OMP_NUM_THREADS=4', arguments=['-n', '2'], OMP_NUM_THREADS='4')
expect('OpenMP threads and workers', 'WS303', 'note', '4 workers', arguments=['-n', '2'], OMP_NUM_THREADS='4', WS_WORKERS='2')

expect('few files', 'WS304', 'problem', 'ulimit -n is 20', files={'/proc/self/limits': limits(files='20')}, fix='ulimit -n 1024')

# Clocks.
expect('a counter that stops', 'WS401', 'warning', 'lacks nonstop_tsc', files={'/proc/cpuinfo': 'flags : fpu constant_tsc\n'}, fix='invtsc')
expect('a counter that changes', 'WS401', 'warning', 'constant_tsc', files={'/proc/cpuinfo': 'flags : fpu nonstop_tsc\n'})
expect('ARM', 'WS401', 'ok', 'all cores share', files={'/proc/cpuinfo': 'Features : fp asimd\n'})
for source in 'hpet', 'acpi_pm':
    expect(source, 'WS402', 'warning', source, files={'/sys/devices/system/clocksource/clocksource0/current_clocksource': source + '\n'})
expect('a clock of a hypervisor', 'WS402', 'ok', 'kvm-clock', files={'/sys/devices/system/clocksource/clocksource0/current_clocksource': 'kvm-clock\n'})
expect('cores apart', 'WS403', 'warning', '250.0 us', facts={'skew_us': 250})

# At work.
expect('a governor', 'WS501', 'note', 'performance on 7 CPUs, powersave on 1 CPU', files={'/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor': 'powersave\n'},
       fix='cpupower')
expect('no governor', 'WS501', 'skipped', '', files={f'/sys/devices/system/cpu/cpu{c}/cpufreq/scaling_governor': None for c in range(8)})
expect('load', 'WS502', 'warning', 'others use 50 % of the CPUs\' time (4.0 of 8 CPUs)', files={'/proc/stat.later': stat(50, 0)}, fix='top')
expect('some load', 'WS502', 'note', '10 %', files={'/proc/stat.later': stat(10, 0)})
expect('a hypervisor', 'WS502', 'warning', 'the hypervisor takes 30 %', files={'/proc/stat.later': stat(0, 30)})
expect('NUMA balancing', 'WS503', 'note', 'numa_balancing=1', files={'/proc/sys/kernel/numa_balancing': '1\n'}, facts={'topology': 'numa:2 core:4 pu:1'}, fix='sysctl')
expect('NUMA balancing on one node', 'WS503', 'ok', '', files={'/proc/sys/kernel/numa_balancing': '1\n'})
RANKS = job(2, cpus=['0-3', '4-7'])
RANKS[1][1]['pid_namespace'] = 'pid:[2]'
expect('containers', 'WS504', 'problem', '2 PID namespaces among 2 ranks', ranks=RANKS, fix='--pid=host')
expect('counters refused', 'WS505', 'note', 'kernel.perf_event_paranoid=4', {'/proc/sys/kernel/perf_event_paranoid': '4\n'}, good_facts(counters=0, counters_error='PAPI: no leave'),
       fix='sysctl kernel.perf_event_paranoid=2')

# The environment.
expect('a wrong value', 'WS701', 'problem', 'WS_SPIN=soon', fix='unset WS_SPIN', WS_SPIN='soon')
expect('a wrong name', 'WS702', 'warning', 'WS_QUANTM', fix="unset WS_QUANTM; export WS_QUANTUM='7 8'", WS_QUANTM='7 8')
expect('two wrong names', 'WS702', 'warning', 'WS_CHNK_TIME', fix='unset WS_SPINN WS_CHNK_TIME; export WS_SPIN=1 WS_CHUNK_TIME=3', WS_SPINN='1', WS_CHNK_TIME='3')
expect('a foreign name', 'WS702', 'warning', 'WS_SOMETHING_ELSE', fix='unset WS_SOMETHING_ELSE', WS_SOMETHING_ELSE='7')
for name in 'WS_CHAOS', 'WS_CHECK', 'WS_STEAL_ALL':
    expect(name, 'WS703', 'warning', name, fix=f'unset {name}', **{name: '1'})
expect('WS_ENABLE=0 by hand', 'WS703', 'ok', 'no variables', WS_ENABLE='0')
expect('WS_ENABLE=0 in a job', 'WS704', 'warning', 'without -workshare', ranks=job(8, enable=False, environment={'WS_ENABLE': '0'}), fix='mpirun -workshare')
expect('and a report', 'WS703', 'note', 'without -workshare', ranks=job(8, enable=False, environment={'WS_ENABLE': '0', 'WS_REPORT': '1'}), others=None)
expect('WS_ENABLE by hand', 'WS703', 'note', 'WS_ENABLE', WS_ENABLE='1')
expect('a report without -workshare', 'WS703', 'note', 'without -workshare', ranks=job(8, enable=False, **{'environment': {'WS_REPORT': '1'}}), others=None)
expect('quiet and report', 'WS703', 'note', 'WS_QUIET', WS_QUIET='1', WS_REPORT='1')
expect('too many cores', 'WS703', 'warning', 'WS_CORES=64', ranks=job(8, environment={'WS_ENABLE': '1', 'WS_CORES': '64'}))
expect('too many workers', 'WS703', 'warning', '8 workers and 8 ranks on 8 cores', ranks=job(8, workers=1), others=('ok', 'skipped', 'note'))
expect('without -workshare', 'WS704', 'warning', 'without -workshare', ranks=job(8, enable=False), fix='mpirun -workshare')

# The job.
expect('no MPI', 'WS801', 'problem', 'it died', ranks=job(1, cpus=['0-7'], mpi_error='it died'), others=None)
expect('srun', 'WS801', 'problem', 'srun without --mpi=pmi2', facts={'launcher': 'srun', 'size': 4}, fix='WS_ENABLE=1 srun --mpi=pmi2 -n 4 ./app')
expect('PMIx under Slurm', 'WS801', 'problem', 'srun --mpi=pmix', facts={'launcher': 'srun --mpi=pmix', 'size': 4}, fix='WS_ENABLE=1 srun --mpi=pmi2 -n 4 ./app')
expect('PMIx', 'WS801', 'problem', 'speaks PMIx only', fix='mpirun -workshare -n', PMIX_RANK='0', PMIX_NAMESPACE='job')
expect("another MPI's mpirun", 'WS801', 'problem', "Open MPI's mpirun", facts={'launcher': "Open MPI's mpirun", 'size': 4}, fix='mpirun -workshare -n 4')
expect('no libws', 'WS802', 'problem', 'rank 0 did not load', ranks=job(8, libws_loaded=False), fix='ldd')
expect('libws gave up', 'WS802', 'problem', '/dev/shm is too small', ranks=job(8, inactive=2))

expect('cliques', 'WS803', 'problem', 'rank 0 can share memory with 4 of 8 ranks', ranks=job(8, node_ranks=4, environment={'WS_ENABLE': '1', 'MPIR_CVAR_NUM_CLIQUES': '2'}),
       fix='unset MPIR_CVAR_NUM_CLIQUES')
expect('two names for a node', 'WS803', 'problem', '4 of 8', ranks=job(8, node_ranks=4), fix='mpirun -hosts node1 ')

# The same on several nodes is one finding; where nodes differ they are named.
found, _ = findings(job(8, skew_us=9) + [(f, {**x, 'host': f'node{2 + i // 8}', 'skew_us': 9 if i < 8 else 0, 'rank': 8 + i}) for i, (f, x) in enumerate(job(8) + job(8))])
if [f['nodes'] for f in found['WS403'] if f['level'] == 'warning'] != [['node1', 'node2']] or [f['nodes'] for f in found['WS403'] if f['level'] == 'ok'] != [['node3']]:
    fail('nodes', json.dumps(found['WS403'], indent=1))

# A machine that tells nothing at all, and one whose files are nonsense.
with tempfile.TemporaryDirectory(prefix='ws-doctor-', dir=FAST) as empty:
    ask(['--json', '--root', empty])
    write(empty, {name: '\x01max -7 999999999999999999999 , : \n' for name in good_files()}, {'host': '\udcff'.encode('utf-8', 'surrogateescape').decode('latin-1')})
    ask(['--json', '--root', empty])
    for facts in '{', '[]', '{"cpus": 7}':
        pathlib.Path(empty, 'facts.json').write_text(facts)
        done = subprocess.run([DOCTOR, '--root', empty], capture_output=True, text=True, env=CLEAN, timeout=30)
        if done.returncode != 2 or done.stderr.count('\n') != 1 or not done.stderr.startswith('ws-doctor: '):
            fail(f'facts {facts!r}: {done.returncode}', done.stderr)

listed = json.loads(subprocess.run([DOCTOR, '--list', '--json'], capture_output=True, text=True, env=CLEAN).stdout)
fits('doctor-list', listed, '--list --json')
listed = listed['checks']
documented = re.findall(r'^\| (WS\d+) \|', pathlib.Path(sys.argv[2], 'reference/ws-doctor.md').read_text(), re.MULTILINE)
if documented != [c['number'] for c in listed]:
    fail('docs/reference/ws-doctor.md has other checks', str(documented))
never = {c['number'] for c in listed} - tried - {f'WS6{n:02}' for n in range(1, 13)}     # programs_test.py has those
if never:
    fail(f'no machine is bad for {sorted(never)}')
print(f'{len(tried)} checks complained')
finish()
