// SPDX-License-Identifier: MIT
//
// Loops of `omp parallel for`, compiled with -fws=openmp: rank 0 has work that sleeps for its time while the others
// wait for it. The results are compared with what OpenMP lays down. Functions in openmp_elsewhere.cpp cannot be seen by
// the compiler.
//
// openmp_loops WHAT [THREADS]      THREADS: omp_set_num_threads(THREADS) comes first
//   numbers     a function of the other file, a virtual one and one called by a pointer may use omp_get_thread_num()
//   plain       a loop that calls nothing of the program
//   clauses     lastprivate, firstprivate, reductions and every schedule
//   static      the same thread has the same iterations of each static loop
//   split       the last step leaves the type of the variable
//   split_last  so it does in a loop with lastprivate, which ends the job
//   watched     prints how many took part at once, at most, in loops that call functions of the other file, and what
//               they were told
//   most        the same of a loop that calls nothing of the program; `clause`: one with num_threads(2)
//   back        omp_set_num_threads(omp_get_max_threads()) begins no more threads
//   threads     prints how many threads had a part in a loop
//   tiny        two threads run a loop of a few iterations, each its own ones, however often it is executed
#include "openmp_elsewhere.h"
#include "test.h"

#include <climits>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr int n = 120, rounds = 3;

struct Local : Counter {
    void count() override { add_one(); }
};

void numbers()
{
    start_counting();
    Local local;
    Counter *counters[] = {&local, &other_counter()};
    Function *by_pointer = pointer_to_add();
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        spend(100);
        add_one();
    }
#pragma omp parallel for schedule(dynamic, 3)
    for (int i = 0; i < n; i++) {
        spend(100);
        counters[i % 2]->count();
    }
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++) {
        spend(100);
        by_pointer();
    }
    CHECK(counted() == 3 * n);
}

void plain()
{
    int seen[n] = {};
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) {
        usleep(300);
        seen[i]++;
    }
    for (int times : seen)
        CHECK(times == 1);
}

void sizes(int size)
{
    long sum = 0, parts[2] = {0, 0};
    int last = -1, both = 5, first = 3;
    std::vector<int> times(size);
    int *const t = times.data();
#pragma omp parallel for reduction(+ : sum, parts) lastprivate(last) firstprivate(first)
    for (int i = 0; i < size; i++) {
        sum += i + first;
        parts[i % 2] += i;
        last = i;
        t[i]++;
    }
    CHECK(sum == long(size) * (size - 1) / 2 + 3l * size && (!size || last == size - 1));
    CHECK(parts[0] + parts[1] == long(size) * (size - 1) / 2);
#pragma omp parallel for firstprivate(both) lastprivate(both) schedule(static, 3)
    for (int i = size - 1; i >= 0; i--) {
        t[i]++;
        both = both < 0 ? -7 : i;
    }
    CHECK(both == (size ? 0 : 5));
#pragma omp parallel for schedule(dynamic, 7) lastprivate(last)
    for (unsigned long i = 0; i < (unsigned long) size; i++) {
        t[i]++;
        last = int(i) + 1;
    }
    CHECK(!size || last == size);
#pragma omp parallel for schedule(guided) collapse(2)
    for (int i = 0; i < size; i++)
        for (int j = 0; j < 2; j++) {
#pragma omp atomic
            t[i]++;
        }
    for (int i = 0; i < size; i++)
        CHECK(t[i] == 5);
}

void clauses()
{
    for (int repeat = 0; repeat < 20; repeat++)
        for (int size : {0, 1, 2, 7, 1000})
            sizes(size);
}

void split()
{
    const int end = INT_MAX, from = end - 1000, step = 9;
    const unsigned long most = ULONG_MAX - (rank != 0);
    int seen[112] = {};
    long parts = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : parts)
    for (int i = from; i < end; i += step) {
        usleep(300);
        seen[(i - from) / step]++;
        parts++;
    }
#pragma omp parallel for reduction(+ : parts)
    for (int i = from; i < end; i += step) {
        seen[(i - from) / step]++;
        parts++;
    }
#pragma omp parallel for schedule(static, 5) reduction(+ : parts)
    for (unsigned long i = most - 1000; i < most; i += 9) {
        usleep(30);
        seen[(i - most + 1000) / 9]++;
        parts++;
    }
    for (int times : seen)
        CHECK(times == 3);
    CHECK(parts == 3 * 112);
}

void split_last()
{
    const unsigned long most = ULONG_MAX - (rank != 0);
    int last = 0;
#pragma omp parallel for lastprivate(last)
    for (unsigned long i = most - 1000; i < most; i += 9)
        last = int(most - i);
    CHECK(last == 1);
}

void same_threads()
{
    std::vector<pthread_t> who(n);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        who[i] = own_thread();
    int others = 0;
#pragma omp parallel for schedule(static) reduction(+ : others)
    for (int i = 0; i < n; i++)
        others += !pthread_equal(who[i], own_thread());
    CHECK(others == 0);
}

struct Watched : Counter {
    void count() override { take_part(); }
};

void watched()
{
    start_watching();
    Watched local;
    Counter *const counter = &local;
    Function *const by_pointer = take_part;
    Counter *volatile unknown = counter;
    Function *volatile unseen = by_pointer;
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++)
        take_part();
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        unknown->count();
#pragma omp parallel for schedule(static, 2)
    for (int i = 0; i < n; i++)
        unseen();
    CHECK(wrong_answers() == 0);
    printf("%d numbers, %d at once\n", numbers_told(), most_at_once());
}

int most_in_body, now_in_body;

#define BODY \
    { \
        const int here = __atomic_add_fetch(&now_in_body, 1, __ATOMIC_SEQ_CST); \
        for (int seen = most_in_body; \
             here > seen && !__atomic_compare_exchange_n(&most_in_body, &seen, here, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);) \
            ; \
        usleep(300); \
        __atomic_sub_fetch(&now_in_body, 1, __ATOMIC_SEQ_CST); \
    }

void most_of_plain()
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++)
        BODY
    printf("%d at once\n", most_in_body);
}

void most_of_clause()
{
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int i = 0; i < n; i++)
        BODY
    printf("%d at once\n", most_in_body);
}

#ifdef ASK
void set_back()
{
    const int before = threads_of_a_region();
    set_what_is_told();
    CHECK(threads_of_a_region() == before);
    watched();
}
#endif

// Shorter than it takes to open a region.
void tiny()
{
    constexpr int few = 8;
    static const double values[few] = {1e16, 1, 1, 1, -1e16, 1, 1, 3};
    for (int repeat = 0; repeat < 100; repeat++) {
        pthread_t who[few];
        int numbers[few];
        double sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < few; i++) {
            sum += values[i];
            who[i] = own_thread();
            numbers[i] = own_number(i / 4);
        }
        CHECK(sum == 4); // each thread's four and then both: eight one after the other come to 5
        for (int i = 0; i < few; i++)
            CHECK(numbers[i] == i / 4 && pthread_equal(who[i], who[i / 4 * 4]));
        CHECK(!pthread_equal(who[0], who[4]));
    }
}

void count_threads()
{
    std::vector<pthread_t> who(n);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        usleep(100);
        who[i] = own_thread();
    }
    printf("%zu threads\n", std::set<pthread_t>(who.begin(), who.end()).size());
}

} // namespace

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const std::string what = argc > 1 ? argv[1] : "";
    if (argc > 2)
        set_threads(atoi(argv[2]));
    void (*const test)() = what == "numbers"   ? numbers
                           : what == "plain"   ? plain
                           : what == "clauses" ? clauses
                           : what == "static"  ? same_threads
                           : what == "split"   ? split
                           : what == "split_last" ? split_last
                           : what == "threads" ? count_threads
                           : what == "tiny"    ? tiny
                           : what == "watched" ? watched
                           : what == "most"    ? most_of_plain
                           : what == "clause"  ? most_of_clause
#ifdef ASK
                           : what == "back"    ? set_back
#endif
                                               : nullptr;
    CHECK(test);
    for (int round = 0; test && round < rounds; round++) {
        if (rank == 0)
            test();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
