# SPDX-License-Identifier: MIT
"""jobs.py MPIRUN PROGRAMS thread|address LIBRARY [--soak]: jobs with a sanitizer. LIBRARY is libws built with it.
Any report fails the job; a program with an error must be reported."""
import sys

from job import CORES, finish, likely, repeated, run, skip
from sanitized import environment

sanitizer, library = sys.argv[3:5]
soak = '--soak' in sys.argv

ENV = environment(library)[1]


def job(program, *args, ranks=2, steals=True, **env):
    run(f'{sanitizer}_{program}', *args, ranks=ranks, env={**ENV, **env}, steals=steals and 1 < ranks <= CORES)


for seed in range(1, 21 if soak else 2):
    regions = 1000 if soak else 150
    jobs = [
        (['oracle', seed, regions], {}),
        (['oracle', seed, regions], {'WS_CHAOS': str(seed)}),
        (['oracle', seed, regions], {'WS_WORKERS': '1'}),
        (['thread_oracle', seed, regions // 6, 2], {'WS_WORKERS': '1', 'WS_CHAOS': str(seed)}),
        (['oracle', seed, regions], {'WS_STEAL_ALL': '1'}),
        (['thread_oracle', seed, regions // 6, 12], {}),
        (['oracle', seed, regions // 4], {'WS_CHAOS': str(seed), 'ranks': 4}),
        (['critical', 'loop'], {'WS_CHAOS': str(seed)}),
        (['thread_oracle', seed, regions // 3, 3], {}),
        (['mpi_in_chunks', 'serve'], {'WS_CHAOS': str(seed)}),
        (['mpi_in_chunks', 'thread'], {}),
        (['task_groups', seed, regions // 2], {}),
        (['task_groups', seed, regions // 2], {'WS_CHAOS': str(seed)}),
        (['tasks', seed, regions // 4], {}),
        (['tasks', seed, regions // 4], {'WS_CHAOS': str(seed)}),
        (['tasks_oracle', 20 * regions, 5], {'MPIR_CVAR_NUM_CLIQUES': '2', 'steals': False}),
        (['tasks_oracle', 20 * regions, 5], {'MPIR_CVAR_NUM_CLIQUES': '2', 'steals': False, 'WS_CHAOS': str(seed), 'ranks': 4}),
        # many runs of one pool: what is changed between them
        (['tasks_oracle', regions, 5, 0, 0, 30], {'MPIR_CVAR_NUM_CLIQUES': '2', 'steals': False, 'WS_CHAOS': str(seed), 'ranks': 4}),
    ]
    # Lifetimes and bounds hardly depend on the interleaving: a half is enough for a quick look.
    for args, how in jobs if soak or sanitizer == 'thread' else jobs[1::2]:
        job(*args, **how)
job('tasks_cases', 'new_kinds', ranks=1)
job('tasks_cases', 'waits', ranks=4, MPIR_CVAR_NUM_CLIQUES='2', steals=False)
job('tasks_delivered', ranks=4, MPIR_CVAR_NUM_CLIQUES='2', steals=False, WS_CHAOS='1')

if CORES < 2:
    skip('needs two cores for the errors that must be found')
    finish()


@repeated(chances=6)    # nobody may have stolen
def reports(what):
    result = run(f'{sanitizer}_racy', what, env=ENV, code=None)
    likely(result, f'the {what} was not reported', 'Sanitizer: ' in result.err and 'racy.c:' in result.err)


reports({'thread': 'race', 'address': 'overrun'}[sanitizer])
finish()
