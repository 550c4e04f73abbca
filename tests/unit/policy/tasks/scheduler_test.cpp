// SPDX-License-Identifier: MIT
//
// Which nodes a scheduling process brings together, and what it reckons with.
#include "policy/tasks/scheduler.h"
#include "states.h"

#include <catch2/catch.hpp>

using namespace ws::policy::tasks;

TEST_CASE("heavy gives to light so that both get level", "[tasks]")
{
    Scheduler s(2, 1, 0);
    s.tell(0, state(Class::heavy, 100));
    CHECK(s.pair().empty()); // the other has not told its state
    s.tell(1, state(Class::light, 4));
    const std::vector<TransferOrder> orders = s.pair();
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
    for (const TransferOrder& o : s.pair())
        given += o.tasks;
    CHECK(given == 3);
    CHECK(classify(12 - given, 10) != Class::light);
}

TEST_CASE("each gets what all have on average, or what makes it normal", "[tasks]")
{
    Scheduler s(4, 1, 0);
    s.tell(0, state(Class::heavy, 1000));
    s.tell(1, state(Class::light, 0)); // the others are reckoned with before they have told anything
    std::vector<TransferOrder> orders = s.pair();
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
    MemberState heavy = state(Class::heavy, 900), fast = state(Class::light, 0), slow = state(Class::light, 0);
    heavy.pace.add({0, 1e-3f, 1000});
    fast.pace.add({0, 0.5e-3f, 1000});
    slow.pace.add({0, 2e-3f, 1000});
    for (MemberState* t : {&heavy, &fast, &slow})
        t->all = t->pace;
    s.tell(0, heavy);
    s.tell(1, fast);
    s.tell(2, slow);
    double got[3] = {};
    for (const TransferOrder& o : s.pair())
        got[o.to] += o.tasks;
    CHECK(got[1] == Approx(900 * 2 / 3.5).epsilon(0.03));
    CHECK(got[2] == Approx(900 * 0.5 / 3.5).epsilon(0.03));
    for (MemberState* t : {&heavy, &fast, &slow})
        for (Pace* p : {&t->pace, &t->all})
            p->kinds[0].mean_s = t == &heavy ? 1e-3f : t == &fast ? 0.95e-3f : 1.05e-3f;
    s.begin(false);
    s.tell(1, fast);
    s.tell(2, slow);
    s.tell(0, heavy);
    for (const TransferOrder& o : s.pair())
        CHECK(o.tasks == 300);
}

TEST_CASE("tasks that cannot be shared evenly leave no node with more than one too many", "[tasks]")
{
    Scheduler s(6, 1, 0);
    s.tell(0, state(Class::heavy, 200));
    for (int n = 1; n < 6; n++)
        s.tell(n, state(Class::light, 0));
    double given = 0;
    for (const TransferOrder& o : s.pair()) {
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
    const std::vector<TransferOrder> first = s.pair();
    REQUIRE(first.size() == 1);
    CHECK(first[0].from == 0);
    s.tell(0, state(Class::normal, 100)); // all of it is pinned
    s.short_of(2, first[0].tasks);
    const std::vector<TransferOrder> second = s.pair();
    REQUIRE(second.size() == 1);
    CHECK(second[0].from == 1);
}

TEST_CASE("what members have done since they told their state is reckoned with", "[tasks]")
{
    Scheduler s(2, 1, 0);
    MemberState busy = state(Class::heavy, 100);
    busy.rate = 1024;
    s.advance(1);
    s.tell(0, busy);
    s.advance(1.0625);
    s.tell(1, state(Class::light, 0));
    const std::vector<TransferOrder> orders = s.pair();
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].tasks == 18); // of 36
}

TEST_CASE("tasks on their way are counted, whatever their nodes tell meanwhile", "[tasks]")
{
    Scheduler s(3, 1, 0);
    s.tell(0, state(Class::heavy, 90));
    s.tell(1, state(Class::light, 4));
    s.tell(2, state(Class::normal, 10));
    std::vector<TransferOrder> orders = s.pair();
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].tasks == 31); // 104 for three; whole tasks
    s.tell(1, state(Class::light, 0)); // told before they came
    s.tell(0, state(Class::heavy, 90)); // and before they went
    CHECK(s.pair().empty());
    MemberState came = state(Class::light, 5);
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
    MemberState moved = state(Class::heavy, 100);
    moved.movable = 7;
    s.tell(0, moved);
    s.tell(1, state(Class::light, 0));
    const std::vector<TransferOrder> orders = s.pair();
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
    for (const TransferOrder& o : s.take(64, -1))
        got[o.to] += o.tasks;
    CHECK((got[0] == 0 && got[1] == 9 && got[2] == 44 && got[3] == 10)); // 77 on seven cores
    for (const TransferOrder& o : near.take(64, -1)) // member 3 is too far away
        CHECK(o.to < 2);
}
