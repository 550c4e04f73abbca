// SPDX-License-Identifier: MIT
//
// What openmp_loops.cpp and openmp_fortran.f90 call in another file.
#ifndef OPENMP_ELSEWHERE_H
#define OPENMP_ELSEWHERE_H

#include <pthread.h>

void spend(int us); // sleeps
pthread_t own_thread();
void set_threads(int n);

// Counts by thread number, in an array that is as large as omp_get_max_threads() says. Only with -DASK; else by atomics.
struct Counter {
    virtual void count() = 0;
};
extern "C" {
void start_counting();
void add_one();
long counted();
}
Counter &other_counter();
using Function = void();
Function *pointer_to_add();

#endif
