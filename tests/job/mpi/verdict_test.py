# SPDX-License-Identifier: MIT
"""The summary: the result, and the cause when nothing was stolen; what is refused to the runtime costs speed, not results."""
import os
import re
import subprocess
import sys

from job import CORES, expect, finish, in_tiny_shm, likely, preload, repeated, run


@repeated
def verdict(*args, part, reason=None, **how):
    """Runs `imbalance`; it prints a summary that holds `part`, and nothing else. reason: in the statistics, too."""
    result = run('imbalance', *args, **how)
    expect(result, 'stdout is not the program\'s', result.out == 'right\n')
    expect(result, 'more than a summary on stderr', result.summary() and result.err.splitlines() == result.summary())
    expect(result, 'a line beyond column 100', max(map(len, result.printed.splitlines())) <= 100)
    likely(result, f'the summary does not say {part!r}', part in result.err)
    likely(result, f'reason is {result.stats.get("reason")!r}', (result.stats.get('reason') or '').startswith(reason or ''))
    if reason is None:
        expect(result, 'a reason why nothing was stolen, although something was', result.stats.get('reason') is None)
    return result


@repeated
def late():
    result = verdict('late', part='; helpers used ', steals=True)
    expect(result, 'the loop is not named', 'imbalance.c:' in result.err and 'loop' in result.err)
    expect(result, 'the loop is not in the statistics', 'imbalance.c:' in (result.stats.get('loop') or ''))
    likely(result, 'more stolen than idle', 0 < result.stats['borrowed_s'] <= 1.1 * result.stats['blocked_s'])


if CORES > 1:
    late()
NOTHING = 'workshare: no rank helped another ('
verdict('nothing', part='workshare: sharing loops ', reason='no ws loop ran')
verdict('late', ranks=1, part=NOTHING, reason='there is one rank')


@repeated
def short():    # The first of many short loops may be shared: what they cost is not known yet.
    result = verdict('short', part='workshare: ', reason='')
    likely(result, 'short loops were shared', result.stats['executions_shared'] < 0.01 * result.stats['executions'])
    if result.stats['chunks_stolen'] == 0:
        likely(result, 'another reason', ' was too short to share (' in result.err)


short()
verdict('thread', part=NOTHING, reason='its ws loops ran on other threads')
verdict('late', ranks=2, env={'MPIR_CVAR_NUM_CLIQUES': '2'}, part=NOTHING, reason='every rank is alone on its node')
# As many ranks compute as there are cores: the core of the one that waits is not idle.
verdict('balanced', 100, ranks=4 * CORES, part='workshare: ', reason='')

# The others wait all the time that these compute, in one long loop each.
verdict('half', 300, ranks=2 * CORES, part='no core was free: there are more ranks than cores', reason='')

for how in {'options': ('-workshare-quiet',)}, {'env': {'WS_QUIET': '1'}, 'options': ('-genv', 'WS_QUIET', '1')}, {'workshare': False}:
    result = run('imbalance', 'late', 20, **how)
    expect(result, 'a summary was printed', result.err == '')


@repeated
def beside_another():   # Another program on the CPU of one rank.
    hog_cpu = min(os.sched_getaffinity(0))
    hog = subprocess.Popen([sys.executable, '-c', f'import os\nos.sched_setaffinity(0, {{{hog_cpu}}})\nwhile True: pass'])
    try:
        result = run('imbalance', 'balanced', 400, ranks=CORES, options=('-bind-to', 'user:' + ','.join(map(str, sorted(os.sched_getaffinity(0))))))
        waited = run('imbalance', 'alike', 400, ranks=CORES, options=('-bind-to', 'user:' + ','.join(map(str, sorted(os.sched_getaffinity(0))))))
    finally:
        hog.kill()
        hog.wait()
    likely(waited, 'it is not called noise', '; ranks waited for ranks whose CPU other programs used (' in waited.err)
    said = re.search(r'^workshare: note: other programs used (\d+) % of CPU (\d+)$', result.err, re.MULTILINE)
    likely(result, f'the other program is not told: CPU {hog_cpu}', said and int(said[1]) >= 25 and int(said[2]) == hog_cpu)


if CORES > 1:
    beside_another()

# The system gives no threads.
result = verdict('late', options=preload('refuse_threads.so'), part=NOTHING, reason='the system refused helper threads')
expect(result, 'no refused guest was counted', result.stats.get('guests_refused', 0) > 0)

# /dev/shm has no room.
tiny = in_tiny_shm()
if tiny:
    verdict('late', **tiny, part=NOTHING, reason='/dev/shm is too small')
finish()
