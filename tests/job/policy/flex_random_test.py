# SPDX-License-Identifier: MIT
"""flex_random_test.py MPIRUN PROGRAMS [SEED]: XMPI in jobs of random sizes, speeds and intervals, for half a minute. Rows are compared before and after
each move, and by the programs."""
import random
import sys
import time

from job import expect, finish, run

SECONDS = 30
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
chance = random.Random(seed)
end, moved = time.monotonic() + SECONDS, 0
while time.monotonic() < end:
    ranks = chance.randint(1, 7)
    mode = chance.choice(('all', 'split', 'vectors', *(('two',) if ranks > 1 else ())))
    program = ('flex_vectors',) if mode == 'vectors' else ('flex_rows', mode, str(chance.choice((0, 1, 3, 17, 100, 300, 1000))), '40')
    env = {'WS_FLEX_CHECK': '1', 'WS_FLEX_FAKE': ','.join(f'{10 ** chance.uniform(2, 5):.3g}' for _ in range(ranks)),
           'MPIR_CVAR_NUM_CLIQUES': chance.choice(('1', '1', '2'))}
    options = ('-workshare-rows-interval', chance.choice('11235'), '-workshare-rows-cpu-loss', chance.choice(('5', '100')), '-workshare-rows-patience', chance.choice(('1', 'auto')))
    result = run(*program, ranks=ranks, options=options, env=env)
    if not expect(result, f'seed {seed}', result.code == 0):
        break
    moved += 'XMPI moved rows' in result.err
expect(result, f'rows moved in {moved} jobs alone, seed {seed}', moved > 0)
finish()
