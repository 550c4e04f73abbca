// SPDX-License-Identifier: MIT
#include "measure/kept_off.h"
#include "window/lift.h"
#include "window/times.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace ws::measure {

namespace {

constexpr char of_this_thread[] = "/proc/thread-self/schedstat";

// Reads the file. The program may have closed it, and its number may be another file's now: then what was known before.
Scheduled read_from(int fd, const Scheduled& otherwise)
{
    char text[96] = {};
    Scheduled s;
    const bool some =
        fd >= 0 && pread(fd, text, sizeof text - 1, 0) > 0 && std::sscanf(text, "%llu %llu", &s.ran, &s.kept_off) == 2;
    return some ? s : otherwise;
}

} // namespace

Scheduled scheduled()
{
    const int fd = open(of_this_thread, O_RDONLY | O_CLOEXEC);
    const Scheduled s = read_from(fd, {0, 0});
    if (fd >= 0)
        close(fd);
    return s;
}

Scheduled KeptOff::look() const { return file_ >= 0 ? read_from(file_, told_) : scheduled(); }

void KeptOff::start(uint64_t now, double ticks_per_us, bool keep_open)
{
    every_ = uint64_t(window::times::kept_off_us * ticks_per_us) + 1;
    ticks_per_ns_ = ticks_per_us * 1e-3;
    asked_at_ = now;
    file_ = window::lift(keep_open ? open(of_this_thread, O_RDONLY | O_CLOEXEC) : -1);
    told_ = look();
}

// The time without a core is divided between work and the rest as the time in which the thread did not sleep is. But
// all time that the thread ran beyond the rest's time was work.
uint64_t KeptOff::ask(uint64_t now)
{
    const Scheduled before = told_;
    told_ = look();
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
