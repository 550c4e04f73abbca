# SPDX-License-Identifier: MIT
"""Virtual threads run on as many cores as the ranks have, no more, and on all of them while somebody waits: two ranks of eight threads and
seven workers on sixteen pretended cores, whose iterations sleep. The last rank has three quarters of the work.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import re
import sys

from job import expect, finish, likely, repeated, run

CORES = 16


@repeated
def on_all_cores(schedule, most_longer):
    result = run(f'at_once.{sys.argv[3]}', 6, schedule, env={'WS_CORES': str(CORES), 'OMP_NUM_THREADS': '8'}, limit=60,
                 options=('-workshare-openmp=share', '-workshare-workers=7'), title=schedule)
    found = re.search(r'right, ([\d.]+) s, on one core ([\d.]+) s', result.out)
    expect(result, 'not right', found)
    if found:
        took, serial = float(found[1]), float(found[2])
        expect(result, f'more cores than there are: {took} s', took >= 0.99 * serial / CORES)
        likely(result, f'the cores were not used: {took} s for {serial / CORES} s', took <= most_longer * serial / CORES)


# If handing out a chunk takes longer than the chunk, nobody knows what sharing has gained.
@repeated
def short_chunks():
    result = run(f'at_once.{sys.argv[3]}', 6, 'fine', env={'OMP_NUM_THREADS': '1'}, limit=60, options=('-workshare-openmp=share',), title='short chunks')
    expect(result, 'not right', 'right, ' in result.out)
    likely(result, 'a gain is claimed', 'times as fast as' not in result.err)
    likely(result, 'no reason', 'larger chunks help (' in result.err)


def ends_while_looked_at():
    result = run(f'at_once.{sys.argv[3]}', 400, 'ending', ranks=1, env={'OMP_NUM_THREADS': '1'}, limit=60, options=('-workshare-openmp=share:4',),
                 title='regions that end while they are looked at')
    expect(result, 'its end was taken for a wait', 'threads wait' not in result.err)


on_all_cores('static', 1.5)     # 16 equal parts, of which 8 begin later, take 1.25
on_all_cores('dynamic', 1.25)
short_chunks()
ends_while_looked_at()
finish()
