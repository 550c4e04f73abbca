/* SPDX-License-Identifier: MIT
 *
 * What the test programs share. A program prints what went wrong and returns 1, or returns 0. */
#ifndef TEST_H
#define TEST_H

#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Seconds that a program waits for what comes at once where nothing else runs, a guest above all. */
enum { PATIENCE = 40 };

static int rank, ranks, failures;
static int with_workshare, with_chaos; /* the job: MPI_Init takes the variables out of the environment */

#define CHECK(...) \
    do { \
        if (!(__VA_ARGS__)) { \
            if (failures++ < 10) \
                printf("rank %d: %s:%d: not so: %s\n", rank, __FILE__, __LINE__, #__VA_ARGS__); \
        } \
    } while (0)

static inline void begin(int *argc, char ***argv)
{
    const char *enabled = getenv("WS_ENABLE");
    with_chaos = getenv("WS_CHAOS") != NULL;
    with_workshare = enabled && *enabled == '1';
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

/* Memory of all ranks of one node, zero at first, also where MPI shares none. Collective; it stays until the end. */
static inline void *shared_memory(size_t bytes)
{
    int place[2] = {(int) getpid(), (int) syscall(SYS_memfd_create, "test", 0)};
    char path[64];
    if (ftruncate(place[1], (off_t) bytes))
        MPI_Abort(MPI_COMM_WORLD, 99);
    MPI_Bcast(place, 2, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", place[0], place[1]);
    const int file = open(path, O_RDWR);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 99);
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    return memory;
}

/* The exit status: 1 on every rank when a check failed on any. */
static inline int end(void)
{
    int all = failures;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}

static inline double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static inline double now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

static inline void busy(double seconds)
{
    for (double until = now() + seconds; now() < until;)
        ;
}

/* Measured in the thread's CPU time: where threads share a CPU, waiting for the CPU is no work. */
static inline double cpu_of_thread(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

static inline void work_on_cpu(double seconds)
{
    for (double until = cpu_of_thread() + seconds; cpu_of_thread() < until;)
        ;
}

/* Guests are threads of this process. */
static inline int on_guest(void)
{
    return syscall(SYS_gettid) != getpid();
}

static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

#endif
