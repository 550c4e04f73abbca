/* SPDX-License-Identifier: MIT
 *
 * pinned: a thread that is pinned to the core of this rank's worker waits in MPI, computes, and waits again, while the
 * main thread runs loops. Nobody but the worker can help with them: the other rank, which sends the messages, is on a
 * node of its own. (One between threads of a rank would not wake its receiver: so it is in MPICH 4.0.2.)
 */
#include "test.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>

enum { N = 400, LOOPS = 100, ASK, END, GO_ON, LONG_WAITS = 5 };

static volatile int has_waited, computes, stop_computing;
static int counts[N];
static volatile long by_helpers;

/* The CPUs of the thread with this name; false if there is none. */
static int find_thread(const char *name, cpu_set_t *cpus)
{
    DIR *threads = opendir("/proc/self/task");
    int found = 0;
    for (struct dirent *d; threads && !found && (d = readdir(threads));) {
        char path[300], text[64] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", d->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(text, sizeof text, f) && strncmp(text, name, strlen(name)) == 0)
            found = sched_getaffinity(atoi(d->d_name), sizeof *cpus, cpus) == 0;
        if (f)
            fclose(f);
    }
    if (threads)
        closedir(threads);
    return found;
}

static void *pinned(void *cpus)
{
    int word = 0;
    CHECK(pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t), (cpu_set_t *) cpus) == 0);
    for (int waits = 0; waits < LONG_WAITS;) { /* it is known from its first wait on */
        MPI_Send(&word, 1, MPI_INT, 1, ASK, MPI_COMM_WORLD);
        const double began = now();
        MPI_Recv(&word, 1, MPI_INT, 1, GO_ON, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        waits += now() - began > 10e-3;
    }
    has_waited = 1;
    MPI_Recv(&word, 1, MPI_INT, 1, GO_ON, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    computes = 1;
    while (!stop_computing)
        ;
    MPI_Recv(&word, 1, MPI_INT, 1, GO_ON, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

/* Iterations that others than this thread ran. */
static long loop(void)
{
    const pthread_t self = pthread_self();
    by_helpers = 0;
#pragma ws for schedule(dynamic, 2)
    for (int i = 0; i < N; i++) {
        __atomic_add_fetch(&counts[i], 1, __ATOMIC_RELAXED);
        if (!pthread_equal(pthread_self(), self))
            __atomic_add_fetch(&by_helpers, 1, __ATOMIC_RELAXED);
        busy(10e-6);
    }
    return by_helpers;
}

static int helped_within(double seconds, int *loops)
{
    for (double until = now() + seconds; now() < until;) {
        ++*loops;
        if (loop() > 0)
            return 1;
    }
    return 0;
}

/* Rank 1: a message for each that is asked for, some time later. */
static void send_messages(void)
{
    for (;;) {
        int word, asked = 0;
        MPI_Status status;
        while (!asked) {
            usleep(500);
            MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &asked, &status);
        }
        MPI_Recv(&word, 1, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (status.MPI_TAG == END)
            return;
        usleep(30000);
        MPI_Send(&word, 1, MPI_INT, 0, GO_ON, MPI_COMM_WORLD);
    }
}

static void run_loops(void)
{
    int word = 0, loops = 0, helped = 0;
    cpu_set_t cpus;
    pthread_t thread;
    CPU_ZERO(&cpus);
    for (double until = now() + PATIENCE; !find_thread("ws worker", &cpus) && now() < until;)
        usleep(1000); /* it gives itself its name */
    if (CPU_COUNT(&cpus) != 1) {
        printf("no worker\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    pthread_create(&thread, NULL, pinned, &cpus);
    while (!has_waited)
        usleep(1000);
    CHECK(helped_within(PATIENCE, &loops)); /* it waits */
    MPI_Send(&word, 1, MPI_INT, 1, ASK, MPI_COMM_WORLD);
    while (!computes)
        usleep(100);
    for (int i = 0; i < LOOPS; i++, loops++)
        helped += loop() > 0;
    CHECK(helped <= 1); /* the worker may just have been about to claim a chunk */
    stop_computing = 1;
    CHECK(helped_within(PATIENCE, &loops)); /* it waits again */
    MPI_Send(&word, 1, MPI_INT, 1, ASK, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Send(&word, 1, MPI_INT, 1, END, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        CHECK(counts[i] == loops);
}

int main(void)
{
    int level;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(level == MPI_THREAD_MULTIPLE);
    if (rank == 0)
        run_loops();
    else
        send_messages();
    const int failed = end();
    if (rank == 0)
        printf(failed ? "wrong\n" : "right\n");
    return failed;
}
