# SPDX-License-Identifier: MIT
"""Wherever the ranks sit: bound, unbound, in masks that overlap, in cpusets, more of them than cores, beside other jobs; and
whatever threads they have: loops on several threads at once, threads that come and go, workers beside OpenMP's threads.

placement_test.py MPIRUN PROGRAMS [--soak]      --soak: more of all, and times compared with a program that cannot steal
"""
import concurrent.futures
import os
import re
import shlex
import sys
import time

from job import CORES, PROGRAMS, among_jobs, expect, expect_lines, finish, likely, preload, repeated, run, skip

SOAK = '--soak' in sys.argv
CPUS = sorted(os.sched_getaffinity(0))
if CORES < 2:
    skip('needs two cores')
    finish()


def placement(what, count, microseconds, masks=None, program='placement', setup='', **how):
    """masks: for each rank the CPUs that it may use, as taskset has them."""
    program = os.path.join(PROGRAMS, program)
    if masks is None and not setup:
        return run(program, what, count, microseconds, **how)
    words = ' '.join(masks or ())
    script = f'set -- {words}; {"shift $PMI_RANK; " if masks else ""}{setup} exec {"taskset -c $1 " if masks else ""}{shlex.quote(program)} {what} {count} {microseconds}'
    how.setdefault('title', f'{what} on {words or setup}')
    return run('/bin/sh', '-c', script, **{'ranks': len(masks or (1, 2)), **how})


def seconds(result):
    found = re.search(r'seconds ([\d.]+)', result.out)
    return float(found[1]) if found else 0.0


def stolen(result):
    return result.stats.get('chunks_stolen', 0)


# ---- where ranks sit

a, b = CPUS[0], CPUS[1]
ROUNDS = 40 if SOAK else 6
placement('loops', ROUNDS, 50, options=('-bind-to', 'core'), steals=True)
placement('loops', ROUNDS, 50, (f'{a}', f'{b}'), steals=True)
placement('loops', ROUNDS, 50, (f'{a}', f'{a},{b}'), steals=True)
placement('loops', ROUNDS, 50, (f'{a}', f'{b}', f'{a},{b}'))
placement('loops', ROUNDS, 50, (f'{a}', f'{a}', f'{a},{b}'))
placement('loops', ROUNDS, 50, ranks=4)
placement('loops', ROUNDS, 50, ranks=4, options=('-bind-to', 'core'))


@repeated
def on_one_cpu():
    result = run('placement', 'loops', ROUNDS, 50, prefix=('taskset', '-c', str(a)), title='all on one CPU')
    expect(result, 'a core was lent on which its owner computes', stolen(result) == 0)
    likely(result, 'another cause', 'no core was free: there are more ranks than cores' in result.err)


on_one_cpu()
for ranks in (2, 3):
    placement('comms', 4, 50, ranks=ranks, steals=ranks == 2)
placement('loops', ROUNDS, 50, env={'WS_CHAOS': '5'}, steals=True)

# A machine with more CPUs than fit into a cpu_set_t, and one that does not say which CPUs a process may use.
many = preload('many_cpus.so')
placement('loops', ROUNDS, 50, (f'{a}', f'{b}'), options=many, steals=True, title='4,096 CPUs, bound')
placement('loops', ROUNDS, 50, options=many, steals=True, title='4,096 CPUs, unbound')
result = run('placement', 'loops', ROUNDS, 50, options=many, prefix=('taskset', '-c', str(a)), title='4,096 CPUs, all on one')
expect(result, 'a core was lent on which its owner computes', stolen(result) == 0)
run('imbalance', 'late', options=(*many, '-genv', 'CPUS', 'refused'), steals=True, title='affinities are refused')


class Cpusets:
    """A cpuset of its own for each of these CPUs, if this machine lets us make them."""
    ROOT = '/sys/fs/cgroup/cpuset'

    def __init__(self, cpus):
        self.folders = []
        try:
            with open(f'{self.ROOT}/cpuset.mems') as f:
                memory = f.read()
            for number, cpu in enumerate(cpus):
                folder = f'{self.ROOT}/workshare-test-{os.getpid()}-{number}'
                os.mkdir(folder)
                self.folders.append(folder)
                for name, value in ('cpus', str(cpu)), ('mems', memory):
                    with open(f'{folder}/cpuset.{name}', 'w') as f:
                        f.write(value)
        except OSError as error:
            skip(f'no cpusets: {error}')
            self.remove()

    def remove(self):
        for folder in self.folders:
            for _ in range(50):
                try:
                    os.rmdir(folder)
                    break
                except OSError:     # the last of its processes is just ending
                    time.sleep(0.1)
        self.folders = []


sets = Cpusets([f'{a},{b}'])
if sets.folders:
    result = placement('loops', ROUNDS, 50, setup=f'echo $$ > {sets.folders[0]}/cgroup.procs;', steals=True, title='all in one cpuset')
    sets.remove()
sets = Cpusets([a, b])


@repeated
def apart():
    result = placement('loops', ROUNDS, 50, setup=f'echo $$ > {sets.folders[0][:-1]}$PMI_RANK/cgroup.procs;', title='cpusets of their own')
    expect(result, 'chunks ran on a CPU that was not lent', stolen(result) == 0)
    likely(result, 'another cause', "the ranks may not use each other's cores" in result.err)


if sets.folders:
    apart()
    sets.remove()

# A cpuset that changes while the job runs: ranks find themselves on other CPUs than their masks say.
sets = Cpusets([f'{a},{b}'])
if sets.folders:
    def change(processes):
        time.sleep(0.3)
        for turn in range(1000):
            try:
                with open(f'{sets.folders[0]}/cpuset.cpus', 'w') as f:
                    f.write((f'{a}', f'{a},{b}', f'{b}')[turn % 3])
            except OSError:
                break
            time.sleep(0.02)
            if turn % 10 == 9 and not processes():
                break

    result = run('/bin/sh', '-c', f'echo $$ > {sets.folders[0]}/cgroup.procs; exec {shlex.quote(os.path.join(PROGRAMS, "oracle"))} 11 300', meanwhile=change,
                 title='a cpuset that changes')
    sets.remove()

# ---- several jobs at once

with among_jobs(alone=False), concurrent.futures.ThreadPoolExecutor(3) as pool:
    for job in [pool.submit(run, 'oracle', seed, 60, env={'WS_IGNORE_JOBS': '0'}, title=f'oracle {seed}, three jobs at once') for seed in range(3)]:
        job.result()

# ---- threads

THREADS = ('loops 4 8', 'loops 12 4', 'inside 4 6', 'mpi 4 6', 'openmp 4 6', 'come 200 2', 'end 2 4')
if SOAK:
    THREADS = tuple(f'{words} {seed}' for seed in range(20) for words in THREADS) + ('come 5000 2',)
WAYS = ({}, {'env': {'WS_CHAOS': '1'}}, {'options': ('-workshare-workers', '1')})
for number, words in enumerate(THREADS):
    for how in WAYS if SOAK else WAYS[number % 3:][:1]:
        run('threads', *words.split(), steals=words.startswith('loops') and not how, **how)

# ---- workers

@repeated
def has_a_worker(workers):
    result = run('placement', 'openmp', 6, 50, ranks=1, options=('-workshare-workers', workers))
    found = re.search(r'workers ([\d.]+) ([\d.]+)', result.out)
    # Asleep in a region, and at work in a loop.
    if expect(result, 'no line about the worker', found):
        likely(result, 'the worker was not asleep in an OpenMP region', float(found[1]) < 0.02)
        likely(result, 'the worker took no part in loops', float(found[2]) > 0.05)


has_a_worker('1')
has_a_worker('auto')
result = run('placement', 'openmp', 3, 50, ranks=1, options=('-workshare-workers', '1'), env={'OMP_WAIT_POLICY': 'active'})
expect(result, 'there are workers where OpenMP never leaves its cores', result.stats.get('workers') == 0)
expect_lines(result, result.err, 'no workers in rank 0: OMP_WAIT_POLICY=active')
result = run('placement', 'loops', 4, 50, ranks=2, options=('-workshare-workers', 'auto'))
expect(result, 'workers where each rank needs its core', result.stats.get('workers') == 0 or CORES > 2)
run('placement', 'loops', 4, 50, ranks=2, options=('-workshare-workers', '3'))
run('oracle', 3, 60, options=('-workshare-workers', '1'))


# Only rank 0 has a worker, and WS_CORES pretends a core for each thread: the worker helps rank 1 until OpenMP wants its core back.
@repeated(chances=4)
def comes_back():
    result = run('/bin/sh', '-c', f'[ $PMI_RANK = 0 ] || export WS_WORKERS=0; exec {shlex.quote(os.path.join(PROGRAMS, "placement"))} recall 0 0',
                 options=('-workshare-workers', '1'), env={'WS_CORES': '4'}, title='recall')
    found = re.search(r'of the worker: (\d+), in the region (\d+)', result.out)
    expect(result, 'a worker was lent in an OpenMP region', found and found[2] == '0')
    likely(result, 'the worker helped nobody', not found or found[1] != '0')


comes_back()

# ---- schedule(runtime)

for env, thief, own in (({'WS_SCHEDULE': 'dynamic,7', 'WS_STEAL_SCHEDULE': 'STATIC,5'}, 5, 7), ({'WS_STEAL_SCHEDULE': ' nonmonotonic : dynamic , 9 '}, 9, 0),
                        ({'WS_SCHEDULE': 'monotonic:static,11'}, 0, 11), ({}, 0, 0)):
    result = run('runtime_schedule', thief, own, env=env, steals=True)
    expect(result, 'no guest ran', 'pieces of guests 0' not in result.out)

# ---- more ranks than cores are never slower for it: the same program without directives waits in the same way

if SOAK:
    for ranks in (2, 4, 8):
        times = {'placement': [], 'placement_plain': []}
        for _ in range(15):
            for program, list_ in times.items():
                list_.append(seconds(placement('loops', 20, 50, program=program, ranks=ranks)))
        medians = [sorted(list_)[len(list_) // 2] for list_ in times.values()]
        print(f'{ranks} ranks: {medians[0]:.3f} s, without stealing {medians[1]:.3f} s')
        if medians[0] > 1.05 * medians[1]:
            print('FAILED: slower with stealing')
            sys.exit(1)
finish()
