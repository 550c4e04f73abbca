// SPDX-License-Identifier: MIT
//
// Pools of tasks whose ranks this process plays, a thread each: every task runs once, wherever it goes; results and
// ends; tables that are full; a rank that dies. Guests are threads that run the loop of a pool beside its owner.
#include "played_pool.h"

#include "observe/board.h"
#include "failing_new.h"

#include <catch2/catch.hpp>
#include <cerrno>

using namespace played;

TEST_CASE("tasks of a pool with one rank run once, and give results", "[pool]")
{
    World world({0});
    world.run([&](int r) {
        Seen seen(100);
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind(
            [](ws_task* task) {
                uint64_t number;
                std::memcpy(&number, task->data, sizeof number);
                give_result(task, number);
                return counted(task);
            },
            sizeof(uint64_t), sum_up);
        uint64_t future = 0;
        ws_task_options wants = {};
        wants.future = &future;
        for (uint64_t i = 0; i < 99; i++)
            HOLDS(rank.put(kind, i) == 0);
        HOLDS(rank.put(kind, uint64_t(99), &wants) == 0);
        uint64_t total = 0;
        HOLDS(rank.pool->future(future, &total, sizeof total, nullptr, rank.error) == EINVAL); // it has not run
        HOLDS(rank.run() == 0);
        HOLDS(all_ran_once(seen));
        HOLDS(rank.pool->reduced(kind, &total, sizeof total, rank.error) == 0);
        HOLDS(total == 99 * 100 / 2);
        HOLDS(rank.pool->future(future, &total, sizeof total, nullptr, rank.error) == 0);
        HOLDS(total == 99);
        HOLDS(rank.pool->future(future, &total, sizeof total, nullptr, rank.error) == EINVAL); // it was asked
        HOLDS(rank.run() == 0); // with nothing to do
        HOLDS(rank.counts().run == 100);
    });
}

TEST_CASE("tasks move to ranks that have none, within a node and between nodes, and run once", "[pool]")
{
    for (const std::vector<int>& nodes :
         {std::vector<int>{0, 1}, std::vector<int>{0, 0, 1, 1}, std::vector<int>{0, 1, 2, 0, 1, 2}}) {
        World world(nodes);
        constexpr uint64_t tasks = 400;
        Seen seen(tasks);
        std::atomic<uint64_t> moved_in{0}, moved_out{0};
        const std::vector<bool> ended = world.run([&](int r) {
            Rank rank(world, r);
            rank.seen = &seen;
            const int kind = rank.add_kind(slow);
            for (uint64_t i = 0; r == 0 && i < tasks; i++)
                HOLDS(rank.put(kind, i) == 0);
            HOLDS(rank.run() == 0);
            moved_in += rank.counts().moved_in;
            moved_out += rank.counts().moved_out;
        });
        CHECK(ended == std::vector<bool>(nodes.size(), true));
        CHECK(all_ran_once(seen));
        CHECK(moved_in == moved_out);
        CHECK(moved_in > 0);
        CHECK(seen.ran_on[0] < int(tasks));
    }
}

TEST_CASE("tasks of a tree, large data and packed data arrive as they were; futures come back", "[pool]")
{
    World world({0, 1, 2});
    constexpr uint64_t roots = 30, leaves_each = 10;
    Seen seen(roots * (1 + leaves_each));
    static std::atomic<int> made, released;
    made = released = 0;
    // As far as a task of its own message, and one beside its letter.
    struct Large {
        uint64_t number;
        unsigned char bytes[20000];
    };
    const auto content = [](uint64_t number, size_t i) { return (unsigned char)(number * 31 + i); };
    std::atomic<uint64_t> moved{0};
    world.run([&](int r) {
        Rank rank(world, r);
        rank.seen = &seen;
        static int leaf; // the same on all ranks
        const int root = rank.add_kind(
            [](ws_task* task) {
                const auto& large = *static_cast<const Large*>(task->data);
                bool is_same = true;
                for (size_t i = 0; i < sizeof large.bytes; i++)
                    is_same = is_same && large.bytes[i] == (unsigned char)(large.number * 31 + i);
                give_result(task, is_same ? large.number : ~uint64_t(0));
                std::string error;
                for (uint64_t i = 0; i < leaves_each; i++) {
                    made++;
                    auto* const number = new uint64_t(roots + large.number * leaves_each + i);
                    HOLDS(Rank::of(task).pool->put(leaf, number, sizeof *number, nullptr, error) == 0);
                }
                return slow(task);
            },
            sizeof(uint64_t));
        ws_task_kind packed = {};
        packed.name = "packed";
        packed.run = slow;
        packed.context = &seen;
        packed.packed = [](const void*, size_t) { return sizeof(uint64_t); };
        packed.pack = [](const void* data, size_t, void* to) { std::memcpy(to, data, sizeof(uint64_t)); };
        packed.unpack = [](const void* from, size_t, size_t* bytes) -> void* {
            made++;
            *bytes = sizeof(uint64_t);
            auto* const number = new uint64_t;
            std::memcpy(number, from, sizeof *number);
            return number;
        };
        packed.release = [](void* data, size_t) {
            released++;
            delete static_cast<uint64_t*>(data);
        };
        HOLDS(rank.pool->add_kind(packed, leaf, rank.error) == 0);
        std::vector<uint64_t> futures(roots);
        auto large = std::make_unique<Large>();
        for (uint64_t n = 0; r == 0 && n < roots; n++) {
            large->number = n;
            for (size_t i = 0; i < sizeof large->bytes; i++)
                large->bytes[i] = content(n, i);
            ws_task_options wants = {};
            wants.future = &futures[n];
            HOLDS(rank.put(root, *large, &wants) == 0);
        }
        HOLDS(rank.run() == 0);
        moved += rank.counts().moved_in;
        for (uint64_t n = 0; r == 0 && n < roots; n++) {
            uint64_t result = 0;
            HOLDS(rank.pool->future(futures[n], &result, sizeof result, nullptr, rank.error) == 0);
            HOLDS(result == n);
        }
    });
    CHECK(all_ran_once(seen));
    CHECK(moved > 0);
    CHECK(made == released);
}

TEST_CASE("ranks whose kinds differ are told so, and run nothing", "[pool]")
{
    World world({0, 1, 2});
    Seen seen(3);
    world.run([&](int r) {
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind(counted, r == 1 ? 8 : 0);
        HOLDS(rank.put(kind, uint64_t(r)) == 0);
        HOLDS(rank.run() == EINVAL);
        HOLDS(rank.error.find("rank 1 differ") != std::string::npos);
    });
    CHECK(seen.runs[0] + seen.runs[1] + seen.runs[2] == 0);
}

TEST_CASE("a task that fails fails the run on all ranks; the others run, and so does the next run", "[pool]")
{
    World world({0, 1});
    Seen seen(20);
    world.run([&](int r) {
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind([](ws_task* task) {
            counted(task);
            return *static_cast<const uint64_t*>(task->data) == 7 ? 42 : 0;
        });
        for (uint64_t i = 0; r == 1 && i < 10; i++)
            HOLDS(rank.put(kind, i) == 0);
        HOLDS(rank.run() == ECANCELED);
        HOLDS(rank.error.find("failed with 42") != std::string::npos);
        for (uint64_t i = 10; r == 0 && i < 20; i++)
            HOLDS(rank.put(kind, i) == 0);
        rank.error.clear();
        HOLDS(rank.run() == 0);
    });
    CHECK(all_ran_once(seen));
}

TEST_CASE("guests take tasks of the queue and of each other's hands", "[pool]")
{
    World world({0});
    constexpr uint64_t roots = 50, each = 100;
    Seen seen(roots * (1 + each));
    std::atomic<int> threads{0};
    static std::atomic<int>* counter;
    counter = &threads;
    guests = 3;
    world.run([&](int r) {
        Rank rank(world, r, true);
        rank.seen = &seen;
        const int kind = rank.add_kind([](ws_task* task) {
            static thread_local bool counts = (++*counter, true);
            const uint64_t number = *static_cast<const uint64_t*>(task->data);
            std::string error;
            for (uint64_t i = 0; number < roots && i < each; i++) {
                const uint64_t child = roots + number * each + i;
                HOLDS(Rank::of(task).pool->put(task->kind, &child, sizeof child, nullptr, error) == 0);
            }
            // The first tasks are long enough for guests to come.
            std::this_thread::sleep_for(std::chrono::microseconds(number < roots ? 500 : 5));
            return counts ? counted(task) : 1;
        });
        for (uint64_t i = 0; i < roots; i++)
            HOLDS(rank.put(kind, i) == 0);
        HOLDS(rank.run() == 0);
        HOLDS(rank.counts().run == seen.runs.size());
    });
    guests = 0;
    CHECK(all_ran_once(seen));
    CHECK(threads > 1);
}

TEST_CASE("full tables: kinds, and hands of more threads than there are", "[pool]")
{
    World world({0});
    world.run([&](int r) {
        Rank rank(world, r, true);
        constexpr uint64_t tasks = 1100; // each waits until nearly all hands are taken
        constexpr int most_hands = 1024;
        Seen seen(tasks);
        rank.seen = &seen;
        static std::mutex lock;
        static std::condition_variable changed;
        static int at_work;
        at_work = 0;
        const int kind = rank.add_kind([](ws_task* task) {
            std::unique_lock<std::mutex> hold(lock);
            if (at_work == 0) { // run by the owner alone, who learns that they are long
                hold.unlock();
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                hold.lock();
                at_work++;
                return counted(task);
            }
            if (++at_work == most_hands)
                changed.notify_all();
            changed.wait_for(hold, std::chrono::seconds(60), [] { return at_work >= most_hands; });
            return counted(task);
        });
        for (uint64_t i = 0; i < tasks; i++)
            HOLDS(rank.put(kind, i) == 0);
        guests = 1050;
        HOLDS(rank.run() == 0);
        guests = 0;
        HOLDS(all_ran_once(seen));
        HOLDS(at_work >= most_hands);

        ws_task_kind another = {};
        another.name = "another";
        another.run = counted;
        int number = 0, failed = 0;
        while (!(failed = rank.pool->add_kind(another, number, rank.error)))
            ;
        HOLDS(failed == ENOSPC);
        HOLDS(number == 65534);
    });
}

TEST_CASE("when a rank dies no other comes to a false end, and no task runs twice", "[pool]")
{
    bool died = false, ended = false;
    for (int looks : {1, 2, 3, 5, 8, 12, 20, 40, 80, 1000000}) {
        World world({0, 1, 2});
        constexpr uint64_t tasks = 60;
        auto* const seen = new Seen(tasks); // what the dead rank holds is never freed
        looks_to_live[2] = looks;
        const std::vector<bool> came = world.run([&](int r) {
            auto* const rank = new Rank(world, r);
            rank->seen = seen;
            const int kind = rank->add_kind(slow);
            for (uint64_t i = 0; r == 0 && i < tasks; i++)
                HOLDS(rank->put(kind, i) == 0);
            HOLDS(rank->run() == 0);
        });
        looks_to_live[2] = 0;
        uint64_t done = 0;
        for (const auto& runs : seen->runs) {
            CHECK(runs <= 1);
            done += unsigned(runs);
        }
        INFO(looks << " looks at letters, " << done << " tasks done");
        const bool has_died = !came[2];
        // A rank that says that the run is over has heard of all tasks.
        CHECK((has_died || done == tasks));
        CHECK((done == tasks || (!came[0] && !came[1])));
        died |= has_died;
        ended |= !has_died;
    }
    CHECK(died);
    CHECK(ended);
}

// ---- the n-th allocation fails

TEST_CASE("a put for which there is no memory has put nothing, whichever allocation fails", "[pool]")
{
    World world({0});
    unsigned refused = 0;
    world.run([&](int r) {
        constexpr uint64_t tasks = 300;
        Seen seen(tasks);
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind(counted, sizeof(uint64_t));
        std::vector<uint64_t> futures;
        futures.reserve(tasks);
        for (uint64_t i = 0; i < tasks; i++) {
            uint64_t future = 0;
            ws_task_options wants = {};
            wants.future = i % 3 ? nullptr : &future;
            wants.priority = int(i % 5);
            int failed = ENOMEM;
            for (long n = 1; failed; n++) { // until it asks for fewer
                allocations_left = n;
                failed = rank.put(kind, i, &wants);
                allocations_left = -1;
                refused += failed == ENOMEM;
                HOLDS(!failed || failed == ENOMEM);
                HOLDS(!failed || future == 0);
                HOLDS(!failed || rank.counts().put == i);
            }
            if (future)
                futures.push_back(future);
        }
        HOLDS(rank.run() == 0);
        HOLDS(all_ran_once(seen));
        for (const uint64_t future : futures) {
            uint64_t result;
            HOLDS(rank.pool->future(future, &result, sizeof result, nullptr, rank.error) == 0);
        }
        HOLDS(futures.size() == tasks / 3);
    });
    CHECK(refused > 10);
}

TEST_CASE("a kind for which there is no memory is not registered", "[pool]")
{
    World world({0});
    world.run([&](int r) {
        Rank rank(world, r);
        ws_task_kind kind = {};
        kind.name = "a name that is too long to lie in the string itself";
        kind.run = counted;
        kind.result = 1000;
        kind.combine = sum_up;
        unsigned refused = 0;
        for (int expected = 0; expected < 20; expected++) {
            int number = -1;
            for (long n = 1; number < 0; n++) {
                allocations_left = n;
                try {
                    HOLDS(rank.pool->add_kind(kind, number, rank.error) == 0);
                } catch (const std::bad_alloc&) {
                    refused++;
                }
                allocations_left = -1;
            }
            HOLDS(number == expected);
        }
        HOLDS(refused >= 40);
        HOLDS(rank.run() == 0);
    });
}

TEST_CASE("a rank without memory in a run ends the job: no false end, and no task runs twice", "[pool]")
{
    unsigned ended = 0, n = 0;
    for (bool refused = true; refused && n < 2000; n += 1 + n / 10) {
        World world({0, 1});
        constexpr uint64_t tasks = 40;
        auto* const seen = new Seen(tasks);
        const std::vector<bool> came = world.run([&](int r) {
            auto* const rank = new Rank(world, r); // a rank that ends in the middle frees nothing
            rank->seen = seen;
            const int kind = rank->add_kind(slow);
            for (uint64_t i = 0; r == 0 && i < tasks; i++)
                HOLDS(rank->put(kind, i) == 0);
            struct Limit {
                explicit Limit(long n) { allocations_left = n; }
                ~Limit() { allocations_left = -1; }
            };
            {
                const Limit limit(r == 1 ? long(n) + 1 : -1);
                HOLDS(rank->run() == 0);
            }
        });
        refused = !came[1];
        ended += refused;
        uint64_t done = 0;
        for (const auto& runs : seen->runs) {
            CHECK(runs <= 1);
            done += unsigned(runs);
        }
        CHECK((done == tasks || (!came[0] && !came[1])));
        CHECK((refused || done == tasks));
    }
    CHECK(ended > 5);
    CHECK(n < 2000); // then it asks for no more
}
