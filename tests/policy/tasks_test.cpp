// SPDX-License-Identifier: MIT
//
// Tasks that move between nodes: each rule of the algorithm, and machines whose nodes run the code of the runtime.
#include "policy/nblb/balancer.h"
#include "policy/nblb/ending.h"
#include "policy/nblb/predict.h"
#include "policy/nblb/scheduler.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <deque>
#include <random>

using namespace ws::policy::nblb;

namespace {

State state(Class cls, double rest, double capacity = 10, double cores = 1, int node = 0)
{
    return {cls, rest, rest, 0, 0, 0, capacity, cores, 1e9, node, node, {}, {}};
}

Look look(double now_s, double rest, double waiting, double mean_s = 1e-3)
{
    Look l;
    l.now_s = now_s;
    l.rest = rest;
    l.waiting = waiting;
    l.mean_s = mean_s;
    l.unit_s = 9e-3; // so C is 10
    l.room = 1e9;
    return l;
}

} // namespace

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
    // Of the same kind what took 2 ms there took 1 ms here: 1.5 ms on average of as many.
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
    for (const Pace::Kind& k : p.kinds)
        least = std::min(least, k.mean_s);
    CHECK(least == Approx(1e-3 * (2 * Pace::most + 1)));
    p.add({3 * Pace::most - 1, 0, 10}); // as many that took nothing
    for (const Pace::Kind& k : p.kinds)
        if (k.kind == 3 * Pace::most - 1)
            CHECK((k.tasks == 20 && k.mean_s == Approx(0.5e-3 * 3 * Pace::most)));
    const Pace::Kind k = unpacked(packed({65535, 3.5e-4f, 1e6f}));
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

// ---- pairs

TEST_CASE("heavy gives to light so that both get level", "[tasks]")
{
    Scheduler s(2, 1, 0);
    s.tell(0, state(Class::heavy, 100));
    CHECK(s.pair().empty()); // the other has not told its state
    s.tell(1, state(Class::light, 4));
    const std::vector<Order> orders = s.pair();
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].from == 0);
    CHECK(orders[0].to == 1);
    CHECK(orders[0].tasks == 48);
    CHECK(s.pair().empty()); // until the light one tells its state again
}

TEST_CASE("normal neither gives nor takes", "[tasks]")
{
    Scheduler s(3, 1, 0);
    s.tell(0, state(Class::heavy, 100));
    s.tell(1, state(Class::normal, 10));
    s.tell(2, state(Class::normal, 9));
    CHECK(s.pair().empty());
}

TEST_CASE("a node that was heavy does not become light by giving", "[tasks]")
{
    Scheduler s(5, 1, 0);
    s.tell(0, state(Class::heavy, 12));
    for (int n = 1; n < 5; n++)
        s.tell(n, state(Class::light, 0));
    double given = 0;
    for (const Order& o : s.pair())
        given += o.tasks;
    CHECK(given == 3);
    CHECK(classify(12 - given, 10) != Class::light);
}

TEST_CASE("each gets what all have on average, or what makes it normal", "[tasks]")
{
    Scheduler s(4, 1, 0);
    s.tell(0, state(Class::heavy, 1000));
    s.tell(1, state(Class::light, 0)); // the others are reckoned with before they have told anything
    std::vector<Order> orders = s.pair();
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].tasks == 250);
    s.tell(2, state(Class::light, 0, 40, 4));
    orders = s.pair();
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].tasks == 500); // four of eight cores
}

TEST_CASE("of nodes whose speeds are known each gets by its own", "[tasks]")
{
    Scheduler s(3, 1, 0);
    State heavy = state(Class::heavy, 900), fast = state(Class::light, 0), slow = state(Class::light, 0);
    heavy.pace.add({0, 1e-3f, 1000});
    fast.pace.add({0, 0.5e-3f, 1000});
    slow.pace.add({0, 2e-3f, 1000});
    for (State* t : {&heavy, &fast, &slow})
        t->all = t->pace;
    s.tell(0, heavy);
    s.tell(1, fast);
    s.tell(2, slow);
    double got[3] = {};
    for (const Order& o : s.pair())
        got[o.to] += o.tasks;
    CHECK(got[1] == Approx(900 * 2 / 3.5).epsilon(0.03));
    CHECK(got[2] == Approx(900 * 0.5 / 3.5).epsilon(0.03));
    for (State* t : {&heavy, &fast, &slow})
        for (Pace* p : {&t->pace, &t->all})
            p->kinds[0].mean_s = t == &heavy ? 1e-3f : t == &fast ? 0.95e-3f : 1.05e-3f;
    s.begin(false);
    s.tell(1, fast);
    s.tell(2, slow);
    s.tell(0, heavy);
    for (const Order& o : s.pair())
        CHECK(o.tasks == 300);
}

TEST_CASE("tasks that cannot be shared evenly leave no node with more than one too many", "[tasks]")
{
    Scheduler s(6, 1, 0);
    s.tell(0, state(Class::heavy, 200));
    for (int n = 1; n < 6; n++)
        s.tell(n, state(Class::light, 0));
    double given = 0;
    for (const Order& o : s.pair()) {
        CHECK((o.tasks == 33 || o.tasks == 34));
        given += o.tasks;
    }
    CHECK((given == 166 || given == 167)); // and not 34, 34, 34, 34, 30
}

TEST_CASE("nodes beyond the horizon are no pair", "[tasks]")
{
    Scheduler near(4, 1, 2), all(4, 1, 0);
    for (Scheduler* s : {&near, &all}) {
        s->tell(0, state(Class::heavy, 100));
        s->tell(3, state(Class::light, 0));
    }
    CHECK(near.pair().empty());
    CHECK(all.pair().size() == 1);
}

TEST_CASE("what is not to be had is ordered from somebody else", "[tasks]")
{
    Scheduler s(3, 1, 0);
    s.tell(0, state(Class::heavy, 100));
    s.tell(1, state(Class::heavy, 90));
    s.tell(2, state(Class::light, 0));
    const std::vector<Order> first = s.pair();
    REQUIRE(first.size() == 1);
    CHECK(first[0].from == 0);
    s.tell(0, state(Class::normal, 100)); // all of it is pinned
    s.short_of(2, first[0].tasks);
    const std::vector<Order> second = s.pair();
    REQUIRE(second.size() == 1);
    CHECK(second[0].from == 1);
}

TEST_CASE("what members have done since they told their state is reckoned with", "[tasks]")
{
    Scheduler s(2, 1, 0);
    State busy = state(Class::heavy, 100);
    busy.rate = 1024;
    s.advance(1);
    s.tell(0, busy);
    s.advance(1.0625);
    s.tell(1, state(Class::light, 0));
    const std::vector<Order> orders = s.pair();
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].tasks == 18); // of 36
}

TEST_CASE("tasks on their way are counted, whatever their nodes tell meanwhile", "[tasks]")
{
    Scheduler s(3, 1, 0);
    s.tell(0, state(Class::heavy, 90));
    s.tell(1, state(Class::light, 4));
    s.tell(2, state(Class::normal, 10));
    std::vector<Order> orders = s.pair();
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].tasks == 31); // 104 for three; whole tasks
    s.tell(1, state(Class::light, 0)); // told before they came
    s.tell(0, state(Class::heavy, 90)); // and before they went
    CHECK(s.pair().empty());
    State came = state(Class::light, 5);
    came.came = 31;
    s.tell(1, came); // it was quick
    orders = s.pair();
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].tasks <= (90 - 31) / 2);
    s.begin(false); // what was under way when a run ended never comes, and nobody has anything
    CHECK(s.pair().empty());
    s.tell(0, state(Class::heavy, 90));
    CHECK(s.pair().size() == 2);
    s.begin(true);
    s.tell(0, state(Class::heavy, 90));
    CHECK(!s.knows_all());
    CHECK(s.pair().empty()); // before the others have told anything
}

TEST_CASE("no more is ordered from a node than may move", "[tasks]")
{
    Scheduler s(2, 1, 0);
    State moved = state(Class::heavy, 100);
    moved.movable = 7;
    s.tell(0, moved);
    s.tell(1, state(Class::light, 0));
    const std::vector<Order> orders = s.pair();
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].tasks == 7);
}

TEST_CASE("what another group offers goes to those who lack it, up to the same for all", "[tasks]")
{
    Scheduler s(4, 1, 0), near(4, 1, 2);
    for (Scheduler* g : {&s, &near}) {
        g->tell(0, state(Class::normal, 10));
        g->tell(1, state(Class::light, 2));
        g->tell(2, state(Class::light, 0, 40, 4));
        g->tell(3, state(Class::light, 1));
    }
    double got[4] = {};
    for (const Order& o : s.take(64, -1))
        got[o.to] += o.tasks;
    CHECK((got[0] == 0 && got[1] == 9 && got[2] == 44 && got[3] == 10)); // 77 on seven cores
    for (const Order& o : near.take(64, -1)) // member 3 is too far away
        CHECK(o.to < 2);
}

// ---- a balancer

namespace {

// Of all notes that were posted, those of a kind.
int count(const Actions& a, Note::What what)
{
    int n = 0;
    for (const auto& l : a.letters)
        n += l.note.what == what;
    return n;
}

} // namespace

TEST_CASE("a node tells only changes of its state", "[tasks]")
{
    const auto b = make_central(1, 2, Rules());
    Actions a;
    b->look(look(0, 0, 0), a);
    CHECK(count(a, Note::state) == 1);
    for (int i = 1; i < 9; i++)
        b->look(look(i, i, i - 1), a);
    CHECK(count(a, Note::state) == 1); // light all the time
    b->look(look(10, 11, 10), a);
    CHECK(count(a, Note::state) == 2); // normal
    b->look(look(11, 20, 19), a);
    CHECK(count(a, Note::state) == 3); // heavy
    b->look(look(11.01, 12, 11), a); // ten are done, at 1 ms each, as others reckon
    CHECK(count(a, Note::state) == 3);
    b->look(look(12, 21, 20), a); // not so
    CHECK(count(a, Note::state) == 4);
    // At a border it waits for a unit of time; but not with much that it has just got.
    b->look(look(13, 0, 0), a);
    CHECK(count(a, Note::state) == 5);
    b->look(look(13.001, 10, 9), a);
    CHECK(count(a, Note::state) == 5);
    b->look(look(13.002, 100, 99), a);
    CHECK(count(a, Note::state) == 6);
}

TEST_CASE("a heavy node whose tasks cannot be moved does not call itself heavy", "[tasks]")
{
    const auto b = make_central(1, 2, Rules());
    Actions a;
    b->look(look(0, 100, 0), a);
    REQUIRE(count(a, Note::state) == 1);
    CHECK(a.letters[0].note.cls == Class::normal);
}

TEST_CASE("no more goes than levels both, whatever the scheduler knows", "[tasks]")
{
    const auto b = make_central(1, 2, Rules());
    Actions a;
    b->look(look(0, 200, 199), a); // what the scheduler knows
    Note order = note_of(Note::order, 0, look(0, 0, 0));
    order.tasks = 100;
    b->note(0, order, look(1, 120, 119), a);
    REQUIRE(a.gifts.size() == 1);
    CHECK(a.gifts[0].tasks == 60);
    b->gave(a.gifts[0], 60, look(1, 60, 59), a);
    REQUIRE(count(a, Note::short_of) == 1); // the others do not come
    CHECK(a.letters.back().note.tasks == 40);
    const int told = count(a, Note::state);
    b->look(look(1.1, 60, 59), a);
    CHECK(count(a, Note::state) == told + 1); // it knows now
    // One more than the other: whoever runs that task last ends last.
    Actions none;
    order.rest = 39;
    b->note(0, order, look(1.2, 40, 39), none);
    CHECK(none.gifts.empty());
    CHECK(count(none, Note::short_of) == 1);
    REQUIRE(count(none, Note::state) == 1);
    CHECK(none.letters[0].note.cls == Class::normal);
}

TEST_CASE("a giver compares its own speed with the receiver's by what all nodes told", "[tasks]")
{
    const auto scheduler = make_central(0, 2, Rules()), giver = make_central(1, 2, Rules());
    Look light = look(0, 0, 0), heavy = look(0, 200, 199);
    light.pace.add({3, 4e-3f, 50});
    light.pace.add({4, 9e-3f, 50}); // nobody else has had these
    heavy.pace.add({3, 1e-3f, 150});
    Actions told, ordered;
    giver->look(heavy, told);
    REQUIRE(count(told, Note::state) == 1);
    scheduler->look(light, ordered);
    scheduler->note(1, told.letters[0].note, light, ordered);
    REQUIRE(count(ordered, Note::order) == 1);
    Actions gifts;
    giver->note(0, ordered.letters.back().note, heavy, gifts);
    REQUIRE(gifts.gifts.size() == 1);
    const Gift& g = gifts.gifts[0];
    const double mean = (50 * 4e-3 + 150 * 1e-3) / 200;
    CHECK(g.speed == Approx(mean / 1e-3));
    CHECK(g.to.speed == Approx((50 * mean + 50 * 9e-3) / (50 * 4e-3 + 50 * 9e-3)));
}

TEST_CASE("a scheduler looks for letters soon until it knows all, a giver until what it offered is ordered", "[tasks]")
{
    Rules rules;
    const auto b = make_central(0, 100, rules); // ten in a group
    Actions a;
    const Look heavy = look(0, 1000, 999), light = look(0, 0, 0);
    b->look(heavy, a);
    CHECK(b->expects(0));
    CHECK(!b->expects(2 * rules.patience_s)); // who has not answered by then is at work, too
    const auto tell = [&](int node, bool of_group) {
        Note n = note_of(Note::state, node, light);
        n.cls = Class::light;
        n.of_group = of_group;
        n.cores = of_group ? 10 : 1;
        b->note(node, n, heavy, a);
    };
    for (int n = 1; n < 10; n++)
        tell(n, false);
    for (int g = 1; g < 9; g++)
        tell(10 * g, true);
    CHECK(b->expects(0));
    const int offers = count(a, Note::offer);
    CHECK(offers > 0);
    tell(90, true);
    CHECK(b->expects(0)); // the orders for what it has offered
    Actions gifts;
    for (const auto& l : a.letters)
        if (l.note.what == Note::offer) {
            Note order = note_of(Note::order, l.node, light);
            order.tasks = l.note.tasks;
            b->note(l.node, order, heavy, gifts);
        }
    CHECK(gifts.gifts.size() == size_t(count(a, Note::offer)));
    CHECK(!b->expects(0));
}

TEST_CASE("pauses grow while gifts do not pay", "[tasks]")
{
    const auto b = make_central(1, 2, Rules());
    double now = 0, last = 0;
    for (int turn = 0; turn < 4; turn++) {
        Actions a;
        now += 1;
        b->look(look(now, 100, 99), a);
        REQUIRE(count(a, Note::state) == 1);
        CHECK(a.letters.back().note.cls == Class::heavy);
        b->gave({0, 0, 90, 1e9, {0, 1, 1}, false}, 90, look(now, 10, 9), a);
        b->look(look(now + 1e-3, 1, 0), a); // it lacks what it gave
        CHECK(a.letters.back().note.cls == Class::light);
        // from here on it does not call itself heavy for a while
        double quiet = 0;
        for (double t = now + 12e-3; a.letters.back().note.cls != Class::heavy; t += 0.5e-3) {
            b->look(look(t, 100, 99), a);
            quiet = t - now - 1e-3;
        }
        CHECK(quiet > last - 1e-9);
        CHECK(quiet >= 1e-3 * (1 << turn) - 1e-9);
        last = quiet;
        now += quiet;
        b->look(look(now + 0.2, 10, 9), a);
    }
}

// ---- the end

namespace {

// Ranks with tasks that move and make tasks, and letters of which any may be the next, but for those of one sender.
struct Endings {
    struct Rank {
        Ending ending;
        Counts counts;
        int tasks = 0;
        bool holds = false, over = false;
    };
    struct Letter {
        int from, to;
        Ending::Say say; // nothing: a task
        Counts sum;
    };
    std::vector<Rank> all;
    std::deque<Letter> letters;
    std::mt19937 random;
    bool differ = false;

    Endings(int ranks, bool each, unsigned seed) : random(seed)
    {
        for (int r = 0; r < ranks; r++) {
            all.push_back({Ending(r, ranks, each), {}});
            all.back().counts.least_kinds = all.back().counts.greatest_kinds = 7;
        }
    }

    void to_children(int who, Ending::Say say)
    {
        const Ending& e = all[size_t(who)].ending;
        for (int c = 0; c < e.children(); c++)
            letters.push_back({who, e.child(c), say, {}});
    }

    void read(size_t i)
    {
        const Letter l = letters[i];
        for (size_t before = 0; before < i; before++) // the first of its sender and receiver comes first
            if (letters[before].from == l.from && letters[before].to == l.to)
                return read(before);
        letters.erase(letters.begin() + long(i));
        Rank& r = all[size_t(l.to)];
        if (l.say == Ending::Say::ask)
            r.ending.ask();
        else if (l.say == Ending::Say::answer)
            r.ending.answer(l.from, l.sum);
        else if (l.say == Ending::Say::begin) {
            r.holds = false;
            to_children(l.to, l.say);
        } else {
            r.tasks++;
            r.counts.received_by(l.to);
        }
    }

    void move(int from)
    {
        const int to = int(random() % all.size());
        all[size_t(from)].tasks--;
        all[size_t(from)].counts.sent_to(to);
        letters.push_back({from, to, Ending::Say::nothing, {}});
    }

    void rest(int who)
    {
        Rank& r = all[size_t(who)];
        Counts own = r.counts;
        own.holding = r.holds;
        const Ending::Do d = r.ending.idle(own);
        if (d.say == Ending::Say::answer)
            letters.push_back({who, r.ending.parent(), d.say, d.sum});
        else if (d.say == Ending::Say::ask || d.say == Ending::Say::begin) {
            to_children(who, d.say);
            r.holds = r.holds && d.say != Ending::Say::begin;
        } else if (d.say == Ending::Say::end)
            differ = d.sum.kinds_differ();
    }
};

} // namespace

TEST_CASE("the end is found when all tasks are done, and not before", "[tasks]")
{
    std::mt19937 random(1);
    for (int round = 0; round < 4000; round++) {
        const int ranks = round % 50 == 0 ? 40 : 1 + int(random() % 9);
        Endings job(ranks, round % 2 == 0, random());
        const bool hold = random() % 2;
        for (Endings::Rank& r : job.all) {
            r.tasks = int(random() % 3);
            r.holds = hold;
        }
        int put_more = 40;
        for (int step = 0; step < 100000 && !job.all[0].ending.ended(); step++) {
            if (random() % 2 && !job.letters.empty()) {
                job.read(random() % job.letters.size());
                continue;
            }
            const int who = int(random() % unsigned(ranks));
            Endings::Rank& r = job.all[size_t(who)];
            if (r.tasks == 0 || r.holds)
                job.rest(who);
            else if (random() % 3 == 0)
                job.move(who);
            else {
                r.tasks--;
                for (unsigned i = random() % 3; i-- && put_more > 0; put_more--)
                    r.tasks++;
            }
        }
        REQUIRE(job.all[0].ending.ended());
        REQUIRE(!job.differ);
        for (const Endings::Rank& r : job.all)
            REQUIRE((r.tasks == 0 && !r.holds));
        for (const Endings::Letter& l : job.letters)
            REQUIRE(l.say != Ending::Say::nothing);
    }
}

TEST_CASE("after the last task has ended one letter goes up and one down", "[tasks]")
{
    Endings job(10, true, 1);
    for (int r = 1; r < 10; r++)
        job.rest(r);
    for (int i = 0; i < 9; i++) { // a task for each
        job.all[0].counts.sent_to(i + 1);
        job.letters.push_back({0, i + 1, Ending::Say::nothing, {}});
    }
    while (!job.letters.empty())
        job.read(0);
    job.rest(0);
    CHECK(!job.all[0].ending.ended());
    for (int r = 1; r < 10; r++) {
        job.all[size_t(r)].tasks = 0;
        job.rest(r);
        job.rest(r); // what it has told it does not tell again
    }
    CHECK(job.letters.size() == 9);
    while (!job.letters.empty())
        job.read(0);
    job.rest(0);
    CHECK(job.all[0].ending.ended());
}

TEST_CASE("nobody begins with kinds that others do not have, and what all know is run first", "[tasks]")
{
    for (const bool each : {true, false})
        for (const int other : {0, 3, 4}) {
            Endings job(5, each, 1);
            for (Endings::Rank& r : job.all)
                r.tasks = 1;
            // `other` has one kind more; or else all have new ones, and rank 4 another than the rest.
            for (int r = 0; r < 5; r++)
                job.all[size_t(r)].holds = other == 4 || r == other;
            job.all[size_t(other)].counts.least_kinds = job.all[size_t(other)].counts.greatest_kinds = 8;
            for (int step = 0; step < 100000 && !job.all[0].ending.ended(); step++) {
                if (job.random() % 2 && !job.letters.empty())
                    job.read(0);
                const int who = int(job.random() % 5);
                Endings::Rank& r = job.all[size_t(who)];
                if (r.tasks == 0 || r.holds)
                    job.rest(who);
                else
                    r.tasks--;
            }
            REQUIRE(job.all[0].ending.ended());
            CHECK(job.differ);
            for (const Endings::Rank& r : job.all)
                CHECK(r.tasks == int(r.holds));
        }
}

// ---- whole machines

namespace {

// Nodes of one core with tasks of one length, and letters that arrive in the next turn. Returns the turns until all
// tasks are done, in the last of `runs`; `most_moves`: of a task; `slow`: so many turns every other node needs for one.
// Letters that are under way when a run ends are lost.
int turns(Algorithm algorithm, int nodes, int tasks, int& most_moves, double& letters, int slow = 1, int runs = 1)
{
    struct Node {
        std::unique_ptr<Balancer> balancer;
        std::deque<int> queue; // moves of each
        float ran = 0;
    };
    struct Letter {
        int to, from;
        Note note;
        std::deque<int> tasks;
    };
    std::vector<Node> all;
    for (int n = 0; n < nodes; n++)
        all.push_back({make_balancer(algorithm, n, nodes, Rules()), {}});
    std::vector<Letter> now, next;
    most_moves = 0;
    letters = 0;
    double time = 0;
    int left = 0, turn = 0;
    const auto own = [&](int n) {
        const double rest = double(all[size_t(n)].queue.size());
        double movable = 0;
        for (const int moves : all[size_t(n)].queue)
            movable += unsigned(moves) < all[size_t(n)].balancer->most_moves();
        Look l = look(time, rest, movable - (movable == rest && rest > 0), n % 2 ? 1e-3 * slow : 1e-3);
        l.unit_s = 4e-3;
        l.pace.add({0, float(l.mean_s), all[size_t(n)].ran});
        return l;
    };
    const auto act = [&](int n, Actions& a) {
        Node& node = all[size_t(n)];
        for (size_t i = 0; i < a.gifts.size(); i++) {
            const Gift g = a.gifts[i];
            Letter l = {g.node, n, {}, {}};
            std::deque<int> kept;
            for (; !node.queue.empty(); node.queue.pop_front())
                if (double(l.tasks.size()) < g.tasks && node.queue.size() + kept.size() > 1 &&
                    unsigned(node.queue.front()) < node.balancer->most_moves()) {
                    l.tasks.push_back(node.queue.front() + 1);
                    most_moves = std::max(most_moves, l.tasks.back());
                } else
                    kept.push_back(node.queue.front());
            node.queue = kept;
            const double given = double(l.tasks.size());
            if (given > 0)
                next.push_back(l);
            node.balancer->gave(g, given, own(n), a);
        }
        for (const auto& l : a.letters)
            next.push_back({l.node, n, l.note, {}});
    };
    const auto begin = [&] {
        for (Node& n : all)
            n.balancer->begin();
        all[0].queue.assign(size_t(tasks), 0);
        left = tasks;
        now.clear();
        next.clear();
        letters = turn = 0;
        return true;
    };
    for (bool more = begin(); more && turn < 10 * tasks; more = left > 0 || (--runs > 0 && begin())) {
        turn++;
        time += 1e-3;
        letters += double(now.size());
        for (const Letter& l : now) {
            Actions a;
            Node& node = all[size_t(l.to)];
            if (l.tasks.empty())
                node.balancer->note(l.from, l.note, own(l.to), a);
            else {
                node.queue.insert(node.queue.end(), l.tasks.begin(), l.tasks.end());
                node.balancer->arrived(l.from, double(l.tasks.size()), own(l.to), a);
            }
            act(l.to, a);
        }
        for (int n = 0; n < nodes; n++) {
            if (!all[size_t(n)].queue.empty() && (n % 2 == 0 || turn % slow == 0)) {
                all[size_t(n)].queue.pop_back();
                all[size_t(n)].ran++;
                left--;
            }
            Actions a;
            if (all[size_t(n)].balancer)
                all[size_t(n)].balancer->look(own(n), a);
            act(n, a);
        }
        now.swap(next);
        next.clear();
    }
    return turn;
}

} // namespace

TEST_CASE("a hot node is levelled with few letters, and no task moves more than twice", "[tasks]")
{
    for (const int nodes : {2, 10, 63, 64, 150}) {
        int moves;
        double letters;
        const int each = 50, took = turns(Algorithm::central, nodes, each * nodes, moves, letters);
        INFO(nodes << " nodes: " << took << " turns, " << letters << " letters, " << moves << " moves");
        CHECK(took <= each + 14);
        CHECK(moves <= 2);
        CHECK(letters / (each * nodes) < 0.5);
    }
}

TEST_CASE("nodes of unequal speed are level, too, however many they are", "[tasks]")
{
    for (const int nodes : {10, 64, 150, 1000}) {
        int moves;
        double letters;
        const int each = 50, took = turns(Algorithm::central, nodes, each * nodes, moves, letters, 4);
        const double possible = each / (0.5 * (1 + 1 / 4.0));
        INFO(nodes << " nodes: " << took << " turns of " << possible << ", " << letters << " letters");
        CHECK(took <= 1.25 * possible);
        CHECK(moves <= 2);
    }
}

TEST_CASE("in the next run nodes get by the speeds that are known, whatever was told when the last one ended",
          "[tasks]")
{
    for (const int slow : {1, 4})
        for (const int nodes : {10, 64, 150}) {
            int moves;
            double letters;
            const int each = 50;
            const double possible = each / (0.5 * (1 + 1.0 / slow));
            for (const int runs : {2, 3}) {
                const int took = turns(Algorithm::central, nodes, each * nodes, moves, letters, slow, runs);
                INFO(nodes << " nodes, run " << runs << ": " << took << " turns of " << possible << ", " << letters
                           << " letters");
                CHECK(took <= 1.1 * possible + 10);
            }
        }
}

TEST_CASE("the rivals finish, too", "[tasks]")
{
    for (const Algorithm algorithm : {Algorithm::neighbours, Algorithm::random, Algorithm::lifeline})
        for (const int runs : {1, 2}) {
            int moves;
            double letters;
            const int took = turns(algorithm, 16, 800, moves, letters, 1, runs);
            INFO(int(algorithm) << ": " << took << " turns, " << letters << " letters, " << moves << " moves");
            CHECK(took < 150);
        }
}
