// SPDX-License-Identifier: MIT
#include "played_pool.h"

#include "abi/abi.h"
#include "loop/region.h"
#include "loop/site.h"

// The loop of a pool: guests are threads that run it beside its owner.
unsigned played::guests;

namespace {

struct PlayedLoop {
    std::atomic<long> next;
    long end;
};
thread_local PlayedLoop* loop_of_thread;
thread_local bool leaves;

} // namespace

void ws_parallel_loop(void (*fn)(void*), void* data, long start, long end, long, ws_site*, long, long)
{
    PlayedLoop loop = {{start}, end};
    const auto part = [&] {
        loop_of_thread = &loop;
        leaves = false;
        fn(data);
        loop_of_thread = nullptr;
    };
    std::vector<std::thread> threads;
    for (unsigned g = 0; g < played::guests; g++)
        threads.emplace_back(part);
    part();
    for (std::thread& t : threads)
        t.join();
}

bool ws_loop_next(long* lo, long* hi)
{
    if (leaves)
        return false;
    *lo = loop_of_thread->next.fetch_add(1);
    *hi = *lo + 1;
    return *lo < loop_of_thread->end;
}

namespace ws::loop {
void forget_costs(ws_site*) {}
void leave_after_chunk() { leaves = true; }
void end_turns() { loop_of_thread->next = loop_of_thread->end; }
} // namespace ws::loop

namespace ws::policy::tasks {
// What all that were played have done; the sum is the test's own.
Sums summed(const Sums& mine) { return mine; }
} // namespace ws::policy::tasks
