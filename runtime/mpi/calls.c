/* SPDX-License-Identifier: MIT
 *
 * lib/libws-calls.so: stands before libmpich and notes what each call is about, its peer and its buffer
 * (call_arguments.h), then jumps to the next function of that name, libmpich's or that of a tool of the user. Fortran
 * comes through here, too: its bindings call the functions of C.
 *
 * As the library that mpirun loads first it brings libws, and in its own place: before itself, as its filtee
 * (DT_AUXILIARY), and so before the program's libraries.
 *
 * Arguments are words, handed on as they came, whatever MPI means by them: a program may have another MPI library,
 * whose handles are of another size. That an int may pass as a long, in a register or on the stack, is so on x86-64
 * and on aarch64 alike.
 *
 * Costs: two multiplications, a store and a jump, some 2 ns.
 */
#include "mpi/call_arguments.h"
#include "mpi/next_call.h"

#include <dlfcn.h>

static __attribute__((cold, noinline)) void *next_of(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        no_next(name);
    return found;
}

/* Never 0. */
static inline void note(word buffer, word peer)
{
    ws_call_arguments = ((uint64_t)buffer * 0x9E3779B97F4A7C15u ^ (uint64_t)(uint32_t)peer * 0xD6E8FEB86659FD93u) | 1;
}

static inline word both(word one, word other) { return one ^ other << 7; }

#define FORWARD(name, count, buffer, peer) \
    EXPORTED word name(WORDS_##count); \
    EXPORTED word name(WORDS_##count) \
    { \
        static word (*next)(WORDS_##count); /* the same, whichever thread finds it */ \
        if (__builtin_expect(!next, 0)) \
            next = (word (*)(WORDS_##count)) next_of(#name); \
        note(buffer, peer); \
        return next(ARGUMENTS_##count); \
    }

/* MPI_ and PMPI_: a tool may be a part of the program and so be called first. */
#define CALL(name, count, buffer, peer) FORWARD(MPI_##name, count, buffer, peer) FORWARD(PMPI_##name, count, buffer, peer)
/* The same with counts of MPI_Count. */
#define CALL_C(name, count, buffer, peer) CALL(name, count, buffer, peer) CALL(name##_c, count, buffer, peer)
/* A collective operation, blocking and not: that has a request more. */
#define COLLECTIVE(name, iname, count, icount, buffer, peer) CALL_C(name, count, buffer, peer) CALL_C(iname, icount, buffer, peer)

/* Name, number of arguments, buffer, peer: a0 is the first argument. In collective operations, the peer is the root. */
CALL_C(Send, 6, a0, a3)
CALL_C(Bsend, 6, a0, a3)
CALL_C(Ssend, 6, a0, a3)
CALL_C(Rsend, 6, a0, a3)
CALL_C(Isend, 7, a0, a3)
CALL_C(Ibsend, 7, a0, a3)
CALL_C(Issend, 7, a0, a3)
CALL_C(Irsend, 7, a0, a3)
CALL_C(Send_init, 7, a0, a3)
CALL_C(Bsend_init, 7, a0, a3)
CALL_C(Ssend_init, 7, a0, a3)
CALL_C(Rsend_init, 7, a0, a3)
CALL_C(Recv, 7, a0, a3)
CALL_C(Irecv, 7, a0, a3)
CALL_C(Recv_init, 7, a0, a3)
CALL_C(Mrecv, 5, a0, 0)
CALL_C(Imrecv, 5, a0, 0)
CALL_C(Sendrecv, 12, both(a0, a5), both(a3, a8))
CALL_C(Sendrecv_replace, 9, a0, both(a3, a5))
CALL_C(Isendrecv, 12, both(a0, a5), both(a3, a8))
CALL_C(Isendrecv_replace, 9, a0, both(a3, a5))
CALL(Probe, 4, 0, a0)
CALL(Mprobe, 5, 0, a0)

/* Requests are identified by their address. */
CALL(Start, 1, a0, 0)
CALL(Startall, 2, a1, 0)
CALL(Wait, 2, a0, 0)
CALL(Waitall, 3, a1, 0)
CALL(Waitany, 4, a1, 0)
CALL(Waitsome, 5, a1, 0)

COLLECTIVE(Bcast, Ibcast, 5, 6, a0, a3)
COLLECTIVE(Gather, Igather, 8, 9, both(a0, a3), a6)
COLLECTIVE(Gatherv, Igatherv, 9, 10, both(a0, a3), a7)
COLLECTIVE(Scatter, Iscatter, 8, 9, both(a0, a3), a6)
COLLECTIVE(Scatterv, Iscatterv, 9, 10, both(a0, a4), a7)
COLLECTIVE(Reduce, Ireduce, 7, 8, both(a0, a1), a5)
COLLECTIVE(Allreduce, Iallreduce, 6, 7, both(a0, a1), 0)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, 6, 7, both(a0, a1), 0)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, 6, 7, both(a0, a1), 0)
COLLECTIVE(Scan, Iscan, 6, 7, both(a0, a1), 0)
COLLECTIVE(Exscan, Iexscan, 6, 7, both(a0, a1), 0)
COLLECTIVE(Allgather, Iallgather, 7, 8, both(a0, a3), 0)
COLLECTIVE(Allgatherv, Iallgatherv, 8, 9, both(a0, a3), 0)
COLLECTIVE(Alltoall, Ialltoall, 7, 8, both(a0, a3), 0)
COLLECTIVE(Alltoallv, Ialltoallv, 9, 10, both(a0, a4), 0)
COLLECTIVE(Alltoallw, Ialltoallw, 9, 10, both(a0, a4), 0)
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, 7, 8, both(a0, a3), 0)
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, 8, 9, both(a0, a3), 0)
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, 7, 8, both(a0, a3), 0)
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, 9, 10, both(a0, a4), 0)
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, 9, 10, both(a0, a4), 0)

CALL_C(Put, 8, a0, a3)
CALL_C(Get, 8, a0, a3)
CALL_C(Accumulate, 9, a0, a3)
CALL_C(Get_accumulate, 12, both(a0, a3), a6)
CALL(Fetch_and_op, 7, both(a0, a1), a3)
CALL(Compare_and_swap, 7, both(a0, a2), a4)
CALL_C(Rput, 9, a0, a3)
CALL_C(Rget, 9, a0, a3)
CALL_C(Raccumulate, 10, a0, a3)
CALL_C(Rget_accumulate, 13, both(a0, a3), a6)
CALL(Win_lock, 4, 0, a1)
CALL(Win_unlock, 2, 0, a0)
CALL(Win_flush, 2, 0, a0)
CALL(Win_flush_local, 2, 0, a0)
