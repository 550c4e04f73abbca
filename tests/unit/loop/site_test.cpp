// SPDX-License-Identifier: MIT
#include "loop/open_region.h"
#include "loop/site.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>

namespace ws::loop {
// The runtime's are in region.cpp, which is not linked here; 1000 ticks are a microsecond.
static Slots slots;
static LoopHost only_host(slots);
__thread Participant self = participant_of(only_host);
}

using namespace ws::loop;
using namespace ws::observe;

namespace {

// A loop of 1000 iterations as its owner sees it. An iteration costs `alone` ticks while nobody helps.
struct Loop {
    ws_site site = {"a loop", WS_SITE_KINDS(WS_AUTO, WS_AUTO), {}};
    double alone = 100;
    double share = 0.5;  // of the iterations, taken by guests
    double shared = 55;  // wall ticks an iteration while guests help
    bool disturbed = false;
    Chain* chain = nullptr; // of the owner, while guests linger between its loops
    uint64_t published = 0, runs = 0;

    void run(uint64_t times)
    {
        for (uint64_t i = 0; i < times; i++, runs++) {
            Learned& l = learned(&site);
            if (!may_share(l)) {
                remember_cost(l, alone);
                remember_alone(l, alone);
                continue;
            }
            published++;
            remember_cost(l, alone);
            remember_shared(&site, 1000, uint64_t(1000 * share), uint64_t(1000 * shared), {}, disturbed, chain);
        }
    }
    double shared_part(uint64_t times)
    {
        uint64_t before = published;
        run(times);
        return double(published - before) / double(times);
    }
};

// Sites live as long as the process: the records of those that were shared lead to them.
Loop& new_loop()
{
    static Board* const made = make_board(2, 0);
    REQUIRE(made);
    host().board = made;
    static std::deque<Loop> loops;
    return loops.emplace_back();
}

} // namespace

TEST_CASE("a loop that gains from sharing is shared, but for a look at the other way now and then", "[site]")
{
    Loop& loop = new_loop();
    CHECK(loop.shared_part(10000) > 0.995);
    CHECK(learned(&loop.site).alone_ticks == 100);
}

TEST_CASE("a loop that gains nothing is shared less and less", "[site]")
{
    Loop& loop = new_loop();
    loop.shared = 101; // both wait for the same memory
    loop.run(1000);
    CHECK(loop.shared_part(100000) < 0.005);
}

TEST_CASE("a loop that begins to gain is shared again", "[site]")
{
    Loop& loop = new_loop();
    loop.shared = 120;
    loop.run(2000);
    loop.shared = 55;
    loop.run(20000); // longer than the longest pause
    CHECK(loop.shared_part(10000) > 0.99);
}

TEST_CASE("a loop whose iterations become dearer is not taken for one that gains nothing", "[site]")
{
    Loop& loop = new_loop();
    loop.run(1000);
    loop.alone = 1000;
    loop.shared = 550;
    CHECK(loop.shared_part(1000) > 0.9);
}

TEST_CASE("steals that are too small to pay the hand-over stop the sharing of a short loop", "[site]")
{
    Loop& loop = new_loop();
    loop.alone = 20; // 20 us
    loop.share = 0.05;
    loop.shared = 19.5;
    loop.run(100);
    CHECK(loop.shared_part(100000) < 0.01);
}

TEST_CASE("small steals from a long loop stop nothing", "[site]")
{
    Loop& loop = new_loop();
    loop.alone = 20000; // 20 ms
    loop.share = 0.02;
    loop.shared = 19700;
    CHECK(loop.shared_part(1000) == 1);
}

TEST_CASE("an owner that is slowed by its first guest is measured alone soon", "[site]")
{
    Loop& loop = new_loop();
    Learned& l = learned(&loop.site);
    auto two_regions = [&](double tilt) {
        for (int i = 0; i < 20; i++) // the last ones count most
            remember_tilt(&loop.site, tilt);
        for (int i = 0; i < 2; i++)
            remember_shared(&loop.site, 1000, 500, 100000, {100, 195, true}, false);
    };
    two_regions(1.7); // its iterations become more expensive anyway
    CHECK(may_share(l));
    two_regions(1);
    CHECK_FALSE(may_share(l));
    CHECK(may_share(l));
}

TEST_CASE("a long loop that slows its owner down by as much as its guest helps is not shared for a while", "[site]")
{
    Loop& loop = new_loop();
    for (int i = 0; i < 20; i++)
        remember_tilt(&loop.site, 1);
    const auto regions = [&](double after) {
        for (int i = 0; i < 4; i++)
            remember_shared(&loop.site, 1000, 500, 100000000, {100, after, true}, false); // 100 ms
        return may_share(learned(&loop.site));
    };
    CHECK(regions(110));
    CHECK_FALSE(regions(195));
    CHECK(learned(&loop.site).alone_ticks == 0); // without ever having been run alone
}

TEST_CASE("a loop that gains nothing and runs long is tried again soon, as a program has few such executions", "[site]")
{
    Loop& loop = new_loop();
    loop.alone = 100000; // 100 ms
    learned(&loop.site).alone_ticks = loop.alone;
    loop.shared = 101000;
    loop.run(4);
    CHECK(loop.shared_part(15) > 0.5);
    loop.shared = 55000; // it was bad luck
    loop.run(5);
    CHECK(loop.shared_part(10) == 1);
}

TEST_CASE("pauses of a loop that never gains grow, in time too", "[site]")
{
    Loop& loop = new_loop();
    loop.alone = 10000; // 10 ms
    learned(&loop.site).alone_ticks = loop.alone;
    loop.shared = 10100;
    loop.run(500);
    CHECK(loop.shared_part(1000) < 0.05);
}

namespace {

// A region without guests, then some with them, in which an iteration costs its threads so much. What is said at the
// last one.
double alone_then_helped(Loop& loop, double alone, double helped, bool disturbed = false)
{
    remember_alone(learned(&loop.site), alone);
    double said = 0;
    for (int i = 0; i < 5; i++) {
        loop.run(1);
        said = remember_helped(&loop.site, helped, {}, disturbed);
    }
    return said;
}

} // namespace

TEST_CASE("how much guests slow an iteration down is measured beside regions without guests", "[site]")
{
    Loop& loop = new_loop();
    loop.run(1);
    CHECK(remember_helped(&loop.site, 130, {}, false) == usual_slowdown); // nothing to compare with
    CHECK(alone_then_helped(loop, 100, 130) == usual_slowdown); // one alone tells nothing
    CHECK(alone_then_helped(loop, 100, 130) == Approx(1.3));
    loop.run(20); // the program goes on, and its iterations become more expensive
    CHECK(remember_helped(&loop.site, 260, {}, false) == Approx(1.3));
    CHECK(alone_then_helped(loop, 250, 260) == Approx(1.3));
    for (int i = 0; i < 3; i++)
        alone_then_helped(loop, 250, 260);
    CHECK(alone_then_helped(loop, 250, 260) < 1.1);
    for (int i = 0; i < 4; i++)
        alone_then_helped(loop, 250, 200);
    CHECK(remember_helped(&loop.site, 200, {}, false) == 1); // never below
}

TEST_CASE("a loop is measured alone twice soon, then seldom", "[site]")
{
    Loop& loop = new_loop();
    loop.run(62);
    CHECK(loop.published == 60);
    loop.run(500);
    CHECK(loop.published == 559);
}

TEST_CASE("guests that compute beside the owner for a part of a region slow that part only", "[site]")
{
    Loop& loop = new_loop();
    double said = 0;
    for (int alone = 0; alone < 4; alone++) {
        remember_alone(learned(&loop.site), 100);
        for (int i = 0; i < 5; i++) {
            loop.run(1);
            remember_helped(&loop.site, 300, {}, false, 0.2); // too little of it to tell
            said = remember_helped(&loop.site, 110, {}, false, 0.5);
        }
    }
    CHECK(said == Approx(1.2));
    CHECK(truly_won(&loop.site, 240, 1, 100, said) == Approx(100));
    CHECK(truly_won(&loop.site, 110, 0.5, 90, said) == Approx(10));
}

TEST_CASE("what was said to have been won while guests' cost was not known is put right later", "[site]")
{
    Loop& loop = new_loop();
    loop.run(1);
    double said = 0;
    const auto region = [&] {
        said += truly_won(&loop.site, 200, 1, 100, remember_helped(&loop.site, 130, {}, false));
    };
    for (int i = 0; i < 20; i++)
        region();
    CHECK(said == Approx(20 * (200 / usual_slowdown - 100)));
    for (int i = 0; i < 4; i++)
        alone_then_helped(loop, 100, 130);
    for (int i = 0; i < 5; i++) // nothing is taken back of what others may have made of it
        region();
    CHECK(said == Approx(20 * (200 / usual_slowdown - 100)));
    for (int i = 0; i < 75; i++)
        region();
    CHECK(said == Approx(100 * (200 / 1.3 - 100)));
}

TEST_CASE("regions that guests made longer are counted, too", "[site]")
{
    Loop& loop = new_loop();
    for (int i = 0; i < 4; i++)
        alone_then_helped(loop, 100, 125);
    CHECK(truly_won(&loop.site, 200, 1, 100, 1.25) == Approx(60));
    CHECK(truly_won(&loop.site, 100, 1, 110, 1.25) == 0); // 30 lost
    CHECK(truly_won(&loop.site, 200, 1, 100, 1.25) == Approx(30));
    CHECK(truly_won(&loop.site, 200, 1, 100, 1.25) == Approx(60));
}

TEST_CASE("a disturbed region does not change what is known of how much guests slow an iteration down", "[site]")
{
    Loop& loop = new_loop();
    for (int i = 0; i < 4; i++)
        alone_then_helped(loop, 100, 110);
    SECTION("where it was seen") { CHECK(alone_then_helped(loop, 100, 900, true) == Approx(1.1)); }
    SECTION("where it was not") { CHECK(alone_then_helped(loop, 100, 900) == Approx(1.1)); }
}

TEST_CASE("of a loop that never ran alone the owner's cost before its first guest tells how much guests slow it",
          "[site]")
{
    Loop& loop = new_loop();
    for (int i = 0; i < 20; i++)
        remember_tilt(&loop.site, 1);
    for (int i = 0; i < 3; i++) // published when it began: its atomic operations were real ones already
        CHECK(remember_helped(&loop.site, 999, {100, 150, false}, false) == usual_slowdown);
    CHECK(remember_helped(&loop.site, 999, {100, 150, true}, false) == usual_slowdown);
    CHECK(remember_helped(&loop.site, 999, {100, 150, true}, false) == Approx(1.5));
    CHECK(remember_helped(&loop.site, 999, {100, 900, true}, false) == Approx(1.5));
    for (int i = 0; i < 20; i++)
        remember_tilt(&loop.site, 2); // now the second half costs more, guests or not
    for (int i = 0; i < 9; i++)
        CHECK(remember_helped(&loop.site, 999, {100, 300, true}, false) == Approx(1.5));
}

TEST_CASE("a few executions too long to be measured alone begin alone, to tell what guests cost", "[site]")
{
    Loop& loop = new_loop();
    const double us = host().ticks_per_us;
    const auto begins = [&](double ms) { return double(begins_alone(learned(&loop.site), ms * 1000 * us)) / us; };
    CHECK(begins(8) == 0); // nothing is known of it
    record_of(&loop.site);
    CHECK(begins(8) == 0);
    for (int i = 0; i < 20; i++)
        remember_tilt(&loop.site, 2);
    CHECK(begins(8) == 0); // its begin is no measure of the rest
    for (int i = 0; i < 20; i++)
        remember_tilt(&loop.site, 1);
    CHECK(begins(4) == 0); // one of them is measured alone from begin to end
    CHECK(begins(8) == Approx(250));
    CHECK(begins(1000) == Approx(500));
    for (int i = 0; i < 4; i++)
        CHECK(begins(8) > 0);
    CHECK(begins(8) == 0);
}

TEST_CASE("what others have disturbed is no evidence", "[site]")
{
    Loop& loop = new_loop();
    loop.run(100); // measured alone, too
    loop.shared = 150;
    loop.disturbed = true;
    CHECK(loop.shared_part(1000) == 1);
    loop.disturbed = false;
    loop.run(10);
    CHECK(loop.shared_part(1000) < 0.5);
}

TEST_CASE("help that others' slices of time outweigh is not asked for again at once", "[site]")
{
    Loop& loop = new_loop();
    loop.run(100);
    loop.disturbed = true;
    loop.share = 0.4;
    loop.shared = 4100; // the owner came back 4 ms later and found 0.1 ms of work done
    loop.run(100);
    CHECK(loop.shared_part(20000) < 0.01);
    SECTION("but beside others, too, help that is worth it is")
    {
        loop.shared = 150;
        loop.run(10000);
        CHECK(loop.shared_part(10000) > 0.9);
    }
}

TEST_CASE("a loop of a chain that pays is shared though it is a little longer for it, alone it is not", "[site]")
{
    Loop &costly = new_loop(), &cheap = new_loop();
    costly.alone = 1000; // 1 ms
    costly.shared = 600;
    cheap.alone = 50; // 50 us
    cheap.shared = 55;
    Chain chain;
    const auto turns = [&](uint64_t times) {
        for (uint64_t i = 0; i < times; i++) {
            costly.run(1);
            cheap.run(1);
        }
    };
    SECTION("guests linger")
    {
        costly.chain = cheap.chain = &chain;
        turns(2000);
        CHECK(cheap.published > 1980);
        SECTION("until the chain pays no more")
        {
            costly.shared = 1010;
            turns(1000);
            CHECK(cheap.shared_part(10000) < 0.1);
        }
    }
    SECTION("guests come to each")
    {
        turns(2000);
        CHECK(cheap.published < 400);
    }
    CHECK(costly.published > 1300);
}

TEST_CASE("a loop of a chain that pays is not shared where guests make it much longer each time", "[site]")
{
    Loop &costly = new_loop(), &bound = new_loop();
    costly.alone = 1000;
    costly.shared = 550;
    bound.alone = 300; // 300 us
    bound.shared = 330; // both wait for the same memory
    Chain chain;
    costly.chain = bound.chain = &chain;
    const auto turns = [&](uint64_t times) {
        const uint64_t before = bound.published;
        for (uint64_t i = 0; i < times; i++) {
            costly.run(1);
            bound.run(1);
        }
        return double(bound.published - before) / double(times);
    };
    turns(1000);
    CHECK(turns(10000) < 0.1);
    CHECK(costly.published > 10950);
}

TEST_CASE("loops of a chain that wait for their data at each second execution only are shared", "[site]")
{
    Loop &costly = new_loop(), &bound = new_loop();
    costly.alone = 1000;
    costly.shared = 550;
    bound.alone = 100;
    Chain chain;
    costly.chain = bound.chain = &chain;
    for (uint64_t i = 0; i < 1000; i++) {
        costly.run(1);
        bound.shared = i % 2 ? 200 : 60;
        bound.run(1);
    }
    CHECK(bound.published > 990);
}

TEST_CASE("small steals stop no loop of a chain, as no core is handed over for them", "[site]")
{
    Chain chain;
    Loop& loop = new_loop();
    loop.alone = 20; // 20 us
    loop.share = 0.3; // 6 us
    loop.shared = 15;
    SECTION("guests linger")
    {
        loop.chain = &chain;
        CHECK(loop.shared_part(2000) > 0.99);
    }
    SECTION("guests come to each")
    {
        CHECK(loop.shared_part(20000) < 0.1);
    }
}

TEST_CASE("a chain whose loops all gain nothing is shared less and less", "[site]")
{
    Chain chain;
    Loop *loops[] = {&new_loop(), &new_loop(), &new_loop()};
    for (Loop* l : loops) {
        l->chain = &chain;
        l->alone = 20;
        l->shared = 20.2;
    }
    for (int i = 0; i < 20000; i++)
        for (Loop* l : loops)
            l->run(1);
    for (Loop* l : loops)
        CHECK(l->shared_part(10000) < 0.02);
}

TEST_CASE("a long loop is not run without help to find out what that costs", "[site]")
{
    Loop& loop = new_loop();
    loop.alone = 20000; // 20 ms
    loop.shared = 10500;
    CHECK(loop.shared_part(2000) == 1);
}

TEST_CASE("one region whose first half met cold caches does not change where guests begin", "[site]")
{
    Loop& loop = new_loop();
    Learned& l = learned(&loop.site);
    CHECK_FALSE(has_even_ends(l)); // nothing is known
    remember_tilt(&loop.site, 5.6, true);
    CHECK(tilt_of(l) == 5.6);
    remember_tilt(&loop.site, 0.9);
    CHECK(has_even_ends(l));
    for (int i = 0; i < 4; i++) {
        remember_tilt(&loop.site, 5.6, true); // better is known
        remember_tilt(&loop.site, 1);
    }
    remember_tilt(&loop.site, 5.6);
    remember_tilt(&loop.site, 5.6);
    CHECK(has_even_ends(l));
    CHECK(tilt_of(l) == 1);
    remember_tilt(&loop.site, 5.6); // it has changed
    CHECK_FALSE(has_even_ends(l));
    CHECK(tilt_of(l) == 5.6);
}

TEST_CASE("a loop a little uneven keeps the ends that guests have begun at", "[site]")
{
    Loop& loop = new_loop();
    Learned& l = learned(&loop.site);
    const auto measured = [&](double tilt) {
        for (int i = 0; i < 5; i++)
            remember_tilt(&loop.site, tilt);
        return has_even_ends(l);
    };
    for (const double a_little : {1.4, 0.7}) {
        CHECK_FALSE(measured(a_little));
        CHECK(measured(1));
        CHECK(measured(a_little));
        CHECK_FALSE(measured(a_little > 1 ? 1.7 : 0.6));
    }
}

TEST_CASE("a rise of an iteration's cost is believed at once, a fall by halves", "[site]")
{
    Loop& loop = new_loop();
    Learned& l = learned(&loop.site);
    remember_cost(l, 10);
    remember_cost(l, 50);
    CHECK(l.unit_ticks == 50);
    remember_cost(l, 10);
    CHECK(l.unit_ticks == 30);
}

TEST_CASE("what became of a loop stands on the board", "[site]")
{
    Loop &first = new_loop(), &second = new_loop();
    first.site.where = "first";
    second.site.where = "second";
    first.run(3);
    second.run(2);
    const LoopRow &a = row_of(&first.site), &b = row_of(&second.site);
    CHECK(a.name == std::string("first"));
    CHECK(b.name == std::string("second"));
    CHECK(a.executions_shared == 3);
    CHECK(a.executions_helped == 3);
    CHECK(a.shared_iterations == 3000);
    CHECK(b.executions_shared == 2);
}

TEST_CASE("a long name keeps its end, and too many loops share a row", "[site]")
{
    ws_site site = {};
    const std::string name = std::string(300, 'x') + ".c:12:main";
    site.where = name.c_str();
    const std::string kept = row_of(&site).name;
    CHECK(kept.size() == sizeof(LoopRow::name) - 1);
    CHECK(kept.substr(0, 4) == "...x");
    CHECK(kept.substr(kept.size() - 10) == ".c:12:main");
    static std::deque<ws_site> many(loop_rows + 5);
    for (ws_site& s : many) {
        s.where = "one of many";
        row_of(&s);
    }
    CHECK(row_of(&many.back()).name == std::string("(other loops)"));
    CHECK(&row_of(&many.back()) == &row_of(&many[loop_rows + 3]));
    CHECK(row_of(&many.front()).name == std::string("one of many"));
}
