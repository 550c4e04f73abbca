# SPDX-License-Identifier: MIT
"""`ws critical` excludes ranks and guests, by name, with and without -workshare; a holder that dies ends the job."""
import os

from job import CORES, PROGRAMS, expect, expect_lines, finish, in_tiny_shm, likely, repeated, run, side_by_side, skip

if CORES < 2:
    skip('needs two cores')
    finish()


# The rank that comes next must be told. mpirun would kill it because of the death, so mpirun sees only a shell, which lives on.
@repeated
def death(workshare):
    result = run('/bin/sh', '-c', '"$@"; sleep 20', 'sh', os.path.join(PROGRAMS, 'critical'), 'death', workshare=workshare, limit=30,
                 code='error', title=f'critical death, {"with" if workshare else "without"} -workshare')
    expect(result, 'somebody went on', 'went on' not in result.out)
    expect_lines(result, result.err, r"^workshare: error: (critical section 'fatal': )?rank 1 \(pid [0-9]+\) died ")
    likely(result, 'the job took more than 10 s to end', result.seconds < 10)


for workshare in False, True:
    for how in 'count', 'names':
        run('critical', how, workshare=workshare)
    run('critical', 'loop', ranks=3 if workshare else 2, workshare=workshare, steals=workshare)
    run('critical', 'count', ranks=5, workshare=workshare, env={'MPIR_CVAR_NUM_CLIQUES': '1'})


def again(workshare):
    result = run('critical', 'again', workshare=workshare, limit=30, code='error')
    expect(result, 'somebody went on', 'went on' not in result.out)
    expect_lines(result, result.err, r"^workshare: error: critical section 'twice': the thread that is inside entered it again; ending the job$")


tiny = in_tiny_shm()


def without_memory(workshare):
    """Without memory for the node's locks ranks would not exclude each other: no result rather than a wrong one. Where MPI
    shares no memory, as MPICH 5.0 on UCX, that of libws does not lie in /dev/shm, and the result is right."""
    result = run('critical', 'count', workshare=workshare, limit=30, code=None, **tiny)
    if 'MPI shares no memory' in result.out:
        expect(result, f'exit status {result.code}, wanted 0', result.code == 0)
        return
    expect(result, 'exit status 0 where an error was wanted', result.code != 0)
    # prterun of Open MPI 5 prints a zero byte after a message of its own
    expect_lines(result, result.err, r'^\0?workshare: error: no critical sections between ranks: /dev/shm is too small .*; ending the job$')


side_by_side(*(lambda call=call, on=on: call(on) for call in (death, again, *([without_memory] if tiny else [])) for on in (False, True)), at_once=3)
run('critical', 'loop', ranks=3, env={'WS_CHAOS': '5'}, steals=True)

finish()
