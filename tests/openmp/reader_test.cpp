// SPDX-License-Identifier: MIT
//
// What the machine code of regions shows: GCC's, compiled here, of regions that are looked at and never run.
#include "openmp/binary.h"
#include "openmp/code.h"

#include <catch2/catch.hpp>
#include <omp.h>
#include <set>
#include <string>
#include <utility>

extern "C" void ws_look_at_region(const void* function, ws::openmp::RegionCode* code,
                                  void (*tell_question)(void* to, const void* at, bool deals),
                                  void (*tell_name)(void* to, const char* name), void* to);

namespace {

void (*region)(void*); // of the function that was called last

} // namespace

// Instead of libgomp's: the region's function is all that the tests want.
extern "C" void GOMP_parallel(void (*fn)(void*), void*, unsigned, unsigned) { region = fn; }

namespace {

struct Shown {
    ws::openmp::RegionCode code;
    ws::openmp::Function function; // the region's
    std::set<std::string> names;
    unsigned harmless = 0, deals = 0; // questions in it
};

Shown shown(void (*program)())
{
    program();
    Shown s;
    s.function = ws::openmp::function_at(reinterpret_cast<const void*>(region));
    static std::set<std::pair<uintptr_t, bool>> questions; // of the whole program: each may be told once
    static std::set<std::string>* names;
    names = &s.names;
    ws_look_at_region(
        reinterpret_cast<const void*>(region), &s.code,
        [](void*, const void* at, bool deals) { questions.insert({uintptr_t(at), deals}); },
        [](void*, const char* name) { names->insert(name); }, nullptr);
    for (const auto& [at, deals] : questions)
        if (at - s.function.begin < s.function.end - s.function.begin) {
            s.harmless++;
            s.deals += deals;
        }
    return s;
}

constexpr int n = 1000;

} // namespace

// What nobody else could read the compiler would not write.
extern double a[n], b[n];
double a[n], b[n];
extern int numbers[n];
int numbers[n];
extern int many;
int many = n;

namespace {

void (*volatile somewhere)(int);

__attribute__((noinline)) void asks(int i) { numbers[i] = omp_get_thread_num(); }
__attribute__((noipa)) void asks_not(int i) { a[i] = b[i] + 1; }

void static_loop()
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = 2 * b[i];
}
void static_loops()
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++)
            a[i] = 2 * b[i];
#pragma omp for
        for (int i = 0; i < n; i++)
            b[i] += a[n - 1 - i];
    }
}
void dynamic_loop()
{
#pragma omp parallel
    { // with one loop alone GCC calls another function
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i++)
            a[i] = 2 * b[i];
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i++)
            b[i] = a[n - 1 - i];
    }
}
void master_and_loop()
{
#pragma omp parallel
    {
#pragma omp master
        a[0] = 1;
#pragma omp for
        for (int i = 0; i < n; i++)
            b[i] = i;
    }
}
void number()
{
#pragma omp parallel
    numbers[omp_get_thread_num()] = 1;
}
// The compiler knows which registers the function that is called leaves as they are.
__attribute__((noinline)) void leaves_registers(int i) { a[i] = 7; }
void number_over_a_call()
{
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        leaves_registers(many);
        numbers[me] = 1;
    }
}
void threads()
{
#pragma omp parallel
    {
        const int t = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < n; i++)
            numbers[i] = t;
    }
}
void both_in_a_row()
{
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        numbers[me] = t;
    }
}
void own_deal()
{
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = me; i < n; i += t)
            a[i] = i;
    }
}
// As the compiler deals schedule(static, n): which iterations there are, and how each is run, says nothing of threads.
template <int chunk> void rounds()
{
#pragma omp parallel for schedule(static, chunk)
    for (int i = 0; i < n; i++)
        a[i] = 2 * b[i];
}
template <int chunk> void rounds_with_calls()
{
    const int end = many;
    double sum = 0;
#pragma omp parallel for schedule(static, chunk) reduction(+ : sum)
    for (long i = 3; i < end; i += 2) {
        if (i < 7)
            asks_not(int(i));
        sum += b[i];
    }
    a[0] = sum;
}
void rounds_down()
{
    const int end = many;
#pragma omp parallel for schedule(static, 5)
    for (int i = end - 1; i >= 0; i--)
        a[i] = 2 * b[i];
}
void rounds_many_times()
{
    const int end = many;
#pragma omp parallel
    for (int t = 0; t < 10; t++) {
#pragma omp for schedule(static, 8)
        for (int i = 0; i < end; i++)
            a[i] = 2 * b[i];
#pragma omp for schedule(static, 3)
        for (int i = 0; i < end; i++)
            b[i] = a[end - 1 - i] + t;
    }
}
// Rounds, and something of the thread's own beside them.
void rounds_and_sum()
{
    const int end = many;
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = me; i < end; i += t)
            a[me] += b[i];
    }
}
void rounds_and_table()
{
    const int end = many;
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        const double mine = b[me];
        for (int i = me; i < end; i += t)
            a[i] = mine;
    }
}
void rounds_that_count()
{
    const int end = many;
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = me, round = 0; i < end; i += t, round++)
            a[i] = round * me;
    }
}
void rounds_of_others()
{
    const int end = many;
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = me; i < end; i += t + 1)
            a[i] = i;
    }
}
void first_of_rounds()
{
    const int end = many;
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        int i = me;
        do {
            a[i] = i;
            i += t;
        } while (i < end);
    }
}
void first_ones_of_rounds()
{
    const int end = many;
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        if (me < 64)
            b[me] = 1;
        for (int i = me; i < end; i += t)
            a[i] = i;
    }
}
// A function that writes no register: the compiler may keep the number where results are.
__attribute__((noinline)) void writes_none() { asm volatile("" : : : "memory"); }
void number_over_an_empty_call()
{
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        writes_none();
        numbers[me] = 1;
    }
}
// Who has no round says so.
void threads_without_rounds()
{
    const int end = many;
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        if (me < end)
            for (int i = me; i < end; i += t)
                a[i] = i;
        else
            somewhere(1);
    }
}
// The program may know which thread has an iteration.
void rounds_in_parts()
{
    const int parts = many;
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++)
        numbers[i % parts] += i;
}
void rounds_in_parts_by_mask()
{
    const int mask = many;
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++)
        numbers[i & mask] += i;
}
void rounds_that_wait()
{
    const int end = many;
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = me; i < end; i += t) {
            a[i] = i;
#pragma omp barrier
        }
    }
}
void one_round()
{
    const int end = many;
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        if (me < end)
            a[me] = 1;
    }
}
void rounds_that_find()
{
    const int end = many;
#pragma omp parallel
    {
        const int t = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = me; i < end; i += t)
            if (b[i] > 0) {
                a[i] = 1;
                break;
            }
    }
}
void number_in_a_loop()
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        asks(i);
}
void call_in_a_loop()
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        asks_not(i);
}
void call_by_a_pointer()
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        somewhere(i);
}
void work_before_the_loop()
{
#pragma omp parallel
    {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += b[i];
#pragma omp for
        for (int i = 0; i < n; i++)
            a[i] = sum;
    }
}
void tasks()
{
#pragma omp parallel
#pragma omp single
#pragma omp task
    a[0] = 1;
}

} // namespace

TEST_CASE("a static loop asks only to deal its iterations")
{
    for (auto program : {static_loop, static_loops, call_in_a_loop}) {
        const Shown s = shown(program);
        CHECK_FALSE(s.code.asks);
        CHECK(s.code.all);
        CHECK(s.code.deals_first);
        CHECK(s.harmless >= 2);
        CHECK(s.deals == s.harmless);
        CHECK(s.code.by_number);
    }
}

TEST_CASE("loops in rounds ask only to deal their chunks")
{
    for (auto program : {rounds<1>, rounds<3>, rounds<16>, rounds_with_calls<1>, rounds_with_calls<4>,
                         rounds_with_calls<100>, rounds_down, rounds_many_times, own_deal}) {
        const Shown s = shown(program);
        CHECK_FALSE(s.code.asks);
        CHECK(s.code.all);
        CHECK(s.harmless >= 2);
        CHECK(s.deals == s.harmless);
        CHECK(s.code.by_number);
    }
    CHECK(shown(rounds<3>).code.deals_first);
}

TEST_CASE("what a thread does beside its rounds, or only in some of them, is asked for")
{
    for (auto program : {rounds_and_sum, rounds_and_table, rounds_that_count, rounds_of_others, first_of_rounds,
                         first_ones_of_rounds, one_round, rounds_that_find, rounds_that_wait,
                         threads_without_rounds, rounds_in_parts, rounds_in_parts_by_mask}) {
        const Shown s = shown(program);
        CHECK(s.code.asks);
        CHECK_FALSE(s.code.all);
    }
}

TEST_CASE("a dynamic loop does not ask, and is told by its calls")
{
    const Shown s = shown(dynamic_loop);
    CHECK_FALSE(s.code.asks);
    CHECK(s.code.all);
    CHECK(s.code.deals_first);
    CHECK(s.harmless == 0);
    CHECK_FALSE(s.code.by_number);
    CHECK(s.names.count("GOMP_loop_end"));
    CHECK(s.names.count("GOMP_loop_end_nowait"));
}

TEST_CASE("who only compares the number with 0 is not told it")
{
    const Shown s = shown(master_and_loop);
    CHECK_FALSE(s.code.asks);
    CHECK(s.harmless >= 2);
}

TEST_CASE("numbers that go anywhere else are asked for")
{
    for (auto program :
         {number, number_over_a_call, number_over_an_empty_call, threads, both_in_a_row, number_in_a_loop}) {
        const Shown s = shown(program);
        CHECK(s.code.asks);
        CHECK_FALSE(s.code.all);
    }
}

TEST_CASE("a call by way of a pointer may ask, where anything in the program does")
{
    const Shown s = shown(call_by_a_pointer);
    CHECK(s.code.asks);
    CHECK_FALSE(s.code.all);
}

TEST_CASE("work before the first loop is seen")
{
    const Shown s = shown(work_before_the_loop);
    CHECK_FALSE(s.code.asks);
    CHECK_FALSE(s.code.deals_first);
}

TEST_CASE("what a region calls of OpenMP is told by name")
{
    CHECK(shown(tasks).names.count("GOMP_task") == 1);
}
