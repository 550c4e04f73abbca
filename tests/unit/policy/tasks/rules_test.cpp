// SPDX-License-Identifier: MIT
//
// Tasks that move between nodes: each rule of the algorithm, and what is foretold of kinds of tasks.
#include "policy/tasks/balancer.h"
#include "policy/tasks/predict.h"
#include "states.h"

#include <catch2/catch.hpp>

using namespace ws::policy::tasks;

// ---- definition 1

TEST_CASE("a node is heavy above C + A, light below C - A, and A is a tenth of C", "[tasks]")
{
    CHECK(capacity(4, 1e-3, 10e-3) == Approx(44)); // 4 that run, and 40 that they begin
    CHECK(capacity(4, 1, 10e-3) == Approx(4.04)); // a task that takes longer than the unit of time still runs
    CHECK(capacity(4, 0, 10e-3) == 4);
    CHECK(classify(44, 40) == Class::normal);
    CHECK(classify(45, 40) == Class::heavy);
    CHECK(classify(36, 40) == Class::normal);
    CHECK(classify(35, 40) == Class::light);
    CHECK(classify(2, 1) == Class::heavy);
    CHECK(classify(0, 1) == Class::light);
}

TEST_CASE("the unit of time is longer than it takes to get tasks", "[tasks]")
{
    CHECK(unit_of_time(1e-3, 20e-6, 0) == 1e-3);
    CHECK(unit_of_time(1e-3, 20e-6, 5e-3) == Approx(10.08e-3));
}

// ---- the condition of time

TEST_CASE("AGE_min is the paper's", "[tasks]")
{
    // (f + u/b) / (Q_i - V_s/V_d (Q_j + 1)) = (0.02 + 100/1000) / (10 - 2/4 * (3 + 1))
    CHECK(age_min({0.02, 1000}, 100, 1, {10, 2, 1}, {3, 4, 1}) == Approx(0.12 / 8));
    // tasks in one message share its fixed cost
    CHECK(age_min({0.02, 1000}, 100, 10, {10, 2, 1}, {3, 4, 1}) == Approx(0.102 / 8));
}

TEST_CASE("no task is worth moving to where it would end no earlier", "[tasks]")
{
    CHECK(age_min({0.02, 1000}, 0, 1, {4, 1, 1}, {3, 1, 1}) == HUGE_VAL);
    CHECK(age_min({0.02, 1000}, 0, 1, {10, 4, 1}, {3, 1, 1}) == HUGE_VAL); // four times slower
    CHECK(age_min({0.02, 1000}, 0, 1, {5, 1, 1}, {3, 1, 1}) < HUGE_VAL);
}

TEST_CASE("nodes of several cores count by the core, and a speed that is not known is the other's", "[tasks]")
{
    CHECK(age_min({0.02, 1000}, 0, 1, {40, 2, 4}, {12, 4, 4}) == Approx(0.02 / (10 - 0.5 * 13 / 4)));
    CHECK(age_min({0.02, 1000}, 0, 1, {10, 5, 1}, {3, 0, 1}) == Approx(0.02 / 6));
}

TEST_CASE("a node that has had long tasks is not called slow", "[tasks]")
{
    Pace here, there, all;
    here.add({0, 1e-3f, 100}); // short ones
    there.add({1, 50e-3f, 20}); // long ones
    all += here;
    all += there;
    CHECK(speed(here, all) == Approx(1));
    CHECK(speed(there, all) == Approx(1));
    // Tasks of one kind that took 2 ms there took 1 ms here: 1.5 ms on average if there are as many of both.
    there.add({0, 2e-3f, 100});
    all = here;
    all += there;
    CHECK(speed(here, all) == Approx(1.5));
    CHECK(speed(there, all) == Approx((100 * 1.5e-3 + 20 * 50e-3) / (100 * 2e-3 + 20 * 50e-3)));
    Pace none;
    CHECK(speed(none, all) == 0);
}

TEST_CASE("a speed is counted on when it is known", "[tasks]")
{
    Pace fast, slow, all, none;
    const auto both = [&](float tasks) {
        fast = slow = all = {};
        fast.add({0, 1e-3f, 4 * tasks});
        slow.add({0, 4e-3f, tasks});
        all += fast;
        all += slow;
    };
    both(1000);
    CHECK(speed_to_count_on(fast, all) / speed_to_count_on(slow, all) == Approx(4).epsilon(0.05));
    both(5);
    const double ratio = speed_to_count_on(fast, all) / speed_to_count_on(slow, all);
    CHECK((ratio > 1.5 && ratio < 4)); // of a few tasks it is not sure
    CHECK(speed_to_count_on(none, all) == 1);
    CHECK(as_good_as_equal(1, 1.1));
    CHECK(!as_good_as_equal(1.5, 1));
}

TEST_CASE("a task moves if it begins there in an earlier round than here", "[tasks]")
{
    CHECK(most_to_move({100, 0, 1}, {0, 0, 1}) == 50);
    CHECK(most_to_move({40, 1, 1}, {39, 1, 1}) == 0);
    CHECK(most_to_move({100, 1, 1}, {0, 1.1, 1}) == 50); // as good as equal
    CHECK(most_to_move({100, 1, 1}, {0, 4, 1}) == 80);
    CHECK(most_to_move({100, 4, 1}, {0, 1, 1}) == 20);
    // 14 wait here behind 16 that run; two cores have nothing there, and a third one more would wait there, too.
    CHECK(most_to_move({30, 1, 16}, {14, 1, 16}) == 2);
    CHECK(most_to_move({1600, 1, 16}, {0, 1, 16}) == 800);
    // Two of a slow node's: one runs, the other is done by the fast one first.
    CHECK(most_to_move({2, 0.4, 1}, {0, 1.6, 1}) == 1);
    CHECK(most_to_move({2, 1.6, 1}, {0, 0.4, 1}) == 0);
}

TEST_CASE("the kinds that took most are remembered, each as one", "[tasks]")
{
    Pace p;
    for (uint16_t k = 0; k < 3 * Pace::most; k++)
        p.add({k, 1e-3f * float(1 + k), 10});
    float least = 1;
    for (const Pace::KindPace& k : p.kinds)
        least = std::min(least, k.mean_s);
    CHECK(least == Approx(1e-3 * (2 * Pace::most + 1)));
    p.add({3 * Pace::most - 1, 0, 10}); // as many that took nothing
    for (const Pace::KindPace& k : p.kinds)
        if (k.kind == 3 * Pace::most - 1)
            CHECK((k.tasks == 20 && k.mean_s == Approx(0.5e-3 * 3 * Pace::most)));
    const Pace::KindPace k = unpacked(packed({65535, 3.5e-4f, 1e6f}));
    CHECK((k.kind == 65535 && k.mean_s == 3.5e-4f && k.tasks == 65535));
}

// ---- prediction

TEST_CASE("mean and tail of a kind follow what ran lately", "[tasks]")
{
    Prediction p;
    CHECK(!p.is_known());
    for (int i = 0; i < 100; i++)
        p.add(i % 20 ? 1e-3 : 100e-3);
    CHECK(p.mean_s() == Approx(5.95e-3).epsilon(0.01)); // the first ones count a little less
    CHECK(p.tail_s() >= p.mean_s());
    CHECK(p.tail_s() < 100e-3); // one in twenty takes that
    for (int i = 0; i < 100; i++)
        p.add(i % 5 ? 1e-3 : 100e-3);
    CHECK(p.tail_s() == Approx(100e-3).epsilon(0.5));
    for (int i = 0; i < 20000; i++)
        p.add(1e-6);
    CHECK(p.mean_s() == Approx(1e-6).epsilon(0.01));
    Prediction batch;
    batch.add(2e-6, 5000);
    CHECK(batch.mean_s() == Approx(2e-6));
}

TEST_CASE("a task that puts others stands for all of them", "[tasks]")
{
    Growth g;
    CHECK(g.tasks() == 1);
    g.add(1, 30); // a root
    CHECK(g.tasks() == 30);
    for (int i = 0; i < 10000; i++)
        g.add(1, i % 2); // every other one puts another
    CHECK(g.tasks() == Approx(2).epsilon(0.01));
    g.add(1e6, 0);
    CHECK(g.tasks() == 1);
    // So a node with few tasks, which are work for long, has more to do than it can in the unit of time.
    Look l = look(0, 20, 19, 200e-6);
    CHECK(classify(l.rest, l.capacity()) == Class::light);
    l.grows = 30;
    CHECK(classify(l.rest, l.capacity()) == Class::heavy);
}
