/* SPDX-License-Identifier: MIT
 *
 * What a call of MPIX_Load_create costs, beside MPI_Comm_split: several in a row, from a barrier to the last rank's
 * return, by their number; and processor time of a rank.
 */
#include "bench.h"

#include <workshare/mpix.h>

enum { CENTRAL, DISTRIBUTED, SPLIT, KINDS };
enum { CALLS = 5 }; /* in a row, so that the barrier before them, whose end ranks see at different times, counts less */
static const char *const names[KINDS] = { "central", "distributed", "split" };

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

int main(int argc, char **argv)
{
    enum { REPEATS = 1, JSON, HELP };
    static const struct option options[] = { { "repeats", required_argument, 0, REPEATS },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    long repeats = 10;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case REPEATS: repeats = bench_count("reorder_cost", "repeats", optarg, 1, 1000000); break;
        case JSON: json = true; break;
        case HELP:
            if (bench_rank == 0)
                puts("reorder_cost: what MPIX_Load_create costs, beside MPI_Comm_split\n"
                     "  --repeats R     times that five calls of each are timed (10)\n"
                     "  --json          one JSON object instead of text");
            MPI_Finalize();
            return 0;
        }
    double *loads = (double *) malloc((size_t) bench_ranks * sizeof *loads);
    double *wall = (double *) malloc((size_t) repeats * sizeof *wall),
           *slowest = (double *) malloc((size_t) repeats * sizeof *slowest);
    for (int r = 0; r < bench_ranks; r++)
        loads[r] = 1 + r * 7 % 13;
    if (bench_rank == 0 && json)
        printf("{\"program\": \"reorder_cost\", \"ranks\": %d", bench_ranks);
    for (int kind = 0; kind < KINDS; kind++) {
        double processor = 0, all;
        for (long k = -1; k < repeats; k++) {   /* the first call makes what later ones use */
            MPI_Comm comm[CALLS];
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = bench_now(), before = processor_time();
            for (int i = 0; i < CALLS; i++)
                if (kind == CENTRAL)
                    MPIX_Load_create(MPI_COMM_WORLD, loads, MPI_INFO_NULL, &comm[i]);
                else if (kind == DISTRIBUTED)
                    MPIX_Dist_load_create(MPI_COMM_WORLD, 1, &bench_rank, loads + bench_rank, MPI_INFO_NULL, &comm[i]);
                else
                    MPI_Comm_split(MPI_COMM_WORLD, 0, -bench_rank, &comm[i]);
            if (k >= 0) {
                wall[k] = (bench_now() - begin) / CALLS;
                processor += (processor_time() - before) / ((double) repeats * CALLS);
            }
            for (int i = 0; i < CALLS; i++)
                MPI_Comm_free(&comm[i]);
        }
        MPI_Reduce(wall, slowest, (int) repeats, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(&processor, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (bench_rank)
            continue;
        struct bench_times t = bench_summary(slowest, repeats);
        if (json) {
            bench_json_times(names[kind], t);
            printf(", \"%s_processor_us\": %.3f", names[kind], all / bench_ranks * 1e6);
        } else {
            printf("%-12s %8.2f ms (%.2f .. %.2f), %.3f ms of a rank's processor\n", names[kind], t.median * 1e3,
                   t.min * 1e3, t.max * 1e3, all / bench_ranks * 1e3);
        }
    }
    if (bench_rank == 0 && json)
        puts("}");
    free(loads), free(wall), free(slowest);
    MPI_Finalize();
    return 0;
}
