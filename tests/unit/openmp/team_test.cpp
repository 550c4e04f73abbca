// SPDX-License-Identifier: MIT
//
// Virtual threads of a shared region, run by its opener and by guests on cores that other ranks lend: all ranks are in
// this process. Each virtual thread runs once, as a thread of its own; barriers, loops and singles; cores come back.
//
// On a virtual thread's identity nothing of Catch2 is called: what is found there is noted, and looked at afterwards.
#include "openmp/shared/team.h"

#include "../lend/node.h"
#include "base/os.h"
#include "openmp/library/allocator.h"
#include "openmp/library/names.h"
#include "openmp/shared/share.h"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <pthread.h>

using namespace ws::base;
using namespace ws::openmp;
using namespace ws::window;

// What virtual threads find of the program's OpenMP library, which is not there.
namespace ws::openmp {
__thread ThreadSettings* thread_settings __attribute__((tls_model("initial-exec")));
unsigned own_threads() { return 1; }
bool is_share_asked() { return false; }
const char* why_not_shared() { return nullptr; }
std::string trusted_and_missing() { return ""; }
int nesting_level() { return 0; }
uintptr_t default_allocator() { return 0; }
void inherit_allocator(uintptr_t) {}
const char* name_of_function(const void*) { return "a region"; }
const char* name_of_call(const void*) { return "a barrier"; }
void run_by_own_threads(void (*)(void*), void*, unsigned, ws_site*) { std::abort(); } // this rank has one
} // namespace ws::openmp

namespace {

// Runs a region of `threads` virtual threads that each call `body` with their unit.
class Region : RegionCall {
public:
    Region(unsigned units, std::function<void(Unit&)> body)
        : RegionCall(run_body, this, 0, this), runs(units), threads(units), helped(units), units_(units),
          body_(std::move(body))
    {
        site_.site.where = "a region";
        site_.site.kinds = WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER;
        site_.again = site_.site;
    }
    // Opens it on the calling thread. `beside` is called in a thread of its own meanwhile.
    void run(const std::function<void(VirtualTeam&)>& beside = nullptr)
    {
        REQUIRE(FiberCrew::own());
        REQUIRE(FiberCrew::own()->fill(units_));
        Settings settings = {};
        settings.dynamic = settings.levels = settings.kind = -1;
        VirtualTeam team(site_, *this, *FiberCrew::own(), units_, nullptr, settings);
        team_ = &team;
        std::thread other;
        if (beside)
            other = std::thread([&] { beside(team); });
        team.run();
        if (beside)
            other.join();
    }
    VirtualTeam& team() { return *team_; }
    RegionSite& site() { return site_; }
    bool each_ran(unsigned times) const
    {
        return std::all_of(runs.begin(), runs.end(), [&](unsigned n) { return n == times; });
    }
    // How many of the last run's were run by guests, at least in part.
    unsigned number_helped() const { return unsigned(std::accumulate(helped.begin(), helped.end(), 0u)); }

    std::vector<unsigned> runs; // of each virtual thread
    std::vector<pthread_t> threads;
    std::vector<unsigned> helped; // 1: it began on a guest
    volatile Flag wrong = 0;      // numbers that are not what they should be

private:
    static void run_body(void* argument)
    {
        Region& region = *static_cast<Region*>(argument);
        Unit& unit = *current;
        const unsigned number = unit.units.lo;
        region.runs[number]++;
        region.threads[number] = pthread_self();
        region.helped[number] = unit.carrier && unit.carrier->mode == ws::loop::Mode::guest;
        if (unit.units.hi != number + 1 || unit.units.of != region.units_ || unit.settings.number != number)
            Hardware::fetch_add_full(region.wrong, 1);
        region.body_(unit);
    }
    void open(Body, void*, unsigned) override { std::abort(); } // the library's way: it is shared here

    const unsigned units_;
    const std::function<void(Unit&)> body_;
    RegionSite site_ = {};
    VirtualTeam* team_ = nullptr;
};

// Rank 0 opens regions; the others wait and lend their cores.
struct Helped : TestNode {
    explicit Helped(unsigned ranks) : TestNode(ranks)
    {
        start_owner(0);
        for (unsigned r = 1; r < ranks; r++)
            waiters.push_back(std::make_unique<Waiter>(*this, r));
    }
    ~Helped() { end(); }
    void end()
    {
        waiters.clear();
        stop();
    }
    unsigned helpers() // ranks whose cores have been used
    {
        unsigned n = 0;
        for (unsigned r = 1; r < ranks(); r++)
            n += (*this)[0].visits(r).visits > 0;
        return n;
    }
    std::vector<std::unique_ptr<Waiter>> waiters;
};

} // namespace

TEST_CASE("each virtual thread runs once, with a number and an identity of its own", "[team]")
{
    TestNode node(1);
    node.start_owner(0);
    for (const unsigned units : {1u, 2u, 7u, 64u, 65u, 200u}) {
        Region region(units, [](Unit&) {});
        region.run();
        CHECK(region.each_ran(1));
        CHECK(region.wrong == 0);
        std::vector<pthread_t> threads = region.threads;
        CHECK(pthread_equal(threads[0], pthread_self())); // number 0 is the thread that opened the region
        std::sort(threads.begin(), threads.end());
        CHECK(std::adjacent_find(threads.begin(), threads.end()) == threads.end());
    }
}

TEST_CASE("members are assigned to several ranks, and each runs once", "[team]")
{
    Helped node(5);
    Region region(16, [](Unit&) { sleep_us(300); });
    unsigned times = 0;
    do {
        region.run();
        times++;
        REQUIRE(region.each_ran(times));
    } while ((node.helpers() < 2 || region.number_helped() == 0) && times < 200);
    CHECK(node.helpers() >= 2);
    CHECK(region.number_helped() > 0);
    CHECK(region.number_helped() < 16); // number 0 is never
    CHECK(region.helped[0] == 0);
    CHECK(region.wrong == 0);
    node.end();
    for (unsigned r = 1; r < node.ranks(); r++)
        CHECK(node.home(r).state == core_kept);
}

TEST_CASE("many short members: no two threads run the same one", "[team]")
{
    Helped node(4);
    Region region(128, [](Unit&) { sched_yield(); });
    unsigned times = 0;
    while (times < 400) {
        region.run();
        REQUIRE(region.each_ran(++times));
    }
    CHECK(node.helpers() > 0);
}

TEST_CASE("an opener that sleeps until others have ended their turns keeps its errno", "[team]")
{
    volatile unsigned word = 1;
    errno = 77;
    ws::base::futex_wait(&word, 0, 1000); // EAGAIN
    CHECK(errno == 77);
    ws::base::futex_wait(&word, 1, 1); // ETIMEDOUT
    CHECK(errno == 77);
}

TEST_CASE("nobody leaves a barrier before all have come, whoever runs them", "[team]")
{
    constexpr unsigned units = 12, barriers = 5;
    Helped node(4);
    volatile Flag come[barriers] = {}, early = 0;
    static const char places[barriers] = {};
    Region region(units, [&](Unit& unit) {
        for (unsigned b = 0; b < barriers; b++) {
            sleep_us(50);
            if (unit.units.lo % 2) // others have their turn first, and are at the barrier by then
                unit.team->set_aside(*current);
            Hardware::fetch_add_full(come[b], 1);
            unit.team->barrier(*current, &places[b]);
            if (Hardware::load_acquire(come[b]) % units != 0)
                Hardware::fetch_add_full(early, 1);
        }
    });
    unsigned times = 0;
    do {
        region.run();
        times++;
    } while (node.helpers() < 2 && times < 200);
    CHECK(node.helpers() >= 2);
    CHECK(early == 0);
    for (const volatile Flag& n : come)
        CHECK(n == units * times);
    CHECK(region.each_ran(times));
}

TEST_CASE("a core is returned when its rank goes on, and the region goes on without it", "[team]")
{
    Helped node(2);
    volatile Flag guest_came = 0, over = 0;
    unsigned long rounds = 0;
    Region region(64, [&](Unit& unit) {
        if (unit.carrier && unit.carrier->mode == ws::loop::Mode::guest)
            Hardware::fetch_add_full(guest_came, 1);
        sleep_us(200);
    });
    bool returned = false;
    for (unsigned times = 1; times < 200 && !returned; times++) {
        guest_came = over = 0;
        const bool first = !node.waiters.empty();
        region.run([&](VirtualTeam&) {
            while (first && !Hardware::load_acquire(guest_came) && !Hardware::load_acquire(over) && ++rounds < 2000)
                sleep_us(50);
            if (first && Hardware::load_acquire(guest_came)) {
                node.waiters.clear(); // its message has come: this returns when its core is back
                returned = true;
            }
        });
        CHECK(region.each_ran(times));
        rounds = 0;
    }
    CHECK(returned);
    CHECK(node.home(1).state == core_kept);
}

TEST_CASE("loops that are distributed to virtual threads give each iteration once", "[team]")
{
    constexpr unsigned units = 10;
    Helped node(4);
    for (const Distribution distribution : {Distribution::parts, Distribution::round_robin, Distribution::on_demand,
                                            Distribution::guided, Distribution::own_part_first})
        for (const uint64_t n : {uint64_t(0), uint64_t(1), uint64_t(97), uint64_t(1000)}) {
            std::vector<unsigned> counts(n);
            Region region(units, [&](Unit& unit) {
                unit.team->begin_loop(unit, n, 3, distribution);
                const auto run = [&](const IterationRange& piece) {
                    for (uint64_t i = piece.from; i < piece.to; i++)
                        fetch_add_relaxed(counts[i], 1);
                    sleep_us(20);
                };
                if (unit.way == Unit::Way::on_demand)
                    for (IterationRange piece; current->team->next_on_demand(*current, piece);)
                        run(piece);
                else
                    while (unit.has_part)
                        run(unit.next_round());
            });
            region.run();
            INFO("distribution " << int(distribution) << ", " << n << " iterations");
            CHECK(std::all_of(counts.begin(), counts.end(), [](unsigned c) { return c == 1; }));
        }
}

TEST_CASE("a loop whose iterations have an order runs them in it", "[team]")
{
    constexpr unsigned units = 6;
    constexpr uint64_t n = 200;
    Helped node(4);
    std::vector<uint64_t> order;
    Region region(units, [&](Unit& unit) {
        unit.team->begin_in_turn(unit, n, 7);
        for (IterationRange piece; current->team->next_in_turn(*current, piece);)
            for (uint64_t i = piece.from; i < piece.to; i++)
                order.push_back(i); // one at a time
    });
    region.run();
    std::vector<uint64_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(order == expected);
}

TEST_CASE("each single is run by one, and what is common is common to all", "[team]")
{
    constexpr unsigned units = 8, singles = 20;
    Helped node(3);
    volatile Flag taken[singles] = {};
    std::vector<void*> memory(units);
    Region region(units, [&](Unit& unit) {
        memory[unit.units.lo] = unit.team->common(unit, 64);
        for (unsigned s = 0; s < singles; s++) {
            if (unit.team->takes_single(unit))
                Hardware::fetch_add_full(taken[s], 1);
            sleep_us(5);
        }
    });
    region.run();
    for (const volatile Flag& n : taken)
        CHECK(n == 1);
    for (void* m : memory)
        CHECK(m == memory[0]);
}

TEST_CASE("virtual threads that wait for each other unseen get threads of their own", "[team]")
{
    TestNode node(1);
    node.start_owner(0);
    constexpr unsigned units = 5;
    volatile Flag come = 0;
    Region region(units, [&](Unit&) {
        Hardware::fetch_add_full(come, 1);
        while (Hardware::load_acquire(come) < units) // as a program's own barrier
            sched_yield();
    });
    region.run([&](VirtualTeam& team) { // the watchdog
        uint64_t before = ~uint64_t(0);
        while (!team.has_idle() || before != team.progress()) {
            before = team.progress();
            sleep_us(2000);
        }
        team.give_threads("spins");
    });
    CHECK(come == units);
    CHECK(region.each_ran(1));
    CHECK(std::string(region.site().waits) == "spins");
}

TEST_CASE("a guest's virtual thread that waits for the opener's own one lets the opener run it", "[team]")
{
    constexpr unsigned units = 6;
    Helped node(3);
    unsigned by_guests = 0;
    for (unsigned times = 1; times <= 40; times++) {
        volatile Flag zero_waits = 0, given = 0, zero_is_done = 0;
        unsigned number_at_guest = 0;
        Region region(units, [&](Unit& unit) {
            const unsigned number = unit.units.lo;
            if (number == 0) {
                Hardware::store_release(zero_waits, 1);
                while (!Hardware::load_acquire(given))
                    current->team->set_aside(*current);
                sleep_us(100);
                Hardware::store_release(zero_is_done, 1);
            } else {
                while (!Hardware::load_acquire(given)) // in a way that libws does not see
                    sched_yield();
                while (!Hardware::load_acquire(zero_is_done))
                    current->team->set_aside(*current);
            }
        });
        region.run([&](VirtualTeam& team) { // the watchdog
            for (unsigned waits = 0; !Hardware::load_acquire(zero_waits) || waits < 20; waits++)
                sleep_us(100);
            team.give_threads("waits");
            Hardware::store_release(given, 1);
        });
        number_at_guest = region.number_helped();
        by_guests += number_at_guest > 0;
        CHECK(region.each_ran(1));
    }
    CHECK(by_guests > 0);
}

TEST_CASE("virtual threads that took longest begin first", "[team]")
{
    LongestFirst order;
    CHECK_FALSE(order.is_known(3));
    for (const unsigned ticks : {20u, 10u, 30u, 20u, 99u}) {
        static unsigned number;
        order.took(number++, ticks);
    }
    order.sort(4);
    CHECK(order.is_known(4));
    CHECK_FALSE(order.is_known(5));
    CHECK(std::vector<unsigned>{order[0], order[1], order[2], order[3]} == std::vector<unsigned>{2, 0, 3, 1});

    TestNode node(1);
    node.start_owner(0);
    for (const bool wait : {false, true}) { // one that waits for those after it is set aside
        std::vector<Flag> place(8);
        volatile Flag begun = 0;
        Region* its = nullptr;
        Region region(8, [&](Unit& unit) {
            const unsigned number = unit.units.lo;
            place[number] = Hardware::fetch_add_full(begun, 1);
            const double end = seconds_now() + (number == 6 ? 400e-6 : number == 4 ? 200e-6 : 50e-6);
            while (seconds_now() < end)
                cpu_relax();
            if (wait && number == 1)
                its->team().set_aside(unit);
        });
        its = &region;
        unsigned longest_first = 0; // runs: what else runs here may make any turn long
        for (unsigned run = 1; run <= 60; run++) {
            begun = 0;
            region.run();
            REQUIRE(region.each_ran(run));
            longest_first += place[6] == 1 && place[4] == 2;
        }
        if (wait)
            CHECK(place == std::vector<Flag>{0, 1, 2, 3, 4, 5, 6, 7});
        else
            CHECK(longest_first > 0);
    }
    node.stop();
}
