// SPDX-License-Identifier: MIT
//
// An unmodified MPI+OpenMP program in C++: rank 0 has four times the work, its threads sleep for it. In each region
// objects are made and destroyed, exceptions are thrown and caught, a class is reduced, tasks run, and one thread opens
// a region of two threads. Threads but the first need a stack of 10 MB, if there is an argument.
#include <mpi.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int iterations = 480, turns = 50;

struct Sum {
    long long count = 0, of = 0;
    Sum& operator+=(const Sum& other)
    {
        count += other.count;
        of += other.of;
        return *this;
    }
};
#pragma omp declare reduction(+ : Sum : omp_out += omp_in)

std::atomic<int> alive{0};
struct Guard {
    Guard() { alive++; }
    ~Guard() { alive--; }
};

void fail(int rank, const std::string& what)
{
    std::printf("rank %d: %s\n", rank, what.c_str());
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

__attribute__((noinline)) void deep()
{
    volatile char data[10 << 20];
    data[0] = data[sizeof data - 1] = 1;
}

template <class Sleep> int region(int rank, bool is_deep, Sleep&& sleep)
{
    std::vector<std::unique_ptr<int>> made(iterations);
    Sum sum;
    std::atomic<int> caught{0}, tasks{0};
    int threads = 0, nested = 0;
#pragma omp parallel reduction(+ : sum)
    {
        const Guard guard;
        if (is_deep && omp_get_thread_num() > 0)
            deep();
#pragma omp single
        {
            threads = omp_get_num_threads();
#pragma omp parallel num_threads(2) reduction(+ : nested)
            nested++;
            for (int t = 0; t < 8; t++) {
#pragma omp task
                tasks++;
            }
        }
#pragma omp for schedule(dynamic, 8)
        for (int i = 0; i < iterations; i++) {
            try {
                if (made[size_t(i)])
                    throw std::logic_error("twice");
                made[size_t(i)] = std::make_unique<int>(i);
                if (i % 48 == 0)
                    throw i;
            } catch (int) {
                caught++;
            }
            sum += Sum{1, i};
        }
        sleep(omp_get_num_threads());
    }
    if (alive != 0 || caught != iterations / 48 || tasks != 8)
        fail(rank, "objects that live, exceptions or tasks: " + std::to_string(alive) + " " + std::to_string(caught) +
                       " " + std::to_string(tasks));
    if (nested != 2)
        fail(rank, "a region within a region has threads: " + std::to_string(nested));
    const long long wanted = std::accumulate(made.begin(), made.end(), 0LL,
                                             [](long long n, const std::unique_ptr<int>& i) { return n + *i; });
    if (sum.count != iterations || sum.of != wanted)
        fail(rank, "the reduction is wrong");
    return threads;
}

} // namespace

int main(int argc, char** argv)
{
    int rank = 0, least = 1 << 30, most = 0, last = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    omp_set_max_active_levels(2);
    const auto work = std::chrono::microseconds(rank == 0 ? 160000 : 40000);
    for (int turn = 0; turn < turns; turn++) {
        last = region(rank, argc > 1, [&](int threads) { std::this_thread::sleep_for(work / threads); });
        least = std::min(least, last);
        most = std::max(most, last);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    std::printf("rank %d told %d least %d most %d last %d\n", rank, omp_get_max_threads(), least, most, last);
    MPI_Finalize();
}
