// SPDX-License-Identifier: MIT
#include "measure/kept_off.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace ws::measure {

Scheduled scheduled()
{
    const int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    char text[96] = {};
    const bool some = fd >= 0 && read(fd, text, sizeof text - 1) > 0;
    if (fd >= 0)
        close(fd);
    Scheduled s;
    return some && std::sscanf(text, "%llu %llu", &s.ran, &s.kept_off) == 2 ? s : Scheduled{0, 0};
}

void KeptOff::start(uint64_t now, double ticks_per_us)
{
    constexpr double every_us = 8000; // asking takes 2 to 6
    every_ = uint64_t(every_us * ticks_per_us) + 1;
    ticks_per_ns_ = ticks_per_us * 1e-3;
    asked_at_ = now;
    told_ = scheduled();
}

// As much of it belongs to work as work has of the time in which the thread did not sleep; but it ran for work at least for what it ran
// beyond that other time.
uint64_t KeptOff::ask(uint64_t now)
{
    const Scheduled before = told_;
    told_ = scheduled();
    const auto ticks_of = [&](unsigned long long from, unsigned long long to) {
        return uint64_t(double(to - std::min(from, to)) * ticks_per_ns_);
    };
    const uint64_t off = ticks_of(before.kept_off, told_.kept_off), ran = ticks_of(before.ran, told_.ran);
    const uint64_t ran_for_work = std::min(ran - std::min(ran, other_), work_);
    const double share = work_ ? double(work_) / double(work_ + other_) : 0;
    const uint64_t of_work = std::min(uint64_t(double(off) * share), work_ - ran_for_work);
    asked_at_ = now;
    work_ = other_ = 0;
    return of_work;
}

} // namespace ws::measure
