/* SPDX-License-Identifier: MIT
 *
 * More and fewer processes have the rows of XMPI: a quarter of the ranks, half, all, and back. Rows cost time in which
 * a rank sleeps, so that ranks may share cores. Tells how long each change takes, how much data moves, and how many
 * iterations pass until the slowest rank takes at most 15 % longer than if all finished together. Each number is
 * compared afterwards.
 */
#include "flex_sleeping.h"

#include <string.h>

static const char *const me = "flex_resize";

struct change {
    double seconds, mb; /* that move */
    long balanced;      /* iterations until ranks finish together; -1: they did not */
};

static struct change change(int to, long all_rows, long iterations)
{
    struct change c = {.balanced = -1};
    const MPI_Count had = count, had_from = displ;
    int moved;
    XMPI_Resize(rows, to);
    XMPI_Monitor_begin(rows);
    MPI_Barrier(MPI_COMM_WORLD);
    c.seconds = bench_now();
    XMPI_Monitor_end(rows, &count, &displ, &moved);
    c.seconds = bench_now() - c.seconds;
    c.mb = moved_mb(had, had_from, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &c.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (long i = 0; i < iterations; i++) {
        XMPI_Monitor_begin(rows);
        if (sleep_and_end(MPI_COMM_WORLD, to, all_rows, &moved) <= 1.15 && c.balanced < 0)
            c.balanced = i;
    }
    long wrong = 0;
    for (long i = 0; i < count * WIDTH; i++)
        wrong += data[i] != (double) (displ * WIDTH + i);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld numbers are not what they were", me, wrong);
    return c;
}

int main(int argc, char **argv)
{
    enum { BYTES = 1, ITERATIONS, SLOW, JSON, HELP };
    static const struct option options[] = { { "bytes", required_argument, 0, BYTES },
                                             { "iterations", required_argument, 0, ITERATIONS },
                                             { "slow", required_argument, 0, SLOW },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    long bytes = 1L << 26, iterations = 30;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case BYTES: bytes = bench_count(me, "bytes", optarg, 1 << 20, 1L << 40); break;
        case ITERATIONS: iterations = bench_count(me, "iterations", optarg, 1, 1000000); break;
        case SLOW: slow = bench_count(me, "slow", optarg, 1, 1000); break;
        case JSON: json = true; break;
        case HELP:
            if (bench_rank == 0)
                puts("flex_resize: a quarter of the ranks has rows, half, all, and back\n"
                     "  --bytes N       of all rows (67108864)\n"
                     "  --iterations N  after each change (30)\n"
                     "  --slow N        ranks with an odd number take N times as long (1)\n"
                     "  --json          JSON instead of text");
            MPI_Finalize();
            return 0;
        }
    if (bench_ranks < 4)
        bench_fail(2, "%s: takes four ranks or more", me);
    const long all_rows = bytes / (WIDTH * (long) sizeof *data);
    const int numbers[] = {bench_ranks / 4, bench_ranks / 2, bench_ranks, bench_ranks / 2, bench_ranks / 4};
    int active = bench_ranks;
    make_rows(all_rows);
    if (bench_rank == 0 && json)
        printf("{\"program\": \"%s\", \"changes\": [", me);
    for (unsigned k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        struct change c = change(numbers[k], all_rows, iterations);
        if (bench_rank == 0 && k > 0) { /* the first change is no measurement: memory is new */
            printf(json
                       ? "%s{\"from\": %d, \"to\": %d, \"seconds\": %.6f, \"mb\": %.3f, \"us_per_mb\": %.1f, "
                         "\"balanced_after\": %ld}"
                       : "%s%d -> %d processes: %.6f s for %.3f MB (%.1f us per MB), balanced after %ld iterations\n",
                   json ? k > 1 ? ", " : "" : "flex_resize: ", active, numbers[k], c.seconds, c.mb,
                   c.seconds * 1e6 / c.mb, c.balanced);
            fflush(stdout);
        }
        active = numbers[k];
    }
    if (bench_rank == 0 && json)
        puts("]}");
    XMPI_Partition_free(&rows);
    free(data);
    MPI_Finalize();
    return 0;
}
