# SPDX-License-Identifier: MIT
"""openmp_jobs.py MPIRUN PROGRAMS LIBRARY ORDER [ARCHER]: mpirun -workshare-openmp with libws and the programs built by ThreadSanitizer. LIBRARY is that
libws; ORDER tells what libgomp orders, which is not built by it, ARCHER what libomp does. Any report fails a job; a race in a region must be reported."""
import os
import re
import sys
import threading

from job import among_jobs, finish, likely, loadable, repeated, run, side_by_side, skip
from sanitized import environment

library, order = os.path.abspath(sys.argv[3]), loadable(sys.argv[4])
ARCHER = sys.argv[5:]

beside, ENV = environment(library)
own = os.path.join(beside, 'libws.so.1')
# What OpenMP's libraries do themselves is theirs: of them only calls of malloc() and the like are seen.
ENV['TSAN_OPTIONS'] += f' suppressions={beside}/suppressions'
ENV['OMP_WAIT_POLICY'] = 'passive'
with open(os.path.join(beside, 'suppressions'), 'w') as f:
    f.write('called_from_lib:libgomp.so\ncalled_from_lib:libomp.so\ncalled_from_lib:libarcher.so\n')


def job(program, *args, ranks=2, env, code=0, more=(), openmp='auto', across='0'):
    """mpirun would load the stage's libws first: what its option does is said to each process instead."""
    tells = ('-env', 'OMP_TOOL_LIBRARIES', ARCHER[0], '-env', 'LD_PRELOAD', own) if program.endswith('_clang') else ('-env', 'LD_PRELOAD', f'{own}:{order}')
    mode = ('-env', 'WS_OPENMP', openmp, '-env', 'WS_ACROSS_JOBS', across, *tells, *more)
    return run(f'thread_{program}', *args, ranks=ranks, env={**ENV, **env}, options=mode, code=code, limit=100)


NODE = {'WS_CORES': '16', 'OMP_NUM_THREADS': '8'}
LANGUAGES = ['', '_clang'] if ARCHER else ['']


@repeated
def moves(of, chaos):
    result = job(f'processors{of}', 'sleep', 40, 4, 160000, 40000, env={**NODE, **chaos})
    likely(result, 'no core has moved, or none was lent', ' -> ' in result.err and re.search(r'[1-9]\d* parallel regions had lent cores', result.err))


@repeated
def recalls(of):
    result = job(f'leaves{of}', 3, ranks=3, env={'WS_CORES': '6', 'OMP_NUM_THREADS': '2'})
    likely(result, 'no core was recalled', re.search(r'[1-9]\d* of them were left then', result.err))


@repeated
def races(of):
    result = job(f'racy_region{of}', env=NODE, code=None)
    likely(result, 'the race in a region was not reported', result.code != 0 and re.search('Sanitizer: data race .*racy_region', result.err))


def two_jobs():
    """Regions of one have cores of the other, which come back from inside of them. One after the other: all such jobs see each other."""
    @repeated
    def of_language(of):
        seen = {'WS_IGNORE_JOBS': '0', 'OMP_NUM_THREADS': '4'}
        lender = threading.Thread(target=job, args=(f'processors{of}', 'sleep', 40, 1, 400000, 160000),
                                  kwargs={'openmp': 'lend', 'across': '1', 'env': {**seen, 'WS_CORES': '4', 'MPIR_CVAR_NUM_CLIQUES': '2'}})
        lender.start()
        result = job(f'leaves{of}', 50, 4, ranks=1, openmp='lend', across='1', env={**seen, 'WS_CORES': '12'})
        lender.join()
        likely(result, 'no core of the other job was recalled', re.search(r'[1-9]\d* of other jobs were recalled before the end, and [1-9]', result.err))
    with among_jobs(alone=True):
        for of in LANGUAGES:
            of_language(of)


@repeated
def composed(chaos):
    result = job('composed', 8, env={'WS_CORES': '8', 'OMP_NUM_THREADS': '4', **chaos}, more=('-env', 'WS_WORKERS', '3'))
    likely(result, 'no chunk was taken, or no core lent', result.stats.get('chunks_stolen', 0) > 0 and 'regions had lent cores' in result.err)


# They sleep most of the time.
side_by_side(two_jobs, *(lambda of=of, chaos=chaos: moves(of, chaos) for of in LANGUAGES for chaos in ({}, {'WS_CHAOS': '1'})),
             *(lambda of=of, call=call: call(of) for of in LANGUAGES for call in (recalls, races)),
             *(lambda chaos=chaos: composed(chaos) for chaos in ({}, {'WS_CHAOS': '2'})), at_once=3)
if not ARCHER:
    skip('libomp needs clang and its libarcher.so')
finish()
