// SPDX-License-Identifier: MIT
//
// What the programs about random trees of tasks share: each task has a number, and counts itself when it runs. Each
// count must be 1 when what waits for the tasks goes on. Rank 0 has most of the work.
#ifndef COUNTED_TASKS_H
#define COUNTED_TASKS_H

#include "test.h"

#include <algorithm>
#include <atomic>
#include <vector>

namespace {

constexpr size_t most = 20000;
std::vector<std::atomic<unsigned>> ran(most);
std::atomic<size_t> put{0}, by_others{0};
pid_t owner;
double unit; // seconds that a task takes

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
uint64_t next(uint64_t random) { return random * 6364136223846793005u + 1442695040888963407u; }

void count_from_0()
{
    put = 0;
    for (auto& n : ran)
        n = 0;
}
bool each_ran_once()
{
    return std::all_of(ran.begin(), ran.begin() + long(put), [](auto& n) { return n == 1; });
}
void check_counts()
{
    CHECK(each_ran_once());
    CHECK(std::all_of(ran.begin() + long(put), ran.end(), [](auto& n) { return n == 0; }));
}

// The program SEED ROUNDS: calls `round(random)` so often, and says how many tasks others have run.
template <class Round> void rounds(int argc, char** argv, Round&& round)
{
    uint64_t random = argc > 1 ? uint64_t(atol(argv[1])) : 0;
    const long number_of_rounds = argc > 2 ? atol(argv[2]) : 100;
    random = (random + uint64_t(rank)) * 0x9E3779B97F4A7C15u;
    for (long r = 0; r < number_of_rounds; r++) {
        unit = random_below(&random, 3) ? 1e-6 * double(random_below(&random, 30)) : 0;
        if (rank == 0 || random_below(&random, 4) == 0)
            round(random += 0x9E3779B97F4A7C15u);
        if (r % 4 == 3)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("by others: %zu\n", by_others.load());
}

} // namespace

#endif
