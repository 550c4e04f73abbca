/* SPDX-License-Identifier: MIT
 *
 * One-sided calls of rank 0, each with a flush, to rank 1, which has to answer them while it waits in one MPI_Recv:
 * MPICH reaches the memory of MPI_Win_create in another process by messages. Prints what a call takes.
 */
#include "bench.h"

enum kind { PUT, ACCUMULATE, GET, FETCH_AND_OP, KINDS };
static const char *const names[KINDS] = { "put", "accumulate", "get", "fetch_and_op" };

static void usage(void)
{
    if (bench_rank == 0)
        puts("one_sided: one-sided calls to a rank that waits in MPI_Recv, 2 ranks\n"
             "  --repeats R     timed batches of each kind (20)\n"
             "  --batch B       calls in a batch (1000)\n"
             "  --json          one JSON object instead of text");
}

/* One call with its flush. `cell` is what the number in the window is to be; returns whether what came back is
 * wrong. */
static bool call(enum kind kind, MPI_Win window, long *cell)
{
    const long one = 1, before = *cell;
    long value = before;
    switch (kind) {
    case PUT: ++*cell; MPI_Put(cell, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window); break;
    case ACCUMULATE: ++*cell; MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, window); break;
    case FETCH_AND_OP: ++*cell; value = -1; MPI_Fetch_and_op(&one, &value, MPI_LONG, 1, 0, MPI_SUM, window); break;
    default: value = -1; MPI_Get(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window); break;
    }
    MPI_Win_flush(1, window);
    return value != before;
}

/* Rank 0: seconds a call in `samples`, of each batch. Returns how many results were wrong. */
static long measure(enum kind kind, MPI_Win window, long *cell, double *samples, long repeats, long batch)
{
    long wrong = 0;
    for (long r = -2; r < repeats; r++) {
        double begin = bench_now();
        for (long b = 0; b < batch; b++)
            wrong += call(kind, window, cell);
        if (r >= 0)
            samples[r] = (bench_now() - begin) / (double) batch;
    }
    return wrong + call(GET, window, cell);
}

int main(int argc, char **argv)
{
    enum { REPEATS, BATCH, JSON, HELP };
    static const struct option options[] = { { "repeats", required_argument, 0, REPEATS },
                                             { "batch", required_argument, 0, BATCH },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    const char *me = "one_sided";
    long repeats = 20, batch = 1000;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case BATCH: batch = bench_count(me, "batch", optarg, 1, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    if (bench_ranks != 2)
        bench_fail(2, "%s: needs 2 ranks, not %d", me, bench_ranks);

    /* At a multiple of 16: UCX registers memory from such an address on, and MPICH 4.0 takes that for the window's. */
    _Alignas(64) long memory = 0;
    long cell = 0, wrong = 0;
    MPI_Win window;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    double *samples = malloc(sizeof(double) * (size_t) repeats);
    struct bench_times times[KINDS];
    for (enum kind kind = 0; kind < KINDS; kind++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (bench_rank == 1) {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        wrong += measure(kind, window, &cell, samples, repeats, batch);
        MPI_Win_unlock(1, window);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        times[kind] = bench_summary(samples, repeats);
    }
    free(samples);
    MPI_Win_free(&window);
    MPI_Bcast(&wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld results", me, wrong);

    if (bench_rank == 0) {
        if (json)
            printf("{\"program\": \"%s\", \"ranks\": %d, \"repeats\": %ld, \"ns\": {", me, bench_ranks, repeats);
        for (enum kind kind = 0; kind < KINDS; kind++) {
            const struct bench_times t = times[kind];
            if (json)
                printf("%s\"%s\": {\"min\": %.1f, \"median\": %.1f, \"max\": %.1f}", kind ? ", " : "", names[kind],
                       t.min * 1e9, t.median * 1e9, t.max * 1e9);
            else
                printf("%s: min %.1f  median %.1f  max %.1f ns\n", names[kind], t.min * 1e9, t.median * 1e9,
                       t.max * 1e9);
        }
        if (json)
            printf("}");
    }
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
