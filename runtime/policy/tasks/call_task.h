/* SPDX-License-Identifier: MIT */
#ifndef WS_CALL_TASK_H
#define WS_CALL_TASK_H

#define WS_IN_LIBWS
#include "workshare/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a task's body; an exception that leaves it finds no way on, and std::terminate says what it is. */
int call_task(ws_task_body *body, struct ws_task *task);

#ifdef __cplusplus
}
#endif
#endif
