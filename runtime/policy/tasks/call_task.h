/* SPDX-License-Identifier: MIT */
#ifndef WS_CALL_TASK_H
#define WS_CALL_TASK_H

#ifdef __cplusplus
extern "C" {
#endif

struct ws_task;

/* Runs a task's body; an exception that leaves it finds no way on, and std::terminate says what it is. Needs no mpi.h:
 * one object is for all MPIs. */
int call_task(int (*body)(struct ws_task *), struct ws_task *task);

#ifdef __cplusplus
}
#endif
#endif
