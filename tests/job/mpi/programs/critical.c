/* SPDX-License-Identifier: MIT
 *
 * critical HOW: sections between ranks that share memory; and, whatever HOW is, before MPI_Init
 * and after MPI_Finalize, for the process alone.
 *    count        outside loops: ranks add to counters with plain operations
 *    loop         the same from the iterations of shared loops, on the owner and on guests
 *    names        sections of different names do not wait for each other
 *    death        rank 1 is killed inside one, rank 0 comes to it later
 *    again        a section inside itself */
#include "test.h"
#include <signal.h>

struct shared {
    volatile long plain, named, unnamed;
    volatile int inside;
};

/* Would lose additions without the section: reads, lingers, writes. */
static void add(volatile long *sum, int linger)
{
    long value = *sum;
    for (volatile int i = 0; i < linger; i++)
        ;
    *sum = value + 1;
}

static void count(struct shared *s, int n)
{
    for (int i = 0; i < n; i++) {
#pragma ws critical(counter)
        add(&s->named, i % 50);
#pragma ws critical
        {
            CHECK(s->inside == 0);
            s->inside = 1;
            add(&s->unnamed, 10);
            s->inside = 0;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(s->named == (long) ranks * n);
    CHECK(s->unnamed == (long) ranks * n);
}

static void loop(struct shared *s)
{
    enum { N = 2000 };
    long rounds = 0, on_guests = 0, all = 0;
    double deadline = now() + PATIENCE;
    int go_on = 1;
    while (go_on) {
        /* Rank 0 has nothing to do and lends; the others exclude each other. */
        if (rank > 0) {
            long mine = 0;
#pragma ws for
            for (int i = 0; i < N; i++) {
                busy(5e-6);
#pragma ws critical(counter)
                {
                    add(&s->named, 5);
                    mine++;
                    on_guests += on_guest();
                }
            }
            CHECK(mine == N);
        }
        rounds++;
        MPI_Allreduce(&on_guests, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        go_on = !all && with_workshare && now() < deadline;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(s->named == rounds * (ranks - 1) * N);
    CHECK(all > 0 || !with_workshare);
}

static void names(struct shared *s)
{
    if (rank == 0) {
#pragma ws critical(one)
        {
            s->plain = 1;
            double deadline = now() + PATIENCE;
            while (s->plain != 2 && now() < deadline)
                ;
            CHECK(s->plain == 2);
        }
    } else if (rank == 1) {
        while (s->plain != 1)
            ;
#pragma ws critical(two)
#pragma ws critical(three)
        s->plain = 2;
    }
}

static void death(struct shared *s)
{
    if (rank == 1) {
#pragma ws critical(fatal)
        {
            s->plain = 1;
            usleep(20000);
            raise(SIGKILL);
        }
    }
    while (!s->plain)
        usleep(100);
#pragma ws critical(fatal)
    s->plain = 3;
    printf("rank %d went on\n", rank);
}

static void enter_twice(void)
{
#pragma ws critical(twice)
    printf("rank %d went on\n", rank);
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    long early = 0;
#pragma ws critical(counter)
    early++;
    begin(&argc, &argv);
    struct shared *s = shared_memory(sizeof *s);
    if (!strcmp(how, "count")) {
        MPI_Comm node;
        int of_node;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        MPI_Comm_size(node, &of_node);
        if (of_node < ranks)
            puts("MPI shares no memory");
        MPI_Comm_free(&node);
        count(s, 20000);
    }
    else if (!strcmp(how, "loop"))
        loop(s);
    else if (!strcmp(how, "names"))
        names(s);
    else if (!strcmp(how, "death"))
        death(s);
    else if (!strcmp(how, "again")) {
#pragma ws critical(twice)
        enter_twice();
    }
    int status = end();
#pragma ws critical(counter)
    early++;
    return status || early != 2;
}
