// SPDX-License-Identifier: MIT
// OpenMP's loops that use the number of threads, for -fws=openmp: they stay OpenMP. Those that only stand in code which
// does are shared.
#include "../accept/check.h"

#include <omp.h>

#include <algorithm>
#include <vector>

namespace {

constexpr int N = 200;

int how_many = 1;       // set in another function
int unrelated = 1;

struct Setup {
    int threads = 1, size = N;
};

struct Solver {
    explicit Solver(int n) : count(n), threads_(omp_get_max_threads()) {}
    long sum()
    {
        std::vector<long> parts(N);
#pragma omp parallel for // stays OpenMP: depends on the number of threads ('{anonymous}::Solver::threads_')
        for (int i = 0; i < count; i++)
            parts[i] = threads_ > 0 ? i : -i;
        long total = 0;
#pragma omp parallel for reduction(+ : total) // shared
        for (int i = 0; i < count; i++)
            total += parts[i];
        return total;
    }
    int count;

private:
    const int threads_;
};

const long sum_to_n = long(N) * (N - 1) / 2;

void set_up(Setup &setup)
{
    how_many = omp_get_max_threads();
    setup.threads = static_cast<int>(how_many);
    setup.size = N;
}

void locals()
{
    const int numthreads = omp_get_max_threads();
    long a[N], one = 0;
#pragma omp parallel for // stays OpenMP: depends on the number of threads ('numthreads')
    for (int i = 0; i < N; i++) {
        if (numthreads > 1)
            a[i] = i;
        else
            a[i] = one + i;
    }
    long sum = 0;
    if (numthreads > 1) {
#pragma omp parallel for reduction(+ : sum) // shared
        for (int i = 0; i < N; i++)
            sum += a[i];
    } else {
#pragma omp parallel for reduction(+ : sum) // shared
        for (int i = 0; i < N; i++)
            sum += a[i];
    }
    CHECK(sum == sum_to_n);
    // The number of a team, told by one of its threads.
    int team = 0;
#pragma omp parallel
    {
#pragma omp master
        team = omp_get_num_threads();
    }
    sum = 0;
#pragma omp parallel for reduction(+ : sum) // stays OpenMP: depends on the number of threads ('team')
    for (int i = 0; i < N; i++)
        sum += team ? a[i] : 0;
    CHECK(sum == sum_to_n);
}

void copies()
{
    int n, m;
    n = omp_get_max_threads();
    m = n;
    const unsigned long wide = static_cast<unsigned long>(m);
    long sum = 0, parts = 0;
#pragma omp parallel for reduction(+ : sum) // stays OpenMP: depends on the number of threads ('wide')
    for (int i = 0; i < N; i++)
        sum += wide ? i : 0;
    CHECK(sum == sum_to_n);
    // In the head of the loop too.
#pragma omp parallel for reduction(+ : parts) // stays OpenMP: depends on the number of threads ('m')
    for (int i = 0; i < m; i++)
        parts++;
    CHECK(parts == n);
}

void globals_and_members()
{
    Setup setup;
    set_up(setup);
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) // stays OpenMP: depends on the number of threads ('{anonymous}::how_many')
    for (int i = 0; i < N; i++)
        sum += how_many ? i : 0;
#pragma omp parallel for reduction(+ : sum) // stays OpenMP: depends on the number of threads ('{anonymous}::Setup::threads')
    for (int i = 0; i < N; i++)
        sum += setup.threads ? i : 0;
#pragma omp parallel for reduction(+ : sum) // shared
    for (int i = 0; i < setup.size; i++)
        sum += unrelated * i;
    CHECK(sum == 3 * sum_to_n);
    CHECK(Solver(N).sum() == sum_to_n);
}

int one_way(int i) { return how_many > 0 ? i : -i; }
template <class T>
T other_way(T value) { return one_way(1) > 0 ? value : -value; }

void functions()
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) // stays OpenMP: depends on the number of threads ('{anonymous}::how_many') (in '{anonymous}::one_way')
    for (int i = 0; i < N; i++)
        sum += one_way(i);
#pragma omp parallel for reduction(+ : sum) // stays OpenMP: depends on the number of threads ('{anonymous}::how_many') (in '{anonymous}::one_way')
    for (int i = 0; i < N; i++)
        sum += other_way(long(i));
    CHECK(sum == 2 * sum_to_n);
    long most = 0, least = N;
#pragma omp parallel for reduction(max : most) // stays OpenMP: calls 'omp_get_max_threads'
    for (int i = 0; i < N; i++)
        if (omp_get_max_threads() > 0 && i > most)
            most = i;
#pragma omp parallel for reduction(min : least) // stays OpenMP: calls 'omp_get_num_threads'
    for (int i = 0; i < N; i++)
        if (omp_get_num_threads() > 0 && i < least)
            least = i;
    CHECK(most == N - 1 && least == 0);
}

void wide(bool threaded, int scale)
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) // stays OpenMP: depends on the number of threads ('threaded')
    for (int i = 0; i < N; i++)
        sum += threaded ? i + 1 : i;
#pragma omp parallel for reduction(+ : sum) // shared
    for (int i = 0; i < N; i++)
        sum += i * scale;
    CHECK(sum == 2 * sum_to_n + (threaded ? N : 0));
}

// What the number is compared with is handed on, to parameters too.
void arguments()
{
    const int n = omp_get_max_threads();
    const bool several = n > 1;
    wide(several, 1);
    // The library's own variables do not hold the number.
    std::vector<long> parts(std::max(n, 1));
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) // shared
    for (int i = 0; i < N; i++)
        sum += std::max(i, 0);
    CHECK(sum == sum_to_n && parts.size() == size_t(n));
}

}  // namespace

static void run_all()
{
    RUN(locals);
    RUN(copies);
    RUN(globals_and_members);
    RUN(functions);
    RUN(arguments);
}
