// SPDX-License-Identifier: MIT
#include "lend/other_threads.h"

#include "openmp/library/regions.h"
#include "lend/rank.h"
#include "base/os.h"
#include "base/times.h"
#include <pthread.h>

namespace ws::lend {

using base::Flag;
using base::Hardware;
using window::Home;

namespace {

// A thread waits for one thing at a time.
WS_THREAD_LOCAL uint64_t began;  // ticks: its wait
WS_THREAD_LOCAL bool is_asleep;  // it is one of Home::threads_asleep
WS_THREAD_LOCAL Flag heard;      // of Home::thread_bell, before MPI's last poll
WS_THREAD_LOCAL bool is_known;   // it has waited before
WS_THREAD_LOCAL volatile Flag* visited; // it computes on a worker's core, and is counted there

pthread_key_t visit_key; // its destructor ends the visit of a thread that ends
pthread_once_t visit_key_made = PTHREAD_ONCE_INIT;

constexpr unsigned short_polls = 1000; // less than a millisecond: no clock is read for shorter waits

void set_visited(volatile Flag* visitors)
{
    visited = visitors;
    pthread_once(&visit_key_made, [] {
        pthread_key_create(&visit_key,
                           [](void* visitors) { Workers::end_visit(static_cast<volatile Flag*>(visitors)); });
    });
    pthread_setspecific(visit_key, const_cast<Flag*>(visitors));
}

} // namespace

// Asked again after each long wait, because threads are pinned late, and moved. Those in a region of OpenMP's are not
// looked at: workers stay away from regions anyhow, and between them such a thread waits where nobody sees it.
void OtherThreads::compute_from_here()
{
    is_known = true;
    if (rank_.window.workers() == 0 || openmp::regions_open())
        return;
    const unsigned worker = rank_.workers().beside_this_thread();
    if (worker != Workers::none)
        set_visited(rank_.workers().begin_visit(worker));
}

void OtherThreads::blocked(unsigned polls)
{
    if (polls == 0) {
        began = base::ticks();
        if (WS_UNLIKELY(!is_known))
            compute_from_here();
    }
    if (polls < short_polls)
        return;
    if (base::ticks() - began < rank_.times.yield_ticks) {
        sched_yield(); // let others run
        return;
    }
    Home& home = rank_.window.own_home();
    if (!is_asleep) {
        is_asleep = true;
        heard = Hardware::load_relaxed(home.thread_bell);
        // Full, then MPI polls once more: what was posted before is found by that poll, what is posted later rings. A
        // sender whose store is in its store buffer still escapes both; that costs a nap.
        Hardware::fetch_add_full(home.threads_asleep, 1);
        if (visited) {
            Workers::end_visit(visited);
            set_visited(nullptr);
        }
        return;
    }
    const Flag rung = Hardware::load_relaxed(home.thread_bell);
    if (rung == heard)
        base::futex_wait(&home.thread_bell, rung, base::times::thread_nap_us);
    heard = Hardware::load_relaxed(home.thread_bell); // before MPI's poll
}

void OtherThreads::unblocked()
{
    if (WS_LIKELY(!is_asleep))
        return;
    is_asleep = false;
    Hardware::fetch_add_full(rank_.window.own_home().threads_asleep, Flag(-1));
    observe::add(rank_.loops.board->process.threads_blocked_ticks, base::ticks() - began);
    compute_from_here();
}

} // namespace ws::lend
