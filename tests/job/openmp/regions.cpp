// SPDX-License-Identifier: MIT
//
// What C++ has in parallel regions beyond regions.c: exceptions, iterators, classes in clauses, reductions of one's
// own.
#include "frame.h"

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// As many are destroyed as were made, and none is used after that.
std::atomic<int> alive;
struct Counted {
    int value;
    explicit Counted(int value = 0) : value(value) { alive++; }
    Counted(const Counted& other) : value(other.value) { alive++; }
    Counted& operator=(const Counted& other) = default;
    ~Counted()
    {
        value = -1;
        alive--;
    }
};

int exceptions()
{
    int caught = 0;
#pragma omp parallel for reduction(+ : caught) schedule(dynamic, 3)
    for (int i = 0; i < iterations; i++) {
        try {
            work(i);
            if (i % 3 == 0)
                throw std::runtime_error(std::to_string(i));
        } catch (const std::exception& e) {
            caught += e.what() == std::to_string(i);
        }
    }
    return caught == iterations / 3;
}

int iterators()
{
    std::vector<int> numbers(iterations);
    std::iota(numbers.begin(), numbers.end(), 0);
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (auto at = numbers.begin(); at < numbers.end(); ++at) {
        work(*at);
        sum += *at;
    }
    return sum == sum_to(iterations);
}

int classes()
{
    int sum = 0;
    {
        Counted first(7), last;
#pragma omp parallel for firstprivate(first) lastprivate(last) reduction(+ : sum)
        for (int i = 0; i < iterations; i++) {
            work(i);
            sum += i * (first.value == 7);
            last = Counted(i);
        }
        sum += last.value != iterations - 1;
    }
    return sum == sum_to(iterations) && alive == 0;
}

#pragma omp declare reduction(join : std::vector<int> : omp_out.insert(omp_out.end(), omp_in.begin(), omp_in.end()))

int own_reduction()
{
    std::vector<int> all;
#pragma omp parallel for reduction(join : all) schedule(guided)
    for (int i = 0; i < iterations; i++) {
        work(i);
        all.push_back(i);
    }
    return int(all.size()) == iterations && std::accumulate(all.begin(), all.end(), 0) == sum_to(iterations);
}

template <class F> void for_each(size_t n, F f)
{
#pragma omp parallel
    {
        std::vector<int> scratch(100, omp_get_thread_num());
#pragma omp for
        for (size_t i = 0; i < n; i++)
            f(i, scratch);
    }
}
int templates()
{
    std::atomic<int> wrong{0};
    for_each(iterations, [&](size_t i, const std::vector<int>& scratch) {
        work(int(i));
        for (int number : scratch)
            wrong += number != omp_get_thread_num();
    });
    return wrong == 0;
}

struct Grid {
    std::vector<double> cells = std::vector<double>(iterations, 1);
    void smooth()
    {
        std::vector<double> next(cells.size());
#pragma omp parallel
        {
#pragma omp for
            for (int i = 0; i < iterations; i++) {
                work(i);
                next[i] = cells[i] + cells[(i + 1) % iterations];
            }
#pragma omp single
            cells.swap(next);
#pragma omp for schedule(dynamic)
            for (int i = 0; i < iterations; i++)
                next[i] = cells[i] * cells[(i + 7) % iterations];
        }
        cells.swap(next);
    }
};
int members()
{
    Grid grid;
    grid.smooth();
    for (double cell : grid.cells)
        if (cell != 4)
            return 0;
    return 1;
}

const kind kinds[] = {
    {"exceptions", exceptions, iterations}, {"iterators", iterators, iterations},
    {"classes", classes, iterations},       {"own_reduction", own_reduction, iterations},
    {"templates", templates, iterations},   {"members", members, iterations},
};

} // namespace

int main(int argc, char** argv) { return run_kinds(argc, argv, kinds, sizeof kinds / sizeof *kinds); }
