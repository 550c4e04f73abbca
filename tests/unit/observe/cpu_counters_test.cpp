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

struct Counted {
    uint64_t ticks = 0;
    CpuCount count = {};
};
std::vector<Counted> phases; // of the run that is played

// A reading costs one tick, so a stretch has at least 100.
class Run {
public:
    Run()
    {
        phases.assign(8, {});
        count.start(counters, 0, 1, 0, unsigned(phases.size()), [](Flag phase, uint64_t ticks, const CpuCount& c) {
            phases[phase].ticks += ticks;
            phases[phase].count.instructions += c.instructions;
            phases[phase].count.cycles += c.cycles;
        });
    }
    void computes(uint64_t ticks)
    {
        at += ticks;
        counters.now = double(at);
    }
    void calls(uint64_t ticks)
    {
        count.enter(at);
        computes(ticks);
        count.leave(at);
    }
    void phase(Flag phase, uint64_t ticks)
    {
        count.change(phase, at);
        computes(ticks);
    }
    // Ends a stretch, so that all is counted.
    uint64_t ticks(Flag phase = 0)
    {
        calls(100000);
        return phases[phase].ticks;
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
    CHECK(phases[0].ticks == 1300);
    CHECK(phases[0].count.instructions == 2600);
    CHECK(phases[0].count.cycles == 1300);
}

TEST_CASE("short calls are part of a stretch, and short stretches before long calls are left out")
{
    Run r;
    for (int i = 0; i < 9; i++) {
        r.computes(9);
        r.calls(1);
    }
    CHECK(phases[0].ticks == 0);
    r.calls(5000); // a wait; there were 90 ticks before
    r.computes(50);
    r.calls(5000);
    CHECK(phases[0].ticks == 0);
    r.computes(1000);
    r.calls(5000);
    CHECK(phases[0].ticks == 1000);
    CHECK(r.counters.readings <= 6);
}

TEST_CASE("readings take 0.5 % of the time, however many calls there are, and nearly all is counted")
{
    Run r;
    for (int i = 0; i < 100000; i++) {
        r.computes(3);
        r.calls(1);
    }
    CHECK(r.counters.readings <= 400000 / 200 + 65);
    CHECK(double(phases[0].ticks) > 0.9 * 400000);
}

TEST_CASE("each phase has what was counted in it; one reading ends a phase and begins the next")
{
    Run r;
    r.computes(500);
    for (int i = 0; i < 10; i++) {
        r.phase(1, 2000);
        r.phase(2, 300);
        r.phase(0, 1000);
    }
    CHECK(r.ticks() == 500 + 10 * 1000);
    CHECK(phases[1].ticks == 10 * 2000);
    CHECK(phases[2].ticks == 10 * 300);
    CHECK(phases[2].count.instructions == 10 * 600);
    CHECK(r.counters.readings == 1 + 30 + 1 + 1); // the first, each change, the call's begin and end
}

TEST_CASE("phases too short to be counted cost next to no readings, and longer ones between them are counted")
{
    Run r;
    const int before = r.counters.readings;
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 1000; k++)
            r.phase(1 + k % 2, 10);
        r.phase(3, 5000);
    }
    CHECK(r.ticks(3) == 100 * 5000);
    CHECK(phases[1].ticks == 0);
    CHECK(phases[2].ticks == 0);
    CHECK(phases[3].count.cycles == 100 * 5000);
    CHECK(double(r.counters.readings - before) <= double(r.at) / 200 + 65);
}

TEST_CASE("of phases that would need more readings than are paid for, a part is counted")
{
    Run r;
    for (int i = 0; i < 20000; i++) {
        r.phase(1, 120);
        r.phase(2, 20);
    }
    CHECK(r.counters.readings <= 20000 * 140 / 200 + 65);
    CHECK(r.ticks(1) > 20000 * 120 / 10);
    CHECK(phases[1].ticks < 20000 * 120);
    CHECK(phases[1].count.instructions == Approx(2 * double(phases[1].ticks)));
    CHECK(phases[2].ticks == 0);
}

TEST_CASE("a phase that was short is counted again once it is long")
{
    Run r;
    for (int i = 0; i < 1000; i++) {
        r.phase(1, 50);
        r.phase(2, 50);
    }
    CHECK(r.ticks(1) == 0);
    for (int i = 0; i < 20; i++) {
        r.phase(1, 3000);
        r.phase(2, 3000);
    }
    CHECK(r.ticks(1) >= 19 * 3000);
    CHECK(phases[1].ticks <= 20 * 3000);
}

TEST_CASE("a phase that changes inside a call, as MPI_Pcontrol does, ends the stretch before it")
{
    Run r;
    r.computes(1000);
    r.count.enter(r.at);
    r.computes(3);
    r.count.change(1, r.at);
    r.count.leave(r.at);
    r.computes(500);
    CHECK(r.ticks(1) == 500);
    CHECK(phases[0].ticks == 1000);
    r.computes(50); // too short to be ended by the call
    r.count.enter(r.at);
    r.count.change(2, r.at);
    r.count.leave(r.at);
    r.computes(400);
    CHECK(r.ticks(2) == 400);
    CHECK(phases[1].ticks == 500);
}

TEST_CASE("an event is read by its page as the kernel documents it")
{
    perf_event_mmap_page page = {};
    uint64_t count = 0;
    uint64_t counter = 0xFFFFFFFFFFF0; // of 48 bits: -16
    unsigned asked = 0;
    const auto read_counter = [&](uint32_t i) {
        asked = i;
        return counter;
    };
    CHECK(!read_event(page, read_counter, count)); // the processor may not be asked
    page.cap_user_rdpmc = 1;
    CHECK(!read_event(page, read_counter, count)); // no counter counts it
    page.index = 3;
    page.pmc_width = 48;
    page.offset = 1000;
    page.time_enabled = page.time_running = 77;
    REQUIRE(read_event(page, read_counter, count));
    CHECK(count == 984);
    CHECK(asked == 2);
    counter = 5;
    REQUIRE(read_event(page, read_counter, count));
    CHECK(count == 1005);
    page.time_enabled = 100; // it takes turns with others
    CHECK(!read_event(page, read_counter, count));
    page.time_running = 100;
    // The thread goes to another CPU while it reads: the kernel writes the page, and it is read again.
    int readings = 0;
    const auto moved = [&](uint32_t) {
        if (readings++ == 0) {
            page.lock++;
            page.offset = 2000;
            counter = 9;
        }
        return counter;
    };
    REQUIRE(read_event(page, moved, count));
    CHECK(count == 2009);
    CHECK(readings == 2);
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
    // The second event is a clock that stops with the thread. The kernel takes it from another source than the
    // thread's CPU time: in a virtual machine that others interrupt, the two once differed by more than half.
    // A fault in the reading differs every time.
    double clock_s = 0, took_s = 0;
    const auto clocks_agree = [&] { return clock_s > 0.5 * took_s && clock_s < 1.1 * took_s; };
    for (int attempt = 0; attempt < 10 && !clocks_agree(); attempt++) {
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
        took_s = thread_s() - before_s;
        clock_s = 1e-9 * (after.cycles - before.cycles);
        munmap(memory, pages * page);
        CHECK(after.instructions - before.instructions >= pages); // the first event: faults
        CHECK(after.instructions - before.instructions < pages + 100);
    }
    CHECK(clock_s > 0.5 * took_s);
    CHECK(clock_s < 1.1 * took_s);
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
