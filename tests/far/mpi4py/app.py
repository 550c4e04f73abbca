# SPDX-License-Identifier: MIT
"""app.py LIBRARY: rank 0 calls a shared loop of a library of C; the others wait for it in calls of mpi4py. Prints of each kind of call rank 0's best time by
the time that the loop takes without help."""
import ctypes
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
loop_of_rank_0 = ctypes.CDLL(sys.argv[1]).loop_of_rank_0
loop_of_rank_0.restype = ctypes.c_double


def send(tag, turn):
    for to in range(1, world.size):
        world.send([turn], dest=to, tag=tag)


def barrier(_):
    world.Barrier()


def allreduce(turn):
    assert world.allreduce(world.rank + turn) == sum(range(world.size)) + world.size * turn


def broadcast(turn):
    assert world.bcast([turn, 'text'] if world.rank == 0 else None) == [turn, 'text']


def receive(turn):
    if world.rank == 0:
        send(1, turn)
    else:
        assert world.recv(source=0, tag=1) == [turn]


def wait(turn):
    if world.rank == 0:
        send(2, turn)
    else:
        assert world.irecv(source=0, tag=2).wait() == [turn]


for kind in (barrier, allreduce, broadcast, receive, wait):
    best = 1e9
    for number in range(4):
        world.Barrier()
        if world.rank == 0:
            best = min(best, loop_of_rank_0())
        kind(number)
    if world.rank == 0:
        print(kind.__name__, f'{best:.3f}', flush=True)
