// SPDX-License-Identifier: MIT
//
// Dynamic processor balancing: how many processors each rank gets, which, and whether that comes to rest. Simulated
// nodes decide by the same code as the runtime.
#include "policy/cores/assign.h"
#include "policy/cores/deal.h"
#include "policy/cores/regions.h"
#include "policy/cores/turns.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace ws::policy::cores;

namespace {

unsigned sum(const Deal& deal) { return std::accumulate(deal.begin(), deal.end(), 0u); }

// The best of all deals, by trying each.
double exhaustive(const std::vector<Measured>& ranks, Deal& deal, size_t r, unsigned left)
{
    if (r + 1 == ranks.size()) {
        deal[r] = left;
        return slowest(ranks, deal);
    }
    double best = HUGE_VAL;
    for (unsigned n = 1; n + (ranks.size() - r - 1) <= left; n++) {
        deal[r] = n;
        best = std::min(best, exhaustive(ranks, deal, r + 1, left - n));
    }
    return best;
}
double exhaustive(const std::vector<Measured>& ranks)
{
    Deal deal(ranks.size());
    return exhaustive(ranks, deal, 0, sum(dealt(ranks)));
}

// A node whose ranks have so much work a period, shared out evenly among their processors.
struct Node {
    std::vector<double> work;
    Deal deal;
    double noise = 0, serial = 0; // of a rank's work: a share that varies, one that has one processor

    double useful(size_t r, unsigned cores) const { return work[r] * (serial + (1 - serial) / cores); }
    std::vector<Measured> measure(std::mt19937& random) const
    {
        std::uniform_real_distribution<> vary(1 - noise, 1 + noise);
        std::vector<Measured> ranks;
        double period = 0;
        for (size_t r = 0; r < work.size(); r++)
            ranks.push_back({deal[r], useful(r, deal[r]) * vary(random), 0});
        for (const Measured& m : ranks)
            period = std::max(period, m.useful);
        for (Measured& m : ranks)
            m.waited = period - m.useful;
        return ranks;
    }
    double period(const Deal& d) const
    {
        double time = 0;
        for (size_t r = 0; r < work.size(); r++)
            time = std::max(time, useful(r, d[r]));
        return time;
    }
};

Node random_node(std::mt19937& random, unsigned most_ranks, unsigned most_cores)
{
    Node node;
    const unsigned ranks = 1 + unsigned(random() % most_ranks);
    for (unsigned r = 0; r < ranks; r++) {
        node.work.push_back(std::exp(std::uniform_real_distribution<>(0, 3)(random)));
        node.deal.push_back(1 + unsigned(random() % most_cores));
    }
    return node;
}

} // namespace

// ---- the paper's rules

TEST_CASE("samples of a fixed time are compared by the work in them", "[deal]")
{
    std::vector<Measured> before = {{8, 0.5, 0}, {8, 0.125, 0.375}}, after = {{12, 0.5, 0}, {4, 0.375, 0.125}};
    CHECK(period_of(before) == period_of(after)); // which says nothing
    const Deal best = whole_deal(before);
    scale_to_equal_work(before);
    scale_to_equal_work(after);
    CHECK(whole_deal(before) == best);
    CHECK(period_of(before) / period_of(after) == Approx(7.5 / 5));

    History history = {};
    uint16_t former[] = {8, 8};
    const Deal dealt_out = decide(whole_deal, before, history, former);
    CHECK(dealt_out == Deal{12, 4});
    CHECK(decide(whole_deal, after, history, former) == dealt_out); // it was right, and stays
    std::vector<Measured> none = {{8, 0, 0.5}, {8, 0, 0.5}};
    scale_to_equal_work(none);
    CHECK(none[0].waited == 0.5);
}

TEST_CASE("the rank with the highest useful time gets processors of the one with the lowest", "[deal]")
{
    // t_new = 10 - (6 - 0) / 2 = 7; 4 * 10 / 7 - 4 = 1.71: two processors
    CHECK(paper_deal({{4, 10, 0}, {4, 8, 2}, {4, 4, 6}}) == Deal{6, 4, 2});
}

TEST_CASE("the rank with the highest useful time need not be the first", "[deal]")
{
    CHECK(paper_deal({{4, 4, 6}, {4, 10, 0}}) == Deal{2, 6});
}

TEST_CASE("a victim has more than one processor", "[deal]")
{
    CHECK(paper_deal({{4, 10, 0}, {1, 1, 9}, {4, 8, 2}}) == Deal{4, 1, 4}); // 4 * 10 / 9 - 4 = 0.44: none
    CHECK(paper_deal({{4, 10, 0}, {1, 1, 9}, {4, 6, 4}}) == Deal{5, 1, 3});
    CHECK(paper_deal({{1, 10, 0}, {1, 1, 9}}) == Deal{1, 1});
}

TEST_CASE("a victim keeps one processor: as many as possible are moved if that is fewer than wanted", "[deal]")
{
    CHECK(paper_deal({{2, 10, 0}, {2, 0.1, 9.9}}) == Deal{3, 1});
    CHECK(paper_deal({{2, 10, 0}, {3, 0.1, 40}}) == Deal{4, 1}); // no time at all would be left
}

TEST_CASE("nothing is moved if the time would not fall", "[deal]")
{
    CHECK(paper_deal({{4, 10, 3}, {4, 9, 3}}) == Deal{4, 4});
    CHECK(paper_deal({{4, 10, 4}, {4, 9, 2}}) == Deal{4, 4});
}

TEST_CASE("a rank gets no more processors than it has threads for", "[deal]")
{
    CHECK(paper_deal({{4, 10, 0, 5}, {4, 2, 8}}) == Deal{5, 3});
    CHECK(whole_deal({{4, 10, 0, 5}, {4, 2, 8}}) == Deal{5, 3});
    CHECK(whole_deal({{4, 10, 0, 4}, {4, 2, 8}}) == Deal{4, 4});
}

TEST_CASE("processors that a rank has no threads for do no work", "[deal]")
{
    CHECK(whole_deal({{8, 10, 0, 4}, {8, 12, 0}}) == Deal{6, 10}); // the first takes 10 with 4, as with 8
    CHECK(whole_deal({{8, 12, 0, 4}, {8, 4, 8, 4}}) == Deal{8, 8});
}

TEST_CASE("the last deal is restored if the period has become longer", "[deal]")
{
    History history = {};
    uint16_t former[2] = {};
    REQUIRE(decide(paper_deal, {{4, 10, 0}, {4, 4, 6}}, history, former) == Deal{6, 2});
    CHECK(decide(paper_deal, {{6, 11, 0}, {2, 9, 2}}, history, former) == Deal{4, 4});
}

TEST_CASE("a former deal that is none is not restored", "[deal]") // another process may have written into that memory
{
    for (const std::vector<uint16_t>& wrong : {std::vector<uint16_t>{0, 8}, {65535, 1}, {4, 5}, {0, 0}}) {
        History history = {};
        uint16_t former[2] = {};
        REQUIRE(decide(paper_deal, {{4, 10, 0}, {4, 4, 6}}, history, former) == Deal{6, 2});
        std::copy(wrong.begin(), wrong.end(), former);
        CHECK(sum(decide(paper_deal, {{6, 11, 0}, {2, 9, 2}}, history, former)) == 8);
    }
}

TEST_CASE("by the paper's rule a small gain is one, too, but a loss is none", "[deal]")
{
    History history = {}, other = {};
    uint16_t former[2] = {};
    const std::vector<Measured> nearly = {{50, 10, 0}, {50, 9.7, 0.3}}; // 1 %
    CHECK(decide(paper_deal, nearly, history, former) == Deal{51, 49});
    CHECK(decide(whole_deal, nearly, other, former) == Deal{50, 50});
    const std::vector<Measured> few = {{2, 10, 0}, {2, 5, 5}}; // the victim would take 10 with one processor
    history = {};
    CHECK(decide(paper_deal, few, history, former) == Deal{3, 1});
    const std::vector<Measured> fewer = {{2, 10, 0}, {2, 6, 4}}; // here 12
    history = {};
    CHECK(paper_deal(fewer) == Deal{3, 1});
    CHECK(decide(paper_deal, fewer, history, former) == Deal{2, 2});
}

TEST_CASE("by the paper's rule one of several ranks that are as slow is helped after the other", "[deal]")
{
    Node node;
    node.work = {80, 80, 16, 16};
    node.deal = {8, 8, 8, 8};
    History history = {};
    uint16_t former[4] = {};
    std::mt19937 random(6);
    std::vector<Deal> deals;
    for (int i = 0; i < 6; i++) {
        const Deal next = decide(paper_deal, node.measure(random), history, former);
        if (next != node.deal)
            deals.push_back(next);
        node.deal = next;
    }
    REQUIRE(deals.size() >= 2);
    CHECK(deals[0] == Deal{13, 8, 3, 8}); // 8 * 10 / 6 - 8 = 5.3
    CHECK(deals[1] == Deal{13, 13, 3, 3});
    CHECK(node.period(node.deal) == Approx(80. / 13));
}

TEST_CASE("a change that made the period shorter stays", "[deal]")
{
    History history = {};
    uint16_t former[2] = {};
    REQUIRE(decide(whole_deal, {{8, 10, 0}, {8, 5, 5}}, history, former) == Deal{10, 6});
    for (int i = 0; i < 10; i++)
        CHECK(decide(whole_deal, {{10, 8, 0}, {6, 6.7, 1.3}}, history, former) == Deal{10, 6});
}

TEST_CASE("a change that is taken back again and again is made less and less often", "[deal]")
{
    History history = {};
    uint16_t former[2] = {};
    Deal deal = {4, 4};
    unsigned changes = 0;
    // what is measured makes one wish the other deal each time, and it is worse each time
    for (int i = 0; i < 300; i++) {
        const std::vector<Measured> ranks = deal[0] == 4 ? std::vector<Measured>{{4, 10, 0}, {4, 5, 5}}
                                                         : std::vector<Measured>{{deal[0], 12, 0}, {deal[1], 9, 3}};
        const Deal next = decide(whole_deal, ranks, history, former);
        changes += next != deal;
        deal = next;
    }
    CHECK(changes >= 4); // it is tried again
    CHECK(changes <= 20);
}

// ---- the whole deal

TEST_CASE("what nobody needs stays where it is", "[deal]")
{
    CHECK(whole_deal({{3, 1, 0}, {3, 1, 0}}) == Deal{3, 3});
    CHECK(whole_deal({{2, 0, 1}, {2, 4, 0}}) == Deal{1, 3}); // a rank without work keeps one
}

TEST_CASE("the paper's synthetic case: 2 ranks of 8 threads", "[deal]")
{
    // imbalance: how much less the second computes. 10 + 6 would be no better than 9 + 7 at 33 %: 5.33 / 6 = 8 / 9
    CHECK(whole_deal({{8, 1, 0}, {8, 1 - 0.1333, 0.1333}}) == Deal{9, 7});
    CHECK(whole_deal({{8, 1, 0}, {8, 1 - 0.2667, 0.2667}}) == Deal{9, 7});
    CHECK(whole_deal({{8, 1, 0}, {8, 1 - 0.3333, 0.3333}}) == Deal{9, 7});
    CHECK(whole_deal({{8, 1, 0}, {8, 0.3, 0.7}}) == Deal{12, 4});
}

TEST_CASE("no deal of a random node is better than the whole deal", "[deal]")
{
    std::mt19937 random(1);
    for (int i = 0; i < 20000; i++) {
        Node node = random_node(random, 5, 5);
        std::vector<Measured> ranks = node.measure(random);
        for (Measured& m : ranks)
            m.most = random() % 4 == 0 ? 1 + unsigned(random() % 6) : ~0u;
        const Deal deal = whole_deal(ranks);
        REQUIRE(sum(deal) == sum(node.deal));
        REQUIRE(*std::min_element(deal.begin(), deal.end()) >= 1);
        REQUIRE(slowest(ranks, deal) <= exhaustive(ranks) * (1 + 1e-9));
    }
}

// 10,000 nodes of up to 16 ranks with up to 16 processors each, 60 decisions a node. On every fourth node, 2 % of each
// rank's work stays on one processor.
struct Rest {
    double worst = 0;       // the longest period at the end, over the best
    double worse = 0;       // the same, over that at the start
    unsigned most_changes = 0, most_undone = 0; // of a node; undone: back to the deal before
    std::vector<unsigned> last;                 // decision at which a node last changed
};
Rest simulate(Rule rule, double noise)
{
    std::mt19937 random(2), exact(0);
    Rest rest;
    for (int i = 0; i < 10000; i++) {
        Node node = random_node(random, 16, 16);
        node.noise = noise;
        node.serial = i % 4 == 3 ? 0.02 : 0;
        History history = {};
        std::vector<uint16_t> former(node.work.size());
        unsigned changes = 0, undone = 0, last = 0;
        const double began = node.period(node.deal);
        Deal before;
        for (unsigned decision = 1; decision <= 60; decision++) {
            const Deal next = decide(rule, node.measure(random), history, former.data());
            REQUIRE(sum(next) == sum(node.deal));
            if (next != node.deal) {
                changes++;
                undone += next == before;
                before = node.deal;
                last = decision;
            }
            node.deal = next;
        }
        rest.last.push_back(last);
        rest.most_changes = std::max(rest.most_changes, changes);
        rest.most_undone = std::max(rest.most_undone, undone);
        Node still = node;
        still.noise = 0;
        if (node.serial == 0)
            rest.worst = std::max(rest.worst, node.period(node.deal) / node.period(whole_deal(still.measure(exact))));
        rest.worse = std::max(rest.worse, node.period(node.deal) / began);
    }
    std::sort(rest.last.begin(), rest.last.end());
    WARN((rule == whole_deal ? "whole" : "paper")
         << ", noise " << noise << ": the last change at decision " << rest.last[5000] << " (half of the nodes), "
         << rest.last[9500] << " (95 %), " << rest.last.back() << " (all); changes of a node: at most "
         << rest.most_changes << ", undone: at most " << rest.most_undone << "; the longest period over the best "
         << rest.worst << ", over that at the begin " << rest.worse);
    return rest;
}

TEST_CASE("simulated nodes come to rest, near the best deal", "[deal]")
{
    const Rest rest = simulate(whole_deal, 0.005);
    CHECK(rest.worst < 1.04);
    CHECK(rest.worse < 1.04);
    CHECK(rest.last[9000] <= 3);
    CHECK(rest.most_changes <= 12);
}

TEST_CASE("simulated nodes come to rest by the paper's rule", "[deal]")
{
    const Rest rest = simulate(paper_deal, 0.005);
    CHECK(rest.worse < 1.04);
    CHECK(rest.worst < 4); // it has no way around a slow victim
    CHECK(rest.last[5000] <= 30);
    CHECK(rest.most_undone <= 6);
}

TEST_CASE("where measuring is noise nodes come to rest, too", "[deal]")
{
    const Rest rest = simulate(whole_deal, 0.05);
    CHECK(rest.most_undone <= 10); // of 60 decisions
    CHECK(rest.most_changes <= 32);
}

TEST_CASE("a deal of 100,000 ranks", "[deal]")
{
    std::mt19937 random(3);
    std::vector<Measured> ranks;
    for (int r = 0; r < 100000; r++)
        ranks.push_back({4, 1 + double(random() % 1000) / 1000, 0});
    const Deal deal = whole_deal(ranks);
    CHECK(sum(deal) == 400000);
    CHECK(slowest(ranks, deal) < slowest(ranks, dealt(ranks)));
}

// ---- what is measured

TEST_CASE("a turn that is disturbed does not count", "[turns]")
{
    Turns turns(1000000);
    turns.begin_anew();
    uint64_t useful = 0, waited = 0;
    for (unsigned turn = 1; turn <= 7; turn++) {
        const bool disturbed = turn == 4;
        useful += disturbed ? 900 : 100;
        waited += 50;
        CHECK(turns.is_due(turn, 150, 150 * turn));
        const bool told = turns.sample(turn, 150, {150 * turn, useful, waited});
        CHECK(told == (turn > 2)); // what began before the change is skipped
        CHECK_FALSE(turns.is_due(turn, 150, 150 * turn + 10));
    }
    CHECK(turns.periods() == 5);
    CHECK(turns.useful() == 100);
    CHECK(turns.waited() == 50);
    CHECK(turns.took() == 150);
    CHECK(turns.by_turns());
}

TEST_CASE("a sum that has become less is no time", "[turns]")
{
    Turns turns(1000000);
    turns.begin_anew();
    for (unsigned turn = 1; turn <= 4; turn++)
        turns.sample(turn, 150, {150 * turn, turn == 4 ? 290u : 100 * turn, 50 * turn});
    REQUIRE(turns.periods() == 2);
    CHECK(turns.turn(0).useful == 0);
    CHECK(turns.turn(1).useful == 100);
    CHECK(turns.turn(2).at == 0);
    turns.go_on(); // no turn is left out
    CHECK(turns.sample(5, 150, {750, 390, 250}));
    CHECK(turns.periods() == 1);
    CHECK(turns.turn(0).useful == 100);
}

TEST_CASE("turns that are found have been measured", "[turns]")
{
    Turns turns(1000);
    const Spent past[] = {{100, 60, 40}, {100, 70, 30}};
    CHECK(turns.are_others(7));
    turns.change(7, 2, {300, 200, 100}, past, 2);
    CHECK_FALSE(turns.are_others(7));
    CHECK(turns.periods() == 2);
    SECTION("the third one is the next")
    {
        CHECK(turns.sample(3, 100, {400, 260, 140}));
        CHECK(turns.periods() == 3);
        CHECK(turns.useful() == 60);
        CHECK(turns.calls() == 7);
        SECTION("turns of another length make it measure anew")
        {
            turns.change(14, 4, {500, 320, 180}, past, 0);
            CHECK(turns.periods() == 0);
            CHECK(turns.sample(5, 200, {700, 440, 260})); // from there on
            CHECK(turns.useful() == 120);
            CHECK(turns.calls() == 14);
        }
        SECTION("but not for ever")
        {
            for (unsigned calls = 8; calls < 30; calls++)
                turns.change(calls, calls, {100 * calls, 0, 0}, past, 2);
            turns.sample(30, 100, {3000, 60, 40});
            const uint32_t before = turns.periods();
            turns.change(31, 31, {3100, 120, 80}, past, 0);
            CHECK(turns.periods() == before);
        }
    }
    SECTION("after a new deal the turn that has begun is skipped all the same")
    {
        turns.begin_anew();
        turns.change(9, 4, {500, 320, 180}, past, 0);
        CHECK_FALSE(turns.sample(5, 100, {600, 380, 220}));
        CHECK_FALSE(turns.sample(6, 100, {700, 440, 260}));
        CHECK(turns.sample(7, 100, {800, 500, 300}));
    }
    SECTION("those that were found by chance do not count")
    {
        CHECK(turns.sample(3, 100, {5000, 3000, 2000}));
        CHECK(turns.periods() == 1);
        CHECK(turns.useful() == 2800);
        CHECK_FALSE(turns.by_turns());
    }
}

TEST_CASE("a rank whose turns are several of the others'", "[turns]")
{
    std::vector<Measured> ranks = {{8, 10, 0}, {8, 6, 14}, {8, 4, 6}};
    scale_to_equal_time(ranks, {10, 20, 10});
    CHECK((ranks[0].useful == 20 && ranks[1].useful == 6 && ranks[2].useful == 8));
    CHECK((ranks[1].waited == 14 && ranks[2].waited == 12));
    ranks = {{8, 10, 0}, {8, 6, 6}};
    scale_to_equal_time(ranks, {10, 12}); // noise
    CHECK(ranks[0].useful == 10);
}

TEST_CASE("without turns samples come after a fixed time", "[turns]")
{
    Turns turns(1000);
    CHECK_FALSE(turns.is_due(0, 0, 999));
    CHECK(turns.is_due(0, 0, 1000));
    for (unsigned i = 1; i <= 4; i++)
        turns.sample(0, 0, {1000 * i, 600 * i, 400 * i});
    CHECK(turns.periods() == 2);
    CHECK(turns.useful() == 600);
    CHECK_FALSE(turns.by_turns());
}

TEST_CASE("a few calls that look like turns by chance are none", "[turns]")
{
    Turns turns(1000);
    uint64_t found = 0;
    for (uint64_t now = 10; now <= 12000; now += 10) {
        found += now % 300 == 0; // of 5 ticks each
        if (turns.is_due(found, 5, now))
            turns.sample(found, 5, {now, now * 6 / 10, now * 4 / 10});
    }
    CHECK(turns.periods() == 9); // of a fixed time, less the first two
    CHECK(turns.useful() >= 600);
    CHECK_FALSE(turns.by_turns());
    turns.begin_anew();
    for (uint64_t now = 13000; now <= 16000; now += 100) { // the program's loop has begun
        found++;
        if (turns.is_due(found, 100, now))
            turns.sample(found, 100, {now, now * 6 / 10, now * 4 / 10});
    }
    CHECK(turns.useful() == 60);
    CHECK(turns.by_turns());
}

TEST_CASE("threads that come and go are not worth it in a short region", "[regions]")
{
    Regions regions(60);
    const int here = 0, there = 0;
    CHECK(regions.pays(&here, 8, 8)); // not known
    regions.took(&here, 100, 8, 8);
    CHECK_FALSE(regions.pays(&here, 8, 8)); // 100 ticks would become 50
    regions.took(&there, 1000, 8, 8);
    CHECK(regions.pays(&there, 8, 8));
    CHECK_FALSE(regions.pays(&there, 8, 0));
}

TEST_CASE("a region waits for cores as long as they may be worth", "[regions]")
{
    Regions regions(60, 5000);
    const int loop = 0, other = 0;
    CHECK(regions.waits(&loop, 1, 1) == 0); // not known
    regions.took(&loop, 400000, 1, 1);
    CHECK(regions.waits(&loop, 1, 1) == 1000);
    CHECK(regions.waits(&loop, 1, 3) == 1500);
    CHECK(regions.waits(&loop, 2, 0) == 0);
    CHECK(regions.waits(&other, 1, 1) == 0);
    regions.took(&other, 40000000, 1, 1);
    CHECK(regions.waits(&other, 1, 1) == 5000); // at most

    const auto run = [&](bool comes, int times) { // how often it waited
        int waited = 0;
        for (int i = 0; i < times; i++)
            if (regions.waits(&loop, 1, 1)) {
                waited++;
                regions.waited(&loop, comes);
            }
        return waited;
    };
    CHECK(run(true, 100) == 100);
    CHECK(run(false, 1000) < 75); // and costs next to nothing where nobody comes
    CHECK(run(true, 16) >= 1); // one that came ends the pauses
    CHECK(run(true, 100) == 100);
}

// What a program of regions takes if each takes `helped(i)` ticks with a borrowed core and `alone(i)` without; the
// number of those that were helped. `there(i)`: whether there is a core that could be borrowed.
template <class Helped, class Alone, class There>
static int count_helped(Helped helped, Alone alone, int times, There there)
{
    Regions regions(60, 0, 100000);
    int n = 0;
    const int site = 0;
    for (int i = 0; i < times; i++) {
        if (!there(i)) {
            regions.took(&site, uint64_t(alone(i)), 1, 1, false);
            continue;
        }
        const bool is_helped = !regions.keeps_alone(&site, 1);
        n += is_helped;
        regions.took(&site, uint64_t(is_helped ? helped(i) : alone(i)), is_helped ? 2 : 1, 1);
    }
    return n;
}
template <class Helped, class Alone> static int count_helped(Helped helped, Alone alone, int times)
{
    return count_helped(helped, alone, times, [](int) { return true; });
}

TEST_CASE("a region that borrowed cores make slower runs without them, and rarely tries them again", "[regions]")
{
    const auto takes = [](double ticks) { return [=](int) { return ticks; }; };
    CHECK(count_helped(takes(600), takes(1000), 10000) > 9970);
    CHECK(count_helped(takes(5000), takes(1000), 1000) < 14);
    CHECK(count_helped(takes(5000), takes(1000), 100000) < 250);
    CHECK(count_helped(takes(200000), takes(100000), 60) == 60); // long ones are not tried before that
    CHECK(count_helped(takes(200000), takes(100000), 10000) < 250);
    CHECK(count_helped(takes(200000), takes(400000), 10000) > 9970);
    // Lengths that change, as on the grids of a multigrid: half the time with help.
    for (unsigned seed = 1; seed < 50; seed++) {
        unsigned state = seed;
        const auto grid = [&](int) { return 100 << ((state = state * 1103515245 + 12345) >> 16) % 8; };
        CHECK(count_helped([&](int i) { return grid(i) / 2; }, grid, 1000) > 900);
    }
    for (int first = 0; first < 8; first++)
        CHECK(count_helped([=](int i) { return 50 << (i + first) % 8; }, [=](int i) { return 100 << (i + first) % 8; },
                           1000) > 900);
    // Now and then an execution takes long because of others.
    const auto disturbed = [](int ticks, int every) {
        return [=](int i) { return i % every == every / 2 ? 20 * ticks : ticks; };
    };
    for (int every = 3; every < 30; every++) {
        CHECK(count_helped(disturbed(600, every), disturbed(1000, every), 1000) > 900);
        CHECK(count_helped(disturbed(2500, every), disturbed(1000, every), 1000) < 60);
    }
    // It becomes short, and slower with help: known after the next execution without.
    CHECK(count_helped([](int i) { return i < 1000 ? 5000 : 2000; }, [](int i) { return i < 1000 ? 10000 : 1000; },
                       4000) < 1650);
    // And one that becomes slower with help, and faster again.
    CHECK(count_helped([](int i) { return i < 1000 ? 600 : 5000; }, takes(1000), 3000) < 1600);
    CHECK(count_helped([](int i) { return i < 1000 ? 5000 : 600; }, takes(1000), 3000) > 1200);
}

TEST_CASE("regions for which there are cores only when they are large get them", "[regions]")
{
    // A small one while the other rank still computes, and a large one while it waits.
    const auto one_of_two = [](int times) { return [=](int i) { return i % 2 ? times * 10 : times * 1; }; };
    const auto large = [](int i) { return i % 2 == 1; };
    CHECK(count_helped(one_of_two(500), one_of_two(1000), 2000, large) > 990);
    CHECK(count_helped(one_of_two(4000), one_of_two(1000), 2000, large) < 30);
    // The same in phases of 50 small and 1 to 10 large ones.
    for (int large_ones = 1; large_ones <= 10; large_ones++) {
        const int phase = 50 + large_ones;
        const auto there = [=](int i) { return i % phase >= 50; };
        const auto length = [=](int times) { return [=](int i) { return there(i) ? times * 10 : times * 1; }; };
        CHECK(count_helped(length(500), length(1000), 100 * phase, there) >= 100 * large_ones - 4);
    }
    // There are cores for both phases: each change costs two executions at most.
    const auto both = [](int times) { return [=](int i) { return i % 100 >= 50 ? times * 10 : times * 1; }; };
    CHECK(count_helped(both(500), both(1000), 10000) > 9700);
}

TEST_CASE("executions without many borrowed cores are rarer, as each takes so many times as long", "[regions]")
{
    Regions regions(60, 0, 100000);
    const int site = 0;
    uint64_t took = 0, least = 0;
    for (int i = 0; i < 30000; i++) {
        const bool is_helped = !regions.keeps_alone(&site, 1);
        const uint64_t ticks = is_helped ? 10000 : 160000;
        regions.took(&site, ticks, is_helped ? 16 : 1, 1);
        took += ticks;
        least += 10000;
        REQUIRE(double(took) < 1.05 * double(least));
    }
    CHECK(double(took) < 1.005 * double(least));
}

TEST_CASE("executions with other numbers of threads are not compared", "[regions]")
{
    Regions regions(60, 0, 100000);
    const int site = 0;
    for (int i = 0; i < 10; i++)
        regions.took(&site, 5000, 4, 2);
    for (int i = 0; i < 2; i++)
        regions.took(&site, 1000, 2, 2);
    CHECK(regions.keeps_alone(&site, 2));
    CHECK_FALSE(regions.keeps_alone(&site, 1));
    for (int i = 0; i < 10; i++)
        regions.took(&site, 5000, 2, 2, false); // had members in reserve
    CHECK(regions.keeps_alone(&site, 2));
}

// ---- which processors

TEST_CASE("a rank gets the nearest processors", "[assign]")
{
    // Two packages of four cores; ranks 0 and 1 on the first, 2 on the second.
    const auto at = [](int core) { return ws::window::Place{core, core, core / 2, core / 4, core / 4}; };
    const std::vector<Located> processors = {{0, true, 0, at(0)},  {0, false, 0, at(1)}, {1, true, 1, at(2)},
                                             {1, false, 1, at(3)}, {2, true, 2, at(4)},  {2, false, 2, at(5)},
                                             {2, false, 2, at(6)}, {2, false, 2, at(7)}};
    const auto moves = moves_to({3, 1, 4}, processors);
    REQUIRE(moves.size() == 1);
    CHECK(moves[0].processor == 3);
    CHECK(moves[0].to == 0);
    const auto far = moves_to({3, 2, 3}, processors);
    REQUIRE(far.size() == 1);
    CHECK(far[0].from == 2);
    CHECK(far[0].processor != 4); // a rank's own thread stays
}

TEST_CASE("processors go back to whose they were first", "[assign]")
{
    const ws::window::Place nowhere = {-1, -1, -1, -1, -1};
    const std::vector<Located> processors = {
        {0, true, 0, nowhere}, {0, false, 0, nowhere}, {0, false, 1, nowhere}, {1, true, 1, nowhere}};
    const auto moves = moves_to({2, 2}, processors);
    REQUIRE(moves.size() == 1);
    CHECK(moves[0].processor == 2);
}

TEST_CASE("every deal that keeps the sum is reached", "[assign]")
{
    std::mt19937 random(4);
    for (int i = 0; i < 2000; i++) {
        Node node = random_node(random, 6, 6);
        std::vector<Located> processors;
        for (unsigned r = 0; r < node.deal.size(); r++)
            for (unsigned n = 0; n < node.deal[r]; n++)
                processors.push_back({r, n == 0, r, {int(processors.size()), -1, int(processors.size() / 4), 0, 0}});
        const Deal deal = whole_deal(node.measure(random));
        for (const Move& m : moves_to(deal, processors)) {
            REQUIRE(processors[m.processor].owner == m.from);
            REQUIRE(!processors[m.processor].home);
            processors[m.processor].owner = m.to;
        }
        Deal reached(deal.size());
        for (const Located& p : processors)
            reached[p.owner]++;
        REQUIRE(reached == deal);
    }
}

// ---- a load that changes

// Ranks of 8 processors, of which the one with more work changes; a turn is `heavy` processor seconds for one and
// `light` for the others. Decisions as in the runtime: the turn in which a new deal arrives and the one after are not
// compared. A deal that is taken back because of the turn that runs ends with that turn; one that is taken back because
// of turns before stays for one turn more. `who`: the rank with more work in a turn.
namespace {
struct Changing {
    double none = 0, balanced = 0;
    unsigned backs = 0;
    double told = 0; // times as fast, as the summary says
};
struct Load {
    unsigned ranks = 2;
    double heavy = 200, light = 60;
};
template <class Who> Changing run(Rule rule, unsigned turns, Who who, Load load = {})
{
    const unsigned n = load.ranks;
    const Deal first(n, 8);
    Deal present = first;
    History history = {};
    Watch watch = {};
    std::vector<uint16_t> former(n);
    double before = 0;
    TurnsOfRanks known; // since the last decision
    unsigned needed = 3, blind = 2;
    Changing c;
    const auto turn_of = [&](unsigned turn, const Deal& deal) {
        std::vector<Measured> ranks;
        const unsigned most = who(turn);
        for (unsigned r = 0; r < n; r++)
            ranks.push_back({deal[r], (r == most ? load.heavy : load.light) / deal[r], 0});
        return ranks;
    };
    for (unsigned turn = 0; turn < turns; turn++) {
        std::vector<Measured> ranks = turn_of(turn, present);
        const double took = slowest(ranks, present), would = slowest(ranks, first);
        for (Measured& m : ranks)
            m.waited = took - m.useful;
        c.none += would;
        c.balanced += took;
        bool is_lost = false; // seen in the middle of the turn
        for (double at = took / 100; at < took && present != first && !is_lost; at += took / 100) {
            std::vector<Measured> so_far = ranks;
            for (Measured& m : so_far)
                m.useful = std::min(m.useful, at);
            is_lost = loses(so_far, first, at, before);
        }
        if (is_lost) {
            watch.lose(took - before);
            watch.begin();
            taken_back(history);
            present = first;
            c.backs++;
            known.clear();
            needed = 3;
            blind = 0;
            continue;
        }
        if (blind > 0) {
            blind--;
            continue;
        }
        known.emplace_back();
        for (const Measured& m : ranks)
            known.back().push_back(m.useful);
        Deal next = present;
        if (watch.add(took, would, before, took > before * (1 + least_gain)) && present != first) {
            watch.take_back(took, would);
            taken_back(history);
            next = first;
            c.backs++;
        } else if (known.size() >= needed) {
            for (unsigned r = 0; r < n; r++) {
                std::vector<double> useful;
                for (const auto& t : known)
                    useful.push_back(t[r]);
                std::nth_element(useful.begin(), useful.begin() + useful.size() / 2, useful.end());
                ranks[r].useful = useful[useful.size() / 2];
            }
            const double median = slowest(ranks, present);
            for (Measured& m : ranks)
                m.waited = median - m.useful;
            if (present == first)
                before = median;
            const TurnsOfRanks last(known.end() - std::min<long>(6, long(known.size())), known.end());
            next = decide(rule, ranks, history, former.data(), last, {watch.may_try(), first, watch.allowed(before)});
            known.clear();
            needed = next == present ? std::min(32u, 2 * needed) : 3;
            if (next != present)
                watch.change();
        }
        if (next != present) {
            // The turn that has begun still runs with the deal before.
            if (++turn < turns) {
                ranks = turn_of(turn, present);
                c.none += slowest(ranks, first);
                c.balanced += slowest(ranks, present);
            }
            present = next;
            known.clear();
            needed = 3;
            blind = 1;
        }
    }
    c.told = 1 + (watch.gained + watch.unseen) / c.balanced;
    return c;
}
} // namespace

TEST_CASE("a job whose load changes is not slower than without balancing", "[deal]")
{
    for (const Rule rule : {whole_deal, paper_deal}) {
        for (const Load load : {Load{2, 200, 60}, Load{2, 200, 150}, Load{2, 200, 5}, Load{3, 200, 60}, Load{3, 200, 5},
                                Load{4, 200, 100}})
            for (unsigned every = 2; every <= 100; every += every < 24 ? 1 : 19)
                for (unsigned turns : {60u, 100u, 200u, 1000u}) {
                    const Changing c =
                        run(rule, turns, [&](unsigned turn) { return turn / every % load.ranks; }, load);
                    INFO((rule == whole_deal ? "whole" : "paper")
                         << ", " << load.ranks << " ranks, " << load.light << ", every " << every << " of " << turns
                         << " turns: " << c.balanced / c.none << ", taken back " << c.backs << ", told " << c.told);
                    CHECK(c.balanced <= c.none * 1.02);
                    CHECK(c.told <= c.none / c.balanced + 0.08);
                    CHECK(c.told >= 0.9 * c.none / c.balanced - 0.02);
                }
        double all = 0;
        for (unsigned seed = 1; seed <= 100; seed++) {
            std::mt19937 random(seed);
            const Changing c = run(rule, 1000, [&](unsigned) { return unsigned(random() % 2); });
            INFO((rule == whole_deal ? "whole" : "paper") << ", seed " << seed << ": " << c.balanced / c.none);
            CHECK(c.balanced <= c.none * 1.02);
            all += c.balanced / c.none / 100;
            CHECK(run(rule, 60, [&](unsigned) { return unsigned(random() % 2); }).balanced <= 1.02 * 60 * 25);
        }
        CHECK(all < 1.01);
    }
}

TEST_CASE("a job whose load does not change, or changes seldom, gains", "[deal]")
{
    const Changing still = run(whole_deal, 200, [](unsigned) { return 0u; });
    CHECK(still.balanced < 0.7 * still.none);
    CHECK(still.backs == 0);
    CHECK(still.told == Approx(still.none / still.balanced).epsilon(0.03));
    const Changing seldom = run(whole_deal, 400, [](unsigned turn) { return turn / 100 % 2; });
    CHECK(seldom.balanced < 0.8 * seldom.none);
    CHECK(seldom.backs == 3);
}

TEST_CASE("a deal that seems to gain but makes turns longer is taken back, and buys no other", "[deal]")
{
    Watch watch = {};
    unsigned turns = 0;
    for (bool is_back = false; !is_back && turns < 5; turns++) {
        const Turn turn = believed(17, 25, 55, 28); // as useful times say it gains
        is_back = watch.add(turn.took, turn.first, 25, true);
    }
    CHECK(turns == 2);
    CHECK(watch.gained < -50);
    CHECK(watch.allowed(25) == 25);
    CHECK(believed(17, 25, 30, 28).took == 17);
    CHECK(believed(50, 25, 55, 28).took == 50);
    CHECK(believed(17, 25, 55, 0).took == 17);
}

TEST_CASE("a turn that is slow by itself does not take a deal back that has gained", "[deal]")
{
    Watch watch = {};
    for (int i = 0; i < 10; i++)
        CHECK_FALSE(watch.add(17, 25, 25, false));
    CHECK_FALSE(watch.add(50, 25, 25, true));
    CHECK_FALSE(watch.add(17, 25, 25, false));
    CHECK_FALSE(watch.add(50, 25, 25, true));
    CHECK(watch.add(50, 25, 25, true)); // two in a row
    watch.begin();
    CHECK_FALSE(watch.add(50, 25, 25, true)); // by chance, perhaps
    CHECK(watch.add(50, 25, 25, true));
    watch.begin();
    CHECK_FALSE(watch.add(17, 25, 25, false));
    CHECK(watch.add(50, 25, 25, true)); // more is lost than was gained
    watch.begin();
    for (int i = 0; i < 5; i++)
        CHECK_FALSE(watch.add(15, 7.5, 25, false)); // one rank's work was not measured in full
    CHECK(watch.may_try());
    watch.take_back(50, 25);
    CHECK_FALSE(watch.may_try());
    for (int i = 0; i < 2000; i++)
        CHECK_FALSE(watch.add(25, 25, 25, false));
    CHECK(watch.may_try());
}
