/* SPDX-License-Identifier: MIT
 *
 * Rank reordering by load: processes say how much each rank will have to do, and get a communicator in which the ranks
 * are dealt to the processes so that cores have equally much to do. For C99 and C++11. With examples:
 * docs/reference/placement.md. The functions marked so are those of the paper "Balancing CPU Load for Irregular MPI
 * Applications" (Keller, Majeed, Kessler); the others go on from there.
 *
 * Everywhere:
 *   Ranks       processes stay on their cores; it is the ranks that are dealt to them. Rank r of *newcomm does the work
 *               that has loads[r]. *newcomm holds all processes of comm, each once.
 *   Loads       any unit, as only their relations count: doubles, finite, not negative. Loads of one core add up.
 *   Blocking    every function here is collective over comm, an intracommunicator, and returns when its part is done;
 *               under mpirun -workshare a rank that waits in it helps others, as in any call of MPI. All give the same
 *               info.
 *   Handler     communicators that are made have the error handler of comm.
 *   Errors      as with MPI's own functions: MPI_SUCCESS or an error code, after comm's error handler was called with
 *               it, and the message says which argument of which rank is wrong. An error is raised in all processes of
 *               comm, whichever made it; then *newcomm is MPI_COMM_NULL, and comm is as it was. MPI_ERR_COMM: comm is
 *               MPI_COMM_NULL or an intercommunicator. MPI_ERR_ARG: a load is negative, infinite or not a number; a
 *               pointer is NULL. MPI_ERR_INFO_VALUE: a key below has a value that it does not know, or info is not the
 *               same everywhere. Others come from MPI itself.
 *   Threads     as MPI allows for collective calls: not two at once on the same communicator.
 *   Without     mpirun -workshare all works but what measures loads.
 *
 * Keys of info (MPI_INFO_NULL: all have their default):
 *   ws_load_algorithm   "roundrobin": the paper's. "lpt": the largest load first to the core with least that has room,
 *                       then exchanges. "exact": the best that branch and bound finds within 0.2 s; meant for up to
 *                       some 50 ranks. "auto" (default): the best of these, the search within 1 ms, and of the ranks as
 *                       they are, which are kept when nothing is better.
 *   ws_load_domain      what loads are dealt to: "core" (default); "numa", "node": NUMA domains or nodes get equal
 *                       loads for each of their cores that is in use, and then each deals them to its cores. "node" is
 *                       for programs whose loops are shared within the node anyway.
 *   ws_load_spare       a number S, default 0: the last S ranks of *newcomm are spare. They have no work, so that cores
 *                       need not all have equally many ranks with work. See MPIX_Load_active.
 *   ws_load_cell        of MPIX_Dist_load_create: a number, default 256: so many processes have their ranks dealt by
 *                       one of them. More are better balanced, and need more memory in that one. At least as many as
 *                       two cores have (node: two nodes).
 *
 * A process that may run on several cores counts as being on one of them: those with the same choice are dealt to its
 * cores in turn. With more such ranks than cores the system moves them as it likes; bind them (mpirun -bind-to) when
 * loads of a core are to add up as predicted.
 */
#ifndef WORKSHARE_MPIX_H
#define WORKSHARE_MPIX_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For `loads`: those that Workshare measured. The load of a rank is then the time that the process of that rank in comm
 * computed outside of waits in MPI, with what others computed of its loops, since MPI_Init or since it last gave its
 * loads in this way. Needs mpirun -workshare; MPI_ERR_UNSUPPORTED_OPERATION without. Time in which other processes had
 * the core is left out, as far as the system counts it (/proc/thread-self/schedstat). */
#define MPIX_LOADS_MEASURED ((const double *) 16)

/* Every process knows the loads of all: loads[r] for r = 0 .. n-S-1, n being the size of comm. Where processes give
 * different values, those of rank 0 count.
 *   Cost        a gather, a broadcast and the making of a communicator; the first call also finds out where processes
 *               are.
 * From: Keller, Majeed, Kessler (MPI_Load_create). */
int MPIX_Load_create(MPI_Comm comm, const double *loads, MPI_Info info, MPI_Comm *newcomm);

/* Each process knows the loads of some ranks, or of its own alone: loads[i] is that of rank ranks[i], i < count.
 * Together they give the load of each of the ranks 0 .. n-S-1 exactly once. With MPIX_LOADS_MEASURED each gives its
 * own; count and ranks are ignored.
 *   Cost        memory: a process needs O(n/p + t), with n processes on p cores and t the number of classes that loads
 *               are sorted into, 1024 at most; MPI itself keeps more for each communicator. Three messages, or four, a
 *               process, and about ten collective operations; the first call on a communicator makes a private one
 *               beside it, which goes with it, and finds out where processes are: later calls on the same communicator
 *               go by that.
 *   Balance     in cells of so many processes (ws_load_cell) as good as with MPIX_Load_create, between cells by classes
 *               of loads, which are made finer until what is unknown within them is less than a fiftieth of a core's
 *               load. "auto" keeps the ranks as they are when that is as good, if every process has given its own load.
 *               "roundrobin" is the paper's everywhere.
 *   Errors      MPI_ERR_RANK: a rank is none of those, or its load is given twice or by nobody. MPI_ERR_COUNT: count is
 *               negative.
 * From: Keller, Majeed, Kessler (MPI_Dist_load_create). */
int MPIX_Dist_load_create(MPI_Comm comm, int count, const int ranks[], const double *loads, MPI_Info info,
                          MPI_Comm *newcomm);

/* As MPIX_Load_create, and of the deals that are equally balanced one that brings those ranks together that talk to
 * each other: edges with large weights on one core, then on one node. The graph is given as in
 * MPI_Dist_graph_create_adjacent: the neighbours of the rank that the calling process has in comm; they are those of
 * the same rank in *newcomm, which has the graph as its topology. Weights are not negative.
 *   Cost        that of MPIX_Load_create, rank 0 gathers all edges and tries exchanges for 0.1 s at most, and the cost
 *               of MPI_Dist_graph_create_adjacent.
 *   Errors      MPI_ERR_RANK: a neighbour is no rank. MPI_ERR_ARG: a weight is negative; some have MPI_UNWEIGHTED and
 *               others have not.
 * From: Keller, Majeed, Kessler, as future work. */
int MPIX_Load_graph_create(MPI_Comm comm, const double *loads, int indegree, const int sources[],
                           const int sourceweights[], int outdegree, const int destinations[], const int destweights[],
                           MPI_Info info, MPI_Comm *newcomm);

/* Whether the calling process has work in comm, which one of the functions above and below made, or MPI_Comm_dup from
 * one of those: *active is 1 if so, 0 for a spare one. *activecomm is a new communicator of those that have, with the
 * same ranks as in comm; MPI_COMM_NULL in the spare ones. In other communicators all are active. activecomm may be NULL
 * on all processes: then none is made, and the call is not collective.
 *   Errors      MPI_ERR_ARG: active is NULL.
 * From: Keller, Majeed, Kessler, who leave the spare processes to the program. */
int MPIX_Load_active(MPI_Comm comm, int *active, MPI_Comm *activecomm);

/* Whether it is worth it: of the measured loads of comm's processes (see MPIX_LOADS_MEASURED; they are not begun anew),
 * that of the core with most by that of the cores on average. 1 is balance, 2 means that reordering can halve the time
 * between two waits at best, and does where single loads are small enough.
 *   Errors      MPI_ERR_UNSUPPORTED_OPERATION: the job runs without -workshare. MPI_ERR_ARG: max_over_mean is NULL.
 * From: Workshare itself. */
int MPIX_Load_imbalance(MPI_Comm comm, double *max_over_mean);

#ifdef __cplusplus
}
#endif
#endif
