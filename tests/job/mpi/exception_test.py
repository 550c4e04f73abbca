# SPDX-License-Identifier: MIT
"""An exception that leaves an iteration ends the job with a message that names the loop, whoever ran it: its owner or a guest.
Arguments: mpirun, the folder of the programs, and which compilers they were made with."""
import pathlib
import re
import sys

from job import CORES, expect, expect_lines, finish, run, skip

source = (pathlib.Path(__file__).resolve().parents[2] / 'compiler/directive/exception.cpp').read_text().split('\n')
line = 1 + next(i for i, text in enumerate(source) if text.endswith('// sweep'))
NAMED = rf'^workshare: error: an exception left an iteration of the ws loop (?:[^:\n]*/)?exception\.cpp:{line}:\(anonymous namespace\)::Field::sweep;'

for compiler in sys.argv[3:]:
    for how, options in ('owner', {}), ('owner', {'workshare': False}), ('owner', {'ranks': 1}), ('critical', {}), ('guest', {}):
        if how == 'guest' and CORES == 1:
            skip('one core: there are no guests')
            continue
        result = run(f'exception_{compiler}', how, code='error', limit=30, **options)
        expect_lines(result, result.err, NAMED, 'what\\(\\):  the reason')
        expect(result, 'another loop is named', len(re.findall('an exception left', result.err)) == 1)
    # A rank that has no loop, and exceptions that are caught.
    result = run(f'exception_{compiler}', 'outside', code='error', limit=30)
    expect(result, 'a loop is named', 'an exception left' not in result.err)
    result = run(f'exception_{compiler}', 'caught')
    expect(result, 'a message', 'exception left' not in result.err)  # the verdict may name the file
finish()
