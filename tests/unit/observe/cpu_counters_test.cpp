// SPDX-License-Identifier: MIT
//
// What is counted between MPI calls, by counters that a test plays; and the kernel's own, of software where the
// processor has none.
#include "observe/cpu_counters.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <vector>

using namespace ws::observe;

namespace {

// Two instructions and one cycle per tick of a clock that the test sets.
struct Played {
    double now = 0;
    mutable int readings = 0;
    CpuCount read() const
    {
        readings++;
        return {2 * now, now};
    }
};

class Run {
public:
    Run() { count.start(counters, 0, 100); }
    void computes(uint64_t ticks) { at += ticks; }
    void calls(uint64_t ticks)
    {
        counters.now = double(at);
        count.enter(at);
        at += ticks;
        counters.now = double(at);
        count.leave(at);
    }
    Played counters;
    ComputingCount<Played> count;
    uint64_t at = 0;
};

double thread_s()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

} // namespace

TEST_CASE("what a rank computes between calls is counted, and what it does in them is not")
{
    Run r;
    r.computes(1000);
    r.calls(5000);
    r.computes(300);
    r.calls(5000);
    CHECK(r.count.ticks() == 1300);
    CHECK(r.count.sum().instructions == 2600);
    CHECK(r.count.sum().cycles == 1300);
}

TEST_CASE("short calls are part of a segment, and short segments before long calls are left out")
{
    Run r;
    for (int i = 0; i < 10; i++) { // one segment: the last of 9 short calls ends it after 100 ticks or more
        r.computes(9);
        r.calls(1);
    }
    CHECK(r.count.ticks() <= 100);
    const int before = r.counters.readings;
    r.computes(10);
    r.calls(5000); // a wait
    const uint64_t counted = r.count.ticks();
    r.computes(50);
    r.calls(5000);
    CHECK(r.count.ticks() == counted); // no part of either wait
    r.computes(1000);
    r.calls(5000);
    CHECK(r.count.ticks() == counted + 1000);
    CHECK(r.counters.readings - before <= 6);
}

TEST_CASE("readings are at least a segment apart, however many calls there are")
{
    Run r;
    for (int i = 0; i < 100000; i++) {
        r.computes(3);
        r.calls(1);
    }
    CHECK(r.counters.readings <= 2 * 400000 / 100 + 1);
    CHECK(double(r.count.ticks()) > 0.9 * 400000);
}

TEST_CASE("the kernel's counters tell the truth: CPU time, and a fault for each new page")
{
    CpuCounters counters;
    const std::string refused = counters.open({PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
                                              {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK});
    if (!refused.empty()) {
        WARN("refused: " << refused);
        return;
    }
    constexpr size_t pages = 512, page = 4096;
    const double before_s = thread_s();
    const CpuCount before = counters.read();
    auto* const memory =
        static_cast<char*>(mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        memory[i * page] = 1;
    while (thread_s() - before_s < 0.05) {
    }
    const CpuCount after = counters.read();
    const double took_s = thread_s() - before_s;
    munmap(memory, pages * page);
    CHECK(after.instructions - before.instructions >= pages); // the first event: faults
    CHECK(after.instructions - before.instructions < pages + 100);
    // The second event is a clock that stops with the thread. It counts interrupts otherwise than the thread's own.
    CHECK(1e-9 * (after.cycles - before.cycles) > 0.5 * took_s);
    CHECK(1e-9 * (after.cycles - before.cycles) < 1.1 * took_s);
}

TEST_CASE("instructions and cycles are counted, or open() returns the reason")
{
    CpuCounters counters;
    const std::string refused = counters.open();
    if (!refused.empty()) {
        CHECK(refused.size() > 10);
        return;
    }
    // A chain of dependent additions: one instruction and more each, and no more than some cycles.
    constexpr long steps = 10000000;
    const CpuCount before = counters.read();
    volatile long sum = 0;
    for (long i = 0; i < steps; i++)
        sum = sum + 1;
    const CpuCount after = counters.read();
    CHECK(after.instructions - before.instructions >= 2 * double(steps));
    CHECK(after.instructions - before.instructions <= 20 * double(steps));
    CHECK(after.cycles - before.cycles >= 0.5 * double(steps));
}
