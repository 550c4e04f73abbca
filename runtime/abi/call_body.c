/* SPDX-License-Identifier: MIT
 *
 * Runs the part of a participant in a loop of ws_for. This file is compiled without unwind tables: a C++ exception that
 * leaves a body finds no way on, and the program's own std::terminate names it. libws could not catch the exception,
 * because its unwinder is a private copy. To let it pass would leave a region open. */
#include "abi/call_body.h"

void call_body(void *data)
{
    const struct body_call *call = data;
    for (long lo, hi; ws_loop_next(&lo, &hi);)
        call->body(lo, hi, call->context);
}
