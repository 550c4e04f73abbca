/* SPDX-License-Identifier: MIT
 *
 * Compiled without unwind tables, as abi/call_body.c and for its reasons. */
#include "policy/tasks/call_task.h"

int call_task(int (*body)(struct ws_task *), struct ws_task *task)
{
    const int result = body(task);
    __asm__ volatile("");       /* no jump in place of the call: this frame must be there */
    return result;
}
