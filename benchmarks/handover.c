/* SPDX-License-Identifier: MIT
 *
 * How fast a core changes hands, and what a blocked rank costs. Rank 1 waits in MPI_Recv all the time; rank 0 measures:
 *
 *   start    a region opens -> its first iteration begins on rank 1's core
 *   late     a message is sent to rank 1 while its core is lent -> its MPI_Recv returns
 *   return   the same, counted from the end of the iteration that the guest was running when the message was sent
 *   wake     a message is sent to rank 1, which has had nothing to do for long -> its MPI_Recv returns
 *   cpu      share of a core that rank 1 uses meanwhile, in a wait of half a second
 *   there    what the machine takes at least to hand a core over (bare_handover.h), with nothing of ours
 *   back     the same, back to the one who lent it
 *
 * Times of both ranks are compared: CLOCK_MONOTONIC is one clock on a node.
 */
#include "bare_handover.h"

#include <sys/resource.h>

enum { ITERATIONS = 400 };

struct span {
    double begin, end;
    int by_guest;
};

static struct span spans[ITERATIONS];
static __thread int is_main;
static volatile int guest_came;
static double iteration_seconds = 50e-6, sent_at;

static void spin_until(double then)
{
    while (bench_now() < then) {
    }
}

/* The message is sent from a chunk, and so in the middle of a region: its owner computes on, and rank 1's core is
 * lent. */
__attribute__((noinline)) static void iteration(long i)
{
    struct span *s = &spans[i];
    s->begin = bench_now();
    s->by_guest = !is_main;
    if (!is_main)
        guest_came++;
    spin_until(s->begin + iteration_seconds);
    if (is_main && sent_at == 0 && guest_came > 2) {
        sent_at = bench_now();
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    }
    s->end = bench_now();
}

static double received_at(void)
{
    double t;
    MPI_Recv(&t, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return t;
}

/* Rank 1: waits, and says when its wait was over. */
static void answer(void)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double t = bench_now();
    MPI_Send(&t, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
}

struct samples {
    double *values;
    long count;
};

static void add(struct samples *s, double value)
{
    s->values[s->count++] = value;
}

static void print(const char *name, struct samples *s, bool json)
{
    if (s->count == 0) {
        printf(json ? ", \"%s_us\": null" : "%-8s never happened\n", name);
        return;
    }
    qsort(s->values, (size_t) s->count, sizeof(double), bench_compare_doubles);
    double median = s->values[s->count / 2], most = s->values[s->count * 95 / 100];
    printf(json ? ", \"%s_us\": {\"median\": %.3f, \"p95\": %.3f, \"count\": %ld}"
                : "%-8s median %8.1f  95%% %8.1f us (%ld)\n",
           name, median * 1e6, most * 1e6, s->count);
}

static double cpu_now(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void usage(void)
{
    if (bench_rank == 0)
        puts("handover: how fast a core changes hands, 2 ranks\n"
             "  --iteration TIME  of the shared loop, which has chunks of 1 (50us)\n"
             "  --waited TIME     that rank 1 is blocked before anything happens (2ms)\n"
             "  --repeats R       times (100)\n"
             "  --json            one JSON object instead of text");
}

/* Rank 0 opens a shared loop while rank 1 waits, `waited` seconds after it began to. Returns how many iterations were
 * lost. */
static long time_hand_overs(long repeats, double waited, struct samples *start, struct samples *late,
                            struct samples *back)
{
    long wrong = 0;
    for (long r = -3; r < repeats; r++) {       /* the first make the guest */
        MPI_Barrier(MPI_COMM_WORLD);
        if (bench_rank == 1) {
            answer();
            continue;
        }
        memset(spans, 0, sizeof spans);
        guest_came = 0;
        sent_at = 0;
        spin_until(bench_now() + waited);
        double opened = bench_now();
#pragma ws for schedule(dynamic, 1) steal_schedule(dynamic, 1)
        for (long i = 0; i < ITERATIONS; i++)
            iteration(i);
        bool met = sent_at > 0;
        if (!met) {             /* nobody helped */
            sent_at = bench_now();
            MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        }
        double returned = received_at(), first = 0, chunk_end = sent_at;
        for (int i = 0; i < ITERATIONS; i++) {
            wrong += spans[i].end == 0;
            if (spans[i].by_guest && (first == 0 || spans[i].begin < first))
                first = spans[i].begin;
            if (spans[i].by_guest && spans[i].begin <= sent_at && spans[i].end > chunk_end)
                chunk_end = spans[i].end;
        }
        if (r < 0 || !met)
            continue;
        add(start, first - opened);
        add(late, returned - sent_at);
        add(back, returned - chunk_end);
    }
    return wrong;
}

/* Rank 0 sends to rank 1, which has waited for `waited` seconds with nothing to help with. */
static void time_wakeups(long repeats, double waited, struct samples *wake)
{
    for (long r = 0; r < repeats; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (bench_rank == 1) {
            answer();
            continue;
        }
        struct timespec nap = { 0, (long) (waited * 1e9) };
        if (waited < 1)
            nanosleep(&nap, NULL);
        double now = bench_now();
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        add(wake, received_at() - now);
    }
}

/* The share of a core that rank 1 uses while it is blocked for half a second. */
static double cpu_while_blocked(void)
{
    double share = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench_rank == 0) {
        struct timespec nap = { 0, 500000000 };
        nanosleep(&nap, NULL);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&share, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        double begin = bench_now(), used = cpu_now();
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        share = (cpu_now() - used) / (bench_now() - begin);
        MPI_Send(&share, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    return share;
}

int main(int argc, char **argv)
{
    enum { ITERATION = 1, WAITED, REPEATS, JSON, HELP };
    static const struct option options[] = { { "iteration", required_argument, 0, ITERATION },
                                             { "waited", required_argument, 0, WAITED },
                                             { "repeats", required_argument, 0, REPEATS },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    is_main = 1;
    const char *me = "handover";
    long repeats = 100;
    double waited = 2e-3;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case ITERATION: iteration_seconds = bench_seconds(me, "iteration", optarg); break;
        case WAITED: waited = bench_seconds(me, "waited", optarg); break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    if (bench_ranks != 2)
        bench_fail(2, "%s: needs 2 ranks, not %d", me, bench_ranks);

    struct samples start = { 0 }, late = { 0 }, back = { 0 }, wake = { 0 }, bare_there = { 0 }, bare_back = { 0 };
    struct samples *all[] = { &start, &late, &back, &wake, &bare_there, &bare_back };
    for (int k = 0; k < 6; k++)
        all[k]->values = (double *) malloc(sizeof(double) * (size_t) repeats);

    long wrong = time_hand_overs(repeats, waited, &start, &late, &back);
    time_wakeups(repeats, waited, &wake);
    const double cpu_share = cpu_while_blocked();
    bench_others_sleep();
    if (bench_rank == 0) {
        bare_there.count = bare_back.count = bare_hand_overs(repeats, iteration_seconds, bare_there.values,
                                                             bare_back.values);
        bench_others_stop();
    }

    MPI_Bcast(&wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld iterations were lost", me, wrong);
    if (bench_rank == 0) {
        if (json)
            printf("{\"program\": \"%s\", \"ranks\": %d, \"iteration_us\": %.1f, \"waited_us\": %.1f, \"repeats\": "
                   "%ld, \"cpu\": %.4f",
                   me, bench_ranks, iteration_seconds * 1e6, waited * 1e6, repeats, cpu_share);
        print("start", &start, json);
        print("late", &late, json);
        print("return", &back, json);
        print("wake", &wake, json);
        print("there", &bare_there, json);
        print("back", &bare_back, json);
        if (!json)
            printf("cpu      %.1f%% of a core while blocked\n", cpu_share * 100);
    }
    bench_json_end(json);
    for (int k = 0; k < 6; k++)
        free(all[k]->values);
    MPI_Finalize();
    return 0;
}
