// SPDX-License-Identifier: MIT
#include "lend/other_threads.h"

#include "lend/rank.h"
#include "window/os.h"
#include "window/times.h"

namespace ws::lend {

using window::Flag;
using window::Hardware;
using window::Home;

namespace {

// A thread waits for one thing at a time.
WS_THREAD_LOCAL uint64_t began;  // ticks: its wait
WS_THREAD_LOCAL bool is_asleep;  // it is one of Home::threads_asleep
WS_THREAD_LOCAL Flag heard;      // of Home::thread_bell, before MPI's last poll

constexpr unsigned short_polls = 1000; // less than a millisecond: no clock is read for shorter waits

} // namespace

void OtherThreads::blocked(unsigned polls)
{
    if (polls == 0)
        began = window::ticks();
    if (polls < short_polls)
        return;
    if (window::ticks() - began < rank_.times.yield_ticks) {
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
        return;
    }
    const Flag rung = Hardware::load_relaxed(home.thread_bell);
    if (rung == heard)
        window::futex_wait(&home.thread_bell, rung, window::times::thread_nap_us);
    heard = Hardware::load_relaxed(home.thread_bell); // before MPI's poll
}

void OtherThreads::unblocked()
{
    if (WS_LIKELY(!is_asleep))
        return;
    is_asleep = false;
    Hardware::fetch_add_full(rank_.window.own_home().threads_asleep, Flag(-1));
    observe::add(rank_.loops.board->process.threads_blocked_ticks, window::ticks() - began);
}

} // namespace ws::lend
