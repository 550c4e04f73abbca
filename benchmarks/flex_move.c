/* SPDX-License-Identifier: MIT
 *
 * How long a move of XMPI takes between two ranks, beside MPI_Sendrecv of the same bytes into memory that is as new.
 * Run with WS_FLEX_FAKE=N,1 and -workshare-rows-interval 1: rank 1 keeps one part of N + 1, and what comes to rank 0 is
 * behind what it has. With 1,N rank 1 has to make room before what it has.
 *
 * A virtual machine gets memory from its host when that is touched for the first time, or for the first time since the
 * machine has reported it as free: that takes up to 60 times as long as the kernel's own part, and meets the one or
 * the other by chance. So before each the same memory is taken, touched and given back.
 */
#include "bench.h"

#include <sys/mman.h>
#include <workshare/xmpi.h>

enum { WIDTH = 4096 };

static void touch(double bytes)
{
    const size_t n = (size_t) bytes + (1 << 21);
    char *const memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_fail(1, "flex_move: there are no %zu bytes", n);
    madvise(memory, n, MADV_HUGEPAGE);
    for (size_t i = 0; i < n; i += 4096)
        memory[i] = 1;
    munmap(memory, n);
}

/* Seconds of this rank; how many numbers have come, less than 0: have gone. */
static double move(long rows, long *come)
{
    const char *me = "flex_move";
    XMPI_Partition partition;
    MPI_Count count, displ, had;
    int moved = 0;
    double seconds = 0;
    XMPI_Get_wsize(MPI_COMM_WORLD, rows, MPI_INFO_NULL, &partition, &count, &displ);
    double *data = malloc(sizeof *data * WIDTH * (size_t) count);
    for (long i = 0; i < count * WIDTH; i++)
        data[i] = (double) (displ * WIDTH + i);
    XMPI_Register(partition, &data, WIDTH, MPI_DOUBLE, XMPI_ROWS);
    had = count;
    for (int i = 0; i < 20 && !moved; i++) {
        XMPI_Monitor_begin(partition);
        touch((double) count * WIDTH * sizeof(double)); /* no process gets more */
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = bench_now();
        XMPI_Monitor_end(partition, &count, &displ, &moved);
        seconds = bench_now() - begin;
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
    *come = (count - had) * WIDTH;
    return seconds;
}

static double message(long come)
{
    const bool gives = come < 0;
    const long n = gives ? -come : come;
    const int other = 1 - bench_rank;
    touch((double) n * sizeof(double));
    double *const buffer = malloc(n > 0 ? (size_t) n * sizeof(double) : 1);
    for (long i = 0; i < n && gives; i++) /* the receiver's memory is new, as in a move */
        buffer[i] = (double) i;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = bench_now();
    MPI_Sendrecv(buffer, gives ? (int) n : 0, MPI_DOUBLE, other, 0, buffer, gives ? 0 : (int) n, MPI_DOUBLE, other, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double seconds = bench_now() - begin;
    free(buffer);
    return seconds;
}

static void list(const char *name, const double *seconds, long n)
{
    printf(", \"%s\": [", name);
    for (long k = 0; k < n; k++)
        printf("%s%.1f", k ? ", " : "", seconds[k] * 1e6);
    printf("]");
}

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
    const long rows = bytes / (WIDTH * (long) sizeof(double));
    double *moves = malloc(sizeof *moves * (size_t) repeats), *messages = malloc(sizeof *messages * (size_t) repeats);
    long come = 0;
    move(rows, &come); /* not counted: it tells how much moves */
    for (long k = 0; k < repeats; k++) {
        if (k % 2 == 0)
            moves[k] = move(rows, &come);
        messages[k] = message(come);
        if (k % 2)
            moves[k] = move(rows, &come);
    }
    const double gone = (double) (come < 0 ? -come : come) * sizeof(double);
    MPI_Allreduce(MPI_IN_PLACE, moves, (int) repeats, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, messages, (int) repeats, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    struct bench_times moved = bench_summary(moves, repeats), sent = bench_summary(messages, repeats);
    if (bench_rank == 0 && json) {
        printf("{\"program\": \"%s\", \"bytes\": %.0f", me, gone);
        list("move_us", moves, repeats);
        list("sendrecv_us", messages, repeats);
    } else if (bench_rank == 0) {
        printf("%.0f MB\n", gone * 1e-6);
        bench_print_times("move", moved);
        bench_print_times("MPI_Sendrecv", sent);
    }
    bench_json_end(json);
    free(moves);
    free(messages);
    MPI_Finalize();
    return 0;
}
