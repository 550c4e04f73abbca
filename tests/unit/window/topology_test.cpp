// SPDX-License-Identifier: MIT
//
// Machines that we do not have, as hwloc's synthetic descriptions: where cores sit, which of them are spare, and which
// rank a thief on them helps. Each case is its own process's only one with a topology of its own, because hwloc reads
// the environment again each time.
#include "in_memory.h"
#include "lend/chooser.h"
#include "lend/victims.h"
#include "loop/chaos.h"
#include "loop/schedule.h"
#include "options/options.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <hwloc.h>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

namespace ws::loop {
Chaos chaos;
}
using namespace ws::lend;
using namespace ws::loop;
using namespace ws::observe;
using namespace ws::option;
using namespace ws::base;
using namespace ws::window;

namespace {

// By its word of WS_VICTIM.
Score victims_named(const std::string& name)
{
    const char* const* words = option_row("WS_VICTIM").words;
    for (unsigned i = 0; words[i]; i++)
        if (name == words[i])
            return ws::lend::victims[i];
    throw std::invalid_argument(name);
}

class Machine {
public:
    explicit Machine(const char* description)
    {
        unsetenv("HWLOC_COMPONENTS"); // with it, hwloc ignores HWLOC_SYNTHETIC
        setenv("HWLOC_SYNTHETIC", description, 1);
    }
    ~Machine() { unsetenv("HWLOC_SYNTHETIC"); }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
};

CpuSet first_cpus(int n)
{
    CpuSet set;
    for (int c = 0; c < n; c++)
        set.add(c);
    return set;
}

// A node with a rank for each mask.
class TestNode {
public:
    explicit TestNode(const std::vector<CpuSet>& masks)
    {
        const auto ranks = unsigned(masks.size());
        unsigned size = CpuSet::usual;
        for (const CpuSet& m : masks)
            size = std::max(size, m.mask().size());
        memory_.emplace(ranks, size);
        for (unsigned r = 0; r < ranks; r++) {
            memory_->map(window, r);
            window.set_mask(r, masks[r]);
        }
        for (unsigned r = 0; r < ranks; r++)
            for (unsigned c = 0; c < ranks; c++)
                window.guest(r, c).state = guest_ready;
        memory_->map(window, 0);
        filled = fill_places(window);
    }
    explicit TestNode(int bound_to_each) : TestNode(one_each(bound_to_each)) {}
    void make_read_only() { memory_->make_read_only(); }

    unsigned far(unsigned a, unsigned b) { return distance(window.home(a).place, window.home(b).place); }
    void open(unsigned rank, uint64_t units, uint64_t ticks = 1000)
    {
        window.row(rank).loops[0].publish(0, {units, Sizing{WS_DYNAMIC, 1, 1}.pack(), ticks});
        window.open(rank) = 1;
    }
    void limit(unsigned rank, uint64_t units, unsigned most_joiners)
    {
        window.row(rank).loops[0].publish(0, {units, Sizing{WS_DYNAMIC, 1, 1}.pack(), 1000, most_joiners});
        window.open(rank) = 1;
    }
    Target choice(unsigned thief, const char* victims)
    {
        Chooser chooser;
        chooser.start(window, thief, victims_named(victims), false);
        return chooser.choose(long_hungry, false, 0);
    }

    Window window;
    bool filled;

private:
    static std::vector<CpuSet> one_each(int n)
    {
        std::vector<CpuSet> masks;
        for (int c = 0; c < n; c++)
            masks.push_back(cpus({c}));
        return masks;
    }
    std::optional<InMemory> memory_;
};

std::vector<unsigned> distances_of_first(int n)
{
    TestNode node(n);
    REQUIRE(node.filled);
    std::vector<unsigned> all;
    for (unsigned c = 1; c < unsigned(n); c++)
        all.push_back(node.far(0, c));
    return all;
}

using Distances = std::vector<unsigned>;

} // namespace

TEST_CASE("distances on machines of all shapes", "[topology]")
{
    SECTION("two sockets, hyper-threads, shared L3")
    {
        Machine machine("pack:2 numa:1 l3:1 l2:2 core:1 pu:2");
        CHECK(distances_of_first(8) == Distances{0, 2, 2, 5, 5, 5, 5});
    }
    SECTION("hyper-threads numbered as Linux does: all cores first, then all their seconds")
    {
        Machine machine("pack:2 numa:1 l3:1 l2:2 core:1 pu:2(indexes=0,4,1,5,2,6,3,7)");
        CHECK(distances_of_first(8) == Distances{2, 5, 5, 0, 2, 5, 5});
    }
    SECTION("cores in pairs around an L2, several L3 in a NUMA node, several NUMA nodes in a package")
    {
        Machine machine("pack:2 group:2 numa:1 l3:2 l2:2 core:2 pu:1");
        CHECK(distances_of_first(32) == Distances{1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4,
                                                  5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5});
    }
    SECTION("nothing is known but the cores")
    {
        Machine machine("core:4 pu:1");
        CHECK(distances_of_first(4) == Distances{3, 3, 3}); // hwloc gives every machine a NUMA node
    }
    SECTION("one core")
    {
        Machine machine("core:1 pu:1");
        CHECK(distances_of_first(1).empty());
    }
}

TEST_CASE("an unbound rank is where its whole mask is", "[topology]")
{
    Machine machine("pack:2 numa:1 l3:2 core:2 pu:2"); // 16 CPUs: cores of 2, L3 of 4, packages of 8
    TestNode node({cpus({0, 1}), cpus({1}), cpus({2, 3}), cpus({0, 3}), first_cpus(8), first_cpus(16), cpus({8})});
    REQUIRE(node.filled);
    CHECK(node.far(0, 1) == 0);
    CHECK(node.far(0, 2) == 2);
    CHECK(node.window.home(3).place.core == -1); // of two cores
    CHECK(node.far(1, 3) == 2);
    CHECK(node.far(1, 4) == 3);
    CHECK(node.far(1, 5) == 5); // it may be anywhere
    CHECK(node.far(5, 5) == 5);
    CHECK(node.far(6, 4) == 5);
    CHECK(node.window.node().cpus == 16);
}

TEST_CASE("masks that the topology does not know", "[topology]")
{
    Machine machine("pack:1 core:2 pu:1");
    TestNode node({cpus({0}), cpus({7}), cpus({}), cpus({1, 900})});
    REQUIRE(node.filled);
    CHECK(node.far(0, 1) == 5);
    CHECK(node.far(0, 2) == 5);
    CHECK(node.far(0, 3) == 3); // by what is known of it
}

TEST_CASE("a machine with more CPUs than a cpu_set_t has", "[topology]")
{
    Machine machine("pack:4 numa:1 l3:8 core:32 pu:2"); // 2,048 CPUs: L3 caches of 64
    TestNode node({cpus({1030}), cpus({1031}), cpus({1025}), cpus({2047}), first_cpus(2048)});
    REQUIRE(node.filled);
    CHECK(node.window.node().cpus == 2048);
    CHECK(node.window.mask(3).first() == 2047);
    CHECK(node.far(0, 1) == 0);
    CHECK(node.far(0, 2) == 2);
    CHECK(node.far(0, 3) == 5);
    CHECK(node.far(3, 4) == 5);
    CHECK(spare_cpus(cpus({1030, 1031, 1040, 2046, 2047}), 1030) == std::vector<int>{1040, 2046});
    CHECK(cpu_places().size() == 2048);
    CHECK(cpu_places()[2047].core == 1023);
}

TEST_CASE("spare cores: one CPU a physical core, not the rank's own", "[topology]")
{
    using List = std::vector<int>;
    SECTION("hyper-threads side by side")
    {
        Machine machine("core:4 pu:2");
        CHECK(spare_cpus(first_cpus(8), 0) == List{2, 4, 6});
        CHECK(spare_cpus(first_cpus(8), 3) == List{0, 4, 6});
        CHECK(spare_cpus(cpus({1, 2, 3}), 1) == List{2});
        CHECK(spare_cpus(cpus({2, 3}), 2).empty());
        CHECK(spare_cpus(cpus({5, 6}), 0) == List{5, 6}); // the rank was moved since: both are spare
    }
    SECTION("hyper-threads apart")
    {
        Machine machine("core:4 pu:2(indexes=0,4,1,5,2,6,3,7)");
        CHECK(spare_cpus(first_cpus(8), 0) == List{1, 2, 3});
        CHECK(spare_cpus(first_cpus(8), 5) == List{0, 2, 3});
        CHECK(spare_cpus(cpus({0, 4}), 4).empty());
    }
    SECTION("CPUs that the topology does not have")
    {
        Machine machine("core:2 pu:1");
        CHECK(spare_cpus(cpus({0, 1, 5}), 0) == List{1, 5});
    }
    CHECK(spare_cpus(cpus({}), 0).empty());
}

TEST_CASE("hwloc's variable is the user's again after a look at the machine", "[topology]")
{
    const char* const variable = "HWLOC_PLUGINS_PATH";
    Machine machine("core:2 pu:1");
    const char* const before = std::getenv(variable);
    const std::string user = before ? before : "";
    unsetenv(variable);
    spare_cpus(first_cpus(2), 0);
    places_of({0, 1});
    CHECK_FALSE(std::getenv(variable));
    setenv(variable, "/of/the/user", 1);
    spare_cpus(first_cpus(2), 0);
    places_of({0, 1});
    REQUIRE(std::getenv(variable));
    CHECK(std::string(std::getenv(variable)) == "/of/the/user");
    if (before)
        setenv(variable, user.c_str(), 1);
    else
        unsetenv(variable);
}

TEST_CASE("a topology that was lent", "[topology]")
{
    hwloc_topology_t full = nullptr; // all that hwloc finds, as MPICH loads it
    {
        Machine machine("pack:2 group:2 numa:1 l3:2 l2:2 core:2 pu:1");
        REQUIRE(hwloc_topology_init(&full) == 0);
        REQUIRE(hwloc_topology_set_io_types_filter(full, HWLOC_TYPE_FILTER_KEEP_ALL) == 0);
        REQUIRE(hwloc_topology_load(full) == 0);
    }
    Machine machine("core:4 pu:1");
    use_topology(full);
    for (int repeat = 0; repeat < 2; repeat++) // it is still there after a look
        CHECK(distances_of_first(32) == Distances{1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4,
                                                  5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5});
    CHECK(spare_cpus(first_cpus(3), 0) == std::vector<int>{1, 2});
    CHECK(cpu_places().size() == 32);
    use_topology(nullptr);
    CHECK(cpu_places().size() == 4);
    hwloc_topology_destroy(full);

    std::vector<unsigned long> other(8192); // of a version that we do not know
    use_topology(other.data());
    CHECK(cpu_places().size() == 4);
    use_topology(nullptr);
}

TEST_CASE("core and NUMA domain of each CPU", "[topology]")
{
    auto places = [] {
        std::vector<std::pair<int, int>> all;
        for (const CpuPlace& p : cpu_places())
            all.emplace_back(p.core, p.numa);
        return all;
    };
    using List = std::vector<std::pair<int, int>>;
    {
        Machine machine("numa:2 core:2 pu:2");
        CHECK(places() == List{{0, 0}, {0, 0}, {1, 0}, {1, 0}, {2, 1}, {2, 1}, {3, 1}, {3, 1}});
    }
    Machine machine("numa:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
    CHECK(places() == List{{0, 0}, {1, 0}, {2, 1}, {3, 1}, {0, 0}, {1, 0}, {2, 1}, {3, 1}});
}

TEST_CASE("whom a thief helps", "[victim]")
{
    Machine machine("pack:2 numa:1 l3:2 l2:2 core:1 pu:1");
    TestNode node(8);
    CHECK_FALSE(node.choice(0, "auto"));
    node.open(1, 10);   // shares the L3 cache with 0
    node.open(3, 2000); // the package
    node.open(6, 5000); // neither
    CHECK(node.choice(0, "nearest").rank == 1);
    CHECK(node.choice(2, "nearest").rank == 3);
    CHECK(node.choice(7, "nearest").rank == 6);
    for (unsigned thief : {0u, 2u, 4u, 5u, 7u}) {
        CHECK(node.choice(thief, "most").rank == 6);
        CHECK(node.choice(thief, "auto").rank == 6);
    }

    SECTION("nobody, not even the own rank, and nothing is written")
    {
        node.window.guest(6, 0).state = guest_none;
        node.open(0, 100);
        node.make_read_only();
        for (bool worker : {false, true}) {
            Chooser chooser;
            chooser.start(node.window, 0, victims_named("none"), worker);
            CHECK_FALSE(chooser.choose(long_hungry, worker, 0));
        }
    }
    SECTION("most work counts what an iteration costs")
    {
        node.window.row(3).loops[0].close();
        node.open(3, 2000, 100000);
        CHECK(node.choice(7, "most").rank == 3);
    }
    SECTION("fewest helpers")
    {
        Chunk c;
        auto one = [](uint64_t, unsigned) { return uint64_t(1); };
        for (unsigned r : {1u, 6u, 6u})
            REQUIRE(node.window.row(r).loops[0].claim_and_join(one, c) == Claim::taken);
        CHECK(node.choice(7, "fewest").rank == 3);
        REQUIRE(node.window.row(3).loops[0].claim_and_join(one, c) == Claim::taken);
        CHECK(node.choice(7, "fewest").rank == 3); // as many as at 1, and more work
    }
    SECTION("at equal work the nearer one is helped")
    {
        node.window.row(3).loops[0].close();
        node.window.row(6).loops[0].close();
        node.open(3, 1000);
        node.open(6, 1000);
        CHECK(node.choice(2, "auto").rank == 3);
        CHECK(node.choice(7, "auto").rank == 6);
    }
    SECTION("random ones are all chosen at times")
    {
        Chooser chooser;
        chooser.start(node.window, 0, victims_named("random"), false);
        std::vector<int> times(8);
        for (int i = 0; i < 3000; i++)
            times[chooser.choose(long_hungry, false, 0).rank]++;
        for (unsigned r : {1u, 3u, 6u})
            CHECK(times[r] > 700);
        CHECK(std::accumulate(times.begin(), times.end(), 0) == 3000);
        CHECK(times[1] + times[3] + times[6] == 3000);
    }
    SECTION("not one whose guest is refused or away, nor one without a guest yet, which is asked for one")
    {
        node.window.guest(6, 0).state = guest_refused;
        CHECK(node.choice(0, "most").rank == 3);
        node.window.guest(3, 0).state = guest_away;
        CHECK(node.choice(0, "most").rank == 1);
        node.window.guest(1, 0).state = guest_none;
        CHECK_FALSE(node.choice(0, "most"));
        CHECK(node.window.guest(1, 0).state == guest_wanted);
        CHECK(node.window.row(1).hunger.wanted == 1);
        CHECK(node.window.row(6).hunger.wanted == 0);
        CHECK(node.choice(5, "most").rank == 6); // guests of another thief do not count
    }
    SECTION("not one in which as many take part as may")
    {
        Chunk c;
        auto one = [](uint64_t, unsigned) { return uint64_t(1); };
        node.window.row(6).loops[0].close();
        node.limit(6, 9000, 1);
        CHECK(node.choice(7, "most").rank == 6);
        REQUIRE(node.window.row(6).loops[0].claim_and_join(one, c) == Claim::taken);
        CHECK(node.choice(7, "most").rank == 3);
        node.window.row(6).loops[0].leave();
        CHECK(node.choice(7, "most").rank == 6);
        for (unsigned r : {1u, 3u, 6u}) {
            node.window.row(r).loops[0].close();
            node.window.open(r) = 0;
        }
        node.limit(6, 9000, 0);
        Chooser chooser;
        chooser.start(node.window, 7, victims_named("auto"), false);
        CHECK_FALSE(chooser.choose(long_hungry, false, 0));
        CHECK(chooser.why_none() == Refusal::full);
    }
    SECTION("a look without work tells every owner once that somebody waits")
    {
        for (unsigned r : {1u, 3u, 6u}) {
            node.window.row(r).loops[0].close();
            node.window.open(r) = 0;
        }
        for (unsigned r = 0; r < 8; r++)
            node.window.row(r).hunger.hungry = r == 5 ? asleep_hungry : not_hungry;
        CHECK_FALSE(node.choice(0, "auto"));
        for (unsigned r = 0; r < 8; r++)
            CHECK(node.window.row(r).hunger.hungry == (r == 0 ? not_hungry : long_hungry));
        // The second look writes nothing, or this crashes.
        node.make_read_only();
        CHECK_FALSE(node.choice(0, "auto"));
    }
}

TEST_CASE("each word of WS_VICTIM is a policy")
{
    const char* const* words = option_row("WS_VICTIM").words;
    unsigned count = 0;
    while (words[count])
        count++;
    CHECK(count == ws::lend::victim_policies); // which one is which, the cases above show
}
