// SPDX-License-Identifier: MIT
//
// What one node tells, asks for and gives.
#include "policy/tasks/scheduler.h"
#include "states.h"

#include <catch2/catch.hpp>

using namespace ws::policy::tasks;

namespace {

// Returns the posted notes of a kind.
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
    // One more than the other: the node that runs that task last ends last.
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
