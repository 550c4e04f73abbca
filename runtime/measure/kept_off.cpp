// SPDX-License-Identifier: MIT
#include "measure/kept_off.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace ws::measure {

uint64_t ns_kept_off()
{
    const int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    char text[96] = {};
    const bool some = fd >= 0 && read(fd, text, sizeof text - 1) > 0;
    if (fd >= 0)
        close(fd);
    unsigned long long ran, queued;
    return some && std::sscanf(text, "%llu %llu", &ran, &queued) == 2 ? queued : 0;
}

void KeptOff::start(uint64_t now, double ticks_per_us)
{
    constexpr double every_us = 8000; // asking takes 2 to 6
    every_ = uint64_t(every_us * ticks_per_us) + 1;
    ticks_per_ns_ = ticks_per_us * 1e-3;
    asked_at_ = now;
    ns_ = ns_kept_off();
}

// As much of it belongs to work as work has of the time in which the thread did not sleep.
uint64_t KeptOff::ask(uint64_t now)
{
    const uint64_t ns = ns_kept_off(), since = ns - std::min(ns, ns_);
    const double off = double(since) * ticks_per_ns_, share = work_ ? double(work_) / double(work_ + other_) : 0;
    const uint64_t of_work = std::min(uint64_t(off * share), work_);
    ns_ = ns;
    asked_at_ = now;
    work_ = other_ = 0;
    return of_work;
}

} // namespace ws::measure
