# SPDX-License-Identifier: MIT
"""one_more.py COUNTERS.H: the same on stdout, with one counter more of several kinds."""
import re
import sys

MORE = {'WS_RANK_COUNTERS': ['LEND(COUNT, more_lends, LATER, WS_MORE_LENDS, "")', 'LEND(TIME, more_wait, LATER, NONE, "")',
                             'PROCESS(COUNT, more_threads, LATER, NONE, "")', 'LEND(COUNT, more_hidden, BOARD, NONE, "")'],
        'WS_LOOP_COUNTERS': ['ROW(COUNT, more_turns, LATER, NONE, "")']}
with open(sys.argv[1]) as f:
    text = f.read()
for name, rows in MORE.items():
    text, done = re.subn(rf'(#define {name}\(.*?\S)\n\n', lambda m: m[1] + ''.join(f' \\\n    {row}' for row in rows) + '\n\n', text, count=1, flags=re.S)
    assert done == 1, name
sys.stdout.write(text)
