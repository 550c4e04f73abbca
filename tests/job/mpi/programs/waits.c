/* SPDX-License-Identifier: MIT
 *
 * Waits outside of MPI. The last rank has a loop; the others sleep between ws_wait_begin and ws_wait_end, until a flag
 * in shared memory says that it is over.
 *
 * long N USEC    one loop of N iterations of USEC each; prints how many times as fast as one core it ran
 * enable         waits while sharing is off, and one in which it is switched off; prints how long each lent the core
 * many N         N loops and N waits of all lengths, nested and with MPI inside
 * without any    what has a defined result: unmatched ends, other threads, loops' bodies, fork, MPI_Finalize in a wait
 */
#include "outside.h"

#include <pthread.h>
#include <sys/wait.h>
#include <workshare/ws.h>

static void sleep_us(long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };
    nanosleep(&t, NULL);
}

static void all_once(long n, int times)
{
    for (long i = 0; i < n; i++)
        CHECK(counts[i] == times);
}

static void one_long(long n, double seconds)
{
    counts = calloc(n, sizeof(int));
    for (int warm = 0; warm < 2; warm++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == ranks - 1) {
            const double began = now();
            run_loop(n, seconds);
            if (warm)
                printf("%.3f times as fast\n", seconds * (double) n / (now() - began));
            *over = warm + 1;
        } else {
            ws_wait_begin();
            while (*over <= warm)
                sleep_us(1000);
            const double began = now();
            ws_wait_end();
            printf("the end took %.0f us\n", 1e6 * (now() - began));
        }
    }
    if (rank == ranks - 1)
        all_once(n, 2);
}

static double lent_s(void)
{
    struct ws_metrics m;
    CHECK(ws_metrics(&m, sizeof m) == 0);
    return m.lent_s;
}

static void enable(void)
{
    enum { OFF_BEFORE = 1, OFF_INSIDE, STILL_OFF, STEPS };
    counts = calloc(100, sizeof(int));
    for (int step = 0; step < STEPS; step++) {
        MPI_Barrier(MPI_COMM_WORLD); /* no guest is left */
        if (rank == ranks - 1) {
            run_loop(100, 5e-4);
            *over = step + 1;
            continue;
        }
        if (step == OFF_BEFORE)
            CHECK(ws_enable(0) == 1);
        if (step == OFF_INSIDE)
            CHECK(ws_enable(1) == 0);
        const double before = lent_s();
        ws_wait_begin();
        if (step == OFF_INSIDE) { /* it counts from the next wait on */
            sleep_us(20000);
            CHECK(ws_enable(0) == 1);
        }
        while (*over <= step)
            sleep_us(1000);
        ws_wait_end();
        printf("lent for %.1f ms\n", 1e3 * (lent_s() - before));
    }
    if (rank == ranks - 1)
        all_once(100, STEPS);
}

static void many(int n)
{
    uint64_t random = 1 + (uint64_t) rank;
    counts = calloc(20, sizeof(int));
    for (int i = 0; i < n; i++) {
        if (i % ranks == rank) {
            run_loop(20, 2e-4);
            int token = i;
            for (int to = 0; to < ranks; to++)
                if (to != rank)
                    MPI_Send(&token, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
            continue;
        }
        const uint64_t kind = random_below(&random, 4);
        int token = -1;
        ws_wait_begin();
        if (kind == 1)
            sleep_us((long) random_below(&random, 3000));
        if (kind == 2) {
            ws_wait_begin();
            sleep_us(200);
            ws_wait_end();
        }
        if (kind == 3) /* MPI in the wait */
            MPI_Recv(&token, 1, MPI_INT, i % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ws_wait_end();
        if (kind != 3)
            MPI_Recv(&token, 1, MPI_INT, i % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(token == i);
    }
    int mine = 0;
    for (int i = 0; i < n; i++)
        mine += i % ranks == rank;
    all_once(20, mine);
}

static void *in_thread(void *unmatched)
{
    if (unmatched)
        ws_wait_end(); /* it began on another thread */
    ws_wait_begin();
    ws_wait_end();
    return NULL;
}

static void in_another_thread(void *unmatched)
{
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, unmatched);
    pthread_join(thread, NULL);
}

static void mistakes(void)
{
    ws_wait_end();
    ws_wait_end(); /* says nothing more */
    ws_wait_begin();
    in_another_thread(NULL);
    in_another_thread(&rank);
    const pid_t child = fork();
    if (child == 0) {
        ws_wait_begin();
        ws_wait_end();
        ws_wait_end();
        _exit(17);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17);
    counts = calloc(50, sizeof(int));
#pragma ws for
    for (int i = 0; i < 50; i++) { /* a loop in a wait, and waits in the loop */
        ws_wait_begin();
        sleep_us(100);
        ws_wait_end();
        __atomic_fetch_add(&counts[i], 1, __ATOMIC_RELAXED);
    }
    all_once(50, 1);
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks);
}

int main(int argc, char **argv)
{
    ws_wait_begin(); /* before MPI_Init there is nothing to lend */
    begin(&argc, &argv);
    ws_wait_end();
    share_flag();
    const char *what = argc > 2 ? argv[1] : ""; /* mistakes */
    if (!strcmp(what, "long"))
        one_long(atol(argv[2]), 1e-6 * atof(argv[3]));
    else if (!strcmp(what, "enable"))
        enable();
    else if (!strcmp(what, "many"))
        many(atoi(argv[2]));
    else
        mistakes();
    MPI_Win_free(&window);
    const int code = end(); /* of `mistakes`: in a wait */
    if (!*what)
        ws_wait_end();
    return code;
}
