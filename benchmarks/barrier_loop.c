/* SPDX-License-Identifier: MIT
 *
 * Barriers and nothing else: what waiting costs, with as many ranks as cores and with many more. One binary for any
 * MPICH of this ABI, as pingpong.
 */
#include "bench.h"

static void usage(void)
{
    if (bench_rank == 0)
        puts("barrier_loop: barriers in a row\n"
             "  --repeats R     timed barriers (20)\n"
             "  --seconds S     fewer when they would take longer than this (5)\n"
             "  --json          one JSON object instead of text");
}

int main(int argc, char **argv)
{
    enum { REPEATS = 1, SECONDS, JSON, HELP };
    static const struct option options[] = { { "repeats", required_argument, 0, REPEATS },
                                             { "seconds", required_argument, 0, SECONDS },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    const char *me = "barrier_loop";
    long repeats = 20, seconds = 5;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case SECONDS: seconds = bench_count(me, "seconds", optarg, 1, 3600); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }

    /* With many more ranks than cores a barrier may take a second: rank 0 decides how many there is time for. */
    MPI_Barrier(MPI_COMM_WORLD);
    double began = bench_now();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double fit = (double) seconds / ((bench_now() - began) / 2);
    repeats = fit < 2 ? 2 : fit < (double) repeats ? (long) fit : repeats;
    MPI_Bcast(&repeats, 1, MPI_LONG, 0, MPI_COMM_WORLD);

    double *samples = (double *) malloc(sizeof(double) * (size_t) repeats);
    MPI_Barrier(MPI_COMM_WORLD);
    began = bench_now();
    for (long r = 0; r < repeats; r++) {
        double begin = bench_now();
        MPI_Barrier(MPI_COMM_WORLD);
        samples[r] = bench_now() - begin;
    }
    double all = bench_now() - began;
    struct bench_times t = bench_summary(samples, repeats);

    if (bench_rank == 0 && json) {
        printf("{\"program\": \"%s\", \"ranks\": %d, \"repeats\": %ld, \"mean_us\": %.3f", me, bench_ranks, repeats,
               all / (double) repeats * 1e6);
        bench_json_times("us", t);
    } else if (bench_rank == 0) {
        bench_print_times("barrier", t);
        printf("mean       %.1f us of %ld\n", all / (double) repeats * 1e6, repeats);
    }
    bench_json_end(json);
    free(samples);
    MPI_Finalize();
    return 0;
}
