// SPDX-License-Identifier: MIT
//
// A rank's load: the row under every interleaving of its writer and a reader, and under a writer that never rests; what
// the meter makes of a rank's waits.
#include "measure/meter.h"

#include "../loop/explore.h"
#include "base/os.h"
#include "base/times.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <sched.h>
#include <thread>
#include <vector>

using namespace ws::base;
using namespace ws::window;
using explore::Explorer;
using explore::Scheduled;

namespace {

// Sums that belong together can be told from others: all are multiples of one number.
Load of(uint64_t n) { return {n, n % 2 == 1, 3 * n, 5 * n, 7 * n}; }
bool belongs_together(const Load& l)
{
    return l.waits == (l.at % 2 == 1) && l.useful == 3 * l.at && l.waited == 5 * l.at && l.kept_off == 7 * l.at;
}

// A writer writes twice while a reader looks.
template <bool broken> struct Writing : Explorer::World {
    using Row = BasicLoadRow<Scheduled>;
    Row row;
    uint64_t seen = 0;

    Writing()
    {
        std::memset(static_cast<void*>(&row), 0, sizeof row);
        volatile explore::Word* words = reinterpret_cast<explore::Word*>(&row);
        for (size_t i = 0; i < sizeof row / sizeof *words; i++)
            memory.push_back(&words[i]);
    }
    std::vector<std::function<void()>> actors() override
    {
        return {[this] {
                    for (uint64_t n : {1, 2})
                        row.write(of(n));
                },
                [this] {
                    Load l;
                    if (broken) { // reads without looking at the epoch
                        auto* words = reinterpret_cast<volatile explore::Word*>(&row);
                        const explore::Word at = Scheduled::load_acquire(words[1]);
                        l = of(at >> 1);
                        l.useful = Scheduled::load_acquire(words[2]);
                    } else if (!row.read(l, 3))
                        return;
                    if (!belongs_together(l))
                        Explorer::current().fail("sums of different writes were read as one");
                    seen = l.at;
                }};
    }
    uint64_t hash() const override { return seen; }
};

} // namespace

TEST_CASE("a row is read whole, whatever the interleaving", "[load]")
{
    const Explorer::Result right = Explorer::run<Writing<false>>();
    CHECK(right.violation == "");
    CHECK(right.complete);
    CHECK(right.states > 100);
    CHECK(Explorer::run<Writing<true>>().violation != ""); // the search does find it
}

TEST_CASE("a row whose writer never rests", "[load]")
{
    LoadRow row = {};
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        for (uint64_t n = 1; !stop.load(std::memory_order_relaxed); n++)
            row.write(of(n));
    });
    std::vector<std::thread> readers;
    std::atomic<uint64_t> reads{0}, wrong{0};
    for (int t = 0; t < 3; t++)
        readers.emplace_back([&] {
            uint64_t last = 0;
            for (int i = 0; i < 200000; i++) {
                Load l;
                if (!row.read(l))
                    continue;
                reads++;
                wrong += !belongs_together(l) || l.at < last;
                last = l.at;
            }
        });
    for (std::thread& t : readers)
        t.join();
    stop = true;
    writer.join();
    CHECK(wrong == 0);
    CHECK(reads > 10000);
}

TEST_CASE("a writer that dies in the middle", "[load]")
{
    LoadRow row = {};
    row.write(of(2));
    reinterpret_cast<volatile Hardware::Word*>(&row)[0]++;
    Load l = of(1);
    CHECK_FALSE(row.read(l));
}

TEST_CASE("brought to a later time", "[load]")
{
    Load l = {1000, false, 300, 200, 100};
    CHECK(l.brought_to(1500).useful == 800);
    CHECK(l.brought_to(1500).waited == 200);
    CHECK(l.brought_to(900).useful == 300); // clocks of cores may differ by some ticks
    l.waits = true;
    CHECK(l.brought_to(1500).useful == 300);
    CHECK(l.brought_to(1500).waited == 700);
    CHECK(Load().brought_to(1500).useful == 0); // not attached
}

TEST_CASE("what a rank's work costs", "[meter]")
{
    // With this many ticks per microsecond, nothing here takes long enough for the system to be asked.
    auto meter = std::make_unique<ws::measure::Meter>();
    LoadRow row = {};
    meter->start(&row, 1000, 1e9);
    auto now = [&] {
        Load l;
        REQUIRE(row.read(l));
        return l;
    };
    CHECK(now().at == 1000);
    CHECK(now().useful == 0);

    meter->wait_begins(3000);
    CHECK(now().waits);
    CHECK(now().useful == 2000);
    CHECK(now().waited == 0);
    CHECK(now().brought_to(3500).waited == 500);
    meter->wait_ends(4000, 0);
    CHECK_FALSE(now().waits);
    CHECK(now().useful == 2000);
    CHECK(now().waited == 1000);

    SECTION("what guests did counts for the owner, and the wait for them does not")
    {
        meter->visit_begins(4100);
        meter->visit_ends(4800, 700);
        meter->waited_within(100);
        meter->bring_up(5000);
        CHECK(now().useful == 2000 + 900 + 700);
        CHECK(now().waited == 1100);
    }
    SECTION("short waits")
    {
        meter->waited_within(300);
        meter->waited_within(300);
        meter->wait_begins(5000);
        CHECK(now().useful == 2000 + 400);
        CHECK(now().waited == 1600);
    }
    SECTION("of a wait a part was told before")
    {
        meter->wait_begins(5000);
        meter->waited_within(50); // a chunk lent from MPI_Test
        meter->wait_ends(5100, 0);
        meter->wait_begins(5200);
        CHECK(now().useful == 2000 + 1000 + 100);
    }
    SECTION("asked by the program, in the middle of work")
    {
        CHECK(meter->load(4500).useful == 2500);
        CHECK(now().at == 4500); // the row says so too
        std::thread([&] { CHECK(meter->load(4700).useful == 2700); }).join();
        CHECK(now().at == 4500); // which is the home thread's to write
    }
    SECTION("turns of the program's outer loop")
    {
        CHECK(meter->turns() == 0);
        meter->helped(40);
        for (uint64_t at = 4000; at <= 4900; at += 100)
            meter->called(at / 100 % 3, 0, at);
        meter->wait_begins(5000);
        CHECK(meter->period() == 300);
        CHECK(meter->turns() == 7); // of ten calls, once three were known to repeat
        CHECK(meter->periods()->length() == 3);
        CHECK(meter->periods()->turn().useful == 300);
        CHECK(meter->spent(5000).useful == now().useful + 40);
    }
    SECTION("in a child of fork()")
    {
        meter->leave();
        meter->wait_begins(9000);
        CHECK(now().at == 4000);
    }
}

TEST_CASE("time in which others have the core is no work", "[meter]")
{
    // Threads of this process that want the same core all the time.
    cpu_set_t before, one;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    if (ws::measure::scheduled().ran == 0)
        return; // a kernel that does not say
    Clock clock;
    clock.calibrate();
    std::atomic<bool> stop{false};
    std::vector<std::thread> others;
    for (int t = 0; t < 3; t++)
        others.emplace_back([&] {
            while (!stop.load(std::memory_order_relaxed))
                ;
        });
    auto cpu_ms = [] {
        timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
    };
    auto work = [&](double ms) {
        for (const double until = cpu_ms() + ms; cpu_ms() < until;)
            ;
    };

    // Again, as a guest cannot tell what its host takes of the CPU in the middle of a turn from work.
    constexpr int most_tries = 10;

    SECTION("its own thread's")
    {
        double useful = 1e9;
        for (int tries = 0; tries < most_tries && useful >= 115; tries++) {
            auto meter = std::make_unique<ws::measure::Meter>();
            const uint64_t began = ticks();
            meter->start(nullptr, began, clock.ticks_per_us());
            work(100);
            const uint64_t ended = ticks();
            useful = clock.seconds(meter->load(ended).useful) * 1e3;
            CHECK(clock.seconds(ended - began) * 1e3 > 200); // it had to share
            CHECK(useful > 95);
            const Load load = meter->load(ended);
            CHECK(clock.seconds(load.useful + load.kept_off) == Approx(clock.seconds(ended - began)));
            CHECK(load.kept_off > load.useful / 2);
        }
        CHECK(useful < 115);
    }
    SECTION("a guest's")
    {
        double borrowed = 1e9;
        for (int tries = 0; tries < most_tries && borrowed >= 130; tries++) {
            auto meter = std::make_unique<ws::measure::Meter>();
            meter->start(nullptr, ticks(), clock.ticks_per_us());
            std::thread([&] {
                for (int visit = 0; visit < 5; visit++) {
                    const uint64_t began = ticks();
                    meter->visit_begins(began);
                    work(20);
                    const uint64_t ended = ticks();
                    meter->visit_ends(ended, ended - began);
                }
            }).join();
            // Its own thread has only waited for it.
            meter->waited_within(ticks());
            borrowed = clock.seconds(meter->load(ticks()).useful) * 1e3;
            CHECK(borrowed > 95);
        }
        CHECK(borrowed < 130);
    }
    stop = true;
    for (std::thread& t : others)
        t.join();
    sched_setaffinity(0, sizeof before, &before);
}

TEST_CASE("the rate of the clock, beside threads that interrupt", "[meter]")
{
    std::atomic<bool> stop{false};
    std::vector<std::thread> others;
    for (unsigned t = 0; t < 2 * std::thread::hardware_concurrency(); t++)
        others.emplace_back([&] {
            while (!stop.load(std::memory_order_relaxed))
                ;
        });
    std::vector<double> rates;
    for (int i = 0; i < 50; i++) {
        Clock clock;
        clock.calibrate();
        rates.push_back(clock.ticks_per_us());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    stop = true;
    for (std::thread& other : others)
        other.join();
    // The last was over the longest time.
    for (double rate : rates)
        CHECK(rate == Approx(rates.back()).epsilon(2e-3));
}

TEST_CASE("the kernel's file is read only by who has not run while it worked", "[meter]")
{
    if (ws::measure::scheduled().ran == 0)
        return; // a kernel that does not say
    Clock clock;
    clock.calibrate();
    const double tick = clock.ticks_per_us();
    ws::measure::KeptOff kept_off;
    kept_off.start(ticks(), tick, true);
    uint64_t now = ticks();
    unsigned long long ran_ns = 0;
    kept_off.ask(now, ran_ns);
    const unsigned looks = kept_off.looks();
    // It has run for a millisecond, and says that it has worked for `more` than that.
    auto work = [&](double more) {
        now += uint64_t(2 * ws::base::times::kept_off_us * tick);
        ran_ns += 1000000;
        kept_off.worked(uint64_t((1000 + more) * tick));
        return kept_off.ask(now, ran_ns);
    };
    const double little = ws::base::times::kept_off_little_us;
    for (int i = 0; i < 20; i++)
        CHECK(work(0) == 0);
    CHECK(kept_off.looks() == looks);
    CHECK(work(0.6 * little) == 0);
    CHECK(kept_off.looks() == looks);
    work(0.6 * little); // a little and a little more
    CHECK(kept_off.looks() == looks + 1);
    CHECK(work(0.6 * little) == 0); // it is known until here
    CHECK(kept_off.looks() == looks + 1);
    CHECK(double(work(10 * little)) <= 10.01 * little * tick);
    CHECK(kept_off.looks() == looks + 2);
    kept_off.was_awake(uint64_t(1000 * tick)); // all that it ran was a wait
    CHECK(work(-1000) == 0);
    CHECK(kept_off.looks() == looks + 2);
}
