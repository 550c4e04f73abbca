// SPDX-License-Identifier: MIT
//
// How ranks find out that all tasks are done, whatever order their letters come in.
#include "policy/tasks/ending.h"

#include <catch2/catch.hpp>

#include <deque>
#include <random>
#include <vector>

using namespace ws::policy::tasks;

namespace {

// Ranks with tasks that move and make tasks, and letters of which any may be the next, but for those of one sender.
struct Endings {
    struct Rank {
        Ending ending;
        Counts counts;
        int tasks = 0, extra = 0; // extra: of a thread that is no task, and what comes of them
        bool holds = false, over = false;
    };
    struct Letter {
        int from, to;
        Ending::Say say; // nothing: a task
        Counts sum;
        bool is_extra = false, of_woken = false;
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
            (l.is_extra ? r.extra : r.tasks)++;
            r.counts.received_by(l.to);
            r.counts.woken |= l.of_woken;
        }
    }

    void move(int from, bool is_extra = false) { move_to(int(random() % all.size()), from, is_extra); }

    void move_to(int to, int from, bool is_extra = false)
    {
        Rank& r = all[size_t(from)];
        (is_extra ? r.extra : r.tasks)--;
        r.counts.sent_to(to);
        letters.push_back({from, to, Ending::Say::nothing, {}, is_extra, bool(r.counts.woken)});
    }

    void put_extra(int who)
    {
        Rank& r = all[size_t(who)];
        r.counts.woken |= !r.tasks && !r.extra;
        r.extra++;
    }

    // Returns how many tasks have been put but have not run yet, over all runs.
    int left() const
    {
        int n = 0;
        for (const Rank& r : all)
            n += r.tasks + r.extra;
        for (const Letter& l : letters)
            n += l.say == Ending::Say::nothing;
        return n;
    }

    // Reports of the old one are of no use; tasks that are under way come in the next one.
    void begin_run(bool each)
    {
        std::deque<Letter> tasks;
        for (Letter& l : letters)
            if (l.say == Ending::Say::nothing) {
                l.is_extra = l.of_woken = false;
                tasks.push_back(l);
            }
        letters.swap(tasks);
        for (size_t i = 0; i < all.size(); i++) {
            all[i].ending = Ending(int(i), int(all.size()), each);
            all[i].counts.woken = 0;
            all[i].tasks += all[i].extra;
            all[i].extra = 0;
        }
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

TEST_CASE("a run ends when all tasks are done but those of threads, and the next one has these", "[tasks]")
{
    std::mt19937 random(2);
    int kept_for_next = 0, put = 0;
    for (int round = 0; round < 4000; round++) {
        const int ranks = round % 50 == 0 ? 40 : 1 + int(random() % 6);
        const bool each = round % 3 != 0;
        const unsigned slow = round % 2 ? 12 : 2; // letters: the slower, the more of them are under way at once
        Endings job(ranks, each, random());
        for (int run = 0; run < 3; run++) {
            for (Endings::Rank& r : job.all)
                r.tasks += int(random() % 2);
            int put_more = 10, moves = 60, threads_put = run < 2 ? 12 : 0; // in the last run none
            for (int step = 0; step < 100000 && !job.all[0].ending.ended(); step++) {
                if (random() % slow == 0 && !job.letters.empty()) {
                    job.read(random() % job.letters.size());
                    continue;
                }
                const int who = int(random() % unsigned(ranks));
                Endings::Rank& r = job.all[size_t(who)];
                if (random() % 8 == 0 && threads_put > 0) {
                    job.put_extra(who);
                    threads_put--;
                    put++;
                } else if (r.tasks + r.extra == 0)
                    job.rest(who);
                else if (const bool is_extra = r.extra && (!r.tasks || random() % 2); random() % 2 && moves > 0) {
                    moves--;
                    job.move(who, is_extra);
                } else {
                    int& n = is_extra ? r.extra : r.tasks;
                    n--;
                    for (unsigned i = random() % 3; i-- && put_more > 0; put_more--)
                        n++;
                }
            }
            REQUIRE(job.all[0].ending.ended());
            for (const Endings::Rank& r : job.all)
                REQUIRE(r.tasks == 0);
            for (const Endings::Letter& l : job.letters)
                REQUIRE((l.say != Ending::Say::nothing || l.is_extra));
            kept_for_next += job.left();
            if (run == 2)
                REQUIRE(job.left() == 0);
            job.begin_run(each);
        }
    }
    CHECK(kept_for_next > 100);
    CHECK(kept_for_next < put / 2);
}

TEST_CASE("what a woken rank has sent does not hide a task that is under way", "[tasks]")
{
    Endings job(3, true, 1);
    job.all[0].tasks = 1;
    job.move_to(1, 0); // is under way for long
    job.rest(2);       // reports that it has nothing to do,
    job.read(1);
    job.put_extra(2);  // but a thread puts a task there, which moves, too,
    job.move_to(1, 2, true);
    job.all[1].counts.received_by(1); // comes first, and runs
    job.all[1].counts.woken |= job.letters.back().of_woken;
    job.letters.pop_back();
    job.rest(1); // As many were sent to rank 1 as it has received, by the last reports.
    job.read(1);
    job.rest(0);
    REQUIRE(!job.all[0].ending.ended());
    for (int step = 0; step < 1000 && !job.all[0].ending.ended(); step++) {
        if (!job.letters.empty())
            job.read(job.random() % job.letters.size());
        const int who = int(job.random() % 3);
        job.all[size_t(who)].tasks = 0;
        job.rest(who);
    }
    REQUIRE(job.all[0].ending.ended());
    CHECK(job.left() == 0);
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
            // `other` has one kind more; otherwise all have new ones, and rank 4 another than the rest.
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
