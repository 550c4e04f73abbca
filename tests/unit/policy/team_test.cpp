// SPDX-License-Identifier: MIT
//
// Processors of a node's ranks, all played in this process: what their table says, lending to a region and taking back,
// and how a deal moves processors from rank to rank, never under a region.
#include "policy/cores/balance.h"
#include "policy/cores/reserve.h"
#include "policy/cores/team.h"
#include "openmp/library/region_cores.h"
#include "policy/cores/turns.h"

#include "../window/in_memory.h"
#include "base/os.h"
#include "played.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <thread>

using namespace ws::policy::cores;
using ws::arbiter::Use;
using ws::window::Load;
using ws::window::Window;

// The region's library has it.
volatile ws::base::Flag ws::openmp::members_wait;

namespace {

constexpr double us = 1000; // ticks

// Ranks with processors that are pretended: none of their threads is bound anywhere.
class Node {
public:
    explicit Node(std::vector<unsigned> processors) : ranks(unsigned(processors.size())), memory_(ranks)
    {
        played::World world(std::vector<int>(ranks, 0));
        Start start;
        for (const unsigned n : processors)
            start.cpus.emplace_back(n, -1);
        for (unsigned r = 0; r < ranks; r++) {
            all_.push_back(std::make_unique<Rank>());
            memory_.map(all_[r]->window, r);
        }
        world.run([&](int r) {
            Rank& rank = *all_[size_t(r)];
            HOLDS(rank.table.attach(world.node_comm(r), rank.window, start, std::vector<unsigned>(ranks, 16)));
            rank.team.attach(rank.table, rank.window, unsigned(r), us, false, false);
            rank.reserve.attach(rank.table, rank.window, unsigned(r), true);
        });
    }
    ~Node()
    {
        for (auto& rank : all_)
            rank->table.detach();
    }

    Team& team(unsigned rank) { return all_[rank]->team; }
    Reserve& reserve(unsigned rank) { return all_[rank]->reserve; }
    Table& table(unsigned rank = 0) { return all_[rank]->table; }
    Window& window(unsigned rank) { return all_[rank]->window; }
    ws::base::Flag& patience(unsigned rank) { return const_cast<ws::base::Flag&>(table().row(rank).patience_us); }

    // That rank waits in MPI since then, or works.
    void waits(unsigned rank, uint64_t since)
    {
        Window& w = window(rank);
        w.own_home().occupancy = ws::window::rank_blocked;
        Load load;
        load.at = since;
        load.waits = true;
        w.load(rank).write(load);
    }
    void works(unsigned rank, uint64_t since)
    {
        Window& w = window(rank);
        w.own_home().occupancy = ws::window::rank_computing;
        Load load;
        load.at = since;
        w.load(rank).write(load);
    }
    std::vector<unsigned> owners()
    {
        std::vector<unsigned> owners;
        for (const Located& l : table().located())
            owners.push_back(l.owner);
        return owners;
    }
    unsigned of_use(Use use)
    {
        unsigned n = 0;
        for (unsigned p = 0; p < table().processors(); p++)
            n += table().word(p).look().use == use;
        return n;
    }

    const unsigned ranks;

private:
    struct Rank {
        Window window;
        Table table;
        Team team;
        Reserve reserve;
    };
    ws::window::InMemory memory_;
    std::vector<std::unique_ptr<Rank>> all_;
};

using Owners = std::vector<unsigned>;
const uint64_t now = 1000000 * uint64_t(us), long_ago = now - 1000 * uint64_t(us);

} // namespace

TEST_CASE("all ranks see one table, in which each has the processors that it began with", "[team]")
{
    Node node({2, 3, 1});
    for (unsigned r = 0; r < node.ranks; r++) {
        const Table& t = node.table(r);
        CHECK(t.ranks() == 3);
        CHECK(t.processors() == 6);
        CHECK(&t.head() != (r ? &node.table(0).head() : nullptr)); // each at its own address
        Owners owners, homes;
        for (unsigned p = 0; p < t.processors(); p++) {
            owners.push_back(t.processor(p).home == no_rank ? t.owner(p) : t.processor(p).home);
            homes.push_back(t.processor(p).home);
        }
        CHECK(owners == Owners{0, 0, 1, 1, 1, 2});
        CHECK(homes == Owners{0, no_rank, 1, no_rank, no_rank, 2});
        CHECK(node.team(r).own() == std::vector<unsigned>{2, 3, 1}[r]);
        CHECK_FALSE(node.team(r).has_moved());
        CHECK(t.row(r).most == 16);
        CHECK(t.head().generation == 1);
    }
    node.table(2).row(1).target = 7; // shared by all
    CHECK(node.table(0).row(1).target == 7);
}

TEST_CASE("a region has the processors of ranks that wait, and gives them back", "[team]")
{
    Node node({2, 2, 2});
    for (unsigned r = 0; r < node.ranks; r++)
        node.works(r, long_ago);
    Team& team = node.team(0);
    CHECK(team.could_borrow(now) == 0);
    node.waits(1, long_ago);
    node.waits(2, now - uint64_t(5 * us)); // not for long enough
    CHECK(team.could_borrow(now) == 2);
    CHECK(team.passes_over());
    node.waits(2, long_ago);
    CHECK(team.could_borrow(now) == 4);
    CHECK_FALSE(team.passes_over());
    CHECK(team.borrow(3, now) == 3);
    CHECK(team.processors() == 5);
    CHECK(node.of_use(Use::openmp) == 3);

    // Another rank gets what is left.
    node.works(1, now);
    node.waits(0, long_ago);
    CHECK(node.team(1).could_borrow(now) == 4); // so far as is known
    CHECK(node.team(1).borrow(8, now) == 3);    // but three are in use
    CHECK(node.of_use(Use::openmp) == 6);
    const Team::Lent of_1 = node.team(1).give_back(now + uint64_t(10 * us));
    CHECK(of_1.used == 3 * uint64_t(10 * us));
    CHECK(node.of_use(Use::openmp) == 3);

    node.waits(1, long_ago); // as if it had never worked
    const Team::Lent lent = team.give_back(now + uint64_t(50 * us));
    CHECK(lent.used == 3 * uint64_t(50 * us));
    CHECK(lent.late == 0);
    CHECK(lent.recalled == 0);
    CHECK(node.of_use(Use::openmp) == 0);
    CHECK(team.processors() == 2);
    CHECK(node.owners() == Owners{0, 0, 1, 1, 2, 2});
}

TEST_CASE("whoever comes back has its processor as soon as the thread there has done its part", "[team]")
{
    Node node({1, 2});
    node.works(0, long_ago);
    node.waits(1, long_ago);
    const uint64_t began = ws::base::ticks();
    node.waits(1, began - uint64_t(1e9));
    Team& team = node.team(0);
    CHECK(team.could_borrow(began) == 2);
    CHECK(team.borrow(2, began) == 2);
    team.place({});
    team.member(1);
    team.member_done(1); // its owner still waits: the region keeps it
    CHECK(node.of_use(Use::openmp) == 2);
    const uint64_t back = ws::base::ticks();
    node.works(1, back);
    team.member(2);
    team.member_done(2);
    CHECK(node.of_use(Use::openmp) == 1);
    const uint64_t ended = ws::base::ticks() + uint64_t(1000 * us);
    const Team::Lent lent = team.give_back(ended);
    CHECK(lent.left == 1);
    CHECK(lent.recalled == 2); // their owner had come back before the region's end
    CHECK(lent.late > 0);
    CHECK(lent.used < 2 * (ended - began)); // that which was given back was used for less
    CHECK(node.of_use(Use::openmp) == 0);
}

TEST_CASE("who comes back too early lends later the next time, and is forgiven when it waits on", "[team]")
{
    Node node({1, 1});
    Team& team = node.team(0);
    node.works(0, long_ago);
    node.waits(1, long_ago);
    unsigned before = 20;
    for (int i = 0; i < 4; i++) {
        node.waits(1, long_ago);
        REQUIRE(team.could_borrow(now) == 1);
        REQUIRE(team.borrow(1, now) == 1);
        node.works(1, now + uint64_t(2 * us)); // nearly at once
        team.give_back(now + uint64_t(100 * us));
        CHECK(node.patience(1) == 2 * before);
        before = node.patience(1);
    }
    node.waits(1, now - uint64_t(before * us) + 1); // a moment too short
    CHECK(team.could_borrow(now) == 0);
    CHECK(team.passes_over());
    team.forgive(now + uint64_t(before * us)); // it has waited for less than twice as long
    CHECK(node.patience(1) == before);
    team.could_borrow(now);
    team.forgive(now + uint64_t(2 * before * us));
    CHECK(node.patience(1) == before / 2);
    // One that waits as long as the region lasts is trusted again.
    node.waits(1, long_ago);
    REQUIRE(team.could_borrow(now) == 1);
    team.borrow(1, now);
    team.give_back(now + uint64_t(100 * us));
    CHECK(node.patience(1) == before / 4);
}

TEST_CASE("an owner between two waits has not come back", "[team]")
{
    Node node({1, 1});
    Team& team = node.team(0);
    const uint64_t began = ws::base::ticks();
    node.works(0, long_ago);
    node.waits(1, began - uint64_t(1e6));
    REQUIRE(team.could_borrow(began) == 1);
    REQUIRE(team.borrow(1, began) == 1);
    node.waits(1, began + uint64_t(10 * us)); // in another wait now
    team.member_done(1);
    CHECK(node.of_use(Use::openmp) == 1); // it stays with the region
    const Team::Lent lent = team.give_back(began + uint64_t(1000 * us));
    CHECK(lent.left == 0);
    CHECK(lent.recalled == 1);
}

TEST_CASE("a deal moves processors between two regions of their owner, not under one of a borrower", "[team]")
{
    Node node({3, 1});
    for (const unsigned p : {1u, 2u})
        REQUIRE(node.table().word(p).promise(0, 1));
    CHECK(node.owners() == Owners{0, 0, 0, 1}); // not before its owner hands over
    // Rank 1 borrows one of the two meanwhile.
    node.waits(0, long_ago);
    node.works(1, long_ago);
    REQUIRE(node.team(1).could_borrow(now) == 3);
    unsigned borrowed = node.team(1).borrow(1, now);
    REQUIRE(borrowed == 1);
    const bool home = node.table().word(0).look().use == Use::openmp;
    CHECK(node.team(0).settle() == (home ? 1 : 2)); // what is in use stays its own
    node.team(1).give_back(now + 1);
    CHECK(node.team(0).settle() == 1);
    CHECK(node.team(0).has_moved());
    CHECK(node.team(1).own_at_end() == 3);
    CHECK(node.team(1).settle() == 3);
    CHECK(node.team(1).has_moved());
    CHECK(node.owners() == Owners{0, 1, 1, 1});
}

TEST_CASE("what ranks have measured becomes a deal, which they follow at their next region", "[team]")
{
    Node node({2, 2});
    volatile ws::base::Hardware::Word decision = 0;
    Balance balance[2];
    for (unsigned r = 0; r < 2; r++)
        balance[r].attach(node.table(r), node.window(r), {&decision, r}, whole_deal, r == 0, us);
    const double second = 1e6 * us;
    // Rank 0 computes for three seconds on two processors, rank 1 for one.
    const auto tell = [&](unsigned rank, double useful_s, double waited_s) {
        ws::base::Hardware::Word words[measured_words] = {};
        words[0] = ws::base::Hardware::Word(node.table().head().generation) << 1 | 1;
        words[1] = Turns::most;
        words[2] = ws::base::Hardware::Word(useful_s * second);
        words[3] = ws::base::Hardware::Word(waited_s * second);
        words[4] = ws::base::Hardware::Word((useful_s + waited_s) * second);
        words[5] = 4;
        for (unsigned back = 0; back < turns_told; back++)
            words[6 + back] = words[2], words[6 + turns_told + back] = words[4];
        node.table(rank).row(rank).measured.write(words);
    };
    uint64_t at = uint64_t(10 * second);
    const auto decide = [&](unsigned rank) { balance[rank].step(at += uint64_t(second), uint64_t(0.1 * second)); };
    decide(0);
    CHECK(node.table().head().deals == 0); // nothing has been measured yet
    tell(0, 3, 0);
    decide(0);
    CHECK(node.table().head().deals == 0); // rank 1 has not
    tell(1, 1, 2);
    decide(1);
    REQUIRE(node.table().head().deals == 1);
    CHECK(node.table().row(0).target == 3);
    CHECK(node.table().row(1).target == 1);
    CHECK(node.owners() == Owners{0, 0, 1, 1});
    CHECK(node.team(0).settle() == 2); // its owner has not handed it over yet
    CHECK(node.team(1).settle() == 1);
    CHECK(node.team(0).settle() == 3);
    CHECK(node.owners() == Owners{0, 0, 1, 0});

    SECTION("which is taken back if it made turns longer")
    {
        for (int i = 0; i < 8 && node.table().row(0).target != 2; i++) {
            tell(0, 4, 0);
            tell(1, 6, 0);
            decide(unsigned(i % 2));
            node.team(0).settle();
            node.team(1).settle();
        }
        CHECK(node.table().row(0).target == 2);
        node.team(0).settle();
        CHECK(node.team(1).settle() == 2);
        CHECK(node.owners() == Owners{0, 0, 1, 1});
    }
    SECTION("a rank that dies before it hands over: what was promised is its own again")
    {
        // Rank 0 was to give one to rank 1, and is not there any more.
        for (unsigned p = 0; p < 4; p++)
            node.table().word(p).promise(0, 1);
        at += uint64_t(10 * second);
        decide(1);
        for (unsigned p = 0; p < 4; p++) {
            const ws::arbiter::Core core = node.table().word(p).look();
            if (node.table().processor(p).home == no_rank)
                CHECK(core.heir == core.owner);
        }
    }
}

TEST_CASE("one processor, many ranks that want it: one has it at a time", "[team]")
{
    Node node({1, 1, 1, 2});
    for (unsigned r = 0; r < 3; r++)
        node.works(r, long_ago);
    node.waits(3, long_ago);
    std::atomic<int> users{0}, most{0}, times{0};
    std::vector<std::thread> threads;
    for (unsigned r = 0; r < 3; r++)
        threads.emplace_back([&, r] {
            for (int i = 0; i < 20000; i++) {
                node.team(r).could_borrow(now);
                if (const int got = int(node.team(r).borrow(1, now))) {
                    const int all = users += got;
                    for (int before = most; all > before && !most.compare_exchange_weak(before, all);)
                        ;
                    times++;
                    users -= got;
                }
                node.team(r).give_back(now);
            }
        });
    for (std::thread& t : threads)
        t.join();
    CHECK(most <= 2); // the two processors of the rank that waits
    CHECK(times > 0);
    CHECK(node.of_use(Use::openmp) == 0);
}

// ---- members in reserve

namespace {

// One of a region of rank 0, from its begin until it goes on.
class Member {
public:
    explicit Member(Node& node)
        : node_(node), thread_([this] {
              Reserve::is_member = true;
              node_.reserve(0).wait(0);
              is_in_ = true;
          })
    {
        while (seat().state == 0)
            std::this_thread::yield();
    }
    ~Member() { thread_.join(); }
    bool is_in() const { return is_in_; }
    void comes_in()
    {
        while (!is_in_)
            std::this_thread::yield();
    }
    ReserveSeat& seat() { return node_.table().row(0).reserve[0]; }

private:
    Node& node_;
    std::atomic<bool> is_in_{false};
    std::thread thread_;
};

// Somebody puts tasks, so that no member goes on by itself.
class Tasks {
public:
    Tasks()
        : thread_([this] {
              while (!over_) {
                  ws::openmp::members_wait = ws::openmp::members_wait + 2;
                  std::this_thread::sleep_for(std::chrono::milliseconds(1));
              }
          })
    {
    }
    ~Tasks()
    {
        over_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> over_{false};
    std::thread thread_;
};

} // namespace

TEST_CASE("a member in reserve sleeps until a rank that waits lends its core, and goes on without it", "[team]")
{
    Node node({1, 1});
    CHECK(!node.reserve(1).is_wanted());
    REQUIRE(node.reserve(0).open(1, 1) == 1);
    CHECK(node.reserve(1).is_wanted());
    {
        const Tasks tasks;
        Member member(node);
        CHECK(!member.is_in());
        CHECK(node.reserve(1).lend(now));
        member.comes_in();
        CHECK(node.of_use(Use::openmp) == 1);
        CHECK(node.reserve(1).lend(now)); // it is still lent, and no other
        CHECK(node.of_use(Use::openmp) == 1);
        node.reserve(1).take_back(now + 300);
        CHECK(node.of_use(Use::openmp) == 0);
        CHECK(node.reserve(1).lend(now + 1000)); // the same member, which runs beside its rank's own thread
        node.reserve(1).take_back(now + 1050);
    }
    const Reserve::Lent lent = node.reserve(0).close(now + 2000);
    CHECK(lent.cores == 1);
    CHECK(lent.used == 350);
    CHECK(lent.recalled == 2);
    CHECK(!node.reserve(1).is_wanted());
    CHECK(!node.reserve(1).lend(now + 3000));
}

TEST_CASE("a lent core comes back once, from a region that ends before the wait, and from one whose lender has died",
          "[team]")
{
    Node node({1, 1});
    for (const bool lender_lives : {true, false}) {
        REQUIRE(node.reserve(0).open(1, 1) == 1);
        {
            const Tasks tasks;
            Member member(node);
            REQUIRE(node.reserve(1).lend(now));
        }
        CHECK(node.of_use(Use::openmp) == 1);
        const Reserve::Lent lent = node.reserve(0).close(now + 500);
        CHECK(lent.used == 500);
        CHECK(lent.recalled == 0);
        CHECK(node.of_use(Use::openmp) == 0);
        if (!lender_lives)
            continue;
        REQUIRE(node.table(0).word(0).change(Use::home, Use::openmp)); // a later region has them
        REQUIRE(node.table(0).word(1).change(Use::home, Use::openmp));
        node.reserve(1).take_back(now + 900);
        CHECK(node.of_use(Use::openmp) == 2);
        node.table(0).word(0).change(Use::openmp, Use::home);
        node.table(0).word(1).change(Use::openmp, Use::home);
    }
}

TEST_CASE("a member in reserve goes on when all others are at a barrier, and when nobody puts a task", "[team]")
{
    Node node({2, 1});
    for (const bool arrive : {true, false}) {
        bool stayed = !arrive;
        // Again, as the thread that puts tasks may get no processor for 10 ms.
        for (int tries = 0; tries == 0 || (!stayed && tries < 20); tries++) {
            REQUIRE(node.reserve(0).open(1, 2) == 1);
            if (arrive) {
                const Tasks tasks;
                Member member(node);
                node.reserve(0).arrives();
                std::this_thread::sleep_for(std::chrono::milliseconds(30));
                stayed = !member.is_in();
                node.reserve(0).arrives();
            } else {
                Member member(node); // ends
            }
            CHECK(node.reserve(0).close(now).cores == 0);
        }
        CHECK(stayed);
    }
}

TEST_CASE("nobody is in reserve where a rank is alone", "[team]")
{
    Node node({2});
    CHECK(node.reserve(0).open(1, 2) == 0);
}

TEST_CASE(
    "regions of long tasks with few barriers get members in reserve, and seldom get them again if nobody lends a core",
    "[team]")
{
    constexpr uint64_t ms = uint64_t(1000 * us);
    TaskRegions regions(us);
    const int sites[5] = {};
    for (const int& site : sites)
        CHECK(!regions.wants_reserve(&site));
    regions.took(&sites[0], 100 * ms, 1000, 1, false, false);
    regions.took(&sites[1], 100 * ms, 10000, 1, false, false); // 10 us each
    regions.took(&sites[2], 100 * ms, 1000, 3, false, false);  // barriers
    regions.took(&sites[3], 10 * ms, 100, 1, false, false);    // short
    regions.took(&sites[4], 100 * ms, 0, 0, false, false);     // no tasks
    for (unsigned i = 0; i < 5; i++)
        CHECK(regions.wants_reserve(&sites[i]) == (i == 0));
    unsigned tries = 0;
    for (unsigned i = 0; i < 80; i++) {
        const bool reserve = regions.wants_reserve(&sites[0]);
        tries += reserve;
        regions.took(&sites[0], 100 * ms, 1000, 1, reserve, false);
    }
    CHECK(tries >= 10);
    CHECK(tries <= 16);
    while (!regions.wants_reserve(&sites[0]))
        ;
    regions.took(&sites[0], 100 * ms, 1000, 1, true, true);
    CHECK(regions.wants_reserve(&sites[0]));
}

// An execution of 10000 tasks, which take `alone` or `helped` ticks each; whether it borrowed a core.
static bool run_short_tasks(TaskRegions& regions, const void* site, unsigned own, uint64_t alone, uint64_t helped)
{
    const bool borrows = !regions.keeps_alone(site, own);
    regions.lasted(site, 10000 * (borrows ? helped : alone), 10000, own, own + borrows);
    return borrows;
}

TEST_CASE("regions of short tasks borrow cores only if they are faster with them", "[team]")
{
    constexpr uint64_t tenth = uint64_t(us / 10);
    TaskRegions regions(us);
    const int sites[4] = {};
    // Unknown at first: tries both ways. Then it stays with the faster one, and tries the other one now and then.
    unsigned slower = 0, faster = 0;
    for (unsigned i = 0; i < 100; i++) {
        slower += run_short_tasks(regions, &sites[0], 1, tenth, 5 * tenth);
        faster += run_short_tasks(regions, &sites[1], 1, 10 * tenth, 6 * tenth);
    }
    CHECK(slower >= 2);
    CHECK(slower <= 6);
    CHECK(faster >= 94);
    CHECK(faster <= 98);
    // It is found when the tasks change.
    for (unsigned i = 0; i < 200; i++)
        slower = run_short_tasks(regions, &sites[0], 1, 10 * tenth, 6 * tenth);
    CHECK(slower == 1);
    // Long tasks are never without, nor is a region whose threads put none.
    for (unsigned i = 0; i < 20; i++) {
        CHECK(run_short_tasks(regions, &sites[2], 1, 100 * us, 200 * us));
        CHECK(!regions.keeps_alone(&sites[3], 1));
        regions.lasted(&sites[3], 1000 * tenth, 0, 1, 2);
    }
    // With other cores of its own it tries again.
    CHECK(!regions.keeps_alone(&sites[0], 2));
    // Regions of long tasks and those without are left to Regions, whose tries must not be these.
    CHECK(regions.compares(&sites[0], 1));
    CHECK(!regions.compares(&sites[0], 2));
    CHECK(!regions.compares(&sites[2], 1));
    CHECK(!regions.compares(&sites[3], 1));
}
