// SPDX-License-Identifier: MIT
//
// Instructions and cycles of a rank's own thread outside of MPI, by the kernel's perf_event_open; in a run with a
// report or trace. calls.cpp says when MPI calls begin and end, and phases.cpp when phases do. benchmarks/counter_cost
// prints what counting costs.
#pragma once

#include "base/atomics.h"

#include <algorithm>
#include <cstdint>
#include <linux/perf_event.h>
#include <string>
#include <vector>

namespace ws::observe {

using base::Flag;

struct CpuCount {
    double instructions, cycles; // in user code
};

// Two events of the calling thread that are counted together.
class CpuCounters {
public:
    struct PerfEvent {
        uint32_t type;
        uint64_t config;
    };
    CpuCounters() = default;
    ~CpuCounters();
    CpuCounters(const CpuCounters&) = delete;
    // Opens instructions and cycles. Returns why the kernel refuses them, or nothing.
    std::string open();
    // The same with other events, for tests on machines that have no counters.
    std::string open(const PerfEvent& first, const PerfEvent& second);
    // What the thread has counted since open(). Called by the thread that opened. Costs some tens of nanoseconds if the
    // kernel lets the thread read the processor's counters itself, and else a call of the kernel.
    CpuCount read() const;
    bool reads_itself() const { return pages_[0] != nullptr; }

private:
    CpuCount read_by_kernel() const;
    void map_pages();

    int fds_[2] = {-1, -1};
    const perf_event_mmap_page* pages_[2] = {}; // both or none
};

// Reads an event by its page and by `read_counter(i)`, which reads the i-th counter of the processor (rdpmc). False: by
// this way it cannot be read now, because no counter counts it or because events take turns.
template <class ReadCounter>
bool read_event(const volatile perf_event_mmap_page& page, ReadCounter read_counter, uint64_t& count)
{
    // The kernel writes the page on the CPU of this thread, while it does not run. So only the order of the program
    // matters, which volatile accesses keep.
    uint32_t seen;
    do {
        seen = page.lock;
        const uint32_t index = page.index;
        if (!page.cap_user_rdpmc || index == 0 || page.time_enabled != page.time_running)
            return false;
        const unsigned unused_bits = 64 - page.pmc_width;
        count = uint64_t(page.offset) + uint64_t(int64_t(read_counter(index - 1) << unused_bits) >> unused_bits);
    } while (page.lock != seen);
    return true;
}

// What is counted between MPI calls, for each phase. A reading costs `cost` ticks at least: some tens of nanoseconds by
// the processor's own instruction, and 0.3 to 2.5 us by the kernel. What is counted begins and ends with a reading. It
// lies in one phase, and is called a stretch.
//
//  - Readings take at most 0.5 % of the time, and those of the first moments besides: there is a budget.
//  - A stretch that ends after less than `shortest`, 100 readings, is left out: the reading itself would count.
//  - Where the last stretches of a phase were that short, no reading is spent on the next, unless half of the budget is
//    left: so longer phases find something of it.
//  - An MPI call shorter than `shortest` in a stretch counts as computing.
template <class Counters> class ComputingCount {
public:
    // A stretch is over.
    using Add = void (*)(Flag phase, uint64_t ticks, const CpuCount& count);
    // In phase `phase` of `phases`, outside of MPI.
    void start(const Counters& counters, uint64_t now, uint64_t cost, Flag phase, unsigned phases, Add add)
    {
        counters_ = &counters;
        shorts_.assign(phases, 0);
        add_ = add;
        shortest_ = 100 * cost;
        price_ = 400 * cost; // between other work a reading takes twice as long as in a row (counter_cost)
        budget_ = most_readings * price_;
        paid_until_ = now;
        phase_ = phase;
        begin(now);
    }
    bool is_started() const { return counters_ != nullptr; }
    // An MPI call begins.
    void enter(uint64_t now)
    {
        entered_ = now;
        in_call_ = true;
        if (!is_open_ || now - began_ < shortest_)
            return;
        earn(now);
        // Otherwise it goes on, if the call is short.
        if (now - began_ >= 2 * price_ || budget_ >= 2 * price_)
            close(now, counters_->read());
    }
    // It ends.
    void leave(uint64_t now)
    {
        in_call_ = false;
        if (is_open_ && now - entered_ < shortest_)
            return;
        if (is_open_)
            leave_out();
        begin(now);
    }
    // Another phase is present from now on.
    void change(Flag phase, uint64_t now)
    {
        const uint64_t took = now - began_;
        unsigned char& shorts = shorts_[phase_];
        if (took >= shortest_)
            shorts = 0;
        else if (shorts < most_shorts)
            shorts++;
        phase_ = phase;
        if (in_call_) { // leave() begins the next stretch
            if (is_open_)
                leave_out();
            return;
        }
        if (is_open_ && took >= shortest_) { // the reading serves both
            const CpuCount count = counters_->read();
            close(now, count);
            open(now, 1);
            before_ = count;
            return;
        }
        if (is_open_)
            leave_out();
        begin(now);
    }

private:
    static constexpr unsigned most_readings = 64, most_shorts = 4;

    void earn(uint64_t now)
    {
        budget_ = std::min(budget_ + (now - paid_until_), most_readings * price_);
        paid_until_ = now;
    }
    // Whether that many readings may be spent on the present phase.
    bool pays(uint64_t readings)
    {
        const bool is_short = shorts_[phase_] == most_shorts;
        if (budget_ < (is_short ? most_readings / 2 : readings) * price_)
            return false;
        budget_ -= readings * price_;
        return true;
    }
    void open(uint64_t now, uint64_t readings)
    {
        earn(now);
        began_ = now;
        opened_in_ = phase_;
        is_open_ = pays(readings);
    }
    void begin(uint64_t now)
    {
        open(now, 2);
        if (is_open_)
            before_ = counters_->read();
    }
    void leave_out()
    {
        is_open_ = false;
        budget_ += price_; // its second reading
    }
    void close(uint64_t now, const CpuCount& count)
    {
        is_open_ = false;
        add_(opened_in_, now - began_, {count.instructions - before_.instructions, count.cycles - before_.cycles});
    }

    const Counters* counters_ = nullptr;
    Add add_ = nullptr;
    uint64_t shortest_ = 0, price_ = 0; // ticks; of a reading in the budget
    uint64_t budget_ = 0, paid_until_ = 0;
    uint64_t began_ = 0, entered_ = 0;
    Flag phase_ = 0, opened_in_ = 0;
    bool is_open_ = false, in_call_ = false;
    CpuCount before_ = {};
    std::vector<unsigned char> shorts_; // for each phase: how many of its last stretches were short
};

} // namespace ws::observe
