# SPDX-License-Identifier: MIT
"""missing_test.py MPIRUN PROGRAMS: ranks that do not make a call in which others wait for them are named, once, within 10 s or so, and the job
goes on."""
from job import expect, expect_lines, finish, run, side_by_side

UNLESS = r'; the job hangs unless all ranks of the communicator make this call equally often$'


def names(what, line, ranks=2, code=3, **how):
    result = run('missing', what, ranks=ranks, code=code, limit=60, **how)
    expect_lines(result, result.err, line)
    expect(result, 'more than one note', sum(' has waited 9 s in ' in line for line in result.messages()) == 1)


def waits(call, missing, rank='0'):
    return rf'^workshare: note: rank {rank} has waited 9 s in {call} for {missing}{UNLESS}'


def nothing_without():
    result = run('missing', 'slow', ranks=2, workshare=False, limit=60)
    expect(result, 'a note without -workshare', 'note:' not in result.err)


side_by_side(
    lambda: names('create', waits('ws_pool_create', r'rank 2 \(in MPI_Barrier\)', '[01]'), ranks=3),
    lambda: names('run', waits('ws_pool_run', r'rank 2 \(in MPI_Barrier\)', '[01]'), ranks=3),
    # Late is not wrong: the job ends well.
    lambda: names('slow', waits('ws_pool_run', r'rank 1 \(computing\)'), code=0),
    lambda: names('free', r'^workshare: note: rank (0 has waited 9 s in ws_pool_free for rank 1 \(in XMPI_Get_wsize\)|'
                          rf'1 has waited 9 s in XMPI_Get_wsize for rank 0 \(in ws_pool_free\)){UNLESS}'),
    lambda: names('iterations', waits('XMPI_Monitor_end', r'rank 1 \(in MPI_Finalize\)'), options=('-workshare-rows-interval', '1')),
    lambda: names('iterations', waits('XMPI_Monitor_end', r'rank 19 \(in MPI_Finalize\)', r'\d+'), ranks=20, options=('-workshare-rows-interval', '1')),
    lambda: names('reorder', waits('MPIX_Load_create', r'rank 1 \(in MPI_Recv\)')),
    nothing_without, at_once=4)
# A node without any: no other can see its ranks.
names('node', r"^workshare: note: rank 0 has waited 9 s in ws_pool_run; this node cannot see the communicator's other ranks: rank 1" + UNLESS,
      env={'MPIR_CVAR_NUM_CLIQUES': '2'})
finish()
