# SPDX-License-Identifier: MIT
"""openmp_libraries_test.py MPIRUN PROGRAMS [TOOL]: mpirun -workshare-openmp beside what else there is in a process: a second OpenMP library, and
the user's own tool of OMPT, which goes on seeing every region."""
import re
import sys

from job import expect, finish, likely, repeated, run, skip

TOOL = sys.argv[3:]
NODE = {'WS_CORES': '16', 'OMP_NUM_THREADS': '8'}
WORK = 'sleep', '60', '2', '160000', '40000'


def threads(result):
    """The least and the most that a region of any rank had."""
    found = re.findall(r'^rank \d+ told .* least (\d+) most (\d+)', result.out, re.MULTILINE)
    return min(int(n) for n, _ in found), max(int(n) for _, n in found)


if not TOOL:
    skip('needs clang and its libomp')
    finish()

# ---- two libraries
result = run('processors_both', *WORK, options=('-workshare-openmp', 'auto'), env=NODE)
said = [line for line in result.err.splitlines() if 'has no effect' in line]
expect(result, f'one line names both libraries: {said}', len(said) == 1 and 'rank 0' in said[0] and 'two OpenMP libraries, libgomp and libomp' in said[0])
expect(result, 'the job runs as without', threads(result) == (8, 8))
expect(result, 'a core is said to have moved', ' -> ' not in result.err)


# ---- a tool, in each way in which libomp finds one
@repeated
def use_tool(way, program, mode, env):
    result = run(program, *WORK, options=('-workshare-openmp', mode or 'off'), env={**NODE, **env})
    tools = [list(map(int, numbers)) for numbers in
             re.findall(r'^tool regions (\d+) ended (\d+) tasks (\d+) threads (\d+) open (-?\d+)$', result.out, re.MULTILINE)]
    if not expect(result, f'a tool {way} tells of each rank: {tools}', len(tools) == 2):
        return
    # 60 turns of 2 regions, and a last one
    expect(result, f'a tool {way} sees each region begin and end: {tools}', all(t[0] == t[1] == 121 for t in tools))
    expect(result, f'a tool {way} sees each thread of them: {tools}', all(t[2] == t[3] and t[4] == 0 for t in tools))
    if mode:
        likely(result, f'with a tool {way} cores move: {tools}', ' -> ' in result.err and threads(result)[1] > 8)
        likely(result, f'a tool {way} sees that rank 0 has more threads: {tools}', max(t[3] for t in tools) > 121 * 8 > min(t[3] for t in tools))
    else:
        expect(result, f'without the option there are 8 threads: {tools}', all(t[3] == 121 * 8 for t in tools))


ways = {'of the program itself': ('processors_tool', {}),
        'by OMP_TOOL_LIBRARIES': ('processors_clang', {'OMP_TOOL_LIBRARIES': TOOL[0]}),
        'by LD_PRELOAD': ('processors_clang', {'LD_PRELOAD': TOOL[0]})}
for way, (program, env) in ways.items():
    for mode in None, 'auto':
        use_tool(way, program, mode, env)
finish()
