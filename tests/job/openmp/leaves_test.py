# SPDX-License-Identifier: MIT
"""Virtual threads that leave their region otherwise than by its end: where that is allowed the job ends with that status, else with a message
that names the region, at once. Without one the others would wait for that thread for ever.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import re
import sys

from job import expect, expect_lines, finish, likely, repeated, run

PROGRAM = f'leaves.{sys.argv[3]}'


@repeated
def leaves(how, number, *more, **wanted):
    result = run(PROGRAM, how, number, *more, options=('-workshare-openmp=share:4',), env={'OMP_NUM_THREADS': '1'}, limit=60, **wanted)
    expect(result, 'nobody left', 'nobody left' not in result.out)
    likely(result, 'the job took more than 9 s to end', result.seconds < 9)     # then a rank tells that it has waited
    return result


for number in 0, 1, 2, 3:
    leaves('exit', number, 'asked', code=7)

for number in 0, 2:
    for how in 'exit', '_exit':
        leaves(how, number, code=7)
    for how in 'pthread_exit', 'pthread_cancel':
        # While the job is ended, helpers may still use what was on the opener's stack.
        result = leaves(how, number, code=1 if number else 'error')
        expect_lines(result, result.err, r'^workshare: error: pthread_exit or pthread_cancel ended a thread in (an iteration of the ws loop|the parallel region) '
                     r'[^:\n]*leaves\.c:\d+(:main)?; ending the job$')
    # Others still use the frame that was left: what comes first is a fault or the message in MPI_Finalize.
    result = leaves('longjmp', number, code='error')
    expect(result, 'no message', re.search('did longjmp leave it|BAD TERMINATION|Caught signal', result.err + result.out))
finish()
