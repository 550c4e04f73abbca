// SPDX-License-Identifier: MIT
#include "openmp_elsewhere.h"

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <vector>

void spend(int us) { usleep(us); }
pthread_t own_thread() { return pthread_self(); }
void set_threads(int n) { omp_set_num_threads(n); }

#ifdef ASK
int own_number(int) { return omp_get_thread_num(); }

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
int own_number(int none) { return none; }

static long count;

void start_counting() { count = 0; }
void add_one()
{
    usleep(50);
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}
long counted() { return count; }
#endif

static std::atomic<int> now_here, most, told, wrong;
static std::atomic<bool> held[1024];

void start_watching()
{
    most = told = wrong = 0;
    for (auto &h : held)
        h = false;
}

static void right(bool condition, const char *what)
{
    if (!condition && wrong++ < 5)
        printf("not so: %s\n", what);
}

#ifdef ASK
static std::atomic<int> wrong_inside;

__attribute__((noinline)) static void inner_loop()
{
    int all = 0;
#pragma omp parallel for reduction(+ : all)
    for (int i = 0; i < 4; i++) {
        all++;
        wrong_inside += omp_get_thread_num() >= omp_get_num_threads();
    }
    right(all == 4 && wrong_inside == 0, "inner loop");
}

static void ask()
{
    const int number = omp_get_thread_num(), numbers = omp_get_num_threads();
    int first = 0;
    told.compare_exchange_strong(first, numbers);
    right(told == numbers, "one answer of omp_get_num_threads()");
    right(number >= 0 && number < numbers && numbers <= omp_get_max_threads(), "0 <= number < numbers <= most");
    right(!held[number].exchange(true), "a number of its own");
    usleep(200);
    const int level = omp_get_level();
    right(!!omp_in_parallel() == (numbers > 1), "omp_in_parallel()");
    right(numbers == 1 || (level == 1 && omp_get_active_level() == 1 && omp_get_team_size(1) == numbers &&
                           omp_get_ancestor_thread_num(1) == number && omp_get_team_size(0) == 1 &&
                           omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(2) == -1),
          "levels");
#pragma omp parallel num_threads(1)
    right(omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && omp_get_level() >= 1, "a region inside");
    inner_loop();
    right(omp_get_thread_num() == number && omp_get_num_threads() == numbers, "the same number");
    held[number] = false;
}
#else
static void ask() { usleep(200); }
#endif

void take_part()
{
    const int here = ++now_here;
    int before = most;
    while (before < here && !most.compare_exchange_weak(before, here))
        ;
    ask();
    now_here--;
}

int most_at_once() { return most; }
int wrong_answers() { return wrong; }
int numbers_told() { return told; }

int threads_of_a_region()
{
    std::atomic<int> threads{0};
#pragma omp parallel
    threads++;
    return threads;
}

#ifdef ASK
void set_what_is_told() { omp_set_num_threads(omp_get_max_threads()); }
#endif

Counter &other_counter()
{
    static struct : Counter {
        void count() override { add_one(); }
    } other;
    return other;
}

Function *pointer_to_add() { return add_one; }
