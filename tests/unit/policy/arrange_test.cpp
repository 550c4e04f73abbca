// SPDX-License-Identifier: MIT
//
// runtime/policy/reorder: from loads and places to ranks; domains; neighbours; the common order of loads that nobody
// knows all of.
#include "policy/placement/neighbours.h"
#include "policy/placement/spread.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

using namespace ws::policy::placement;

namespace {

bool is_permutation_of_ranks(std::vector<int> order)
{
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < order.size(); i++)
        if (order[i] != int(i))
            return false;
    return true;
}

// The loads as they come to lie on the processes.
Loads placed(const Loads& loads, const std::vector<int>& order)
{
    Loads at(loads.size());
    for (size_t r = 0; r < loads.size(); r++)
        at[size_t(order[r])] = loads[r];
    return at;
}

// `nodes` nodes with `cores` cores, each with `processes` processes; ranks go round the cores.
Spots spots(int nodes, int cores, int each)
{
    Spots s;
    for (int k = 0; k < each; k++)
        for (int n = 0; n < nodes; n++)
            for (int c = 0; c < cores; c++)
                s.push_back({n, c / 2, c});
    return s;
}

std::vector<Tally> tallies_of(const Loads& loads, const Classes& classes)
{
    std::vector<Tally> tallies(size_t(classes.count));
    for (double load : loads) {
        Tally& t = tallies[size_t(classes.of(load))];
        t = t + Tally{1, load, load};
    }
    return tallies;
}

} // namespace

TEST_CASE("ranks are assigned to processes, each once, whatever the places", "[reorder]")
{
    std::mt19937 random(1);
    for (int k = 0; k < 300; k++) {
        Spots s;
        Loads loads;
        for (int i = 0, n = 1 + int(random() % 40); i < n; i++) {
            const int core = int(random() % 6);
            s.push_back({int(random() % 3), core / 2, core});
            loads.push_back(double(random() % 50));
        }
        for (Domain d : {Domain::core, Domain::numa, Domain::node})
            for (Algorithm a : {Algorithm::automatic, Algorithm::round_robin, Algorithm::largest_first}) {
                const std::vector<int> order = arrange(loads, s, d, a);
                REQUIRE(order.size() == loads.size());
                REQUIRE(is_permutation_of_ranks(order));
                if (a == Algorithm::automatic)
                    CHECK(highest(placed(loads, order), s, d) <= highest(loads, s, d) * (1 + 1e-12));
            }
    }
}

TEST_CASE("a process keeps its rank if that stays on its core", "[reorder]")
{
    const Spots s = spots(1, 4, 2);
    const Loads balanced = {1, 2, 3, 4, 4, 3, 2, 1};
    std::vector<int> same(8);
    std::iota(same.begin(), same.end(), 0);
    CHECK(arrange(balanced, s, Domain::core, Algorithm::automatic) == same);
    CHECK(arrange(Loads(8, 0.0), s, Domain::core, Algorithm::automatic) == same);
    CHECK(arrange(Loads(8, 1e300), s, Domain::node, Algorithm::automatic) == same);
    CHECK(arrange({5}, {{0, 0, 0}}, Domain::core, Algorithm::automatic) == std::vector<int>{0});
    CHECK(arrange({}, {}, Domain::core, Algorithm::automatic).empty());
}

TEST_CASE("rising loads, by node", "[reorder]")
{
    // Four nodes of four ranks, loads 1 to 16: the last node has 58 of 136.
    Spots s;
    Loads loads;
    for (int r = 0; r < 16; r++) {
        s.push_back({r / 4, 0, r % 4});
        loads.push_back(r + 1);
    }
    CHECK(highest(loads, s, Domain::node) == Approx(58 / 4.0));
    CHECK(imbalance(loads, s) == Approx(16 / 8.5));
    const std::vector<int> order = arrange(loads, s, Domain::node, Algorithm::automatic);
    CHECK(highest(placed(loads, order), s, Domain::node) == Approx(34 / 4.0));
    // With one process a core nothing can be gained by core.
    CHECK(highest(placed(loads, arrange(loads, s, Domain::core, Algorithm::automatic)), s, Domain::core) == 16);
}

TEST_CASE("a NUMA domain gets by its cores, and assigns to them", "[reorder]")
{
    Spots s;
    for (int i = 0; i < 12; i++) // one core in the first, two in the second
        s.push_back({0, i % 3 ? 1 : 0, i % 3});
    Loads loads;
    for (int i = 0; i < 12; i++)
        loads.push_back(1 + i % 4);
    const Loads at = placed(loads, arrange(loads, s, Domain::numa, Algorithm::automatic));
    CHECK(highest(at, s, Domain::numa) == Approx(10));
    CHECK(highest(at, s, Domain::core) == Approx(10));
}

TEST_CASE("edges on one core, then on one node, and no worse balance", "[reorder]")
{
    std::mt19937 random(2);
    for (int k = 0; k < 12; k++) {
        const int nodes = 1 + k % 3, cores = 2, each = 4, n = nodes * cores * each;
        const Spots s = spots(nodes, cores, each);
        // Groups of as many ranks as a core has, with heavy edges inside and light ones between groups. Ranks are
        // shuffled to hide them.
        std::vector<int> name(static_cast<size_t>(n));
        std::iota(name.begin(), name.end(), 0);
        std::shuffle(name.begin(), name.end(), random);
        Edges edges;
        Loads loads(size_t(n), 1.0);
        for (int i = 0; i < n; i++) {
            for (int j = 1; j < each; j++)
                edges.push_back({name[size_t(i)], name[size_t(i / each * each + (i + j) % each)], 10});
            edges.push_back({name[size_t(i)], name[size_t((i ^ each) % n)], 1});
            if (k % 2)
                loads[size_t(name[size_t(i)])] = 1 + i % each; // each group has 1 2 3 4
        }
        const std::vector<int> before = arrange(loads, s, Domain::core, Algorithm::automatic);
        const std::vector<int> after = draw_together(before, loads, s, edges, Domain::core, 60);
        REQUIRE(is_permutation_of_ranks(after));
        CHECK(highest(placed(loads, after), s, Domain::core) <=
              highest(placed(loads, before), s, Domain::core) * (1 + 1e-9));
        CHECK(distance_sum(after, s, edges) <= distance_sum(before, s, edges));
        for (const Edge& e : edges) { // the best that is possible: groups on cores, pairs of groups on nodes
            const Spot &a = s[size_t(after[size_t(e.from)])], &b = s[size_t(after[size_t(e.to)])];
            CHECK(a.node == b.node);
            if (e.weight == 10)
                CHECK(a.core == b.core);
        }
    }
}

TEST_CASE("graphs without edges, with loops and with weights 0", "[reorder]")
{
    const Spots s = spots(1, 2, 2);
    const std::vector<int> order = {2, 1, 0, 3};
    CHECK(draw_together(order, {1, 1, 1, 1}, s, {}, Domain::core, 1) == order);
    CHECK(draw_together(order, {1, 1, 1, 1}, s, {{0, 0, 5}, {0, 1, 0}}, Domain::core, 1) == order);
    CHECK(draw_together({0}, {0}, {{0, 0, 0}}, {{0, 0, 1}}, Domain::core, 1) == std::vector<int>{0});
}

TEST_CASE("the common order gives every place to one process", "[spread]")
{
    std::mt19937 random(3);
    for (int k = 0; k < 200; k++) {
        PlacementUnits units;
        units.least_room = 1 + int(random() % 3);
        int n = 0, all = 0;
        for (int i = 0, kinds = 1 + int(random() % 4); i < kinds; i++) {
            units.count.push_back(int(random() % 4) + (i == 0));
            n += units.count.back() * (units.least_room + i);
            all += units.count.back();
        }
        for (bool snake : {false, true}) {
            std::set<int64_t> places;
            int number = 0;
            for (size_t i = 0; i < units.count.size(); i++)
                for (int u = 0; u < units.count[i]; u++, number++)
                    for (int slot = 0; slot < units.least_room + int(i); slot++) {
                        const int64_t p = place_of(units, number, slot, snake);
                        places.insert(p);
                        if (slot == 0)
                            CHECK(p == number);
                    }
            CHECK(places.size() == size_t(n));
            CHECK(*places.begin() == 0);
            CHECK(*places.rbegin() == n - 1);
        }
        CHECK(number_of_units(units) == all);
    }
}

TEST_CASE("by turns as the paper assigns", "[spread]")
{
    // The paper's example with three and five processes a core: the same cores get the same loads as by round_robin().
    Loads loads;
    for (auto [count, load] : {std::pair(20, 4.0), std::pair(20, 2.0), std::pair(24, 1.0)})
        loads.insert(loads.end(), size_t(count), load);
    Bins bins;
    for (int c = 0; c < 16; c++)
        bins.push_back({c < 8 ? 3 : 5});
    const Assignment assignment = round_robin(loads, bins);
    const PlacementUnits units = {3, {8, 0, 8}};
    for (int c = 0; c < 16; c++)
        for (int slot = 0; slot < bins[size_t(c)].room; slot++)
            CHECK(assignment[size_t(place_of(units, c, slot, false))] == c);
    // Four ranks per core, assigned in turns of which every second goes backwards: the highest load is 10 instead of
    // 11.
    double most = 0;
    for (int c = 0; c < 16; c++) {
        double sum = 0;
        for (int slot = 0; slot < 4; slot++)
            sum += loads[size_t(place_of({4, {16}}, c, slot, true))];
        most = std::max(most, sum);
    }
    CHECK(most == 10);
}

TEST_CASE("classes begin at powers of two of the average", "[spread]")
{
    const Classes c;
    for (int i = 1; i < c.count - 1; i++) {
        const double begin = std::exp2(c.count / 2 - i);
        CHECK(c.of(begin) == i);
        CHECK(c.of(begin * (1 - 1e-12)) == i + 1);
        CHECK(c.of(begin * 1.9) == i);
    }
    CHECK(c.of(1) == c.count / 2);
    CHECK(c.of(0) == c.count - 1);
    CHECK(c.of(5e-324) == c.count - 1);
    CHECK(c.of(DBL_MAX) == 0);
    CHECK(c.of(std::exp2(c.count / 2)) == 0);
}

TEST_CASE("classes become finer until they say enough", "[spread]")
{
    auto rounds = [](const Loads& given, int units, Classes& classes) {
        const double sum = std::accumulate(given.begin(), given.end(), 0.0);
        Loads loads;
        for (double load : given)
            loads.push_back(load * double(given.size()) / sum);
        for (int rounds = 1;; rounds++) {
            const std::vector<Tally> tallies = tallies_of(loads, classes);
            const int64_t all = std::accumulate(tallies.begin(), tallies.end(), int64_t(0),
                                                [](int64_t n, const Tally& t) { return n + t.count; });
            CHECK(all == int64_t(loads.size()));
            if (!refine(classes, tallies, units))
                return rounds;
        }
    };
    Classes equal, few, wide, many;
    CHECK(rounds(Loads(100, 3.0), 10, equal) == 1);
    CHECK(rounds({4, 4, 2, 2, 1, 1}, 2, few) == 1); // one value in each class
    Loads huge(1000, 1.0);
    huge[3] = 1e9;
    huge[4] = 5e8;
    rounds(huge, 10, wide);
    CHECK(wide.of(1e9 / 1.5e6) != wide.of(5e8 / 1.5e6)); // beyond the first class's begin
    std::mt19937 random(4);
    Loads any;
    for (int i = 0; i < 5000; i++)
        any.push_back(double(random() % 1000000));
    CHECK(rounds(any, 500, many) > 2);
    CHECK(many.count <= most_classes);
    CHECK(many.step < 1);
}

TEST_CASE("many ranks, assigned by what each process knows, are balanced", "[spread]")
{
    // 8 processes on each of 4096 cores; the order within a class is whatever it is.
    const int units = 4096, each = 8, n = units * each;
    std::mt19937 random(5);
    Loads loads;
    double sum = 0;
    for (int i = 0; i < n; i++)
        loads.push_back(double(random() % 1000)), sum += loads.back();
    for (double& load : loads)
        load *= n / sum;
    Classes classes;
    while (refine(classes, tallies_of(loads, classes), units)) {
    }
    std::stable_sort(loads.begin(), loads.end(), [&](double a, double b) { return classes.of(a) < classes.of(b); });
    double turns = 0, snake = 0;
    for (int u = 0; u < units; u++) {
        double a = 0, b = 0;
        for (int slot = 0; slot < each; slot++) {
            a += loads[size_t(place_of({each, {units}}, u, slot, false))];
            b += loads[size_t(place_of({each, {units}}, u, slot, true))];
        }
        turns = std::max(turns, a);
        snake = std::max(snake, b);
    }
    CHECK(snake < 1.03 * each);
    CHECK(turns < 1.3 * each);
}

TEST_CASE("marks tell sets of ranks apart", "[spread]")
{
    std::set<uint64_t> marks;
    for (int r = 0; r < 100000; r++)
        marks.insert(mark(r));
    CHECK(marks.size() == 100000);
    CHECK(mark(0) + mark(3) != mark(1) + mark(2));
    CHECK(2 * mark(1) != mark(0) + mark(2));
}
