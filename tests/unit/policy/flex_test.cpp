// SPDX-License-Identifier: MIT
//
// FLEX-MPI's arithmetic: who gets which rows, what moves, when, and when not. Simulated programs decide by the same
// code as the runtime.
#include "policy/rows/monitor.h"
#include "policy/rows/partition.h"
#include "policy/rows/plan.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>

using namespace ws::policy::rows;

namespace {

std::vector<Rows> counts(const Starts& s)
{
    std::vector<Rows> c;
    for (size_t i = 0; i + 1 < s.size(); i++)
        c.push_back(s[i + 1] - s[i]);
    return c;
}

bool is_partition(const Starts& s, Rows rows)
{
    return s.front() == 0 && s.back() == rows && std::is_sorted(s.begin(), s.end());
}

// A program with `rows` rows on processes with the given speeds, in rows per second; a row's cost may differ.
struct Program {
    std::vector<double> speed;
    Rows rows = 10000;
    double row_bytes = 8000;
    MonitorSettings settings;
    std::function<double(Rows)> cost = [](Rows) { return 1.0; };
    // The share of process p's processor that others have in interval n.
    std::function<double(size_t p, unsigned n)> load = [](size_t, unsigned) { return 0.0; };
    double noise = 0;            // relative, of each iteration
    double units_by_rows = true; // what is counted are rows; else their true cost
    unsigned left = 10000;       // iterations that the program has
    size_t active = 0;           // processes that have rows; 0: all

    Starts starts, former;
    Monitor monitor;
    unsigned moves = 0, undone = 0, intervals = 0, done = 0;
    std::vector<unsigned> moved_in;
    std::vector<Work> last; // of the last interval
    double seconds = 0, best_seconds = 0, plain_seconds = 0;
    unsigned outcome[outcomes] = {};
    std::mt19937 random{7};

    void start()
    {
        active = active ? active : speed.size();
        starts = equal_parts(rows, active, speed.size());
        monitor = Monitor(settings, speed.size(), active);
    }
    double cost_of(Range r) const
    {
        double sum = 0;
        for (Rows i = r.begin; i < r.end; i++)
            sum += cost(i);
        return sum;
    }
    void interval()
    {
        const unsigned n = monitor.interval();
        std::normal_distribution<> vary;
        const double spread = noise / std::sqrt(n);
        const Starts equal = equal_parts(rows, active, speed.size());
        std::vector<Work>& all = last;
        all.clear();
        Summary s;
        s.shortest = HUGE_VAL;
        double power = 0, whole = 0, plain = 0;
        for (size_t p = 0; p < speed.size(); p++) {
            const double true_cost = cost_of(range_of(starts, p)), taken = load(p, intervals);
            const double cpu = n * true_cost / speed[p] * (1 + spread * vary(random)), real = cpu / (1 - taken);
            const double units = units_by_rows ? double(range_of(starts, p).size()) : true_cost;
            all.push_back({n * units, real});
            s.dedicated = s.dedicated && is_dedicated(real, cpu, settings.th1);
            s.longest = std::max(s.longest, real);
            if (p < active) {
                s.shortest = std::min(s.shortest, real);
                s.mean += real / double(active);
                power += speed[p] * (1 - taken);
            }
            whole += true_cost;
            plain = std::max(plain, n * cost_of(range_of(equal, p)) / speed[p] / (1 - taken));
        }
        for (const Work& w : all)
            s.units += w.units;
        s.error = noise / std::sqrt(n);
        s.wall = s.longest;
        s.asking = 20e-6;
        seconds += s.longest;
        best_seconds += n * whole / power;
        plain_seconds += plain;
        done += n;
        intervals++;
        Outcome o;
        monitor.note(starts, all, s);
        const bool unbalanced = monitor.evaluate(s, double(rows) * row_bytes, o);
        const double intervals_left = double(left > done ? left - done : 0) / n;
        const bool loses = monitor.is_losing(starts, s, intervals_left, row_bytes);
        if (loses || monitor.is_to_undo(former, starts, s, intervals_left, row_bytes)) {
            const Starts back = loses ? monitor.first() : former;
            const double bytes = double(volume_of(starts, back).most) * row_bytes, took = 1e-3 + bytes * 1e-9;
            seconds += took;
            monitor.undone(bytes, took);
            starts = back;
            former.clear();
            undone++;
        } else if (unbalanced) {
            const Monitor::Choice c = monitor.choose(starts, all, s);
            o = c.outcome;
            if (o == Outcome::moved) {
                const Starts next = next_partition(starts, c.costs, c.shares);
                const double gain = c.gain_with(starts, next);
                o = monitor.weigh(starts, next, gain, intervals_left, row_bytes);
                if (o == Outcome::moved) {
                    const double bytes = double(volume_of(starts, next).most) * row_bytes, took = 1e-3 + bytes * 1e-9;
                    seconds += took;
                    monitor.moved(c, gain, bytes, took);
                    former = starts;
                    starts = next;
                    moves++;
                    moved_in.push_back(intervals - 1);
                }
            }
        }
        outcome[unsigned(o)]++;
    }
    // As XMPI_Resize does it.
    void resize(size_t to)
    {
        const Monitor::Choice c = monitor.resize(to, last);
        const Starts next = next_partition(starts, c.costs, c.shares);
        const double bytes = double(volume_of(starts, next).most) * row_bytes, took = 1e-3 + bytes * 1e-9;
        seconds += took;
        monitor.resized(to, bytes, took);
        former.clear();
        starts = next;
        active = to;
    }
    void run(unsigned most)
    {
        start();
        while (intervals < most && done < left)
            interval();
    }
};

// The paper's classes of nodes: relative speeds of one core of A to D.
constexpr double class_speed[] = {1.0, 1.55, 0.62, 1.1};
std::vector<double> classes(size_t n)
{
    std::vector<double> s;
    for (size_t i = 0; i < n; i++)
        s.push_back(1e7 * class_speed[i * 4 / n]);
    return s;
}

} // namespace

TEST_CASE("equal parts differ by one row at most, with more processes than rows too")
{
    CHECK(counts(equal_parts(10, 4)) == std::vector<Rows>{3, 3, 2, 2});
    CHECK(counts(equal_parts(2, 4)) == std::vector<Rows>{1, 1, 0, 0});
    CHECK(counts(equal_parts(0, 3)) == std::vector<Rows>{0, 0, 0});
    const Rows large = INT64_MAX / 2;
    CHECK(is_partition(equal_parts(large, 1000), large));
}

TEST_CASE("a partition of other processes: the same rows, in any order of those that have none")
{
    const Part none, old = {10, 10, 0}, low = {10, 0, 4}, high = {10, 4, 6};
    CHECK(joined({low, high}) == Starts{0, 4, 10});
    CHECK(joined({none, low, old, none, high}) == Starts{0, 0, 4, 4, 4, 10});
    CHECK(joined({{0, 0, 0}, none}) == Starts{0, 0, 0});
    CHECK(joined({high, low}).empty());
    CHECK(joined({low, none}).empty()); // rows are missing
    CHECK(joined({low, {9, 4, 5}}).empty());
    CHECK(joined({low, low, high}).empty());
    CHECK(joined({none, none}).empty());
}

TEST_CASE("the first processes have the rows, and the others none")
{
    CHECK(counts(equal_parts(10, 3, 5)) == std::vector<Rows>{4, 3, 3, 0, 0});
    CHECK(counts(next_partition({0, 50, 100, 100, 100}, {{50, 1}, {50, 1}, {}, {}}, {0.2, 0.2, 0.2, 0.4})) ==
          std::vector<Rows>{20, 20, 20, 40});
    CHECK(counts(next_partition({0, 20, 40, 60, 100}, {{20, 1}, {20, 1}, {20, 1}, {40, 1}}, {0.75, 0.25})) ==
          std::vector<Rows>{75, 25, 0, 0});
    // Rows whose cost is not known go in equal parts.
    CHECK(counts(next_partition({0, 50, 100, 100}, {{}, {}, {}}, {0.1, 0.1, 0.8})) == std::vector<Rows>{34, 33, 33});
    std::mt19937 random(17);
    for (int i = 0; i < 5000; i++) {
        const size_t p = 1 + random() % 9, had = 1 + random() % p, gets = 1 + random() % p;
        const Rows rows = Rows(random() % 40);
        std::vector<Work> all(p);
        for (size_t j = 0; j < had; j++)
            all[j] = {double(random() % 100), double(random() % 100)};
        std::vector<double> known, rates = rates_of(all, known);
        rates.resize(gets);
        const Starts next = next_partition(equal_parts(rows, had, p), all, relative_power(rates));
        REQUIRE(is_partition(next, rows));
        for (size_t j = 0; j < p; j++)
            REQUIRE((j < gets ? rows < Rows(gets) || counts(next)[j] >= 1 : counts(next)[j] == 0));
    }
}

TEST_CASE("processes without rows change no decision")
{
    const std::vector<Work> two = {{50, 1}, {50, 3}}, four = {{50, 1}, {50, 3}, {}, {}};
    Summary s;
    s.longest = 3, s.shortest = 1, s.mean = 2, s.units = 100;
    s.error = 0.1;
    Monitor alone({}, 2), among({}, 4, 2);
    for (int i = 0; i < 8; i++) {
        Outcome o[2];
        alone.note({0, 50, 100}, two, s);
        among.note({0, 50, 100, 100, 100}, four, s);
        REQUIRE(alone.evaluate(s, 1e6, o[0]));
        REQUIRE(among.evaluate(s, 1e6, o[1]));
        const Monitor::Choice a = alone.choose({0, 50, 100}, two, s), b = among.choose({0, 50, 100, 100, 100}, four, s);
        REQUIRE(a.outcome == b.outcome);
        REQUIRE(a.shares == b.shares);
        REQUIRE(a.gain == b.gain);
    }
}

TEST_CASE("more and fewer processes: balanced by known speeds, newcomers' by the mean, then by their own")
{
    Program p;
    p.speed = {1e7, 2e7, 1e7, 1e7, 0.5e7, 1e7, 2e7, 1e7};
    p.active = 2;
    p.start();
    const auto balanced = [&] { // within 2 % of what the speeds allow
        const Work before = {p.best_seconds, p.seconds};
        p.interval();
        return p.seconds - before.real < 1.02 * (p.best_seconds - before.units);
    };
    const auto until_balanced = [&] {
        unsigned intervals = 0;
        while (!balanced() && intervals < 20)
            intervals++;
        return intervals;
    };
    CHECK(until_balanced() == 1);
    for (const size_t n : {4, 8, 3, 1, 2}) {
        p.resize(n);
        CHECK(counts(p.starts)[n - 1] > 0);
        CHECK(p.starts[n] == p.rows);
        const unsigned took = until_balanced();
        INFO(n << " processes, balanced after " << took << " intervals");
        CHECK(took == (n == 4 || n == 8 ? 1u : 0u)); // newcomers are not what the others are on average
    }
    CHECK(p.undone == 0);
    p.resize(8);
    CHECK(until_balanced() == 0); // all are known now
}

TEST_CASE("equations 1 and 2: rates, and shares of their sum")
{
    std::vector<double> known;
    const std::vector<double> rates = rates_of({{100, 1}, {300, 2}, {0, 0}}, known);
    CHECK(rates[0] == 100);
    CHECK(rates[1] == 150);
    CHECK(rates[2] == 125); // never measured: as the others are
    const std::vector<double> shares = relative_power({1, 2, 1});
    CHECK(shares == std::vector<double>{0.25, 0.5, 0.25});
    CHECK(rates_of({{0, 0}, {300, 2}, {0, 0}}, known)[0] == 100); // as it was
    CHECK(relative_power({0, 0}) == std::vector<double>{0.5, 0.5});
}

TEST_CASE("rows go by speed")
{
    const Starts now = equal_parts(100, 2);
    CHECK(counts(next_partition(now, {{50, 1}, {50, 3}}, {0.75, 0.25})) == std::vector<Rows>{75, 25});
    CHECK(counts(next_partition({0, 90, 100}, {{90, 1}, {10, 1}}, {0.5, 0.5})) == std::vector<Rows>{50, 50});
    // Each process keeps a row, so that it can be measured.
    CHECK(counts(next_partition(now, {{50, 1}, {50, 1e9}}, {1, 0})) == std::vector<Rows>{99, 1});
    // Fewer rows than processes: some have none.
    CHECK(is_partition(next_partition({0, 1, 2, 2}, {{1, 1}, {1, 1}, {0, 0}}, {0.4, 0.3, 0.3}), 2));
}

TEST_CASE("with few rows the slowest process has no row too many")
{
    // 14.1 rows are the share of the slowest: with 15 it would take 6 % longer than it has to.
    const std::vector<double> speed = {1, 1, 1, 1, 1, 1, 1, 1, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2,
                                       0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.935, 0.935, 0.935, 0.935,
                                       0.935, 0.935, 0.935, 0.935};
    const Starts now = equal_parts(1000, speed.size());
    std::vector<Work> all;
    for (size_t p = 0; p < speed.size(); p++)
        all.push_back({double(range_of(now, p).size()), double(range_of(now, p).size()) / speed[p]});
    const Starts next = next_partition(now, all, relative_power(speed));
    REQUIRE(is_partition(next, 1000));
    CHECK(slowest(now, all, speed, next) <= 43 / 1.2 + 1e-9); // eight have one of the eight rows that are left
    CHECK(slowest(now, all, speed, next) == Approx(1000.0 / 28.28).epsilon(0.015));
}

TEST_CASE("of rows that cost the same, no partition has a faster slowest process")
{
    std::mt19937 random(11);
    std::uniform_real_distribution<> some(0.2, 2);
    for (int i = 0; i < 500; i++) {
        const size_t p = 2 + random() % 3;
        const Rows rows = Rows(p + random() % 12);
        const Starts now = equal_parts(rows, p);
        std::vector<Work> all;
        std::vector<double> rates;
        for (size_t j = 0; j < p; j++) {
            all.push_back({double(range_of(now, j).size()), 1});
            rates.push_back(some(random));
        }
        double best = HUGE_VAL;
        Starts s(p + 1, 0);
        s[p] = rows;
        const std::function<void(size_t)> all_from = [&](size_t j) {
            if (j == p) {
                best = std::min(best, slowest(now, all, rates, s));
                return;
            }
            for (s[j] = s[j - 1] + 1; s[j] <= rows - Rows(p - j); s[j]++)
                all_from(j + 1);
        };
        all_from(1);
        REQUIRE(slowest(now, all, rates, next_partition(now, all, relative_power(rates))) <= best * 1.003);
    }
}

TEST_CASE("rows weigh what was measured of them, within a process what they are known to weigh")
{
    // The second half of the rows costs three times as much: of 400 units each process gets 200.
    const Starts even = next_partition(equal_parts(200, 2), {{100, 1}, {300, 3}}, {0.5, 0.5});
    CHECK(counts(even) == std::vector<Rows>{133, 67});
    // Row i of process 0 weighs i: half of its weight is in its last 30 %.
    Starts found(3, -1);
    place_cuts({0, 100}, 100, 0, {0, 50}, [](Rows n) { return double(n) * double(n); }, found);
    CHECK(found == Starts{-1, 71, -1});
    // Nothing is set by a process that has no part of the cost at the cut.
    Starts none(3, -1);
    place_cuts({100, 200}, 100, 100, {0, 50}, [](Rows n) { return n; }, none);
    CHECK(none == Starts{-1, -1, -1});
}

TEST_CASE("after a move it is known whether rows are expensive or processes slow")
{
    const Starts before = {0, 50, 100}, after = {0, 75, 100};
    const std::vector<Work> then = {{50, 1}, {50, 3}};
    Attribution slow, costly;
    CHECK(slow.of_rows() == 0);
    slow.learn(before, then, after, {{75, 1.5}, {25, 1.5}}); // process 1 takes three times as long for any row
    CHECK(slow.of_rows() == Approx(0).margin(0.01));
    costly.learn(before, then, after, {{75, 2.5}, {25, 1.5}}); // the rows from 50 on cost three times as much
    CHECK(costly.of_rows() == Approx(1).margin(0.01));
    const std::vector<Work> costs = costly.costs({{75, 2.5}, {25, 1.5}});
    CHECK(costs[0].units == Approx(2.5).margin(0.05));
    CHECK(costs[1].units == Approx(1.5).margin(0.05));
    slow.learn(after, {{75, 1.5}, {25, 1.5}}, after, {{75, 1.5}, {25, 0}}); // of an idle one nothing is known
    CHECK(slow.of_rows() == Approx(0).margin(0.01));
}

TEST_CASE("any partition is one, whatever was measured")
{
    std::mt19937 random(3);
    std::uniform_real_distribution<> some(0, 1);
    for (int i = 0; i < 20000; i++) {
        const size_t p = 1 + random() % 9;
        const Rows rows = Rows(random() % 40);
        Starts now = {0};
        for (size_t j = 1; j < p; j++)
            now.push_back(Rows(random() % uint64_t(rows + 1)));
        now.push_back(rows);
        std::sort(now.begin(), now.end());
        std::vector<Work> all;
        std::vector<double> known;
        for (size_t j = 0; j < p; j++)
            all.push_back({random() % 3 ? some(random) : 0, random() % 3 ? some(random) : 0});
        const Starts next = next_partition(now, all, relative_power(rates_of(all, known)));
        REQUIRE(is_partition(next, rows));
        if (rows >= Rows(p))
            for (const Rows c : counts(next))
                REQUIRE(c >= 1);
    }
}

TEST_CASE("the plan: who sends what to whom")
{
    const Starts from = {0, 10, 20, 30}, to = {0, 15, 18, 30};
    auto out = outgoing(from, to, 1);
    REQUIRE(out.size() == 2);
    CHECK((out[0].process == 0 && out[0].rows.begin == 10 && out[0].rows.end == 15));
    CHECK((out[1].process == 2 && out[1].rows.begin == 18 && out[1].rows.end == 20));
    CHECK(incoming(from, to, 1).empty());
    auto in = incoming(from, to, 2);
    REQUIRE(in.size() == 1);
    CHECK((in[0].process == 1 && in[0].rows.begin == 18));
    CHECK(volume_of(from, to).all == 7);
    CHECK(volume_of(from, to).most == 7);
}

TEST_CASE("each row whose owner changes moves once, what is sent is what is expected, and no circle waits")
{
    std::mt19937 random(5);
    for (int i = 0; i < 3000; i++) {
        const size_t p = 1 + random() % 12;
        const Rows rows = Rows(random() % 50);
        Starts s[2];
        for (Starts& one : s) {
            one = {0};
            for (size_t j = 1; j < p; j++)
                one.push_back(Rows(random() % uint64_t(rows + 1)));
            one.push_back(rows);
            std::sort(one.begin(), one.end());
        }
        std::vector<int> moved(size_t(rows), 0);
        std::vector<int> crossing(p, 0); // of boundary j: its direction
        Rows all = 0;
        for (size_t me = 0; me < p; me++) {
            for (const Piece& piece : outgoing(s[0], s[1], me)) {
                REQUIRE(piece.process != me);
                bool expected = false;
                for (const Piece& other : incoming(s[0], s[1], piece.process))
                    expected = expected || (other.process == me && other.rows.begin == piece.rows.begin &&
                                            other.rows.end == piece.rows.end);
                REQUIRE(expected);
                for (Rows r = piece.rows.begin; r < piece.rows.end; r++) {
                    moved[size_t(r)]++;
                    REQUIRE((r >= s[1][piece.process] && r < s[1][piece.process + 1]));
                }
                all += piece.rows.size();
                for (size_t j = std::min(me, piece.process) + 1; j <= std::max(me, piece.process); j++) {
                    const int direction = piece.process > me ? 1 : -1;
                    REQUIRE(crossing[j] != -direction);
                    crossing[j] = direction;
                }
            }
        }
        for (size_t me = 0; me < p; me++)
            for (Rows r = s[0][me]; r < s[0][me + 1]; r++)
                REQUIRE(moved[size_t(r)] == (r >= s[1][me] && r < s[1][me + 1] ? 0 : 1));
        REQUIRE(volume_of(s[0], s[1]).all == all);
    }
}

TEST_CASE("rounds of a large shift need little room, and end where they should")
{
    const Starts from = {0, 100, 200, 300, 300}, to = {0, 0, 100, 200, 300};
    CHECK(surplus_of({100, 200}, {0, 100}) == 100);
    CHECK(surplus_of({100, 200}, {50, 180}) == 20);
    CHECK(surplus_of({100, 200}, {50, 200}) == 0);
    CHECK(surplus_of({100, 200}, {150, 200}) == 0);
    Starts now = from;
    for (Rows i = 1; i <= 8; i++) {
        const Starts next = part_way(from, to, i, 8);
        for (size_t p = 0; p < 4; p++)
            CHECK(surplus_of(range_of(now, p), range_of(next, p)) <= 13);
        now = next;
    }
    CHECK(now == to);
    const Rows large = INT64_MAX / 2;
    CHECK(part_way({0, large}, {0, large}, 3, 1000) == Starts{0, large});
    CHECK(part_way({0, 0}, {0, large}, 500, 1000)[1] <= large / 2 + 1);
}

TEST_CASE("a plan for 10,000 processes takes less than 50 ms")
{
    const size_t p = 10000;
    const Rows rows = 1000000000;
    std::mt19937 random(1);
    std::uniform_real_distribution<> some(0.5, 2);
    std::vector<Work> all;
    const Starts now = equal_parts(rows, p);
    for (size_t i = 0; i < p; i++)
        all.push_back({double(rows) / p, some(random)});
    double least = 1e9;
    for (int i = 0; i < 5; i++) {
        const std::clock_t began = std::clock(); // of the CPU, as others may have it meanwhile
        std::vector<double> known;
        const Starts next = next_partition(now, all, relative_power(rates_of(all, known)));
        size_t pieces = 0;
        for (size_t me = 0; me < p; me++) // one process needs its own only
            pieces += outgoing(now, next, me).size() + incoming(now, next, me).size();
        least = std::min(least, double(std::clock() - began) / CLOCKS_PER_SEC);
        REQUIRE(pieces > p / 2);
    }
    INFO("s: " << least);
    CHECK(least < 50e-3);
}

TEST_CASE("lines 1 to 5: dedicated or not")
{
    CHECK(is_dedicated(1.0, 1.0, 0.05));
    CHECK(is_dedicated(1.0, 0.96, 0.05));
    CHECK(!is_dedicated(1.0, 0.95, 0.05));
    CHECK(!is_dedicated(1.0, 0.5, 0.05));
    CHECK(is_dedicated(0, 0, 0.05)); // had no rows
    CHECK(!is_dedicated(0.5, -0.1, 0.99));
    CHECK(is_dedicated(0.5, -0.1, 1));
}

TEST_CASE("lines 7 and 8: long-term load is k intervals in a row")
{
    for (unsigned k : {1u, 3u, 5u}) {
        Load load;
        for (unsigned i = 1; i < k; i++) {
            load.add(false, 1, 1, 1);
            CHECK(!load.is_long_term(k));
        }
        load.add(true, 1, 1, 1);
        for (unsigned i = 1; i <= k; i++) {
            CHECK(!load.is_long_term(k));
            load.add(false, 1, 1, 1);
        }
        CHECK(load.is_long_term(k));
        load.add(true, 0, 0, 1);
        CHECK(!load.is_long_term(k));
    }
}

TEST_CASE("auto's k: moving waits until waiting has cost more, and for as long as bursts have lasted")
{
    Load costly;
    for (int i = 0; i < 3; i++) {
        costly.add(false, 1, 0.1, 1);
        CHECK(!costly.is_long_term(0));
    }
    costly.add(false, 1, 0.1, 1); // four lost: more than one, a move there and back, and a tenth
    CHECK(costly.is_long_term(0));
    Load cheap;
    cheap.add(false, 1, 0.1, 0.01);
    CHECK(!cheap.is_long_term(0));
    cheap.add(false, 1, 0.1, 0.01);
    CHECK(cheap.is_long_term(0));
    Load bursts; // of one interval: the first after it is soon enough
    for (int i = 0; i < 20; i++) {
        bursts.add(false, 1, 0.9, 0.1);
        CHECK(!bursts.is_long_term(0));
        bursts.add(true, 0, 0, 0.1);
    }
    for (int i = 0; i < 10; i++)
        bursts.add(false, 1, 0.9, 0.1);
    CHECK(bursts.is_long_term(0));
}

TEST_CASE("line 9 and 12: evaluated when all are dedicated or load is long-term, and only beyond TH2")
{
    CHECK(!is_unbalanced(1.0, 0.86, 0.15));
    CHECK(is_unbalanced(1.0, 0.84, 0.15));
    Monitor m({0.05, 0.15, 3, 100}, 2);
    Outcome o;
    Summary s;
    s.longest = 1, s.shortest = 0.5, s.mean = 0.75, s.wall = 1;
    CHECK(m.evaluate(s, 1e6, o));
    s.dedicated = false;
    CHECK(!m.evaluate(s, 1e6, o));
    CHECK(o == Outcome::burst);
    CHECK(!m.evaluate(s, 1e6, o));
    CHECK(m.evaluate(s, 1e6, o)); // the third
    s.shortest = 0.9;
    CHECK(!m.evaluate(s, 1e6, o));
    CHECK(o == Outcome::balanced);
}

TEST_CASE("lines 10 to 14: shares by what was measured; a move must pay")
{
    Monitor m({}, 2);
    Summary s;
    s.longest = 3, s.shortest = 1, s.mean = 2, s.wall = 3;
    const std::vector<Work> all = {{50, 1}, {50, 3}};
    const Monitor::Choice c = m.choose(equal_parts(100, 2), all, s);
    REQUIRE(c.outcome == Outcome::moved);
    CHECK(c.shares[0] == Approx(0.75));
    CHECK(c.gain == Approx(1.5));
    const Starts from = equal_parts(100, 2), to = next_partition(from, all, c.shares);
    CHECK(m.weigh(from, to, c.gain, 10, 1e6) == Outcome::moved);
    CHECK(m.weigh(from, to, c.gain, 0, 1e6) == Outcome::unpaid);
    CHECK(m.weigh(from, to, c.gain, 10, 1e12) == Outcome::unpaid);
    CHECK(m.weigh(from, from, c.gain, 10, 1) == Outcome::same);
    m.moved(c, c.gain, 1e9, 1000); // expensive
    CHECK(m.weigh(from, to, c.gain, 1, 1e6) == Outcome::unpaid);
    s.error = 0.2;
    CHECK(m.choose(from, all, s).outcome == Outcome::noise);
}

TEST_CASE("what a move has gained is measured, and one that gained too little makes later ones need more")
{
    const Starts now = equal_parts(100, 2);
    const std::vector<Work> all = {{50, 1}, {50, 3}};
    Summary s;
    s.longest = 3, s.shortest = 1, s.mean = 2, s.wall = 3, s.units = 100;
    Outcome o;
    const auto moved = [&](Monitor& m, Outcome wanted = Outcome::moved) {
        REQUIRE(m.evaluate(s, 1, o));
        const Monitor::Choice c = m.choose(now, all, s);
        const Starts next = next_partition(now, all, c.shares);
        CHECK(c.gain_with(now, next) == Approx(1.5));
        CHECK(m.weigh(now, next, c.gain, 1, 1) == wanted);
        m.moved(c, c.gain, 100, 1e-3);
    };
    const auto after = [&](Monitor& m, double longest, double units) {
        Summary then = s;
        then.longest = then.shortest = longest, then.units = units;
        m.evaluate(then, 1, o);
    };
    Monitor good({}, 2);
    moved(good);
    after(good, 1.5, 100);
    CHECK(good.gains().sums().expected == Approx(1.5));
    CHECK(good.gains().sums().measured == Approx(1.5));
    CHECK(good.gains().trust() == 1);
    after(good, 0.75, 50); // an interval with half of the work: all gained, of half as much
    CHECK(good.gains().sums().expected == Approx(2.25));
    CHECK(good.gains().sums().measured == Approx(2.25));
    for (int i = 0; i < 10; i++)
        after(good, 9, 100);
    CHECK(good.gains().sums().expected == Approx(5 * 1.5 - 0.75)); // k intervals are compared

    Monitor bad({}, 2);
    moved(bad);
    after(bad, 3, 100);
    CHECK(bad.gains().sums().measured == Approx(0));
    CHECK(bad.gains().trust() == 0.5);
    const Starts next = {0, 75, 100};
    const double cost = 1e-3, once = 1.5 * cost, thrice = 3 * cost; // gains: a move costs at least a millisecond
    CHECK(Monitor({}, 2).weigh(now, next, once, 1, 0) == Outcome::moved);
    CHECK(bad.weigh(now, next, once, 1, 0) == Outcome::untrusted);
    CHECK(bad.weigh(now, next, thrice, 1, 0) == Outcome::untrusted); // and to promise more than the one before
    CHECK(bad.weigh(now, next, 1.4, 1, 0) == Outcome::untrusted);
    CHECK(bad.weigh(now, next, 1.6, 1, 0) == Outcome::moved);
    CHECK(bad.weigh(now, next, cost / 2, 1, 0) == Outcome::unpaid);
    s.error = 0.08; // the gain is 1.3 times what chance makes of that noise
    CHECK(Monitor({}, 2).choose(now, all, s).outcome == Outcome::moved);
    CHECK(bad.choose(now, all, s).outcome == Outcome::untrusted);
    s.error = 0;
    moved(bad, Outcome::untrusted); // the next one gains what it should, in an interval; that before was seen for two
    after(bad, 1.5, 100);
    CHECK(bad.gains().trust() == Approx(2 / 3.0));
    moved(bad); // as it was slow again, the one before had half of its gain
    CHECK(bad.gains().trust() == 0.5);
    after(bad, 5, 100); // slower than before
    CHECK(bad.gains().trust() == Approx(1 / 3.0));

    Monitor met({}, 2); // foreign load has come with the move: nothing is compared
    moved(met);
    Summary loaded = s;
    loaded.dedicated = false;
    met.evaluate(loaded, 1, o);
    CHECK(met.gains().sums().expected == 0);
    CHECK(met.gains().trust() == 1);
}

TEST_CASE("after moves that gained nothing the next one has to promise more, and later less again", "[flex]")
{
    Gains gains;
    const Work interval = {100, 2};
    double before = 0;
    for (int failure = 1; failure <= 4; failure++) {
        gains.expect(interval, 1, true); // 0.01 s a unit
        gains.compare({100, 2.1}, true, 5);
        CHECK(gains.demand() == Approx(0.01 * (1 << (failure - 1))));
        CHECK(gains.demand() > before);
        for (int i = 0; i < 4; i++)
            gains.compare({100, 2.1}, true, 5);
        before = gains.demand();
        CHECK(before == Approx(0.01 * (1 << (failure - 1)))); // fades once the move has been compared
    }
    int intervals = 0;
    for (; gains.demand() > 0.0099; intervals++)
        gains.compare({100, 2}, true, 5);
    CHECK(intervals >= 156); // 0.9^20 is 1 / 8, and after four failures it takes 8 intervals for 0.9
    CHECK(intervals <= 162);
    gains.expect(interval, 1, true);
    gains.compare({100, 1.5}, true, 5);
    CHECK(gains.demand() == 0);
}

TEST_CASE("a move that made intervals longer is undone, if that pays, and the next one comes later", "[flex]")
{
    const Starts before = equal_parts(100, 2), after = {0, 75, 100};
    const std::vector<Work> all = {{50, 1}, {50, 3}};
    Outcome o;
    const auto after_move = [&](Monitor& m, double longest, unsigned intervals) {
        Summary s;
        s.longest = 3, s.shortest = 1, s.mean = 2, s.wall = 3, s.units = 100;
        REQUIRE(m.evaluate(s, 1, o));
        const Monitor::Choice c = m.choose(before, all, s);
        REQUIRE(c.outcome == Outcome::moved);
        m.moved(c, c.gain, 100, 1e-3);
        s.longest = s.shortest = longest;
        for (unsigned i = 0; i < intervals; i++)
            m.evaluate(s, 1, o);
        return s;
    };
    Monitor m({}, 2);
    Summary s = after_move(m, 3.1, 4);
    CHECK_FALSE(m.is_to_undo(before, after, s, 100, 1)); // k intervals tell
    m.evaluate(s, 1, o);
    CHECK(m.is_to_undo(before, after, s, 100, 1));
    CHECK_FALSE(m.is_to_undo(before, after, s, 100, 1e12)); // more expensive than to stay
    CHECK_FALSE(m.is_to_undo(before, after, s, 0, 1));
    CHECK_FALSE(m.is_to_undo({}, after, s, 100, 1));
    CHECK_FALSE(m.is_to_undo(after, after, s, 100, 1));
    s.error = 0.05;
    CHECK_FALSE(m.is_to_undo(before, after, s, 100, 1)); // noise
    s.error = 0;
    m.undone(100, 1e-3);
    CHECK_FALSE(m.is_to_undo(before, after, s, 100, 1));
    const double same = 1.5, more = 1.7;
    CHECK(m.weigh(before, after, same, 100, 1) == Outcome::untrusted); // the same move again
    CHECK(m.weigh(before, after, more, 100, 1) == Outcome::moved);

    Monitor good({}, 2);
    CHECK_FALSE(good.is_to_undo(before, after, after_move(good, 1.5, 5), 100, 1));
    Monitor little({}, 2); // less than a quarter of what was expected: stays, but counts as a failure
    CHECK_FALSE(little.is_to_undo(before, after, after_move(little, 2.9, 5), 100, 1));
    CHECK(little.weigh(before, after, same, 100, 1) == Outcome::untrusted);
}

TEST_CASE("what is measured in other units is not compared with what was before")
{
    Gains gains;
    gains.expect({100, 2}, 1, true);
    gains.compare({100, 3}, true, 5);
    const double demand = gains.demand();
    REQUIRE(demand > 0);
    REQUIRE(gains.loss() > 0);
    gains.change_units(1000);
    CHECK(gains.demand() == Approx(demand / 1000)); // as many seconds an interval
    CHECK(gains.loss() == 0);
    const double measured = gains.sums().measured;
    gains.compare({100000, 2}, true, 5);
    CHECK(gains.sums().measured == measured);
}

TEST_CASE("a load that lasts is measured by the intervals of its row, else the last one counts")
{
    Lately l;
    const auto slowness = [](Work w) { return w.real / w.units; };
    CHECK(l.add({10, 10}, 5, true, 5).real == 10);
    CHECK(l.add({10, 12}, 5, true, 5).real == 12);
    Work w = l.add({10, 18}, 5, false, 5); // the load begins: what was before does not count
    CHECK(w.real == 18);
    for (int i = 0; i < 30; i++) // the others' turns: two intervals in three are met by little of them
        w = l.add({10, i % 3 ? 14.0 : 32.0}, 5, false, 5);
    CHECK(slowness(w) == Approx(2).epsilon(0.1));
    CHECK(w.units == Approx(10)); // of one interval
    w = l.add({2, 4}, 1, false, 5); // one of another length
    CHECK(w.units == Approx(2));
    CHECK(slowness(w) == Approx(2).epsilon(0.1));
    CHECK(l.add({10, 11}, 5, true, 5).real == 11); // it has gone
    CHECK(l.add({10, 20}, 5, false, 5).real == 20);
    CHECK(l.add({10, 30}, 5, false, 1).real == 30); // with k = 1 one interval is enough
    l.forget();
    CHECK(l.add({10, 40}, 5, false, 5).real == 40);
}

TEST_CASE("what is doubted in one interval is believed when it lasts")
{
    Monitor m({}, 2);
    Summary s;
    s.longest = 3, s.shortest = 1, s.mean = 2, s.wall = 3, s.error = 0.2;
    const std::vector<Work> all = {{50, 1}, {50, 3}};
    const Starts now = equal_parts(100, 2);
    unsigned n = 1;
    Monitor::Choice c;
    for (; n < 50 && (c = m.choose(now, all, s)).outcome == Outcome::noise; n++)
        ;
    CHECK(n > 1);
    CHECK(n < 10);
    CHECK(c.outcome == Outcome::moved);
    CHECK(c.gain == Approx(1.5)); // of one interval
    CHECK(c.shares[0] == Approx(0.75));
    // A balanced interval between: doubt begins again.
    Outcome o;
    CHECK(m.choose(now, all, s).outcome == Outcome::noise);
    Summary even = s;
    even.shortest = 2.9;
    CHECK(!m.evaluate(even, 1, o));
    CHECK(m.choose(now, all, s).outcome == Outcome::noise);
}

TEST_CASE("heterogeneous and dedicated: within 3 points of what the speeds allow, after one interval")
{
    for (size_t n : {4u, 8u, 16u, 32u}) {
        Program p;
        p.speed = classes(n);
        p.left = 10000;
        p.run(100);
        const double saved = 1 - p.seconds / p.plain_seconds, possible = 1 - p.best_seconds / p.plain_seconds;
        INFO(n << " processes: saved " << saved << " of " << possible << ", moves " << p.moves);
        CHECK(p.moves == 1);
        CHECK(p.moved_in[0] == 0);
        CHECK(saved > possible - 0.03);
    }
}

TEST_CASE("bursts of foreign load move nothing where k is larger, lasting load moves once or twice")
{
    // On half of the processes: bursts of 1 to 4 intervals, then for good.
    const auto loaded = [](size_t p, unsigned n) {
        const bool burst = n == 5 || (n >= 10 && n < 12) || (n >= 18 && n < 21) || (n >= 28 && n < 32);
        return p < 4 && p % 2 && (burst || n >= 40) ? 0.5 : 0.0;
    };
    double seconds[4];
    const unsigned ks[] = {1, 3, 5, 0};
    for (int i = 0; i < 4; i++) {
        Program p;
        p.speed = std::vector<double>(8, 1e7);
        p.settings.k = ks[i];
        p.load = loaded;
        p.run(100);
        seconds[i] = p.seconds;
        unsigned early = 0;
        for (const unsigned n : p.moved_in)
            early += n < 40;
        INFO("k = " << ks[i] << ": " << p.moves << " moves, " << early << " in bursts, " << p.seconds << " s");
        if (ks[i] == 5 || ks[i] == 0)
            CHECK(p.moves - early >= 1);
        if (ks[i] == 5) {
            CHECK(early == 0);
            CHECK(p.moves <= 2);
        }
        if (ks[i] == 1)
            CHECK(early >= 6); // there and back
    }
    INFO(seconds[0] << " " << seconds[1] << " " << seconds[2] << ", auto " << seconds[3]);
    CHECK(seconds[3] <= 1.02 * std::min({seconds[0], seconds[1], seconds[2]}));
}

TEST_CASE("foreign load that wanders from process to process costs less than 1 %")
{
    for (const unsigned processes : {2u, 3u, 4u})
        for (unsigned every = 1; every <= 40; every++)
            for (const double noise : {0.0, 0.05})
                for (const unsigned most : {40u, 100u, 400u}) {
                    Program p;
                    p.rows = 1000, p.row_bytes = 800;
                    p.speed = std::vector<double>(processes, 2e5);
                    p.noise = noise;
                    p.left = 100 * most;
                    p.load = [&](size_t process, unsigned n) { return process == n / every % processes ? 0.5 : 0.0; };
                    p.run(most);
                    INFO(processes << " processes, every " << every << " of " << most << " intervals: " << p.moves
                                   << " moves, " << p.undone << " undone, " << p.seconds / p.plain_seconds);
                    CHECK(p.seconds <= 1.01 * p.plain_seconds);
                }
    std::mt19937 random(1);
    for (unsigned seed = 0; seed < 100; seed++) {
        std::vector<size_t> where(200);
        for (size_t& w : where)
            w = random() % 2;
        Program p;
        p.rows = 1000, p.row_bytes = 800;
        p.speed = std::vector<double>(2, 2e5);
        p.left = 100 * 200;
        p.load = [&](size_t process, unsigned n) { return process == where[n] ? 0.5 : 0.0; };
        p.run(200);
        INFO("seed " << seed << ": " << p.moves << " moves, " << p.seconds / p.plain_seconds);
        CHECK(p.seconds <= 1.01 * p.plain_seconds);
    }
}

TEST_CASE("foreign load that stays is moved away from")
{
    Program p;
    p.rows = 1000, p.row_bytes = 800;
    p.speed = std::vector<double>(2, 2e5);
    p.noise = 0.05;
    p.load = [](size_t process, unsigned) { return process == 0 ? 0.5 : 0.0; };
    p.run(60);
    CHECK(p.moves == 1);
    CHECK(p.seconds < 0.75 * p.plain_seconds);
}

TEST_CASE("balanced and noisy: nothing moves in 1,000 intervals")
{
    for (const unsigned interval : {1u, 10u, 100u, 0u}) {
        Program p;
        p.speed = std::vector<double>(16, 1e7);
        p.settings.interval = interval;
        p.noise = 0.10; // of an iteration
        p.rows = 1600;
        p.left = 1u << 30;
        p.run(1000);
        INFO("interval " << interval << ": " << p.moves << " moves, now " << p.monitor.interval());
        CHECK(p.intervals == 1000);
        CHECK(p.moves == 0);
    }
}

TEST_CASE("auto: an interval long enough for the noise, short where there is none")
{
    Summary s;
    s.wall = 1, s.error = 0.05;
    CHECK(next_interval(100, s, 0.15, 1) == 400);
    CHECK(next_interval(100, s, 0.15, 5) == Approx(80).margin(1)); // five intervals count together
    s.error = 0.001;
    CHECK(next_interval(100, s, 0.15, 1) == 50);
    s.asking = 0.1; // expensive: a tenth of the interval
    CHECK(next_interval(100, s, 0.15, 1) == 400);
    s.wall = 0;
    CHECK(next_interval(100, s, 0.15, 1) == 100);
}

TEST_CASE("auto: a load that has one processor from the first iteration on is met while the program still runs")
{
    // The kernel gives the processor to one and the other in turns that are long beside an iteration.
    Program p;
    p.speed = std::vector<double>(2, 2e5);
    p.settings.interval = 0;
    p.noise = 0.12;
    p.left = 60;
    p.load = [](size_t process, unsigned) { return process == 0 ? 0.5 : 0.0; };
    p.run(60);
    INFO("moves " << p.moves << " in interval " << (p.moves ? p.moved_in[0] : 0) << " of " << p.intervals);
    CHECK(p.moves == 1);
    CHECK(p.seconds < 0.9 * p.plain_seconds);
}

TEST_CASE("costs that the registered weights do not tell are learned")
{
    // The last quarter of the rows costs five times as much, and it moves through the rows.
    for (const bool counted : {true, false}) {
        Program p;
        p.speed = std::vector<double>(8, 1e7);
        p.rows = 4000;
        p.units_by_rows = counted;
        p.cost = [&p](Rows r) {
            return r >= 3000 - Rows(p.intervals) * 20 && r < 4000 - Rows(p.intervals) * 20 ? 5.0 : 1.0;
        };
        p.run(40);
        INFO((counted ? "rows" : "true cost")
             << ": " << p.seconds << " of " << p.plain_seconds << ", best " << p.best_seconds);
        CHECK(p.seconds < (counted ? 0.8 : 0.65) * p.plain_seconds);
        CHECK((p.monitor.of_rows() > 0.5) == counted);
    }
}
