// SPDX-License-Identifier: MIT
//
// What openmp_loops.cpp and openmp_fortran.f90 call in another file.
#ifndef OPENMP_ELSEWHERE_H
#define OPENMP_ELSEWHERE_H

#include <pthread.h>

void spend(int us); // sleeps
pthread_t own_thread();
void set_threads(int n);
int own_number(int none); // omp_get_thread_num() with -DASK; else `none`

// Counts by thread number, in an array that is as large as omp_get_max_threads() says. Only with -DASK; else by
// atomics.
struct Counter {
    virtual void count() = 0;
};
extern "C" {
void start_counting();
void add_one();
long counted();
}
Counter &other_counter();

// The participants of a loop, as they come: how many at once, at most; and with -DASK whether OpenMP's answers are
// right for them.
extern "C" {
void start_watching();
void take_part();
int most_at_once();
int wrong_answers(); // says what, the first ones
int numbers_told();  // omp_get_num_threads() in the loop
int threads_of_a_region(); // of OpenMP's own
void set_what_is_told();   // omp_set_num_threads(omp_get_max_threads())
}
using Function = void();
Function *pointer_to_add();

#endif
