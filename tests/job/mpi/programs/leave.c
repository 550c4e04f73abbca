/* SPDX-License-Identifier: MIT
 *
 * leave WHO: the main thread of each rank leaves by pthread_exit, and another goes on; its process is a zombie by the
 * name then, in /proc, but well. The ranks wait for each other, one after the other, long enough to look whether the
 * others live.
 *    other      the thread that goes on has called MPI_Init
 *    home       the main thread has: nobody lends this rank's core any more
 */
#include "test.h"
#include <pthread.h>

enum { N = 4000 };

static int all_right(int turn)
{
    static int count[N];
    int wrong = 0;
#pragma ws for schedule(dynamic, 4)
    for (int i = 0; i < N; i++) {
        __atomic_add_fetch(&count[i], 1, __ATOMIC_RELAXED);
        busy(100e-6);
    }
    for (int i = 0; i < N; i++)
        wrong += count[i] != turn;
    return !wrong;
}

static void begin_threaded(void)
{
    int level;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(level == MPI_THREAD_MULTIPLE);
}

static char main_state(void)
{
    char text[512] = "", *paren;
    FILE *f = fopen("/proc/self/stat", "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    paren = n ? strrchr(text, ')') : NULL;
    return paren ? paren[2] : '?';
}

static pthread_barrier_t begun;

static void *go_on(void *begins)
{
    if (begins)
        begin_threaded();
    MPI_Barrier(MPI_COMM_WORLD); /* UCX finds its peers by /proc/PID/fd, which a zombie has not */
    pthread_barrier_wait(&begun);
    for (double until = now() + 20; main_state() != 'Z' && now() < until;)
        usleep(1000);
    CHECK(main_state() == 'Z');
    for (int r = 0, turn = 0; r < ranks; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (r == rank)
            CHECK(all_right(++turn));
    }
    const int failed = end();
    if (rank == 0)
        printf(failed ? "wrong\n" : "right\n");
    exit(failed);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    const int home = argc > 1 && !strcmp(argv[1], "home");
    pthread_barrier_init(&begun, NULL, 2);
    if (home)
        begin_threaded();
    if (pthread_create(&thread, NULL, go_on, home ? NULL : "begins"))
        return 2;
    pthread_barrier_wait(&begun);
    pthread_exit(NULL);
}
