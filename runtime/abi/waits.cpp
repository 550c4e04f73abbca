// SPDX-License-Identifier: MIT
//
// Waits outside of MPI: ws_wait_begin, ws_wait_end, and what mpi/waits.c reports of calls that may take long. Without
// -workshare each costs a call.
#include "abi/call_waits.h"
#include "abi/forked.h"
#include "base/atomics.h"
#include "base/os.h"
#include "loop/participant.h"
#include "workshare/ws.h"

#include <cstdio>

namespace {

using ws::observe::Outside;

// The calling thread's. Plain: a signal handler leaves them as they were.
WS_THREAD_LOCAL unsigned depth; // waits of the program that are open
WS_THREAD_LOCAL bool is_lent;   // the outermost one is: its end is to be told

bool is_child; // of fork(): no rank
volatile ws::base::Flag said_unmatched;

ws::loop::Lending* lending() { return WS_UNLIKELY(is_child) ? nullptr : ws::loop::host().lending; }

__attribute__((cold)) void say_unmatched()
{
    if (ws::base::Hardware::cas_full(said_unmatched, 0, 1))
        std::fputs("workshare: warning: ignoring a ws_wait_end without a ws_wait_begin on the same thread; "
                   "call them in pairs\n",
                   stderr);
}

} // namespace

void ws::abi::forget_waits()
{
    is_child = true;
    is_lent = false;
}

WS_EXPORT void ws_wait_begin(void)
{
    if (depth++ != 0)
        return;
    if (ws::loop::Lending* const rank = lending())
        is_lent = rank->wait_begins(Outside::program, true);
}

WS_EXPORT void ws_wait_end(void)
{
    if (WS_UNLIKELY(depth == 0)) {
        say_unmatched();
        return;
    }
    if (--depth != 0 || !is_lent)
        return;
    is_lent = false;
    lending()->wait_ends();
}

int ws_call_begins(int is_io)
{
    ws::loop::Lending* const rank = lending();
    return rank && rank->wait_begins(is_io ? Outside::io : Outside::gpu, false);
}

void ws_call_ends(void)
{
    if (ws::loop::Lending* const rank = lending())
        rank->wait_ends();
}
