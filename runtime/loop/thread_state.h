// SPDX-License-Identifier: MIT
//
// The parts of its owner's thread state that a participant takes over while it is in a region, so that an iteration
// computes the same wherever it runs: the control bits of the floating-point environment (rounding, flush to zero,
// which exceptions trap), the locale, and the signal mask (signals.h). The owner notes them when it publishes; a
// participant compares, and loads only what differs. This costs a few instructions, except for the signal mask, which
// costs the owner one system call, and a participant one more if its mask differs.
#pragma once

#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <locale.h>
#include <unistd.h>

namespace ws::loop {

class FloatControl {
public:
#if defined(__x86_64__)
    // SSE has its control bits in one word with the flags of exceptions; the x87 unit computes long double.
    void note()
    {
        sse_ = __builtin_ia32_stmxcsr() & ~sse_flags;
        asm volatile("fnstcw %0" : "=m"(x87_));
    }
    void load() const
    {
        const uint32_t sse = __builtin_ia32_stmxcsr();
        uint16_t x87;
        asm volatile("fnstcw %0" : "=m"(x87));
        if ((sse & ~sse_flags) != sse_)
            __builtin_ia32_ldmxcsr(sse_ | (sse & sse_flags));
        if (x87 != x87_) // an exception flag that is set already would trap at once under the new word
            asm volatile("fnclex; fldcw %0" : : "m"(x87_));
    }
    bool operator==(const FloatControl& other) const { return sse_ == other.sse_ && x87_ == other.x87_; }

private:
    static constexpr uint32_t sse_flags = 0x3f;
    uint32_t sse_;
    uint16_t x87_;
#elif defined(__aarch64__)
    void note() { asm volatile("mrs %0, fpcr" : "=r"(fpcr_)); }
    void load() const
    {
        uint64_t fpcr;
        asm volatile("mrs %0, fpcr" : "=r"(fpcr));
        if (fpcr != fpcr_)
            asm volatile("msr fpcr, %0" : : "r"(fpcr_));
    }
    bool operator==(const FloatControl& other) const { return fpcr_ == other.fpcr_; }

private:
    uint64_t fpcr_;
#else
    void note() { std::fegetenv(&all_); }
    void load() const { std::fesetenv(&all_); }
    bool operator==(const FloatControl& other) const { return std::memcmp(&all_, &other.all_, sizeof all_) == 0; }

private:
    std::fenv_t all_;
#endif
};

struct ThreadState {
    FloatControl floats;
    locale_t locale; // uselocale()'s; the owner's thread keeps it alive while its loop runs
    sigset_t signals; // that are blocked
    pid_t thread;     // whose these are

    void note()
    {
        floats.note();
        locale = uselocale(locale_t(0));
        pthread_sigmask(SIG_SETMASK, nullptr, &signals);
        thread = gettid();
    }
    void load() const
    {
        floats.load();
        if (locale != LC_GLOBAL_LOCALE)
            uselocale(locale);
    }
    // What computing depends on, without the signals.
    bool computes_as_now() const
    {
        FloatControl now;
        now.note();
        return floats == now && locale == uselocale(locale_t(0));
    }
    // The locale is taken off, as it may be freed once the region is over. How the floating-point unit is set between
    // two regions does not matter.
    void leave() const
    {
        if (locale != LC_GLOBAL_LOCALE)
            uselocale(LC_GLOBAL_LOCALE);
    }
};

} // namespace ws::loop
