// SPDX-License-Identifier: MIT
#include "openmp_elsewhere.h"

#include <omp.h>
#include <unistd.h>

#include <vector>

void spend(int us) { usleep(us); }
pthread_t own_thread() { return pthread_self(); }
void set_threads(int n) { omp_set_num_threads(n); }

#ifdef ASK
static std::vector<long> counts;

void start_counting() { counts.assign(omp_get_max_threads(), 0); }

// Each thread has a place of its own; between look and store another one is likely to come.
void add_one()
{
    long &mine = counts.at(omp_get_thread_num());
    const long seen = mine;
    usleep(50);
    mine = seen + 1;
}

long counted()
{
    long all = 0;
    for (long count : counts)
        all += count;
    return all;
}
#else
static long count;

void start_counting() { count = 0; }
void add_one()
{
    usleep(50);
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}
long counted() { return count; }
#endif

Counter &other_counter()
{
    static struct : Counter {
        void count() override { add_one(); }
    } other;
    return other;
}

Function *pointer_to_add() { return add_one; }
