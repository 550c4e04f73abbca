// SPDX-License-Identifier: MIT
//
// tasks SEED ROUNDS: random trees of ws::task_group's tasks, in the ways in which groups are used; each task counts
// itself, and each count must be 1 when its group has been waited for. Rank 0 has most of the work.
#include "../../mpi/programs/test.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>
#include <workshare/ws.hpp>

namespace {

constexpr size_t most = 20000;
std::vector<std::atomic<unsigned>> ran(most);
std::atomic<size_t> put{0}, by_others{0};
pid_t owner;
double unit;

// A task's own number; counted when it runs.
size_t number() { return put++; }
void count(size_t n)
{
    ran[n]++;
    if (gettid() != owner)
        by_others++;
    if (unit > 0)
        busy(unit);
}

// Each task waits for its own.
void tree(uint64_t random, int depth)
{
    ws::task_group tasks;
    const auto children = random_below(&random, 4);
    for (uint64_t i = 0; depth && i < children && put < most - 1; i++) {
        const uint64_t seed = random = random * 6364136223846793005u + 1442695040888963407u;
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
    put = 0;
    for (auto& n : ran)
        n = 0;
    switch (random_below(&random, 7)) {
    case 0: tree(random, 7); break;
    case 1: {
        ws::task_group all;
        for (int i = 0; i < 3; i++)
            flat_tree(all, random + uint64_t(i), 8);
        all.wait();
        CHECK(std::all_of(ran.begin(), ran.begin() + long(put), [](auto& n) { return n == 1; }));
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
    CHECK(std::all_of(ran.begin(), ran.begin() + long(put), [](auto& n) { return n == 1; }));
    CHECK(std::all_of(ran.begin() + long(put), ran.end(), [](auto& n) { return n == 0; }));
}

} // namespace

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    owner = gettid();
    uint64_t random = argc > 1 ? uint64_t(atol(argv[1])) : 0;
    const long rounds = argc > 2 ? atol(argv[2]) : 100;
    random = (random + uint64_t(rank)) * 0x9E3779B97F4A7C15u;
    for (long r = 0; r < rounds; r++) {
        unit = random_below(&random, 3) ? 1e-6 * double(random_below(&random, 30)) : 0;
        if (rank == 0 || random_below(&random, 4) == 0)
            round(random += 0x9E3779B97F4A7C15u);
        if (r % 4 == 3)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("by others: %zu\n", by_others.load());
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
