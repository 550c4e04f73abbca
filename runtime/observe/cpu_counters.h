// SPDX-License-Identifier: MIT
//
// Instructions and cycles of a rank's own thread outside of MPI, by the kernel's perf_event_open; in a run with a
// report or trace. calls.cpp says when MPI calls begin and end.
#pragma once

#include <cstdint>
#include <string>

namespace ws::observe {

struct CpuCount {
    double instructions, cycles; // in user code
};

// Two events of the calling thread that are counted together.
class CpuCounters {
public:
    struct Event {
        uint32_t type;
        uint64_t config;
    };
    CpuCounters() = default;
    ~CpuCounters();
    CpuCounters(const CpuCounters&) = delete;
    // Opens instructions and cycles. Returns why the kernel refuses them, or nothing.
    std::string open();
    // The same with other events, for tests on machines that have no counters.
    std::string open(const Event& first, const Event& second);
    // What the thread has counted since open(). Called by the thread that opened; costs one call of the kernel.
    CpuCount read() const;

private:
    int first_ = -1, second_ = -1;
};

// What is counted between MPI calls. A reading costs some hundred nanoseconds, so the time between calls is divided
// into segments of at least `shortest` ticks. An MPI call shorter than that inside a segment counts as computing. A
// shorter segment before a longer call is left out, because most of it would be waiting.
template <class Counters> class ComputingCount {
public:
    void start(const Counters& counters, uint64_t now, uint64_t shortest)
    {
        counters_ = &counters;
        shortest_ = shortest;
        begin(now);
    }
    bool is_started() const { return counters_ != nullptr; }
    // An MPI call begins.
    void enter(uint64_t now)
    {
        entered_ = now;
        if (!is_open_ || now - began_ < shortest_)
            return;
        const CpuCount count = counters_->read();
        sum_.instructions += count.instructions - before_.instructions;
        sum_.cycles += count.cycles - before_.cycles;
        ticks_ += now - began_;
        is_open_ = false;
    }
    // It ends.
    void leave(uint64_t now)
    {
        if (!is_open_ || now - entered_ >= shortest_)
            begin(now);
    }
    const CpuCount& sum() const { return sum_; }
    uint64_t ticks() const { return ticks_; } // of the segments

private:
    void begin(uint64_t now)
    {
        before_ = counters_->read();
        began_ = now;
        is_open_ = true;
    }

    const Counters* counters_ = nullptr;
    uint64_t shortest_ = 0, began_ = 0, entered_ = 0, ticks_ = 0;
    bool is_open_ = false;
    CpuCount before_ = {}, sum_ = {};
};

} // namespace ws::observe
