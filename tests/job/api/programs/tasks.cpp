// SPDX-License-Identifier: MIT
//
// tasks SEED ROUNDS: random trees of ws::task_group's tasks, in the ways in which groups are used.
#include "../../mpi/programs/counted_tasks.h"

#include <array>
#include <functional>
#include <memory>
#include <workshare/ws.hpp>

namespace {

// Each task waits for its own.
void tree(uint64_t random, int depth)
{
    ws::task_group tasks;
    const auto children = random_below(&random, 4);
    for (uint64_t i = 0; depth && i < children && put < most - 1; i++) {
        const uint64_t seed = random = next(random);
        tasks.run([n = number(), seed, depth] {
            tree(seed, depth - 1);
            count(n);
        });
        if (i % 3 == 2)
            tasks.wait(); // and goes on putting
    }
} // the destructor waits

// Nobody waits but who made the group.
void flat_tree(ws::task_group& all, uint64_t random, int depth)
{
    for (uint64_t i = random_below(&random, 4); depth && i > 0 && put < most - 1; i--)
        all.run([&all, n = number(), seed = random + i, depth] {
            count(n);
            flat_tree(all, seed, depth - 1);
        });
}

void chain(long length)
{
    if (!length || put > most - 2)
        return;
    ws::task_group tasks;
    tasks.run([n = number(), length] {
        count(n);
        chain(length - 1);
    });
}

void round(uint64_t random)
{
    count_from_0();
    switch (random_below(&random, 7)) {
    case 0: tree(random, 7); break;
    case 1: {
        ws::task_group all;
        for (int i = 0; i < 3; i++)
            flat_tree(all, random + uint64_t(i), 8);
        all.wait();
        CHECK(each_ran_once());
        all.run([n = number()] { count(n); }); // it can be used again
        break;
    }
    case 2: chain(long(random_below(&random, 3000))); break;
    case 3: { // more than a deque has room for, with much to copy
        std::array<char, 1000> much;
        much.fill(7);
        ws::task_group tasks;
        for (int i = 0; i < 600; i++)
            tasks.run([n = number(), much] {
                CHECK(much[999] == 7);
                count(n);
            }, "much");
        break;
    }
    case 4: { // what can only be moved
        ws::task_group tasks;
        for (int i = 0; i < 100; i++)
            tasks.run([n = std::make_unique<size_t>(number())] { count(*n); });
        break;
    }
    case 5: { // two groups at once; loops in tasks and between them
        ws::task_group one, other;
        std::vector<unsigned> found(1000);
        for (int i = 0; i < 50; i++) {
            one.run([n = number(), &found, i] {
                ws::for_each(20 * i, 20 * i + 20, [&found](int k) { found[size_t(k)]++; });
                count(n);
            });
            other.run([n = number()] { count(n); });
        }
        long sum = ws::transform_reduce(0L, 100L, 0L, std::plus<long>(), [](long k) { return k; });
        CHECK(sum == 4950);
        other.wait();
        one.wait();
        CHECK(std::all_of(found.begin(), found.end(), [](unsigned n) { return n == 1; }));
        break;
    }
    default: { // one of a type with several places, and an alignment
        struct alignas(64) Counts {
            size_t n;
            void operator()() const
            {
                CHECK(reinterpret_cast<uintptr_t>(this) % 64 == 0);
                count(n);
            }
        };
        ws::task_group tasks;
        for (int i = 0; i < 50; i++) {
            tasks.run(Counts{number()});
            tasks.run(Counts{number()}, "another");
        }
    }
    }
    check_counts();
}

} // namespace

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    owner = gettid();
    rounds(argc, argv, round);
    // A group that nobody waits for: MPI_Finalize does.
    static ws::task_group* const left = new ws::task_group;
    static std::atomic<int> done{0};
    for (int i = 0; i < 100; i++)
        left->run([] {
            busy(1e-5);
            done++;
        });
    const int failed = end();
    return failed || done != 100;
}
