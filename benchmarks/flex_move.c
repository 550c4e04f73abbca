/* SPDX-License-Identifier: MIT
 *
 * How long a move of XMPI takes between two ranks, beside MPI_Sendrecv of the same bytes into memory that is as new.
 * Run with WS_FLEX_FAKE=N,1 and -workshare-flex-interval 1: rank 1 keeps one part of N + 1, and what comes to rank 0 is
 * behind what it has. With 1,N rank 1 has to make room before what it has.
 */
#include "bench.h"

#include <workshare/xmpi.h>

int main(int argc, char **argv)
{
    enum { BYTES = 1, REPEATS, JSON, HELP };
    static const struct option options[] = { { "bytes", required_argument, 0, BYTES },
                                             { "repeats", required_argument, 0, REPEATS },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    const char *me = "flex_move";
    long bytes = 1L << 28, repeats = 3;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case BYTES: bytes = bench_count(me, "bytes", optarg, 1 << 20, 1L << 40); break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000); break;
        case JSON: json = true; break;
        case HELP:
            if (bench_rank == 0)
                puts("flex_move: a move of rows between two ranks, beside MPI_Sendrecv\n"
                     "  --bytes N    of all rows (268435456)\n"
                     "  --repeats N  (3)\n"
                     "  --json       one JSON object instead of text");
            MPI_Finalize();
            return 0;
        }
    if (bench_ranks != 2)
        bench_fail(2, "%s: takes two ranks", me);
    enum { WIDTH = 4096 };
    const long rows = bytes / (WIDTH * (long) sizeof(double));
    double *moves = malloc(sizeof *moves * (size_t) repeats), *messages = malloc(sizeof *messages * (size_t) repeats);
    double gone = 0;
    /* The first is not counted: a virtual machine gets memory from its host when that is touched for the first time. */
    for (long k = -1; k < repeats; k++) {
        XMPI_Partition partition;
        MPI_Count count, displ, had;
        int moved = 0;
        XMPI_Get_wsize(MPI_COMM_WORLD, rows, MPI_INFO_NULL, &partition, &count, &displ);
        double move = 0;
        double *data = malloc(sizeof *data * WIDTH * (size_t) count);
        for (long i = 0; i < count * WIDTH; i++)
            data[i] = (double) (displ * WIDTH + i);
        XMPI_Register(partition, &data, WIDTH, MPI_DOUBLE, XMPI_ROWS);
        had = count;
        for (int i = 0; i < 20 && !moved; i++) {
            XMPI_Monitor_begin(partition);
            MPI_Barrier(MPI_COMM_WORLD);
            const double begin = bench_now();
            XMPI_Monitor_end(partition, &count, &displ, &moved);
            move = bench_now() - begin;
        }
        if (!moved)
            bench_fail(1, "%s: nothing moved: run it under -workshare with WS_FLEX_FAKE", me);
        long wrong = 0;
        for (long i = 0; i < count * WIDTH; i++)
            wrong += data[i] != (double) (displ * WIDTH + i);
        MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (wrong)
            bench_fail(1, "%s: WRONG: %ld numbers are not what they were", me, wrong);
        free(data);
        XMPI_Partition_free(&partition);
        const bool gives = had > count;
        const long n = (gives ? had - count : count - had) * WIDTH;
        gone = (double) n * sizeof(double);
        double *const buffer = malloc(gone > 0 ? (size_t) gone : 1);
        for (long i = 0; i < n && gives; i++) /* the receiver's memory is new, as in a move */
            buffer[i] = (double) i;
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = bench_now();
        const int other = 1 - bench_rank;
        MPI_Sendrecv(buffer, gives ? (int) n : 0, MPI_DOUBLE, other, 0, buffer, gives ? 0 : (int) n, MPI_DOUBLE, other,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (k >= 0) {
            moves[k] = move;
            messages[k] = bench_now() - begin;
        }
        free(buffer);
    }
    MPI_Allreduce(MPI_IN_PLACE, moves, (int) repeats, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, messages, (int) repeats, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    struct bench_times move = bench_summary(moves, repeats), message = bench_summary(messages, repeats);
    if (bench_rank == 0 && json) {
        printf("{\"program\": \"%s\", \"bytes\": %.0f", me, gone);
        bench_json_times("move_us", move);
        bench_json_times("sendrecv_us", message);
    } else if (bench_rank == 0) {
        printf("%.0f MB\n", gone * 1e-6);
        bench_print_times("move", move);
        bench_print_times("MPI_Sendrecv", message);
    }
    bench_json_end(json);
    free(moves);
    free(messages);
    MPI_Finalize();
    return 0;
}
