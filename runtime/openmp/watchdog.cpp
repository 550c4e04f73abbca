// SPDX-License-Identifier: MIT
//
// The watchdog over shared regions: virtual threads may wait for others by spinning, and so for some that nobody has
// begun. A thread of its own looks now and then at the regions that are open and cut.
#include "openmp/team.h"

#include "loop/participant.h"
#include "window/times.h"

#include <algorithm>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

namespace ws::openmp {

namespace {

window::SpinLock lock; // of the list
VirtualTeam* first;
bool begun;

// Of all its threads.
double process_seconds()
{
    timespec used;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 ? double(used.tv_sec) + 1e-9 * double(used.tv_nsec) : 0;
}

// Who spins uses its core. A region in which somebody did that without end for three times as long as it ever took is
// stuck for sure enough; one that had no core, or sleeps, may just be slow today.
bool is_stuck(VirtualTeam& team, uint64_t now)
{
    const uint64_t progress = team.progress();
    const double used = process_seconds();
    if (team.seen_at == 0 || progress != team.seen_progress) {
        team.seen_progress = progress;
        team.seen_at = now;
        team.seen_used = used;
        return false;
    }
    const double us = loop::host().ticks_per_us;
    const auto longer = [&](double ticks, double least_us, double times) {
        return ticks > std::max(least_us * us, times * team.site.longest);
    };
    const double waited = double(now - team.seen_at), busy = std::min(waited, (used - team.seen_used) * 1e6 * us);
    return longer(waited, window::times::stuck_least_us, 8) || longer(busy, window::times::stuck_busy_us, 3);
}

void* watch(void*)
{
    for (;;) {
        usleep(window::times::stuck_look_us);
        lock.lock(); // also keeps a team from ending meanwhile
        const uint64_t now = window::ticks();
        for (VirtualTeam* team = first; team; team = team->next)
            if (is_stuck(*team, now)) {
                team->seen_at = now;
                team->site.spins = true;
                team->begin_all("its threads wait for each other by spinning");
            }
        lock.unlock();
    }
    return nullptr;
}

} // namespace

void watch_over(VirtualTeam& team)
{
    lock.lock();
    team.previous = nullptr;
    team.next = first;
    if (first)
        first->previous = &team;
    first = &team;
    const bool begin = !begun;
    begun = true;
    lock.unlock();
    if (!begin)
        return;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, watch, nullptr) == 0)
        pthread_detach(thread);
}

void watch_no_more(VirtualTeam& team)
{
    lock.lock();
    (team.previous ? team.previous->next : first) = team.next;
    if (team.next)
        team.next->previous = team.previous;
    lock.unlock();
}

} // namespace ws::openmp
