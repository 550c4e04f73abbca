// SPDX-License-Identifier: MIT
//
// tasks SEED ROUNDS: random trees of tasks of directives, in the ways in which they can be put and waited for. tasks
// throw: an exception leaves a task. tasks first: how often the first of two large tasks ran on another thread.
#include "counted_tasks.h"

#include <stdexcept>

namespace {

bool full() { return put > most - 10; }

// Each task waits for its own.
long tree(uint64_t random, int depth)
{
    long sizes[4] = {};
    const auto children = random_below(&random, 4);
    for (uint64_t i = 0; depth && i < children && !full(); i++) {
        const size_t n = number();
        const uint64_t seed = random = next(random);
#pragma ws task shared(sizes) if(seed % 5) final(depth == 2 && seed % 3 == 0) name("tree")
        {
            sizes[i] = 1 + tree(seed, depth - 1);
            count(n);
        }
        if (i == 2) { // and goes on putting
#pragma ws taskwait
            CHECK(sizes[0] && sizes[1] && sizes[2]);
        }
    }
#pragma ws taskwait
    return sizes[0] + sizes[1] + sizes[2] + sizes[3];
}

// Nobody waits but the group: parents end before their children.
void flat_tree(uint64_t random, int depth)
{
    for (uint64_t i = random_below(&random, 4); depth && i > 0 && !full(); i--) {
        const size_t n = number();
        const uint64_t seed = random + i;
#pragma ws task
        {
            flat_tree(seed, depth - 1);
            count(n);
        }
    }
}

// A task in each task, deeper than there is room for on a stack if waits take more than their own.
void chain(long length)
{
    if (!length || full())
        return;
    const size_t n = number();
#pragma ws task
    {
        count(n);
        chain(length - 1);
    }
#pragma ws taskwait
}

// Rows and columns of a table, each cell after those above it and to its left; and the same twice.
void wavefront(int n)
{
    std::vector<int> cells(size_t(n * n));
    int* const cell = cells.data();
    std::atomic<int> wrong{0};
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const size_t me = number();
                int* const here = cell + i * n + j;
                int* const above = i ? here - n : here;
                int* const left = j ? here - 1 : here;
#pragma ws task depend(in : above[0], left[0]) depend(inout : here[0]) shared(wrong) if((i + j) % 5)
                {
                    // The second time tells, too, as a cell is written only after those that read it.
                    wrong += *here != twice || (i && *above != twice + 1) || (j && *left != twice + 1);
                    count(me);
                    ++*here;
                }
            }
#pragma ws taskwait
    CHECK(wrong == 0);
    CHECK(std::all_of(cells.begin(), cells.end(), [](int c) { return c == 2; }));
}

// More tasks that wait for one than there is room for.
void fan(int n)
{
    int x = 0, out = 0;
    const size_t first = number();
#pragma ws task depend(out : x) shared(x)
    {
        count(first);
        x = 1;
    }
    for (int i = 0; i < n; i++) {
        const size_t me = number();
#pragma ws task depend(in : x) shared(x, out)
        {
            count(me);
#pragma ws atomic
            out += x;
        }
    }
    const size_t last = number();
#pragma ws task depend(inout : x) shared(x, out)
    {
        count(last);
        x = out;
    }
#pragma ws taskwait
    CHECK(x == n);
}

void reduced(uint64_t random)
{
    const long n = long(random % 500), grain = 1 + long(random % 7);
    long sum = 0, all = 0;
    double highest = -1;
    const size_t me = number();
#pragma ws taskgroup task_reduction(+ : sum)
    {
#pragma ws taskloop reduction(+ : all) reduction(max : highest) in_reduction(+ : sum) grainsize(grain)
        for (long i = 0; i < n; i++) {
            sum += i;
            all++;
            highest = highest > double(i) ? highest : double(i);
            if (unit > 0 && i % 16 == 0)
                busy(unit);
        }
#pragma ws task in_reduction(+ : sum)
        {
            sum += 1000;
            count(me);
        }
    }
    CHECK(sum == n * (n - 1) / 2 + 1000 && all == n && highest == double(n - 1));
}

void round(uint64_t random)
{
    count_from_0();
    switch (random_below(&random, 8)) {
    case 0: CHECK(tree(random, 7) == long(put)); break;
    case 1:
#pragma ws taskgroup
    {
        flat_tree(random, 8);
#pragma ws taskgroup
        flat_tree(random + 1, 6);
        flat_tree(random + 2, 8);
    } break;
    case 2: chain(long(random_below(&random, 3000))); break;
    case 3: wavefront(4 + int(random % 30)); break;
    case 4: fan(int(random % 6000)); break;
    case 5: reduced(random); break;
    case 6: { // more than a deque has room for, with much to copy
        struct {
            char at[1000];
        } much;
        memset(much.at, 7, sizeof much.at);
        for (int i = 0; i < 600; i++) {
            const size_t n = number();
#pragma ws task firstprivate(much) shared(failures)
            {
                CHECK(much.at[999] == 7);
                count(n);
            }
        }
#pragma ws taskwait
        break;
    }
    default: { // loops in tasks, tasks in loops and criticals
        long total = 0, inner = 0;
        for (int i = 0; i < 30; i++) {
            const size_t n = number();
#pragma ws task shared(total)
            {
#pragma ws for reduction(+ : inner)
                for (int k = 0; k < 20; k++)
                    inner++;
#pragma ws critical(tasks)
                total += inner;
                count(n);
            }
        }
#pragma ws taskwait
        CHECK(total == 600);
#pragma ws for reduction(+ : inner)
        for (int i = 0; i < 100; i++) {
            long found = 0;
            const size_t n = number();
#pragma ws task shared(found)
            {
                found = i;
                count(n);
            }
#pragma ws taskwait
            inner += found;
        }
        CHECK(inner == 4950);
    }
    }
    check_counts();
}

} // namespace

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    owner = gettid();
    if (argc > 1 && !strcmp(argv[1], "throw")) {
        if (rank == 0)
            for (int i = 0; i < 1000; i++) {
#pragma ws task
                {
                    busy(1e-4);
                    if (i == 999)
                        throw std::runtime_error("the reason");
                }
            }
#pragma ws taskwait
        return end();
    }
    if (argc > 1 && !strcmp(argv[1], "first")) {
        int by_others_first = 0;
        for (int i = 0; rank == 0 && i < 40; i++) {
#pragma ws task shared(by_others_first)
            {
                busy(5e-3);
                if (gettid() != owner)
                    by_others_first++;
            }
#pragma ws task
            busy(5e-3);
#pragma ws taskwait
        }
        if (rank == 0)
            printf("first by others: %d\n", by_others_first);
        return end();
    }
    rounds(argc, argv, round);
    // Tasks that nobody waits for: MPI_Finalize does.
    static std::atomic<int> done{0};
    for (int i = 0; i < 100; i++) {
#pragma ws task
        {
            busy(1e-5);
            done++;
        }
    }
    const int failed = end();
    return failed || done != 100;
}
