# SPDX-License-Identifier: MIT
"""Iterations that are left otherwise than by their end: where that is allowed the job ends with that status, else with a message that names
the loop; never late, and nothing is left."""
from job import CORES, expect, expect_lines, finish, run, side_by_side, skip

ENDED = 'pthread_exit or pthread_cancel ended a thread in an iteration of the ws loop '
TERMINATED = 'std::terminate was called in an iteration of the ws loop '
JUMPED = ', but an iteration of the ws loop '

if CORES < 2:
    skip('needs two cores')
    finish()


for who in 'owner', 'guest':
    for how in 'exit', '_exit', 'MPI_Abort':
        run('unfinished', how, who, limit=20, code=7)
    for how in 'pthread_exit', 'pthread_cancel', 'other_cancel':
        # While the job is ended, guests may still use what was on the owner's stack.
        result = run('unfinished', how, who, limit=20, code='error' if who == 'owner' else 1)
        expect_lines(result, result.err, rf'^workshare: error: {ENDED}[^:\n]*unfinished\.c:\d+:loop; ending the job$')
        result = run('unfinished_cxx', how, who, limit=20, code='error')  # there the loop must not be unwound
        expect_lines(result, result.err, rf'^workshare: error: {TERMINATED}[^:\n]*unfinished\.c:\d+:loop; pthread_exit ')
for how, where in ('longjmp', 'a ws loop begins'), ('longjmp_end', 'MPI_Finalize is called'):
    result = run('unfinished', how, 'owner', limit=20, code=1)
    expect_lines(result, result.err, rf'^workshare: error: {where}{JUMPED}[^:\n]*unfinished\.c:\d+:loop has not ended \(did longjmp leave it\?\); ending the job$')


def waits_in_the_body():
    result = run('unfinished', 'longjmp_wait', 'owner', limit=40, code=1)
    expect_lines(result, result.err, r'^workshare: note: rank 0 has waited 9 s for an MPI call in an iteration of the ws loop [^:\n]*unfinished\.c:\d+:loop; if longjmp has left ',
                 rf'^workshare: error: MPI_Finalize is called{JUMPED}')


def slow():
    """An iteration that takes long is no error."""
    result = run('unfinished', 'slow', 'guest', limit=60)
    expect_lines(result, result.err, r'^workshare: note: a rank has waited 9 s for an iteration of the ws loop [^:\n]*unfinished\.c:\d+:loop that a helper thread runs; if longjmp ')
    expect(result, 'more than one note', result.err.count('has waited') == 1)


side_by_side(waits_in_the_body, slow)
# Whether the compiler puts the loop into main() decides which of them is the first to see it.
result = run('unfinished', 'longjmp_plain', 'owner', limit=20, code=1)
expect_lines(result, result.err, rf'^workshare: error: (a ws loop begins|MPI_Finalize is called){JUMPED}[^:\n]*unfinished\.c:\d+:short_loop has not ended \(did longjmp leave it\?\); ending the job$')
# A worker.
worker = {'ranks': 1, 'options': ('-workshare-workers', '1')}
run('unfinished', 'exit', 'guest', limit=20, code=7, **worker)
result = run('unfinished', 'pthread_exit', 'guest', limit=20, code=1, **worker)
expect(result, 'no message', ENDED in result.err)
finish()
