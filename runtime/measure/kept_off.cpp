// SPDX-License-Identifier: MIT
#include "measure/kept_off.h"
#include "base/lift.h"
#include "base/times.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
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

// What the calling thread has run; 0 where there is no such clock: then each question is a look.
unsigned long long KeptOff::ran_ns()
{
    timespec t = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

unsigned long long KeptOff::look()
{
    looks_++;
    return file_ >= 0 ? read_from(file_, {0, told_}).kept_off : scheduled().kept_off;
}

void KeptOff::start(uint64_t now, double ticks_per_us, bool keep_open)
{
    every_ = uint64_t(base::times::kept_off_us * ticks_per_us) + 1;
    little_ = uint64_t(base::times::kept_off_little_us * ticks_per_us);
    ticks_per_ns_ = ticks_per_us * 1e-3;
    asked_at_ = now;
    file_ = base::lift(keep_open ? open(of_this_thread, O_RDONLY | O_CLOEXEC) : -1);
    told_ = look();
    ran_ = ran_ns();
}

// The time without a core is divided between work and the rest as the time in which the thread did not sleep is. But
// all time that the thread ran beyond the rest's time was work.
uint64_t KeptOff::ask(uint64_t now, unsigned long long has_run_ns)
{
    const auto ticks_of = [&](unsigned long long from, unsigned long long to) {
        return uint64_t(double(to - std::min(from, to)) * ticks_per_ns_);
    };
    const unsigned long long ran_before = ran_;
    ran_ = has_run_ns;
    const uint64_t ran = ticks_of(ran_before, ran_);
    const double share = work_ ? double(work_) / double(work_ + other_) : 0;
    missed_ += work_ - std::min(ran - std::min(ran, other_), work_);
    asked_at_ = now;
    work_ = other_ = 0;
    if (missed_ <= little_)
        return 0;
    const unsigned long long before = told_;
    told_ = look();
    const uint64_t of_work = std::min(uint64_t(double(ticks_of(before, told_)) * share), missed_);
    missed_ = 0;
    return of_work;
}

} // namespace ws::measure
