/* SPDX-License-Identifier: MIT
 *
 * Ping-pong of small messages between ranks 0 and 1. One binary for any MPICH of this ABI: which libmpich.so.12
 * it runs on is chosen with LD_LIBRARY_PATH. Prints half the round trip.
 */
#include "bench.h"

static void usage(void)
{
    if (bench_rank == 0)
        puts("pingpong: half the round trip of a small message, 2 ranks\n"
             "  --bytes N       message size (8)\n"
             "  --repeats R     timed batches (200)\n"
             "  --batch B       round trips in a batch (500)\n"
             "  --json          one JSON object instead of text");
}

int main(int argc, char **argv)
{
    enum { BYTES = 1, REPEATS, ROUNDS, JSON, HELP };
    static const struct option options[] = {
        { "bytes", required_argument, 0, BYTES }, { "repeats", required_argument, 0, REPEATS },
        { "batch", required_argument, 0, ROUNDS }, { "json", no_argument, 0, JSON }, { "help", no_argument, 0, HELP },
        { 0, 0, 0, 0 }
    };
    bench_init(&argc, &argv);
    const char *me = "pingpong";
    long bytes = 8, repeats = 200, rounds = 500;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case BYTES: bytes = bench_count(me, "bytes", optarg, 0, 1 << 30); break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case ROUNDS: rounds = bench_count(me, "batch", optarg, 1, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    if (bench_ranks != 2)
        bench_fail(2, "%s: needs 2 ranks, not %d", me, bench_ranks);

    unsigned char *out = malloc((size_t) bytes + 1), *in = malloc((size_t) bytes + 1);
    memset(out, 0, (size_t) bytes + 1);
    double *samples = malloc(sizeof(double) * (size_t) repeats);
    long wrong = 0;
    int peer = 1 - bench_rank;
    for (long r = -5; r < repeats; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = bench_now();
        for (long b = 0; b < rounds; b++) {
            /* Rank 0 sends a new value each time and must get it back. */
            if (bench_rank == 0) {
                memset(out, (int) (b & 0xff), (size_t) (bytes < 8 ? bytes : 8));
                MPI_Send(out, (int) bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
                MPI_Recv(in, (int) bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                wrong += bytes && in[0] != out[0];
            } else {
                MPI_Recv(in, (int) bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(in, (int) bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
            }
        }
        if (r >= 0)
            samples[r] = (bench_now() - begin) / (2.0 * (double) rounds);
    }
    MPI_Bcast(&wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld messages came back changed", me, wrong);
    struct bench_times t = bench_summary(samples, repeats);

    if (bench_rank == 0 && json) {
        printf("{\"program\": \"%s\", \"ranks\": %d, \"bytes\": %ld, \"repeats\": %ld", me, bench_ranks, bytes,
               repeats);
        printf(", \"ns\": {\"min\": %.2f, \"median\": %.2f, \"max\": %.2f}", t.min * 1e9, t.median * 1e9, t.max * 1e9);
    } else if (bench_rank == 0)
        printf("%ld bytes: min %.1f  median %.1f  max %.1f ns\n", bytes, t.min * 1e9, t.median * 1e9, t.max * 1e9);
    bench_json_end(json);
    free(out);
    free(in);
    free(samples);
    MPI_Finalize();
    return 0;
}
