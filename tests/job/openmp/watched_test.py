# SPDX-License-Identifier: MIT
"""A tool of OMPT sees of regions that are shared what it sees of libomp's: the same counts of each kind of event, each on its thread, and times
that add up; whichever way the tool is found. A tool that cannot know virtual threads keeps the program from being shared.

Arguments: mpirun, the folder of the programs, the tool, one that declines, one that asks for the kernel's threads."""
import re
import sys

from job import expect, finish, likely, loadable, repeated, run

TOOL, DECLINES, ASKS_KERNEL = sys.argv[3:6]
TIMES = {'parts_us', 'whole_us'}
# The kinds of regions_test.py without `teams`, which libomp runs itself, and without nested regions, whose threads differ from run to run.
KINDS = ('plain', 'chunks', 'rounds', 'dynamic', 'dynamic_chunks', 'guided', 'auto', 'runtime', 'runtime_chunks', 'three', 'one', 'down', 'two_loops', 'variables',
         'last_of_dynamic', 'exclusion', 'uncombined', 'without_waiting', 'numbers', 'asks_late', 'numbers_in_a_row', 'number_after_loop', 'nameless_phases', 'parts',
         'single', 'barriers', 'phases', 'lock_over_barrier', 'nest_locks', 'late_nest_locks', 'late_barrier', 'late_copyprivate', 'late_order', 'late_conditional',
         'late_task_reduction', 'group_reductions', 'final_tasks', 'allocators', 'spinning', 'pipeline', 'tasks', 'late_tasks', 'late_tasks_of_all', 'in_order', 'empty_first')
# libomp's other ways to reduce have other events, or none: which one it takes depends on the number of threads.
REDUCE = {'KMP_FORCE_REDUCTION': 'critical'}


def counts(result):
    """{what: [begun, ended] or [how many]}, of all ranks together."""
    total = {}
    for name, numbers in re.findall(r'^tool (\w+)((?: -?\d+)+)$', result.out, re.MULTILINE):
        numbers = list(map(int, numbers.split()))
        total[name] = [a + b for a, b in zip(total.get(name, [0] * len(numbers)), numbers)]
    return total


def watch(program, *args, mode, threads, way=None, options=(), **env):
    result = run(program, *args, options=(f'-workshare-openmp={mode}', *options), env={'OMP_NUM_THREADS': str(threads), **REDUCE, **(way or {'OMP_TOOL_LIBRARIES': TOOL}), **env},
                 limit=100, title=f'{program} {args}, {mode}, {threads} threads, {way or ""} {env or ""}')
    found = counts(result)
    errors = re.findall('^tool error: (.*)', result.out, re.MULTILINE)
    if mode != 'off':  # in regions of one thread within others, libomp 14 itself gives words of other regions at times
        expect(result, f'the tool saw what is wrong: {errors}', found.get('errors') == [0])
    for name, numbers in found.items():
        if len(numbers) == 2:
            expect(result, f'{name}: {numbers[0]} have begun, {numbers[1]} ended', numbers[0] == numbers[1])
    expect(result, 'an implicit task for each thread', found['implicit'][0] == found['team_sizes'][0] > 0)
    expect(result, 'a task that is created begins and ends', found['created'] == found['switched'] == found['completed'])
    return result, found


def compare(result, shared, own, but=()):
    for name in sorted((shared.keys() | own.keys()) - {'errors', 'set_dependences', *TIMES, *but}):
        expect(result, f'{name}: {shared.get(name)}, without sharing {own.get(name)}', shared.get(name) == own.get(name))


def program_lines(result):
    return [line for line in result.out.splitlines() if not line.startswith('tool ')]


@repeated
def same_counts(threads, way=None, program='watched', options=()):
    plain, own = watch('watched', 3, mode='off', threads=threads, way=way)
    result, shared = watch(program, 3, mode=f'share:{threads}', threads=1, way=way, options=options)
    expect(result, 'another result', program_lines(result) == program_lines(plain))
    compare(result, shared, own)
    always, sometimes = 5, 3
    expect(result, 'which events are told always', (own['set_dependences'], shared['set_dependences']) == ([2 * always], [2 * sometimes]))  # in each rank
    # What is neither work nor waiting is the code of a few singles and critical sections, and the tool itself.
    parts, whole = shared['parts_us'][0], shared['whole_us'][0]
    expect(result, f'work and waiting are more than all: {parts} of {whole} us', parts <= whole)
    likely(result, f'work and waiting are less than all: {parts} of {whole} us', parts > 0.9 * whole)
    likely(result, 'nothing was shared', result.stats.get('chunks_stolen', 0) > 0)


def every_kind(program, kinds, *threads):
    """Each kind of region of another test's, in each way to run it."""
    plain, own = watch(program, 1, *kinds, mode='off', threads=4)
    for more in threads:
        result, shared = watch(program, 1, *kinds, mode='share:4', **more)
        # The rank's other threads run virtual threads, and are seen as idle ones.
        compare(result, shared, own, but=('thread', 'threads_of_type_2') if more['threads'] > 1 else ())


@repeated
def not_shared(way, why, workers):
    """With its own number of threads."""
    program = 'watched_tool' if not way else 'watched'
    result = run(program, 3, options=('-workshare-openmp=share:8',), env={'OMP_NUM_THREADS': '2', **REDUCE, **way}, title=why)
    expect(result, f'another reason: {result.err}', f'no parallel region is shared: {why}' in result.err)
    expect(result, 'something was shared', result.stats.get('chunks_stolen', 0) == 0)
    found = counts(result)
    expect(result, f'the tool sees other threads: {found}', found.get('threads_of_type_2') == [workers])


@repeated
def unwatched(program, why, **env):
    result = run(program, 3, options=('-workshare-openmp=share:4',), env={'OMP_NUM_THREADS': '1', **env}, title=why)
    expect(result, 'another number of threads', 'program threads 4 ' in result.out)
    expect(result, 'the tool says something', not counts(result))
    likely(result, 'nothing was shared', result.stats.get('chunks_stolen', 0) > 0)


for number in 4, 16:
    same_counts(number)
same_counts(4, {'LD_PRELOAD': loadable(TOOL)})
same_counts(4, program='watched_ws')  # whose loops -fws=openmp has made libws's
every_kind('regions.clang', KINDS, {'threads': 1}, {'threads': 2}, {'threads': 1, 'WS_CHAOS': '1'}, {'threads': 1, 'WS_STEAL_ALL': '1'})
every_kind('regions.cxx_clang', ('all',), {'threads': 1})
not_shared({}, 'an OMPT tool in the program itself watches its parallel regions', 2)  # a clause asks for three threads
not_shared({'OMP_TOOL_LIBRARIES': ASKS_KERNEL}, "the OMPT tool's libcounter_kernel.so uses gettid(), which depends on system threads", 1)
same_counts(4, {'OMP_TOOL_LIBRARIES': ASKS_KERNEL}, options=('-workshare-openmp-trust=libcounter_kernel.so',))
same_counts(4, {'LD_PRELOAD': loadable(ASKS_KERNEL)}, options=('-workshare-openmp-trust=libcounter_kernel.so',))
unwatched('watched', 'a tool that declines', OMP_TOOL_LIBRARIES=DECLINES)
unwatched('watched', 'no tool is to be used', OMP_TOOL_LIBRARIES=TOOL, OMP_TOOL='disabled')
unwatched('watched_gcc', 'libgomp has no OMPT', OMP_TOOL_LIBRARIES=TOOL)
finish()
