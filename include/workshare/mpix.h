/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Placement by load: communicators whose ranks are assigned so that cores have about the same load.
 *
 * For C99 and later, and for C++11 and later. Examples: docs/reference/placement.md. Two functions are those of the
 * paper "Balancing CPU Load for Irregular MPI Applications" (Keller, Majeed, Kessler).
 *
 * @par Ranks
 * Processes stay on their cores; the ranks are assigned to them. Rank r of *newcomm does the work with loads[r].
 * *newcomm contains all processes of comm, each once, and has the error handler of comm.
 *
 * @par Loads
 * Doubles in any unit, finite and not negative, because only their ratios count. Loads of one core add up.
 *
 * @par Processes on several cores
 * A process that may run on several cores counts for one of them: processes with the same choice are assigned to its
 * cores in turn. With more such ranks than cores, the kernel moves them. Bind them (mpirun -bind-to).
 *
 * @par Blocking
 * Every function is collective over comm, an intracommunicator. It returns when the caller's part is done. Under
 * mpirun -workshare, a rank that waits in it helps others, as in any call of MPI. All processes give the same info.
 *
 * @par Errors
 * MPI_SUCCESS or an error code, after comm's error handler was called with it. The message names the argument and the
 * rank. An error is raised in all processes of comm, whichever caused it. Then *newcomm is MPI_COMM_NULL, and comm is
 * unchanged. MPI_ERR_COMM: comm is MPI_COMM_NULL or an intercommunicator. MPI_ERR_ARG: a load is negative, infinite
 * or not a number; a pointer is NULL. MPI_ERR_INFO_VALUE: a key has an unknown value, or info differs between
 * processes. Other errors come from MPI itself.
 *
 * @par Threads
 * As for MPI's collective calls: not two at the same time on one communicator.
 *
 * @par Without Workshare
 * Without mpirun -workshare, everything works except measured loads.
 *
 * @par ws_load_algorithm
 * Key of info. "roundrobin": the paper's. "lpt": the largest load first, to the core with the least load that has
 * room, then exchanges. "exact": the best that branch and bound finds within 0.2 s, for up to some 50 ranks. "auto"
 * (default): the best of these, with the search limited to 1 ms, and of the present order, which stays if nothing is
 * better.
 *
 * @par ws_load_domain
 * Key of info: the units that get equal loads. "core" (default). "numa" or "node": NUMA domains or nodes get equal
 * loads per core in use, and then each assigns them to its cores. "node" is for programs that share their loops
 * within the node.
 *
 * @par ws_load_spare
 * Key of info: a number S, default 0. The last S ranks of *newcomm have no work, so cores need not have the same
 * number of ranks with work. See MPIX_Load_active.
 *
 * @par ws_load_cell
 * Key of info, for MPIX_Dist_load_create: the number of processes whose ranks one of them assigns, default 256. More
 * give a better balance and need more memory in that process. It must be at least the number of processes on two
 * cores (node: on two nodes).
 */
#ifndef WORKSHARE_MPIX_H
#define WORKSHARE_MPIX_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * In place of `loads`: the loads that Workshare measured.
 *
 * The load of a rank is the time that its process in comm computed outside of waits in MPI, including what others
 * computed of its loops, since MPI_Init or since the last call with measured loads. Time in which other processes had
 * the core is left out, as far as the kernel counts it (/proc/thread-self/schedstat). Without mpirun -workshare:
 * MPI_ERR_UNSUPPORTED_OPERATION.
 */
#define MPIX_LOADS_MEASURED ((const double *) 16)

/**
 * Assigns ranks by the loads of all ranks, which every process knows.
 *
 * @param comm          the communicator, of n processes
 * @param loads         loads[r] is the load of rank r, for r = 0 .. n-S-1. If processes differ, those of rank 0 count
 * @param info          keys as above; MPI_INFO_NULL: the defaults
 * @param[out] newcomm  the new communicator
 *
 * @par Cost
 * A gather, a broadcast and the creation of a communicator. The first call also finds the places of the processes.
 *
 * @par Source
 * Keller, Majeed, Kessler (MPI_Load_create).
 */
int MPIX_Load_create(MPI_Comm comm, const double *loads, MPI_Info info, MPI_Comm *newcomm);

/**
 * Assigns ranks by loads of which each process knows some, or only its own.
 *
 * Together, the processes give the load of each of the ranks 0 .. n-S-1 exactly once. With MPIX_LOADS_MEASURED, each
 * gives its own, and count and ranks are ignored.
 *
 * Within cells of ws_load_cell processes, the balance is as good as with MPIX_Load_create. Between cells, loads are
 * sorted into classes, which are refined until the uncertainty is below a fiftieth of a core's load. "auto" keeps the
 * present order if that is as good and every process has given its own load. "roundrobin" is the paper's everywhere.
 *
 * @param comm          the communicator, of n processes
 * @param count         number of loads that this process gives
 * @param ranks         their ranks
 * @param loads         loads[i] is the load of rank ranks[i]
 * @param info          keys as above; MPI_INFO_NULL: the defaults
 * @param[out] newcomm  the new communicator
 *
 * @par Errors
 * MPI_ERR_RANK: a rank is out of range, or its load is given twice or not at all. MPI_ERR_COUNT: count is negative.
 *
 * @par Cost
 * Memory per process: O(n/p + t), with n processes on p cores and t classes, at most 1024. MPI itself keeps more per
 * communicator. Three or four messages per process, and about ten collective operations. The first call on a
 * communicator creates a private one beside it and finds the places of the processes, which later calls use.
 *
 * @par Source
 * Keller, Majeed, Kessler (MPI_Dist_load_create).
 */
int MPIX_Dist_load_create(MPI_Comm comm, int count, const int ranks[], const double *loads, MPI_Info info,
                          MPI_Comm *newcomm);

/**
 * Assigns ranks by load, and among equally balanced assignments chooses one that brings communicating ranks together.
 *
 * Heavy edges come onto one core, then onto one node. The graph is given as in MPI_Dist_graph_create_adjacent: the
 * neighbours of the rank that the calling process has in comm. They are the neighbours of the same rank in *newcomm,
 * which has the graph as its topology. Weights are not negative.
 *
 * @param comm           the communicator
 * @param loads          as for MPIX_Load_create
 * @param indegree       number of sources
 * @param sources        ranks from which this rank receives
 * @param sourceweights  their weights, or MPI_UNWEIGHTED
 * @param outdegree      number of destinations
 * @param destinations   ranks to which this rank sends
 * @param destweights    their weights, or MPI_UNWEIGHTED
 * @param info           keys as above; MPI_INFO_NULL: the defaults
 * @param[out] newcomm   the new communicator
 *
 * @par Errors
 * MPI_ERR_RANK: a neighbour is no rank. MPI_ERR_ARG: a weight is negative; only some processes have MPI_UNWEIGHTED.
 *
 * @par Cost
 * That of MPIX_Load_create and of MPI_Dist_graph_create_adjacent. Rank 0 gathers all edges and tries exchanges for at
 * most 0.1 s.
 *
 * @par Source
 * Keller, Majeed, Kessler, as future work.
 */
int MPIX_Load_graph_create(MPI_Comm comm, const double *loads, int indegree, const int sources[],
                           const int sourceweights[], int outdegree, const int destinations[], const int destweights[],
                           MPI_Info info, MPI_Comm *newcomm);

/**
 * Tells whether the calling process has work, and creates a communicator of those that have.
 *
 * @param comm             a communicator that a function of this header made, or an MPI_Comm_dup of one. In other
 *                         communicators, all processes have work
 * @param[out] active      1 if the process has work, 0 if it is spare
 * @param[out] activecomm  the processes with work, with the same ranks as in comm; MPI_COMM_NULL in spare ones. NULL
 *                         on all processes: no communicator is created, and the call is not collective
 *
 * @par Errors
 * MPI_ERR_ARG: active is NULL.
 *
 * @par Source
 * Keller, Majeed, Kessler, who leave spare processes to the program.
 */
int MPIX_Load_active(MPI_Comm comm, int *active, MPI_Comm *activecomm);

/**
 * Tells how unevenly the measured loads are distributed over the cores.
 *
 * Measuring goes on; see MPIX_LOADS_MEASURED.
 *
 * @param comm                the communicator
 * @param[out] max_over_mean  the load of the fullest core divided by the mean. 1 is balance. 2 means that reordering
 *                            can halve the time between two waits at best, and does if single loads are small enough
 *
 * @par Errors
 * MPI_ERR_UNSUPPORTED_OPERATION: the job runs without -workshare. MPI_ERR_ARG: max_over_mean is NULL.
 *
 * @par Source
 * Workshare.
 */
int MPIX_Load_imbalance(MPI_Comm comm, double *max_over_mean);

#ifdef __cplusplus
}
#endif
#endif
