// SPDX-License-Identifier: MIT
//
// Workers at work: rank 0 has one, on core 2 of the table. A case is named after the rule of docs/internals/protocol.md
// that it is about.
#include "node.h"

#include "loop/participant.h"

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;

namespace {

struct WithWorker : TestNode {
    static constexpr unsigned core = 2;
    WithWorker() : TestNode(2, 1, 0) {}
    uint64_t chunks() { return (*this)[0].host.board->process.worker_chunks; }
    ws::observe::LendCounters& worker() { return (*this)[0].host.board->seat(1).lend; }
};

} // namespace

TEST_CASE("workers: a worker runs its own rank's loop itself, without lending", "[lend]")
{
    WithWorker node;
    node.start_owner(0);
    Loop loop(300, [&](long) { sleep_us(100); });
    for (int tries = 0; tries < 100 && node.chunks() == 0; tries++)
        loop.run();
    CHECK(node.chunks() > 0);
    CHECK(node.worker().lends == 0);
    CHECK(node.guest(0, WithWorker::core).knock == 0);
    CHECK(comes_true([&] { return node.home(WithWorker::core).occupancy == rank_blocked; })); // always blocked
    node.stop();
}

TEST_CASE("workers: with no loop of its own rank's it lends its core to another rank, and has it back", "[lend]")
{
    WithWorker node;
    node.publish(1, 10, 0, {WithWorker::core});
    node.start_owner(0);
    Home& core = node.home(WithWorker::core);
    REQUIRE(comes_true([&] { return Hardware::load_acquire(core.state) == core_lent; }));
    CHECK(core.tenant == 1);
    CHECK(comes_true([&] { return node.worker().lends == 1; }));
    CHECK(ws::arbiter::Word<>(core.use).look().use == ws::arbiter::Use::guest);
    node[1].window.open(1) = 0; // no second chunk
    node.give_back(WithWorker::core);
    CHECK(comes_true([&] { return ws::arbiter::Word<>(core.use).look().use == ws::arbiter::Use::worker; }));
    CHECK(comes_true([&] { return Hardware::load_acquire(core.state) != core_lent; }));
    node.stop();
}

TEST_CASE("workers: while OpenMP's threads are at work they sleep, and a lent core is asked for", "[lend]")
{
    WithWorker node;
    node.start_owner(0);
    openmp.open();
    CHECK(comes_true([&] { return Hardware::load_acquire(openmp.waiting) == 1; }));
    CHECK(node[0].window.mine().hunger.hungry != not_hungry); // the next region is to be shared: that wakes it
    node.publish(1, 10, 0, {WithWorker::core});
    sleep_us(20000);
    CHECK(node.home(WithWorker::core).state != core_lent);
    openmp.close();
    Home& core = node.home(WithWorker::core);
    REQUIRE(comes_true([&] { return Hardware::load_acquire(core.state) == core_lent; }));
    openmp.open(); // it has lent
    CHECK(core.recall == 1);
    node.give_back(WithWorker::core);
    CHECK(comes_true([&] { return Hardware::load_acquire(openmp.waiting) == 1; }));
    node[1].window.open(1) = 0;
    openmp.close();
    node.stop();
}

TEST_CASE("workers: one whose core is taken by a parallel region neither helps nor lends", "[lend]")
{
    WithWorker node;
    node.start_owner(0);
    Home& core = node.home(WithWorker::core);
    REQUIRE(comes_true([&] {
        return ws::arbiter::Word<>(core.use).change(ws::arbiter::Use::worker, ws::arbiter::Use::openmp);
    }));
    node.publish(1, 10, 0, {WithWorker::core});
    Loop loop(200, [&](long) { sleep_us(100); });
    loop.run();
    const uint64_t before = node.chunks();
    loop.run();
    CHECK(node.chunks() == before);
    CHECK(core.state != core_lent);
    CHECK(ws::arbiter::Word<>(core.use).change(ws::arbiter::Use::openmp, ws::arbiter::Use::worker));
    node[1].window.open(1) = 0;
    for (int tries = 0; tries < 100 && node.chunks() == before; tries++)
        loop.run();
    CHECK(node.chunks() > before);
    node.stop();
}

TEST_CASE(
    "workers: one keeps off while a thread of the program computes on its core, and asks for a core that it has lent",
    "[lend]")
{
    WithWorker node;
    node.start_owner(0);
    Home& core = node.home(WithWorker::core);
    Workers& workers = node[0].lending->workers();
    volatile Flag* visitors = workers.begin_visit(0);
    REQUIRE(comes_true([&] { return core.occupancy == rank_computing; }));
    node.publish(1, 10, 0, {WithWorker::core});
    Loop loop(200, [&](long) { sleep_us(100); });
    loop.run();
    CHECK(node.chunks() == 0);
    CHECK(node.worker().lends == 0);
    Workers::end_visit(visitors);
    REQUIRE(comes_true([&] { return Hardware::load_acquire(core.state) == core_lent; }));
    workers.begin_visit(0);
    CHECK(comes_true([&] { return core.recall == 1; }));
    node[1].window.open(1) = 0;
    node.give_back(WithWorker::core);
    CHECK(comes_true([&] { return core.occupancy == rank_computing; }));
    node.stop(); // also if it keeps off
}

TEST_CASE("the end: workers have ended when a rank has stopped, also those that sleep or have lent", "[lend]")
{
    WithWorker node;
    node.options.times.quantum_us = node.options.times.longest_quantum_us = 120 * 1000000;
    SECTION("asleep") {}
    SECTION("lent") { node.publish(1, 10, 0, {WithWorker::core}); }
    node.start_owner(0);
    Home& core = node.home(WithWorker::core);
    REQUIRE(comes_true([&] {
        const Flag state = Hardware::load_acquire(core.state);
        return state == core_asleep || state == core_lent;
    }));
    std::thread guest;
    if (Hardware::load_acquire(core.state) == core_lent)
        guest = std::thread([&] {
            CHECK(comes_true([&] { return Hardware::load_acquire(core.recall) != 0; }));
            node.give_back(WithWorker::core);
        });
    const double begin = seconds_now();
    node[0].lending->stop();
    CHECK(seconds_now() - begin < 60); // rung
    CHECK(core.state == core_kept);
    CHECK(openmp.watcher == nullptr);
    if (guest.joinable())
        guest.join();
}
