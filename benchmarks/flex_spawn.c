/* SPDX-License-Identifier: MIT
 *
 * A job grows and shrinks while it runs. MPI_Comm_spawn starts as many processes as there are, twice, and they get rows
 * of XMPI. Then they give the rows back, leave the partition and end. Rows cost time in which a process sleeps, so that
 * processes may share cores.
 *
 * Prints how long each step of a change takes. The rival is MPI_Comm_spawn and MPI_Intercomm_merge of processes that do
 * nothing else. Also prints how many iterations pass until the slowest process takes at most 15 % longer than if all
 * finished together. After each change, every number is compared with that of one process that did all iterations.
 *
 * Exit status 77: this MPI starts no processes.
 */
#include "flex_sleeping.h"

#include <stddef.h>

static const char *const me = "flex_spawn";
enum { GROWS = 2, CHANGES = 2 * GROWS, CANNOT = 77 };

static long bytes = 1L << 26, iterations = 30, repeats = 3;
static bool json, is_alone; /* a process that is started alone ends at once */
static char **arguments;

/* What a process that joins has to know, and nobody else changes. */
static struct state {
    int depth, repeat, iteration;
} now;

/* Seconds; -1: not part of this change. */
struct change {
    int from, to;
    /* MPI_Comm_spawn and MPI_Intercomm_merge: of processes that do nothing else, and of those that join */
    double alone, spawn;
    double set_comm, move, end; /* end: MPI_Comm_free and MPI_Comm_disconnect */
    double mb;                  /* that move */
    double balanced;            /* iterations until processes finish together; -1: they did not */
};

static struct change *changes; /* of rank 0: all repeats */
static long changes_known;

static long all_rows(void) { return bytes / (WIDTH * (long) sizeof *data); }
static int rank_in(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}
static int size_of(MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

/* The time since `begin` of the slowest process of `comm`. */
static double slowest(double begin, MPI_Comm comm)
{
    double seconds = bench_now() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return seconds;
}

/* What an iteration does to the first number of a row. Not inlined, so that the check rounds as the iterations do. */
__attribute__((noinline)) static double next(double value, long row) { return value * 1.0000001 + 1e-3 * (double) row; }

/* One iteration. Returns what sleep_and_end() does. */
static double iterate(MPI_Comm comm, int active, int *moved)
{
    XMPI_Monitor_begin(rows);
    for (long i = 0; i < count; i++)
        data[i * WIDTH] = next(data[i * WIDTH], displ + i);
    now.iteration++;
    return sleep_and_end(comm, active, all_rows(), moved);
}

/* Ends the program if a number is not what one process that did all iterations would have, bit by bit. */
static void check(MPI_Comm comm)
{
    long wrong = 0, there = (long) count;
    for (long i = 0; i < count; i++) {
        const long row = (long) displ + i;
        double first = (double) (row * WIDTH);
        for (int k = 0; k < now.iteration; k++)
            first = next(first, row);
        wrong += memcmp(&data[i * WIDTH], &first, sizeof first) != 0;
        for (long w = 1; w < WIDTH; w++)
            wrong += data[i * WIDTH + w] != (double) (row * WIDTH + w);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_LONG, MPI_SUM, comm);
    bench_rank = rank_in(comm); /* of all that fail, one prints */
    if (wrong || there != all_rows())
        bench_fail(1, "%s: WRONG: %ld numbers are not what they have to be, %ld of %ld rows are there", me, wrong,
                   there, all_rows());
}

/* The first `to` processes of `comm` get all rows. */
static void move_rows(MPI_Comm comm, int to, struct change *c)
{
    const MPI_Count had = count, had_from = displ;
    int moved;
    MPI_Barrier(comm);
    const double begin = bench_now();
    XMPI_Resize(rows, to);
    XMPI_Monitor_begin(rows);
    XMPI_Monitor_end(rows, &count, &displ, &moved);
    c->move = slowest(begin, comm);
    c->mb = moved_mb(had, had_from, comm);
    c->balanced = -1;
    for (long i = 0; i < iterations; i++)
        if (iterate(comm, to, &moved) <= 1.15 && c->balanced < 0)
            c->balanced = (double) i;
    check(comm);
}

/* Starts as many processes as `comm` has. Returns the seconds until they are in one communicator with it, `*all`. */
static double start(MPI_Comm comm, bool alone, MPI_Comm *between, MPI_Comm *all)
{
    char only[] = "--alone";
    int n = 0;
    while (arguments[n])
        n++;
    char **given = calloc((size_t) n + 2, sizeof *given);
    memcpy(given, arguments + 1, (size_t) (n - 1) * sizeof *given);
    if (alone)
        given[n - 1] = only;
    MPI_Barrier(comm);
    const double begin = bench_now();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int error = MPI_Comm_spawn(arguments[0], given, size_of(comm), MPI_INFO_NULL, 0, comm, between,
                                     MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    free(given);
    if (error) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length;
        MPI_Error_string(error, text, &length);
        bench_fail(CANNOT, "%s: this MPI starts no processes: %s", me, text);
    }
    MPI_Intercomm_merge(*between, 0, all);
    return slowest(begin, comm);
}

/* Without MPI_Comm_disconnect of the merged communicator, in which Open MPI 4.1 hangs. */
static void part(MPI_Comm *between, MPI_Comm *all)
{
    MPI_Comm_free(all);
    MPI_Comm_disconnect(between);
}

/* Sleeps while the processes that have parted end. A process of Open MPI 4.1 sometimes waits for ever in PMIx_Init,
 * with and without Workshare, and more often if others end meanwhile. */
static void let_them_end(void)
{
    const struct timespec pause = {.tv_nsec = 500000000};
    nanosleep(&pause, NULL);
}

/* The rival: processes that are started, and end. */
static double start_alone(MPI_Comm comm)
{
    MPI_Comm between, all;
    const double seconds = start(comm, true, &between, &all);
    part(&between, &all);
    let_them_end();
    return seconds;
}

/* Enters the partition that the others of `all` have, with arrays of no rows. */
static void join(MPI_Comm all)
{
    MPI_Count *displs = malloc(sizeof *displs * (size_t) size_of(all));
    XMPI_Get_counts(rows, NULL, displs);
    displ = displs[rank_in(all)];
    count = 0;
    free(displs);
    data = malloc(1);
    XMPI_Register(rows, &data, WIDTH, MPI_DOUBLE, XMPI_ROWS);
}

static void grow(MPI_Comm comm);

/* What all processes of `all` do while it exists: those of `comm`, and those that were started for it, whose `comm` is
 * MPI_COMM_NULL. `grown` and `shrunk` are filled in those of `comm`. */
static void grown_to(MPI_Comm all, MPI_Comm between, MPI_Comm comm, struct change *grown, struct change *shrunk)
{
    const int size = size_of(all);
    MPI_Barrier(all);
    double begin = bench_now();
    XMPI_Set_comm(all, &rows);
    grown->set_comm = slowest(begin, all);
    if (comm == MPI_COMM_NULL)
        join(all);
    MPI_Bcast(&now, sizeof now, MPI_BYTE, 0, all);
    move_rows(all, size, grown);
    now.depth++;
    grow(all);
    now.depth--;
    move_rows(all, size / 2, shrunk);
    MPI_Barrier(all);
    begin = bench_now();
    XMPI_Set_comm(comm, &rows);
    if (comm != MPI_COMM_NULL)
        shrunk->set_comm = slowest(begin, comm);
    begin = bench_now();
    part(&between, &all);
    if (comm != MPI_COMM_NULL) {
        shrunk->end = slowest(begin, comm);
        let_them_end();
    }
}

/* Doubles the processes, and halves them again, each time with everything that lies between: the processes of `comm`
 * have all rows before and after. The rival comes before it or after it in turn. */
static void grow(MPI_Comm comm)
{
    if (now.depth == GROWS)
        return;
    const int size = size_of(comm);
    struct change grown = {.from = size, .to = 2 * size, .end = -1};
    struct change shrunk = {.from = 2 * size, .to = size, .alone = -1, .spawn = -1};
    MPI_Comm between, all;
    if (now.repeat % 2 == 0)
        grown.alone = start_alone(comm);
    grown.spawn = start(comm, false, &between, &all);
    grown_to(all, between, comm, &grown, &shrunk);
    if (now.repeat % 2)
        grown.alone = start_alone(comm);
    if (changes) {
        changes[now.repeat * CHANGES + now.depth] = grown;
        changes[(now.repeat + 1) * CHANGES - 1 - now.depth] = shrunk;
        changes_known += 2;
    }
}

static double median_of(long k, size_t member)
{
    double *values = malloc(sizeof *values * (size_t) repeats);
    for (long r = 0; r < repeats; r++)
        values[r] = *(const double *) ((const char *) &changes[r * CHANGES + k] + member);
    const double median = bench_summary(values, repeats).median;
    free(values);
    return median;
}

static void print_ms(double seconds)
{
    if (seconds < 0)
        printf(" %11s", "");
    else
        printf(" %11.2f", seconds * 1e3);
}

static void print_table(void)
{
    printf("%.0f MB of rows, sleeping work; medians of %ld, milliseconds\n", (double) bytes * 1e-6, repeats);
    printf("%-8s %11s %11s %11s %11s %11s %9s %9s %9s\n", "", "start alone", "start", "Set_comm", "move", "end", "MB",
           "us per MB", "balanced");
    for (long k = 0; k < CHANGES; k++) {
        const double move = median_of(k, offsetof(struct change, move)), mb = median_of(k, offsetof(struct change, mb));
        printf("%2d -> %-2d", changes[k].from, changes[k].to);
        print_ms(median_of(k, offsetof(struct change, alone)));
        print_ms(median_of(k, offsetof(struct change, spawn)));
        print_ms(median_of(k, offsetof(struct change, set_comm)));
        print_ms(move);
        print_ms(median_of(k, offsetof(struct change, end)));
        printf(" %9.2f %9.1f %9.0f\n", mb, move * 1e6 / mb, median_of(k, offsetof(struct change, balanced)));
    }
    puts("start: MPI_Comm_spawn and MPI_Intercomm_merge; move: XMPI_Resize and the end of an iteration; end:\n"
         "MPI_Comm_free and MPI_Comm_disconnect; balanced: after that many iterations, -1: not.\n"
         "All numbers are what one process would have, bit by bit.");
}

static void print_seconds(const char *name, double seconds)
{
    if (seconds >= 0)
        printf(", \"%s\": %.6f", name, seconds);
}

static void print_json(void)
{
    printf("{\"program\": \"%s\", \"bytes\": %ld, \"slow\": %ld, \"changes\": [", me, bytes, slow);
    for (long k = 0; k < repeats * CHANGES; k++) {
        const struct change *const c = changes + k;
        printf("%s{\"repeat\": %ld, \"from\": %d, \"to\": %d", k ? ", " : "", k / CHANGES, c->from, c->to);
        print_seconds("alone_s", c->alone);
        print_seconds("spawn_s", c->spawn);
        print_seconds("set_comm_s", c->set_comm);
        print_seconds("move_s", c->move);
        print_seconds("end_s", c->end);
        printf(", \"mb\": %.3f, \"us_per_mb\": %.1f, \"balanced_after\": %.0f}", c->mb, c->move * 1e6 / c->mb,
               c->balanced);
    }
    printf("]");
}

/* A process that was started for others. */
static void be_started(MPI_Comm parent)
{
    struct change grown, shrunk; /* rank 0 knows better */
    MPI_Comm all;
    MPI_Intercomm_merge(parent, 1, &all);
    if (is_alone)
        part(&parent, &all);
    else
        grown_to(all, parent, MPI_COMM_NULL, &grown, &shrunk);
}

static void be_first(void)
{
    make_rows(all_rows());
    if (bench_rank == 0)
        changes = calloc((size_t) (repeats * CHANGES), sizeof *changes);
    for (now.repeat = 0; now.repeat < repeats; now.repeat++)
        grow(MPI_COMM_WORLD);
    check(MPI_COMM_WORLD);
    XMPI_Partition_free(&rows);
    if (bench_rank == 0 && changes_known != repeats * CHANGES)
        bench_fail(1, "%s: WRONG: %ld changes were measured", me, changes_known);
    if (bench_rank == 0 && json)
        print_json();
    else if (bench_rank == 0)
        print_table();
    bench_json_end(json);
    free(changes);
}

int main(int argc, char **argv)
{
    enum { BYTES = 1, ITERATIONS, REPEATS, SLOW, ALONE, JSON, HELP };
    static const struct option options[] = { { "bytes", required_argument, 0, BYTES },
                                             { "iterations", required_argument, 0, ITERATIONS },
                                             { "repeats", required_argument, 0, REPEATS },
                                             { "slow", required_argument, 0, SLOW },
                                             { "alone", no_argument, 0, ALONE },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    MPI_Comm parent;
    bench_init(&argc, &argv);
    arguments = argv;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case BYTES: bytes = bench_count(me, "bytes", optarg, 1 << 20, 1L << 40); break;
        case ITERATIONS: iterations = bench_count(me, "iterations", optarg, 1, 1000000); break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000); break;
        case SLOW: slow = bench_count(me, "slow", optarg, 1, 1000); break;
        case ALONE: is_alone = true; break; /* says a process of this program to one that it starts */
        case JSON: json = true; break;
        case HELP:
            if (bench_rank == 0)
                puts("flex_spawn: the processes are doubled twice by MPI_Comm_spawn, and halved again\n"
                     "  --bytes N       of all rows (67108864)\n"
                     "  --iterations N  after each change (30)\n"
                     "  --repeats N     (3)\n"
                     "  --slow N        processes with an odd number take N times as long (1)\n"
                     "  --json          JSON instead of text");
            MPI_Finalize();
            return 0;
        }
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        be_first();
    else
        be_started(parent);
    free(data);
    MPI_Finalize();
    return 0;
}
