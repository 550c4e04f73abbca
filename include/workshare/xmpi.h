/* SPDX-License-Identifier: MIT
 *
 * Data follow speed: an SPMD program whose rows are divided among processes in contiguous ranges registers its arrays
 * and says where an iteration begins and ends; under mpirun -workshare rows move from slow processes to fast ones,
 * across nodes too. For C99 and C++11. With an example: docs/reference/xmpi.md. From the paper "FLEX-MPI: an MPI
 * extension for supporting dynamic load balancing on heterogeneous non-dedicated systems" (Martin, Marinescu, Singh,
 * Carretero).
 *
 * Everywhere:
 *   Rows        0 to rows - 1 of the whole, numbered alike in all structures of a partition: elements of a vector, rows
 *               or columns of a matrix. The process of rank r in comm has `count` of them from `displ` on, the one of
 *               rank r + 1 the next. A process may have none.
 *   Arrays      hold the calling process's rows alone. They are handed over by the address of the pointer to them, as a
 *               move changes their size: memory of malloc() and its like, or of XMPI_Alloc(), which is given back with
 *               free() or XMPI_Free(); or of any kind with XMPI_Set_resize(). After a move the pointer may be another.
 *   Blocking    what is called collective is so over the communicator of the partition, and returns when the caller's
 *               part is done; a rank that waits in it helps others, as in any call of MPI. If a process never makes
 *               such a call, the others wait for ever; under mpirun -workshare one line on stderr names such processes
 *               of the node when a rank has waited for 9 s. The rest is local.
 *   Errors      as with MPI's own functions: MPI_SUCCESS or an error code, after the communicator's error handler was
 *               called with it, and the message names the argument. MPI_ERR_ARG: a pointer is NULL, or what is said of
 *               the function. MPI_ERR_COUNT: a number is negative, or the bytes of all rows are more than fit in
 *               MPI_Aint. MPI_ERR_TYPE: a datatype is not committed. Without a valid partition the handler of
 *               MPI_COMM_SELF is called. What fails in the middle of a move ends the job: data are never half moved in
 *               a job that goes on.
 *   Threads     one thread at a time for each partition.
 *   Without     mpirun -workshare all works, and nothing moves or is measured.
 *
 * Keys of info (MPI_INFO_NULL: all have their default), of the process with rank 0 in comm:
 *   ws_flex_domain      "all" (default): each process has rows by its own speed. "node": nodes have rows by their
 *                       speed, and the processes of a node equal shares of them; for programs whose loops are shared
 *                       within the node anyway.
 *   ws_flex_iterations  how many iterations the program has. Unknown, it is thought to have as many still as were done.
 *   ws_flex_interval, ws_flex_k, ws_flex_th1, ws_flex_th2
 *                       as the options -workshare-rows-interval and so on, which they replace for this partition.
 */
#ifndef WORKSHARE_XMPI_H
#define WORKSHARE_XMPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A decomposition: who has which rows, and what is registered of them. */
typedef int XMPI_Partition;
#define XMPI_PARTITION_NULL 0

/* How a matrix lies in memory: a row after the other (also a vector, of width 1), or the local part of a matrix of
 * `width` rows of which each process has some columns: width times `count` elements, an element of a row after the
 * other. In Fortran, where columns lie one after the other, it is XMPI_ROWS that divides by columns. */
#define XMPI_ROWS 0
#define XMPI_COLUMNS 1

/* For XMPI_Set_resize: makes the array whose pointer lies at `address` so many bytes long, keeps its content as far as
 * it fits, stores the pointer and returns 0; or leaves it as it was and returns anything else. */
typedef int XMPI_Resize_function(void *address, MPI_Count bytes);

/* Begins a decomposition of so many rows in equal parts, and says which are the caller's. Collective over comm, an
 * intracommunicator; rows are the same everywhere.
 *   Errors      MPI_ERR_INFO_VALUE: a key of info has a value that it does not know. MPI_ERR_COMM.
 *   Cost        a duplicate of comm, and some collective operations.
 * From: FLEX-MPI, whose function has rank and size for comm, and no handle: one decomposition a program. */
int XMPI_Get_wsize(MPI_Comm comm, MPI_Count rows, MPI_Info info, XMPI_Partition *partition, MPI_Count *count,
                   MPI_Count *displ);

/* Count and displacement of each process of the communicator as they are now: arrays as long as it has processes,
 * either may be NULL. Local. In the paper XMPI_Monitor_end gives them each time. */
int XMPI_Get_counts(XMPI_Partition partition, MPI_Count counts[], MPI_Count displs[]);

/* Registers a dense structure: *address is the pointer to the local part, `count` times `width` elements of `type`,
 * which may be any committed datatype; layout is XMPI_ROWS or XMPI_COLUMNS. All processes register the same structures
 * in the same order before the next end of an iteration. Local.
 *   Errors      MPI_ERR_ARG: the pointer, or the array, is registered already, here or in another partition; layout is
 *               none. MPI_ERR_COUNT.
 * From: FLEX-MPI, which registers by a name and is asked for the new address after each move. */
int XMPI_Register(XMPI_Partition partition, void *address, MPI_Count width, MPI_Datatype type, int layout);

/* Registers a sparse matrix by rows, in compressed storage: *starts has `count` + 1 numbers of start_type, a predefined
 * integer of 4 or 8 bytes; elements starts[i] - starts[0] up to that of i + 1 of *columns (column_type) and *values
 * (value_type) are those of row i. A move keeps starts[0] and the column numbers as they are. The rows then weigh what
 * they have elements, also in other structures. Local.
 *   Errors      as XMPI_Register; MPI_ERR_ARG: starts fall. MPI_ERR_TYPE: start_type is no such integer. A move after
 *               which starts would not fit in their type is refused, as is one that there is no memory for. */
int XMPI_Register_csr(XMPI_Partition partition, void *starts, MPI_Datatype start_type, void *columns,
                      MPI_Datatype column_type, void *values, MPI_Datatype value_type);

/* Of a registered array, given by the address that it was registered with: what changes its size, in place of
 * realloc(). It is also called with the size that the array has, to learn where it lies now. Local.
 *   Errors      MPI_ERR_ARG: nothing is registered in this partition with that address. */
int XMPI_Set_resize(XMPI_Partition partition, void *address, XMPI_Resize_function *resize);

/* Takes a structure out, by the address that it was registered with (of a sparse matrix that of its starts). The array
 * stays the program's. All processes do the same before the next end of an iteration. Local.
 *   Errors      MPI_ERR_ARG: nothing is registered in this partition with that address. */
int XMPI_Deregister(XMPI_Partition partition, void *address);

/* Says how much the caller has done in this iteration, in units of the program's own, the same for all processes: for
 * programs whose work is neither by rows, elements nor operations of floating point. Adds up until the end of the
 * interval. Local. From: Workshare; FLEX-MPI has an array of costs, one for each row.
 *   Errors      MPI_ERR_ARG: work is negative, infinite or not a number. */
int XMPI_Set_work(XMPI_Partition partition, double work);

/* An iteration begins: from here on what the process computes is measured. Local. From: FLEX-MPI. */
int XMPI_Monitor_begin(XMPI_Partition partition);

/* An iteration ends. After an interval rows may move: then *moved is 1, arrays have their new sizes and places,
 * and *count and *displ are the caller's rows; else *moved is 0 and nothing has changed. Collective; but nobody waits
 * here except at the end of the iteration after an interval: for what others measured in it, where that has not come
 * meanwhile, and for rows that move. Waiting in MPI since the begin, and in others' guests, is no time of the process;
 * what others computed for it is.
 *   Errors      MPI_ERR_ARG: a registered pointer is NULL; starts fall; where rows are to move also: the memory of an
 *               array is not there any more; processes have registered different structures. Then nothing has moved.
 *   Memory      of a move: an eighth of the data beyond what the process has before or after it, whichever is more. If
 *               that is not to be had in some process, nothing moves, and it is said once on stderr.
 * From: FLEX-MPI. */
int XMPI_Monitor_end(XMPI_Partition partition, MPI_Count *count, MPI_Count *displ, int *moved);

/* The same in two parts: what moves does so while the program computes with what is not registered. Between the two, no
 * registered array is read or written, and nothing is registered or taken out (MPI_ERR_ARG). Collective. */
int XMPI_Monitor_end_begin(XMPI_Partition partition);

/* The second part. Collective. MPI_ERR_ARG: nothing was begun. */
int XMPI_Monitor_end_finish(XMPI_Partition partition, MPI_Count *count, MPI_Count *displ, int *moved);

/* Ends a decomposition; arrays stay the program's. *partition becomes XMPI_PARTITION_NULL. Collective. Left undone, it
 * costs memory until the end of the program. */
int XMPI_Partition_free(XMPI_Partition *partition);

/* Memory for an array, for programs without malloc(), as those in Fortran: address is that of a pointer. Local.
 *   Errors      MPI_ERR_NO_MEM. MPI_ERR_COUNT. */
int XMPI_Alloc(MPI_Count bytes, void *address);

/* Gives it back, and makes the pointer at that address null. Local. */
int XMPI_Free(void *address);

#ifdef __cplusplus
}
#endif
#endif
