/* SPDX-License-Identifier: MIT
 *
 * What small collective calls take, of ranks that come together: nanoseconds a call, the fastest batch. Each result is
 * checked.
 */
#include "bench.h"

enum { MOST_RANKS = 64 };

static long sent[MOST_RANKS], received[MOST_RANKS];

static void barrier(long value)
{
    (void) value;
    MPI_Barrier(MPI_COMM_WORLD);
    received[0] = 1;
}

static void bcast(long value)
{
    received[0] = bench_rank == 0 ? value : 0;
    MPI_Bcast(received, 1, MPI_LONG, 0, MPI_COMM_WORLD);
}

static void reduce(long value)
{
    sent[0] = value;
    MPI_Reduce(sent, received, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(long value)
{
    sent[0] = value;
    MPI_Allreduce(sent, received, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(long value)
{
    for (int r = 0; r < bench_ranks; r++)
        sent[r] = value + r;
    MPI_Alltoall(sent, 1, MPI_LONG, received, 1, MPI_LONG, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(long value);
    enum { NOTHING, SAME, SUM_AT_ROOT, SUM, OWN } result;
} kinds[] = {
    { "barrier", barrier, NOTHING }, { "bcast", bcast, SAME }, { "reduce", reduce, SUM_AT_ROOT },
    { "allreduce", allreduce, SUM }, { "alltoall", alltoall, OWN },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static long expected(int kind, long value)
{
    switch (kinds[kind].result) {
    case NOTHING: return 1;
    case SAME: return value;
    case SUM_AT_ROOT: return bench_rank == 0 ? value * bench_ranks : received[0];
    case SUM: return value * bench_ranks;
    default: return value + bench_rank;
    }
}

static void usage(void)
{
    if (bench_rank == 0)
        puts("collectives: small collective calls, nanoseconds a call\n"
             "  --repeats R     timed batches (100)\n"
             "  --batch B       calls in a batch (500)\n"
             "  --json          one JSON object instead of text");
}

int main(int argc, char **argv)
{
    enum { REPEATS = 1, CALLS, JSON, HELP };
    static const struct option options[] = { { "repeats", required_argument, 0, REPEATS },
                                             { "batch", required_argument, 0, CALLS },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    static const char me[] = "collectives";
    bench_init(&argc, &argv);
    long repeats = 100, calls = 500, wrong = 0;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case CALLS: calls = bench_count(me, "batch", optarg, 1, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    if (bench_ranks > MOST_RANKS)
        bench_fail(2, "%s: at most %d ranks, not %d", me, MOST_RANKS, bench_ranks);

    struct bench_times times[KINDS];
    double *samples = malloc(sizeof(double) * (size_t) repeats);
    for (int kind = 0; kind < KINDS; kind++) {
        for (long r = -5; r < repeats; r++) {
            MPI_Barrier(MPI_COMM_WORLD);
            const double begin = bench_now();
            for (long b = 0; b < calls; b++) {
                kinds[kind].call(b);
                wrong += received[0] != expected(kind, b);
            }
            if (r >= 0)
                samples[r] = (bench_now() - begin) / (double) calls;
        }
        times[kind] = bench_summary(samples, repeats);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld results", me, wrong);

    if (bench_rank == 0 && json) {
        printf("{\"program\": \"%s\", \"ranks\": %d, \"ns\": {", me, bench_ranks);
        for (int kind = 0; kind < KINDS; kind++)
            printf("%s\"%s\": {\"min\": %.2f, \"median\": %.2f}", kind ? ", " : "", kinds[kind].name,
                   times[kind].min * 1e9, times[kind].median * 1e9);
        putchar('}');
    } else if (bench_rank == 0) {
        for (int kind = 0; kind < KINDS; kind++)
            printf("%-10s min %.1f  median %.1f ns\n", kinds[kind].name, times[kind].min * 1e9,
                   times[kind].median * 1e9);
    }
    bench_json_end(json);
    free(samples);
    MPI_Finalize();
    return 0;
}
