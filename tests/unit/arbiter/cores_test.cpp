// SPDX-License-Identifier: MIT
#include "arbiter/cores.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

using namespace ws::base;
using namespace ws::arbiter;

namespace {

// For a while, and as long as threads have not come to what is tested: on a busy machine that takes longer.
template <class Enough> void let_run(Enough enough)
{
    for (int turn = 0; turn < 30 || (turn < 4000 && !enough()); turn++)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

} // namespace

TEST_CASE("a core's word holds what was put into it")
{
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000; i++) {
        const ws::arbiter::Core core = {uint16_t(random()), uint16_t(random()), Use(random() % 4),
                                        uint32_t(random() & 0xffffff)};
        CHECK(ws::arbiter::Core::unpack(core.pack()) == core);
    }
}

TEST_CASE("a use is taken once")
{
    volatile Hardware::Word w;
    Word<> core(w);
    core.start(4, Use::home);
    CHECK_FALSE(core.change(Use::worker, Use::guest));
    CHECK(core.change(Use::home, Use::guest));
    CHECK_FALSE(core.change(Use::home, Use::openmp)); // it is lent
    CHECK(core.change(Use::guest, Use::home));
    CHECK(core.look() == (ws::arbiter::Core{4, 4, Use::home, 2}));
}

TEST_CASE("an owner hands over what was promised, between regions and with no other use")
{
    volatile Hardware::Word w;
    Word<> core(w);
    core.start(1, Use::home);
    CHECK_FALSE(core.settle(1)); // nothing promised
    CHECK_FALSE(core.promise(2, 3)); // not its owner
    CHECK_FALSE(core.promise(1, 1));
    CHECK(core.promise(1, 2));
    CHECK_FALSE(core.promise(1, 3)); // it is promised
    CHECK(core.look().owner == 1); // until its owner comes to the end of its region
    CHECK(core.change(Use::home, Use::guest));
    CHECK_FALSE(core.settle(1)); // a guest is on it
    CHECK(core.change(Use::guest, Use::home));
    CHECK_FALSE(core.settle(2)); // not its own yet
    CHECK(core.settle(1));
    CHECK(core.look().owner == 2);
    CHECK_FALSE(core.settle(1));
    CHECK_FALSE(core.withdraw(1)); // too late
    CHECK(core.promise(2, 1));
    CHECK(core.withdraw(2));
    CHECK_FALSE(core.settle(2));
}

// Threads that take cores and give them back, owners that settle, a decider that promises: at no moment two have one
// core, and each core has one owner.
TEST_CASE("many at once")
{
    constexpr unsigned ranks = 3, cores = 4;
    struct alignas(64) Line {
        volatile Hardware::Word word;
        std::atomic<int> users{0};
    };
    std::vector<Line> table(cores);
    for (unsigned c = 0; c < cores; c++)
        Word<>(table[c].word).start(c % ranks, Use::home);
    std::atomic<bool> stop{false};
    std::atomic<long> taken{0}, settled{0}, promised{0}, doubled{0};
    std::vector<std::thread> threads;
    for (const Use use : {Use::guest, Use::worker, Use::openmp})
        threads.emplace_back([&, use] {
            std::mt19937 random(static_cast<unsigned>(use));
            while (!stop) {
                Line& line = table[random() % cores];
                if (!Word<>(line.word).change(Use::home, use))
                    continue;
                doubled += line.users.fetch_add(1) != 0;
                taken++;
                std::this_thread::yield();
                line.users.fetch_sub(1);
                doubled += !Word<>(line.word).change(use, Use::home);
            }
        });
    for (unsigned r = 0; r < ranks; r++)
        threads.emplace_back([&, r] {
            while (!stop) {
                for (Line& line : table)
                    settled += Word<>(line.word).settle(r);
                std::this_thread::yield();
            }
        });
    threads.emplace_back([&] {
        std::mt19937 random(9);
        while (!stop) {
            Word<> core(table[random() % cores].word);
            const unsigned owner = core.look().owner;
            promised += core.promise(owner, random() % ranks);
            if (random() % 8 == 0)
                promised -= core.withdraw(owner);
            std::this_thread::yield();
        }
    });
    let_run([&] { return taken > 0 && settled > 0; });
    stop = true;
    for (std::thread& t : threads)
        t.join();
    CHECK(doubled == 0);
    CHECK(taken > 0);
    CHECK(settled > 0);
    long open = 0;
    for (Line& line : table) {
        const ws::arbiter::Core core = Word<>(line.word).look();
        CHECK(core.owner < ranks);
        CHECK(core.use == Use::home);
        open += core.owner != core.heir;
    }
    CHECK(promised == settled + open); // each promise was kept once, or is still to be
}

// A worker computes by itself on its core, without changing the word: it says so and looks whether the core is taken; a
// region takes the core and looks whether the worker computes (lend/worker.cpp, policy/cores/team.cpp). So after a
// region has seen that nobody computes there, nobody does until it gives the core back.
TEST_CASE("a region and a worker see each other")
{
    struct alignas(64) Line {
        volatile Hardware::Word word;
        volatile Hardware::Flag computes = 0;
        std::atomic<int> users{0};
    } core;
    Word<>(core.word).start(0, Use::worker);
    std::atomic<bool> stop{false};
    std::atomic<long> chunks{0}, regions{0}, waited{0}, doubled{0};
    std::thread worker([&] {
        while (!stop) {
            Hardware::store_full(core.computes, 1);
            if (Word<>(core.word).look().use == Use::worker) {
                doubled += core.users.fetch_add(1) != 0;
                chunks++;
                core.users.fetch_sub(1);
            }
            Hardware::store_release(core.computes, 0);
            std::this_thread::yield();
        }
    });
    std::thread region([&] {
        while (!stop) {
            if (!Word<>(core.word).change(Use::worker, Use::openmp))
                continue;
            while (Hardware::load_acquire(core.computes) && !stop) // the chunk that had begun
                waited++;
            if (stop)
                break;
            doubled += core.users.fetch_add(1) != 0;
            regions++;
            core.users.fetch_sub(1);
            Word<>(core.word).change(Use::openmp, Use::worker);
            std::this_thread::yield();
        }
    });
    let_run([&] { return chunks > 100 && regions > 100; });
    stop = true;
    worker.join();
    region.join();
    CHECK(doubled == 0);
    CHECK(chunks > 100);
    CHECK(regions > 100);
}

TEST_CASE("a worker's core changes hands when the worker has no guest on it")
{
    volatile Hardware::Word word;
    Word<> core(word);
    core.start(0, Use::worker);
    REQUIRE(core.promise(0, 1));
    CHECK_FALSE(core.settle(0)); // home is not what it is used for while nobody computes there
    REQUIRE(core.change(Use::worker, Use::guest));
    CHECK_FALSE(core.settle(0, Use::worker));
    REQUIRE(core.change(Use::guest, Use::worker));
    CHECK(core.settle(0, Use::worker));
    CHECK(core.look().owner == 1);
}
