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

namespace {

void (*volatile somewhere)(int);

__attribute__((noinline)) void asks(int i) { numbers[i] = omp_get_thread_num(); }
__attribute__((noinline)) void asks_not(int i) { a[i] = b[i] + 1; }

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
    }
}

TEST_CASE("a dynamic loop does not ask, and is told by its calls")
{
    const Shown s = shown(dynamic_loop);
    CHECK_FALSE(s.code.asks);
    CHECK(s.code.all);
    CHECK(s.code.deals_first);
    CHECK(s.harmless == 0);
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
    for (auto program : {number, threads, both_in_a_row, own_deal, number_in_a_loop}) {
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
