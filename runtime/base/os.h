// SPDX-License-Identifier: MIT
//
// The few things the runtime asks of the machine: a cheap clock, a sleep on a shared word.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace ws::base {

// What the library shows (libws.map).
#define WS_EXPORT extern "C" __attribute__((visibility("default")))

#define WS_LIKELY(x) __builtin_expect(!!(x), 1)
#define WS_UNLIKELY(x) __builtin_expect(!!(x), 0)
// TLS that costs one instruction; libws is small enough for the loader's static TLS reserve even when dlopened.
#define WS_THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

// A monotonic counter of the core, the same on all cores of a node; see Clock for its rate.
inline uint64_t ticks()
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t t;
    asm volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
#endif
}

inline void cpu_relax()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

inline double seconds_now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

// Sleeps while *word == expected, at most `microseconds`. May return early for no reason. The word may lie in memory
// shared between processes. errno stays: the caller's may be that of a program in the middle of a parallel region.
inline void futex_wait(volatile unsigned* word, unsigned expected, uint64_t microseconds)
{
    timespec timeout = {time_t(microseconds / 1000000), long(microseconds % 1000000 * 1000)};
    const int before = errno;
    syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
    errno = before;
}

inline void futex_wake(volatile unsigned* word, unsigned most = 1)
{
    syscall(SYS_futex, word, FUTEX_WAKE, most, nullptr, nullptr, 0);
}

// Whether /dev/shm has room for twice as much. Memory in one that is too small is mapped without complaint and kills
// the process at the first touch.
bool shm_has_room(size_t bytes);

// ticks() to time. Calibrated since this code was loaded; the longer ago the better.
class Clock {
public:
    // Blocks until that is long enough ago for an error below 0.1 %: some 50 us.
    void calibrate();
    double ticks_per_us() const { return ticks_per_us_; }
    double seconds(uint64_t t) const { return t / ticks_per_us_ * 1e-6; }
    uint64_t from_us(double us) const { return uint64_t(us * ticks_per_us_); }

private:
    double ticks_per_us_ = 1000;
};

} // namespace ws::base
