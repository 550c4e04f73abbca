/* SPDX-License-Identifier: MIT
 *
 * Frame of the programs with correct directives. Each is a list of small tests, run in turn by run_all(); the
 * program prints `ok` and returns 0, or names the checks that failed and returns 1.
 *
 * Linked with the fake runtime it is one process. Compiled with -DWITH_MPI and linked with libws every rank runs the
 * same tests and one rank after the other has iterations that cost time, while the others wait for it in a barrier:
 * so that they steal. */
#ifndef WS_TEST_CHECK_H
#define WS_TEST_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

#include "../../../../runtime/abi/abi.h"

#ifdef __cplusplus
extern "C" {
#endif
/* The fake runtime's; absent (null) with libws. */
extern int ws_fake_regions __attribute__((weak));
extern int ws_fake_joined __attribute__((weak));
extern int ws_fake_plain __attribute__((weak));
extern int ws_fake_unshared __attribute__((weak));
extern int ws_fake_splits __attribute__((weak));
extern int ws_fake_merges __attribute__((weak));
extern int ws_fake_criticals __attribute__((weak));
extern struct ws_site *ws_fake_site __attribute__((weak));
extern long ws_fake_chunk __attribute__((weak));
extern long ws_fake_steal_chunk __attribute__((weak));
#ifdef __cplusplus
}
#endif

static int failures;

#define CHECK(...) \
    ((__VA_ARGS__) ? (void) 0 : (void) (failures++, printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__)))

/* What the last loop told the runtime: kinds and chunks (0: none given), whether it has bits of WS_SITE_*. */
#define CHECK_SCHEDULE(kind, chunk, steal_kind, steal_chunk) \
    CHECK(!&ws_fake_site || ((int) (ws_fake_site->kinds & 0xff) == (kind) \
                             && (int) (ws_fake_site->kinds >> 8 & 0xff) == (steal_kind) \
                             && ws_fake_chunk == (chunk) && ws_fake_steal_chunk == (steal_chunk)))

#define CHECK_SITE(bits, values) CHECK(!&ws_fake_site || (ws_fake_site->kinds & (bits)) == (values))

#define CHECK_NAME(name) \
    CHECK(!&ws_fake_site || strcmp(ws_fake_site->where, name) == 0 || (printf("%s\n", ws_fake_site->where), 0))

static double iteration_seconds;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* In each iteration: what makes a rank late. */
static inline void work(void)
{
    if (iteration_seconds > 0)
        for (double end = now() + iteration_seconds; now() < end;)
            ;
}

static int test_number;
static int rank, ranks = 1;

static inline void before_test(void)
{
#ifdef WITH_MPI
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    iteration_seconds = ranks > 1 && test_number % ranks == rank ? 20e-6 : 0;
    test_number++;
}

#define RUN(test) (before_test(), test())

static void run_all(void);

int main(int argc, char **argv)
{
    (void) argc;
    (void) argv;
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
    run_all();
    if (&ws_fake_joined && !getenv("WS_FAKE_ALONE_IS_FINE"))
        CHECK(ws_fake_joined > 0 || ws_fake_plain > 0);
    if (rank == 0 || failures)
        printf("%s, %d tests", failures ? "FAILED" : "ok", test_number);
    if (&ws_fake_plain)
        printf(", %d loops plainly", ws_fake_plain);
    if (rank == 0 || failures)
        printf("\n");
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return failures != 0;
}

#endif
