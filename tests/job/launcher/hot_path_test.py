# SPDX-License-Identifier: MIT
"""Without -workshare MPI_Send and MPI_Recv are compiled as MPICH's own: no frame pointer for the note of which call it is, and the
loop of polls is one function. Either costs a ping-pong of 8 bytes some percent, which a benchmark sees on a quiet machine only."""
import os
import platform
import re
import sys

from check import expect, finish, need, run, skip

LIBRARY = os.path.join(sys.argv[1], 'lib/libmpich.so.12')

if platform.machine() != 'x86_64':
    skip('knows the instructions of x86-64 only')
need('objdump')


def code(function):
    """Its instructions, as text; a name may stand for several functions"""
    _, out, _ = run('objdump', '--no-show-raw-insn', f'--disassemble={function}', LIBRARY)
    return '\n'.join(re.findall(rf'^[0-9a-f]+ <{function}>:\n(.*?)(?:^$|\Z)', out, re.M | re.S))


for name in 'PMPI_Send', 'PMPI_Recv', 'PMPI_Isend', 'PMPI_Irecv':
    text = code(name)
    expect(f'{name}: there', 'ret' in text, True)
    expect(f'{name}: keeps a frame pointer', bool(re.search(r'mov\s+%rsp,%rbp', text)), False)

# MPICH 4.2 polls in another way.
wait = code('MPID_Progress_wait')
if 'ucp_worker_progress' in wait or 'MPIDI_progress_test' in wait:
    expect('MPID_Progress_wait: polls by a call of another function', 'MPIDI_progress_test' in wait, False)
finish()
