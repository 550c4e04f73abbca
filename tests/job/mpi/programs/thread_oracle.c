/* SPDX-License-Identifier: MIT
 *
 * thread_oracle SEED REGIONS THREADS: like oracle, on several threads of each rank at once: each runs loops of its own
 * and waits in MPI calls of its own. With more threads than regions can be open at once the rest run theirs plain. */
#include "test.h"
#include <pthread.h>

enum { MOST = 600 };
static uint64_t seed;
static int regions, threads;

static int wrong; /* atomic */
#define COUNT_IF(...) __atomic_fetch_add(&wrong, (__VA_ARGS__) ? 1 : 0, __ATOMIC_RELAXED)

static void *thread(void *argument)
{
    const int me = (int) (size_t) argument;
    uint64_t common = seed * 1000 + (uint64_t) me, own = common * 1000 + (uint64_t) rank;
    unsigned ran[MOST + 1];
    for (int r = 0; r < regions; r++) {
        int late = (int) random_below(&common, (uint64_t) ranks);
        int kind = (int) random_below(&own, 3);
        long n = 1 + (long) random_below(&own, rank == late ? MOST : 8), sum = 0, last = -1;
        double cost = 1e-6 * (double) random_below(&own, 6);
        memset(ran, 0, sizeof ran);
        if (kind == 0) {
#pragma ws for reduction(+ : sum) lastprivate(last)
            for (long i = 0; i < n; i++) {
                ran[i]++;
                busy(cost);
                sum += i;
                last = i;
            }
        } else if (kind == 1) {
#pragma ws for reduction(+ : sum) lastprivate(last) schedule(dynamic, 2) steal_schedule(guided)
            for (long i = 0; i < n; i++) {
                ran[i]++;
                busy(cost);
                sum += i;
                last = i;
            }
        } else {
#pragma ws for reduction(+ : sum) firstprivate(last) lastprivate(last)
            for (long i = 0; i < n; i++) {
                ran[i]++;
                if (last >= 0 && last >= i)
                    __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
                sum += i;
                last = i;
            }
        }
        for (long i = 0; i <= MOST; i++)
            COUNT_IF(ran[i] != (i < n));
        COUNT_IF(sum != n * (n - 1) / 2);
        COUNT_IF(last != n - 1);
        int token = me, got = -1, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
        MPI_Sendrecv(&token, 1, MPI_INT, right, me, &got, 1, MPI_INT, left, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        COUNT_IF(got != me);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    seed = strtoull(argv[1], NULL, 10);
    regions = atoi(argv[2]);
    threads = atoi(argv[3]);
    pthread_t t[64];
    /* Twice: a thread that ends gives its place to another. */
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i < threads; i++)
            pthread_create(&t[i], NULL, thread, (void *) (size_t) i);
        thread(0);
        for (int i = 1; i < threads; i++)
            pthread_join(t[i], NULL);
    }
    CHECK(wrong == 0);
    return end();
}
