# SPDX-License-Identifier: MIT
"""python_app.py LIBRARY: rank 0 calls a shared loop of a library of C; the other rank waits for it outside of MPI. Prints rank 0's best time by the time that
the loop takes without help."""
import ctypes
import sys
import time

import workshare

mpi = ctypes.CDLL('libmpich.so.12')
WORLD = 0x44000000
rank = ctypes.c_int()
loop_of_rank_0 = ctypes.CDLL(sys.argv[1]).loop_of_rank_0
loop_of_rank_0.restype = ctypes.c_double


@workshare.waiting()
def waits(seconds):
    time.sleep(seconds)


mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
best = 1e9
for turn in range(8):
    mpi.MPI_Barrier(WORLD)
    if rank.value == 0:
        best = min(best, loop_of_rank_0())
    else:
        waits(0.05)
        with workshare.waiting():
            mpi.MPI_Barrier(0x44000001)     # of this rank alone
if rank.value == 0:
    print(f'{best:.3f}', 'active' if workshare.is_active() else 'alone')
mpi.MPI_Finalize()
