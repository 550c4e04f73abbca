// SPDX-License-Identifier: MIT
//
// How ranks find out that all tasks are done, whatever order their letters come in.
#include "policy/nblb/ending.h"

#include <catch2/catch.hpp>

#include <deque>
#include <random>
#include <vector>

using namespace ws::policy::nblb;

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
