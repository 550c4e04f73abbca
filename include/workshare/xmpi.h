/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Data that follows speed, for SPMD programs whose rows are divided among processes in contiguous ranges.
 *
 * A program registers its arrays and marks its iterations. Under mpirun -workshare, rows then move from slow
 * processes to fast ones, also between nodes. For C99 and later, and for C++11 and later; C++17 programs have more
 * comfort in <workshare/xmpi.hpp>. Examples: docs/reference/xmpi.md. From the paper "FLEX-MPI: an MPI extension for
 * supporting dynamic load balancing on heterogeneous non-dedicated systems" (Martin, Marinescu, Singh, Carretero).
 *
 * @par Rows
 * 0 to rows - 1 of the whole, with the same numbers in all structures of a partition: elements of a vector, rows or
 * columns of a matrix. The process of rank r in comm has `count` rows from `displ` on, and the process of rank r + 1
 * has the next ones. A process may have none.
 *
 * @par Arrays
 * They hold the calling process's rows only. Functions take the address of the pointer to an array, because a move
 * changes its size. The memory comes from malloc() or similar, or from XMPI_Alloc(), and is given back by free() or
 * XMPI_Free(). With XMPI_Set_resize() it may be of any kind. After a move, the pointer may be another one.
 *
 * @par Blocking
 * Collective calls are collective over the partition's communicator. They return when the caller's part is done. A
 * rank that waits in one helps others, as in any call of MPI. If a process never makes such a call, the others wait
 * for ever. Under mpirun -workshare, one line on stderr names such processes of the node after a rank has waited for
 * 9 s. All other calls are local.
 *
 * @par Errors
 * MPI_SUCCESS or an error code, after the communicator's error handler was called with it. The message names the
 * argument. MPI_ERR_ARG: a pointer is NULL, or what the function says. MPI_ERR_COUNT: a number is negative, or the
 * bytes of all rows exceed MPI_Aint. MPI_ERR_TYPE: a datatype is not committed. Without a valid partition, the
 * handler of MPI_COMM_SELF is called. A failure in the middle of a move ends the job, so data is never half moved.
 *
 * @par Threads
 * One thread at a time per partition.
 *
 * @par Without Workshare
 * Without mpirun -workshare, everything works, and nothing is measured. Rows move only for XMPI_Resize.
 *
 * @par ws_flex_domain
 * Key of info, from the process with rank 0. "all" (default): each process has rows by its own speed. "node": nodes
 * have rows by their speed, and the processes of a node equal shares of them. "node" is for programs that share their
 * loops within the node.
 *
 * @par ws_flex_iterations
 * Key of info: the number of iterations of the program. By default, as many are assumed to follow as were done.
 *
 * @par ws_flex_interval, ws_flex_k, ws_flex_th1, ws_flex_th2
 * Keys of info that replace -workshare-rows-interval, -workshare-rows-patience, -workshare-rows-cpu-loss and
 * -workshare-rows-imbalance for this partition.
 */
#ifndef WORKSHARE_XMPI_H
#define WORKSHARE_XMPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A decomposition: which process has which rows, and the structures that are registered. */
typedef int XMPI_Partition;
#define XMPI_PARTITION_NULL 0

/**
 * The layout of a matrix in memory. XMPI_ROWS: one row after the other; also a vector, with width 1. XMPI_COLUMNS:
 * the local part of a matrix of `width` rows of which each process has some columns: width times `count` elements,
 * the elements of a row side by side. In Fortran, where the elements of a column lie side by side, XMPI_ROWS divides
 * by columns.
 */
#define XMPI_ROWS 0
#define XMPI_COLUMNS 1

/** For XMPI_Set_goal. */
#define XMPI_GOAL_NONE 0
#define XMPI_GOAL_TIME 1
#define XMPI_GOAL_EFFICIENCY 2

/**
 * For XMPI_Set_resize: makes the array whose pointer lies at `address` `bytes` long, keeps its content as far as it
 * fits, and stores the pointer.
 *
 * @return 0; any other value if it left the array unchanged
 */
typedef int XMPI_Resize_function(void *address, MPI_Count bytes);

/**
 * Begins a decomposition in equal parts, and tells the caller's rows.
 *
 * Under -workshare-spare N, the last N processes have none.
 *
 * @param comm            an intracommunicator
 * @param rows            the number of rows, the same in all processes
 * @param info            keys as above; MPI_INFO_NULL: the defaults
 * @param[out] partition  the decomposition
 * @param[out] count      the number of the caller's rows
 * @param[out] displ      the first of them
 *
 * @par Errors
 * MPI_ERR_INFO_VALUE: a key of info has an unknown value. MPI_ERR_COMM: comm is no intracommunicator. MPI_ERR_ARG:
 * -workshare-spare leaves no process with rows.
 *
 * @par Blocking
 * Collective over comm.
 *
 * @par Cost
 * A duplicate of comm, and some collective operations.
 *
 * @par Source
 * FLEX-MPI. Its function takes rank and size instead of comm and has no handle, so a program has one decomposition.
 */
int XMPI_Get_wsize(MPI_Comm comm, MPI_Count rows, MPI_Info info, XMPI_Partition *partition, MPI_Count *count,
                   MPI_Count *displ);

/**
 * Returns the present count and displacement of each process.
 *
 * @param partition    the decomposition
 * @param[out] counts  one entry per process of the communicator; may be NULL
 * @param[out] displs  the same; may be NULL
 *
 * @par Blocking
 * Local.
 *
 * @par Source
 * Workshare. In FLEX-MPI, XMPI_Monitor_end returns them each time.
 */
int XMPI_Get_counts(XMPI_Partition partition, MPI_Count counts[], MPI_Count displs[]);

/**
 * Registers a dense structure.
 *
 * All processes register the same structures in the same order before the next end of an iteration.
 *
 * @param partition  the decomposition
 * @param address    address of the pointer to the local part: `count` times `width` elements
 * @param width      elements per row
 * @param type       any committed datatype
 * @param layout     XMPI_ROWS or XMPI_COLUMNS
 *
 * @par Errors
 * MPI_ERR_ARG: the pointer, or the array, is registered already, here or in another partition; layout is unknown.
 * MPI_ERR_COUNT: width is negative, or the structure is too large.
 *
 * @par Blocking
 * Local.
 *
 * @par Source
 * FLEX-MPI, which registers by a name and returns the new address after each move.
 */
int XMPI_Register(XMPI_Partition partition, void *address, MPI_Count width, MPI_Datatype type, int layout);

/**
 * Registers a sparse matrix in compressed storage by rows.
 *
 * *starts has `count` + 1 numbers. Row i has the elements from starts[i] - starts[0] to, but not including, starts[i
 * + 1] - starts[0] of *columns and *values. A move keeps starts[0] and the column numbers. From then on, a row weighs
 * as much as it has elements, also in other structures.
 *
 * @param partition    the decomposition
 * @param starts       address of the pointer to the row starts
 * @param start_type   a predefined integer type of 4 or 8 bytes
 * @param columns      address of the pointer to the column numbers
 * @param column_type  their type
 * @param values       address of the pointer to the values
 * @param value_type   their type
 *
 * @par Errors
 * As XMPI_Register. MPI_ERR_ARG: starts decrease. MPI_ERR_TYPE: start_type is no such integer. A move is refused if
 * starts would not fit in their type, or if there is no memory for it.
 *
 * @par Blocking
 * Local.
 *
 * @par Source
 * Workshare.
 */
int XMPI_Register_csr(XMPI_Partition partition, void *starts, MPI_Datatype start_type, void *columns,
                      MPI_Datatype column_type, void *values, MPI_Datatype value_type);

/**
 * Sets the function that changes the size of a registered array, in place of realloc().
 *
 * The function is also called with the present size, to learn where the array lies.
 *
 * @param partition  the decomposition
 * @param address    the address with which the array was registered
 * @param resize     the function
 *
 * @par Errors
 * MPI_ERR_ARG: nothing is registered in this partition with that address.
 *
 * @par Blocking
 * Local.
 *
 * @par Source
 * Workshare.
 */
int XMPI_Set_resize(XMPI_Partition partition, void *address, XMPI_Resize_function *resize);

/**
 * Removes a structure from the partition. The array stays the program's.
 *
 * All processes do the same before the next end of an iteration.
 *
 * @param partition  the decomposition
 * @param address    the address with which the structure was registered; for a sparse matrix, that of its starts
 *
 * @par Errors
 * MPI_ERR_ARG: nothing is registered in this partition with that address.
 *
 * @par Blocking
 * Local.
 *
 * @par Source
 * Workshare.
 */
int XMPI_Deregister(XMPI_Partition partition, void *address);

/**
 * Tells how much work the caller did in this iteration.
 *
 * Use it if the work is not proportional to rows, elements or floating-point operations. The numbers add up until the
 * end of the interval.
 *
 * @param partition  the decomposition
 * @param work       in any unit, the same in all processes
 *
 * @par Errors
 * MPI_ERR_ARG: work is negative, infinite or not a number.
 *
 * @par Blocking
 * Local.
 *
 * @par Source
 * Workshare. FLEX-MPI has an array of costs, one per row.
 */
int XMPI_Set_work(XMPI_Partition partition, double work);

/**
 * Chooses how many processes have rows: the first N of the communicator, for N = processes. The others have none.
 *
 * The rows move at the next end of an iteration. Shares follow the speeds that are known; a process whose speed is not
 * known counts as fast as the others on average. Without mpirun -workshare, parts are equal.
 *
 * No process is created or ended: XMPI_Set_comm lets them join and leave. Those without rows go on to take part in all
 * collective calls of the partition, and wait there. Their cores may be lent meanwhile. If a process lacks the memory,
 * the number stays as it was, and one line on stderr says so once. XMPI_Get_counts tells which processes have rows.
 *
 * @param partition  the decomposition
 * @param processes  from 1 to the size of the communicator; the same in all processes
 *
 * @par Errors
 * MPI_ERR_ARG, in all processes, and nothing changes: processes is less than 1, more than the communicator has, or not
 * the same in all processes. MPI_ERR_ARG: rows may be moving, between XMPI_Monitor_end_begin and
 * XMPI_Monitor_end_finish.
 *
 * @par Blocking
 * Collective.
 *
 * @par Source
 * FLEX-MPI's second paper, whose XMPI creates and ends processes itself.
 */
int XMPI_Resize(XMPI_Partition partition, int processes);

/**
 * Makes the partition one of other processes: some join it, for example those that MPI_Comm_spawn has started, and
 * others leave it.
 *
 * All processes that have the partition call this, and all of `comm`. A process that has the partition keeps its
 * rows, and what it has registered. A process of `comm` that joins has *partition == XMPI_PARTITION_NULL before, and
 * a partition without rows after. It takes its place in the rows from XMPI_Get_counts, registers the same structures
 * as the others, in the same order, and takes part in the calls that follow, from the others' iteration on.
 * XMPI_Resize gives it rows; until then, no rows move if it comes before a process with rows. A process that leaves
 * has no rows, and gives MPI_COMM_NULL. A process of `comm` must not do that: the others would wait for it.
 *
 * Processes may have any order in `comm`, as long as those that have rows keep the order that they have. What
 * processes with rows did in the last two intervals remains known, and so do a goal and the number that a resource
 * manager allows. What else was learned is learned again. An iteration in which this is called is not measured. If a
 * process of `comm` runs without Workshare, nothing is measured from now on, and a line on stderr says so. `comm` is
 * duplicated; the program may free it.
 *
 * @param comm       the new processes, an intracommunicator; MPI_COMM_NULL in a process that leaves
 * @param partition  the decomposition. In: XMPI_PARTITION_NULL in a process that joins. Out: XMPI_PARTITION_NULL in one
 *                   that has left
 *
 * @par Errors
 * MPI_ERR_ARG, in all processes of the call, and nothing changes: a process that leaves has rows; the processes with
 * rows are not all of one partition, in the order that they had; no process of comm has one; rows may be moving;
 * comm is an intercommunicator. MPI_ERR_ARG: partition is NULL or was freed. MPI_ERR_COMM: comm is MPI_COMM_NULL,
 * and *partition XMPI_PARTITION_NULL.
 *
 * @par Blocking
 * Collective over the processes of the partition and over comm.
 *
 * @par Source
 * FLEX-MPI's second paper, whose XMPI creates and ends processes itself.
 */
int XMPI_Set_comm(MPI_Comm comm, XMPI_Partition *partition);

/**
 * Sets a goal that the number of processes with rows follows, as if the program called XMPI_Resize.
 *
 * XMPI_GOAL_TIME: the smallest number of processes whose iterations take at most `value` seconds. If there is none, the
 * number with the shortest iterations. XMPI_GOAL_EFFICIENCY: the largest number whose processes compute for at least
 * the part `value` of an iteration, on average. XMPI_GOAL_NONE: the number stays from now on.
 *
 * The number may change after an interval, if two in a row ask for it, and if the move pays in the iterations that are
 * left. How long iterations would take with another number follows from the speeds of processes and from the time
 * that iterations took besides computing. Without mpirun -workshare, nothing is measured, and a goal changes nothing.
 *
 * @param partition  the decomposition
 * @param goal       XMPI_GOAL_TIME, XMPI_GOAL_EFFICIENCY or XMPI_GOAL_NONE
 * @param value      seconds, more than 0; or a part, more than 0 and at most 1; the same in all processes
 *
 * @par Errors
 * MPI_ERR_ARG, in all processes, and nothing changes: goal is unknown, value is none of its values, or one of them is
 * not the same in all processes. MPI_ERR_ARG: rows may be moving.
 *
 * @par Blocking
 * Collective.
 *
 * @par Source
 * FLEX-MPI's second paper.
 */
int XMPI_Set_goal(XMPI_Partition partition, int goal, double value);

/**
 * Begins an iteration: from here on, the process's computing is measured.
 *
 * @param partition  the decomposition
 *
 * @par Blocking
 * Local.
 *
 * @par Source
 * FLEX-MPI.
 */
int XMPI_Monitor_begin(XMPI_Partition partition);

/**
 * Ends an iteration. After an interval, rows may move.
 *
 * Waiting in MPI since XMPI_Monitor_begin is not counted as the process's time. Work that others did for it is.
 *
 * @param partition   the decomposition
 * @param[out] count  the number of the caller's rows
 * @param[out] displ  the first of them
 * @param[out] moved  1: rows have moved, and arrays have new sizes and places. 0: nothing has changed
 *
 * @par Errors
 * MPI_ERR_ARG: a registered pointer is NULL, or starts decrease. If rows are to move, also: the memory of an array is
 * gone, or processes have registered different structures. Then nothing has moved.
 *
 * @par Blocking
 * Collective. But processes wait here only at the end of the iteration after an interval: for the measurements of
 * others, if they have not arrived, and for moving rows.
 *
 * @par Memory
 * A move needs at most an eighth of the data in addition to what the process has before or after it. If a process
 * lacks that memory, nothing moves, and one line on stderr says so once.
 *
 * @par Source
 * FLEX-MPI.
 */
int XMPI_Monitor_end(XMPI_Partition partition, MPI_Count *count, MPI_Count *displ, int *moved);

/**
 * Begins the end of an iteration: rows move while the program computes with data that is not registered.
 *
 * Until XMPI_Monitor_end_finish, do not read or write any registered array, and do not register or remove one.
 *
 * @param partition  the decomposition
 *
 * @par Errors
 * As XMPI_Monitor_end. MPI_ERR_ARG: it was begun already.
 *
 * @par Blocking
 * Collective.
 *
 * @par Source
 * Workshare.
 */
int XMPI_Monitor_end_begin(XMPI_Partition partition);

/**
 * Finishes what XMPI_Monitor_end_begin began.
 *
 * @param partition   the decomposition
 * @param[out] count  as for XMPI_Monitor_end
 * @param[out] displ  as for XMPI_Monitor_end
 * @param[out] moved  as for XMPI_Monitor_end
 *
 * @par Errors
 * MPI_ERR_ARG: nothing was begun.
 *
 * @par Blocking
 * Collective.
 *
 * @par Source
 * Workshare.
 */
int XMPI_Monitor_end_finish(XMPI_Partition partition, MPI_Count *count, MPI_Count *displ, int *moved);

/**
 * Ends a decomposition. The arrays stay the program's.
 *
 * A partition that is not freed costs memory until the end of the program.
 *
 * @param[in,out] partition  becomes XMPI_PARTITION_NULL
 *
 * @par Blocking
 * Collective.
 *
 * @par Source
 * Workshare.
 */
int XMPI_Partition_free(XMPI_Partition *partition);

/**
 * Allocates memory for an array, for programs without malloc(), such as those in Fortran.
 *
 * @param bytes         the size
 * @param[out] address  the address of a pointer
 *
 * @par Errors
 * MPI_ERR_NO_MEM: no memory. MPI_ERR_COUNT: bytes is negative.
 *
 * @par Blocking
 * Local.
 *
 * @par Source
 * Workshare.
 */
int XMPI_Alloc(MPI_Count bytes, void *address);

/**
 * Frees memory of XMPI_Alloc, and makes the pointer null.
 *
 * @param address  the address of the pointer
 *
 * @par Blocking
 * Local.
 *
 * @par Source
 * Workshare.
 */
int XMPI_Free(void *address);

#ifdef __cplusplus
}
#endif
#endif
