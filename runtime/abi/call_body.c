/* SPDX-License-Identifier: MIT
 *
 * The part of a participant in a loop of ws_for. In a file of its own, which is compiled without unwind tables: a C++
 * exception that leaves a body finds no way on, and the program's own std::terminate says what it is. libws could not
 * catch it, for its unwinder is a private copy, and to let it pass would leave a region open. */
#include "abi/call_body.h"

void call_body(void *data)
{
    const struct body_call *call = data;
    for (long lo, hi; ws_loop_next(&lo, &hi);)
        call->body(lo, hi, call->context);
}
