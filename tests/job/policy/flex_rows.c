/* SPDX-License-Identifier: MIT
 *
 * XMPI: structures of all kinds keep their rows while these move, whose numbers the program knows. With WS_FLEX_FAKE,
 * where rows are in the end follows from the speeds.
 *
 *   flex_rows MODE ROWS ITERATIONS [KEY VALUE]...
 *
 * MODE: all (each kind of structure at once); split (the same, with XMPI_Monitor_end_begin); two (two decompositions on
 * two communicators); little (no memory for more: nothing moves); corrupt (a row is changed by its move); large (memory
 * during a move); starved (the system has none for more); work (XMPI_Set_work); some (rank 0 alone calls it); sometimes
 * (all call it, in every second pair of intervals); worse (rank 0 takes as long with fewer rows, and rank 1 longer than
 * in proportion with more); unlike (a process has registered another structure); gone; unmapped (memory given back);
 * static; stack; inside; small (memory that realloc() cannot resize, or too little); node (by nodes); die (a process
 * dies before it learns of a move); die-moving (in the middle of one); waits (rank 0 is slower, and the others wait for
 * it in MPI); waits-split (the same, with XMPI_Monitor_end_begin); left (the same as waits, and the partition ends
 * before it is known what follows from the last interval); load (rank 1 takes longer than its pretended processor);
 * burst (the same in the first two intervals alone); costly (rank 1's rows take twice the computing; until the first
 * move); constant (processes take the same time whatever rows they have, so no move gains anything; and moves are
 * expensive); resize (more and fewer processes have rows); resize-split (the same, with XMPI_Monitor_end_begin);
 * die-resizing (a process that had no rows dies in the middle of that); goal (row by row in 0.1 ms, an iteration is to
 * take 33 ms). KEY and VALUE: for info. FLEX_WITH_ROWS: the number of processes that begin with rows; all by default.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <workshare/xmpi.h>

enum { WIDTH = 3, INTERVAL = 5 }; /* the script's */

static int rank, ranks, wrong;
static XMPI_Partition rows;
static MPI_Count count, displ;
static long n;

struct gap {            /* a type with a hole */
    char a;
    double b;
};

static double *vector, *matrix, *columns;
static struct gap *gaps;
static int *starts, *column;
static float *value;
static MPI_Datatype gap_type;

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); fflush(stdout); } } while (0)

static int length_of(long row) { return (int) (row * 7 % 5); }
static void *room(size_t bytes) { return malloc(bytes ? bytes : 1); }

static void make(void)
{
    long elements = 0;
    vector = room(sizeof *vector * (size_t) count);
    matrix = room(sizeof *matrix * (size_t) (count * WIDTH));
    columns = room(sizeof *columns * (size_t) (count * WIDTH));
    gaps = room(sizeof *gaps * (size_t) count);
    starts = room(sizeof *starts * (size_t) (count + 1));
    starts[0] = 1; /* as in Fortran */
    for (long i = 0; i < count; i++)
        elements += length_of(displ + i);
    column = room(sizeof *column * (size_t) elements);
    value = room(sizeof *value * (size_t) elements);
    for (long i = 0, at = 0; i < count; i++) {
        const long row = displ + i;
        vector[i] = (double) row;
        memset(&gaps[i], 0, sizeof gaps[i]);
        gaps[i].a = (char) row;
        gaps[i].b = (double) row * 2;
        for (int w = 0; w < WIDTH; w++) {
            matrix[i * WIDTH + w] = (double) (row * WIDTH + w);
            columns[w * count + i] = (double) (row * WIDTH + w);
        }
        starts[i + 1] = starts[i] + length_of(row);
        for (int k = 0; k < length_of(row); k++, at++) {
            column[at] = (int) row + k;
            value[at] = (float) (row * 8 + k);
        }
    }
    const int lengths[] = { 1, 1 };
    const MPI_Aint at[] = { offsetof(struct gap, a), offsetof(struct gap, b) };
    const MPI_Datatype types[] = { MPI_CHAR, MPI_DOUBLE };
    MPI_Datatype parts;
    MPI_Type_create_struct(2, lengths, at, types, &parts);
    MPI_Type_create_resized(parts, 0, sizeof(struct gap), &gap_type);
    MPI_Type_commit(&gap_type);
    MPI_Type_free(&parts);
    CHECK(XMPI_Register(rows, &vector, 1, MPI_DOUBLE, XMPI_ROWS) == MPI_SUCCESS);
    CHECK(XMPI_Register(rows, &matrix, WIDTH, MPI_DOUBLE, XMPI_ROWS) == MPI_SUCCESS);
    CHECK(XMPI_Register(rows, &columns, WIDTH, MPI_DOUBLE, XMPI_COLUMNS) == MPI_SUCCESS);
    CHECK(XMPI_Register(rows, &gaps, 1, gap_type, XMPI_ROWS) == MPI_SUCCESS);
    MPI_Type_free(&gap_type); /* a registered structure keeps its own */
}

static void make_sparse(void)
{
    CHECK(XMPI_Register_csr(rows, &starts, MPI_INT, &column, MPI_INT, &value, MPI_FLOAT) == MPI_SUCCESS);
}

static void check(void)
{
    long at = 0;
    CHECK(starts[0] == 1);
    for (long i = 0; i < count && wrong < 5; i++) {
        const long row = displ + i;
        CHECK(vector[i] == (double) row);
        CHECK(gaps[i].a == (char) row && gaps[i].b == (double) row * 2);
        for (int w = 0; w < WIDTH; w++) {
            CHECK(matrix[i * WIDTH + w] == (double) (row * WIDTH + w));
            CHECK(columns[w * count + i] == (double) (row * WIDTH + w));
        }
        CHECK(starts[i + 1] - starts[i] == length_of(row));
        for (int k = 0; k < length_of(row); k++, at++)
            CHECK(column[at] == (int) row + k && value[at] == (float) (row * 8 + k));
    }
    /* All rows, each once. */
    MPI_Count *counts = malloc(sizeof *counts * (size_t)ranks), *displs = malloc(sizeof *displs * (size_t)ranks),
              next = 0;
    CHECK(XMPI_Get_counts(rows, counts, displs) == MPI_SUCCESS);
    for (int r = 0; r < ranks; r++) {
        CHECK(displs[r] == next);
        next += counts[r];
    }
    CHECK(next == n && counts[rank] == count && displs[rank] == displ);
    free(counts);
    free(displs);
}

static int moves;

/* What a process does in an iteration, in modes that look at more than where rows are. */
static void compute(const char *mode, long i)
{
    if (!strncmp(mode, "waits", 5) || !strcmp(mode, "left")) {
        usleep((useconds_t) (count * (rank == 0 ? 90 : 30)));
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(mode, "goal")) {
        usleep((useconds_t) (count * 100));
    } else if (rank == 1 && (!strcmp(mode, "load") || (!strcmp(mode, "burst") && i < 2 * INTERVAL))) {
        usleep((useconds_t) (count * 40));
    } else if (!strcmp(mode, "worse")) {
        const double part = (double) count / 500;
        usleep(rank == 0 ? 4000 : (useconds_t) (2000 * part * part * part * part));
    } else if (!strcmp(mode, "some")) {
        if (rank == 0)
            CHECK(XMPI_Set_work(rows, (double) count) == MPI_SUCCESS);
    } else if (!strcmp(mode, "sometimes")) {
        if (i / (2 * INTERVAL) % 2)
            CHECK(XMPI_Set_work(rows, 1e6 * (double) count) == MPI_SUCCESS);
    } else if (!strcmp(mode, "costly")) {
        volatile double x = 1;
        for (long k = 0; k < 3000 * count * (rank + 1); k++)
            x = x * 1.0000001;
    }
}

static void die_resizing(void)
{
    int moved;
    XMPI_Monitor_begin(rows);
    XMPI_Resize(rows, ranks);
    XMPI_Monitor_end_begin(rows);
    if (rank == ranks - 1)
        raise(SIGKILL);
    XMPI_Monitor_end_finish(rows, &count, &displ, &moved);
}

static void die_moving(long iterations)
{
    for (long i = 0; i < iterations; i++) {
        int moved;
        XMPI_Monitor_begin(rows);
        XMPI_Monitor_end_begin(rows);
        if (rank == 1 && i == iterations - 1)
            raise(SIGKILL);
        XMPI_Monitor_end_finish(rows, &count, &displ, &moved);
    }
}

static void iterate_with(const char *mode, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        int moved;
        XMPI_Monitor_begin(rows);
        compute(mode, i);
        if (!strcmp(mode, "left") && i == iterations - 1)
            break;
        if (!strcmp(mode, "waits-split")) {
            CHECK(XMPI_Monitor_end_begin(rows) == MPI_SUCCESS);
            CHECK(XMPI_Monitor_end_finish(rows, &count, &displ, &moved) == MPI_SUCCESS);
        } else
            CHECK(XMPI_Monitor_end(rows, &count, &displ, &moved) == MPI_SUCCESS);
        if (moved && rank == 0)
            printf("moved at %ld\n", i);
        moves += moved;
        if (moved && !strcmp(mode, "costly")) /* what was measured before shows how it was measured */
            break;
    }
}

static void iterate(long iterations, bool split)
{
    for (long i = 0; i < iterations; i++) {
        int moved = 7;
        CHECK(XMPI_Monitor_begin(rows) == MPI_SUCCESS);
        if (split) {
            CHECK(XMPI_Monitor_end_begin(rows) == MPI_SUCCESS);
            CHECK(XMPI_Monitor_end_finish(rows, &count, &displ, &moved) == MPI_SUCCESS);
        } else
            CHECK(XMPI_Monitor_end(rows, &count, &displ, &moved) == MPI_SUCCESS);
        CHECK(moved == 0 || moved == 1);
        moves += moved;
        if (moved)
            check();
    }
}

static void expect_first(int processes)
{
    MPI_Count *counts = malloc(sizeof *counts * (size_t)ranks);
    CHECK(XMPI_Get_counts(rows, counts, NULL) == MPI_SUCCESS);
    for (int r = 0; r < ranks; r++)
        CHECK(r < processes ? counts[r] > 0 : counts[r] == 0);
    free(counts);
}

static void resize(long iterations, bool split)
{
    const int numbers[] = { 1, ranks, 2, ranks - 1, ranks };
    for (unsigned k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        const int before = moves;
        if (k % 2) /* within an iteration, or before it */
            XMPI_Monitor_begin(rows);
        CHECK(XMPI_Resize(rows, ranks) == MPI_SUCCESS);
        CHECK(XMPI_Resize(rows, numbers[k]) == MPI_SUCCESS); /* the last one counts */
        iterate(1, split);
        CHECK(moves == before + (k == 0 || numbers[k] != numbers[k - 1]));
        expect_first(numbers[k]);
        iterate(iterations, split);
        expect_first(numbers[k]);
    }
}

/* kB, as the kernel says of this process. */
static long status(const char *format)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, format, &kb);
    if (f)
        fclose(f);
    return kb;
}

/* kB that the process had at most since the last call. */
static long peak(void)
{
    const long kb = status("VmHWM: %ld");
    FILE *f;
    if ((f = fopen("/proc/self/clear_refs", "w"))) {
        fputs("5", f);
        fclose(f);
    }
    return kb;
}

static void large(long iterations, bool starved)
{
    const long width = 1 << 14; /* 128 KiB a row */
    double *big = room(sizeof *big * (size_t) (count * width));
    for (long i = 0; i < count * width; i++)
        big[i] = (double) (displ * width + i);
    CHECK(XMPI_Register(rows, &big, width, MPI_DOUBLE, XMPI_ROWS) == MPI_SUCCESS);
    const long had = count;
    if (starved && rank == ranks - 1) { /* which is to get more: the system has little more for it */
        struct rlimit limit;
        getrlimit(RLIMIT_DATA, &limit);
        limit.rlim_cur = (rlim_t) (status("VmData: %ld") + 4096) * 1024;
        CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    }
    peak();
    const long before = peak();
    double took = MPI_Wtime();
    for (long i = 0; i < iterations; i++) {
        int moved;
        XMPI_Monitor_begin(rows);
        XMPI_Monitor_end(rows, &count, &displ, &moved);
        moves += moved;
    }
    took = MPI_Wtime() - took;
    const long most = peak(), kb = (had > count ? had : count) * width * 8 / 1024;
    for (long i = 0; i < count * width && wrong < 5; i++)
        CHECK(big[i] == (double) (displ * width + i));
    const double over = (double) (most - before - (count > had ? (count - had) * width * 8 / 1024 : 0)) / (double) kb;
    printf("rank %d rows %ld -> %ld over %.3f s %.3f\n", rank, had, (long) count, over, took);
    free(big);
}

/* A fifth of a second for each change. */
static int slowly(void *address, MPI_Count bytes)
{
    static MPI_Count had;
    double **at = address;
    if (had != 0 && bytes != had)
        usleep(200000);
    had = bytes;
    double *moved = realloc(*at, (size_t) bytes);
    if (!moved)
        return 1;
    *at = moved;
    return 0;
}

static void constant(long iterations)
{
    vector = room(sizeof *vector * (size_t) count);
    for (long i = 0; i < count; i++)
        vector[i] = (double) (displ + i);
    CHECK(XMPI_Register(rows, &vector, 1, MPI_DOUBLE, XMPI_ROWS) == MPI_SUCCESS);
    CHECK(XMPI_Set_resize(rows, &vector, slowly) == MPI_SUCCESS);
    for (long i = 0; i < iterations; i++) {
        int moved;
        XMPI_Monitor_begin(rows);
        usleep(rank == 0 ? 25000 : 50000);
        CHECK(XMPI_Monitor_end(rows, &count, &displ, &moved) == MPI_SUCCESS);
        moves += moved;
    }
    for (long i = 0; i < count && wrong < 5; i++)
        CHECK(vector[i] == (double) (displ + i));
    free(vector);
}

/* Keeps the content, but for a bit of the last row when rows have come: a move that loses something. */
static int corrupt(void *address, MPI_Count bytes)
{
    static MPI_Count had;
    double **at = address;
    double *moved = realloc(*at, (size_t) bytes);
    if (!moved)
        return 1;
    *at = moved;
    if (had > bytes && bytes > 0)
        ((char *) moved)[bytes - 1] ^= 1;
    had = bytes;
    return 0;
}

static int refuse(void *address, MPI_Count bytes)
{
    (void) address;
    return bytes > (MPI_Count) sizeof(double) * count;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *mode = argc > 1 ? argv[1] : "all";
    n = argc > 2 ? atol(argv[2]) : 1000;
    long iterations = argc > 3 ? atol(argv[3]) : 20;
    MPI_Info info = MPI_INFO_NULL;
    const bool fails = !strcmp(mode, "unlike") || !strcmp(mode, "gone") || !strcmp(mode, "unmapped") ||
                       !strcmp(mode, "static") || !strcmp(mode, "stack") || !strcmp(mode, "inside") ||
                       !strcmp(mode, "small");
    static char in_program[1 << 20];
    char on_stack[1 << 16];
    if (fails) /* a decomposition takes over the handler */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!strcmp(mode, "node") || argc > 4)
        MPI_Info_create(&info);
    if (!strcmp(mode, "node"))
        MPI_Info_set(info, "ws_flex_domain", "node");
    for (int i = 4; i + 1 < argc; i += 2)
        MPI_Info_set(info, argv[i], argv[i + 1]);
    CHECK(XMPI_Get_wsize(MPI_COMM_WORLD, n, info, &rows, &count, &displ) == MPI_SUCCESS);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    const int with_rows = getenv("FLEX_WITH_ROWS") ? atoi(getenv("FLEX_WITH_ROWS")) : ranks;
    CHECK(count == (rank < with_rows ? n / with_rows + (rank < n % with_rows) : 0));
    if (!strcmp(mode, "large") || !strcmp(mode, "starved")) {
        large(iterations, mode[0] == 's');
    } else if (!strcmp(mode, "constant")) {
        constant(iterations);
    } else {
        make();
        if (strcmp(mode, "work") != 0)
            make_sparse();
        check();
        if (!strcmp(mode, "two")) {
            /* Odd and even ranks apart, each with a decomposition of their own beside the one of all. */
            MPI_Comm half;
            XMPI_Partition other;
            MPI_Count c, d;
            int moved, half_rank;
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
            MPI_Comm_rank(half, &half_rank);
            CHECK(XMPI_Get_wsize(half, 100, MPI_INFO_NULL, &other, &c, &d) == MPI_SUCCESS);
            MPI_Comm_free(&half); /* the decomposition has its own */
            long *numbers = room(sizeof *numbers * (size_t) c);
            for (long i = 0; i < c; i++)
                numbers[i] = d + i;
            CHECK(XMPI_Register(other, &numbers, 1, MPI_LONG, XMPI_ROWS) == MPI_SUCCESS);
            for (long i = 0; i < iterations; i++) {
                XMPI_Monitor_begin(other);
                iterate(1, false);
                CHECK(XMPI_Monitor_end(other, &c, &d, &moved) == MPI_SUCCESS);
                for (long j = 0; moved && j < c; j++)
                    CHECK(numbers[j] == d + j);
            }
            printf("other %d rows %ld\n", rank, (long) c);
            CHECK(XMPI_Deregister(other, &numbers) == MPI_SUCCESS);
            free(numbers);
            CHECK(XMPI_Partition_free(&other) == MPI_SUCCESS);
            CHECK(other == XMPI_PARTITION_NULL);
        } else if (!strcmp(mode, "little") || !strcmp(mode, "corrupt")) {
            if (rank == ranks - 1)
                CHECK(XMPI_Set_resize(rows, &vector, mode[0] == 'l' ? refuse : corrupt) == MPI_SUCCESS);
            iterate(iterations, false);
            check();
        } else if (fails) {
            int moved = 0, error = MPI_SUCCESS;
            if (rank == 1 && !strcmp(mode, "unlike"))
                CHECK(XMPI_Deregister(rows, &gaps) == MPI_SUCCESS);
            if (rank == 1 && !strcmp(mode, "gone")) {
                free(matrix);
                matrix = NULL;
            }
            if (rank == 1 && !strcmp(mode, "unmapped")) {
                free(matrix);
                /* Where nobody is given memory by chance. */
                matrix = mmap((void *) (1l << 40), 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                munmap(matrix, 1 << 16);
            }
            if (rank == 1 && (!strcmp(mode, "static") || !strcmp(mode, "stack"))) {
                free(matrix);
                matrix = (void *) (mode[2] == 'a' && mode[3] == 't' ? in_program : on_stack);
            }
            if (rank == 1 && !strcmp(mode, "inside")) {
                free(matrix);
                char *all = malloc(1 << 20);
                memset(all, 63, 1 << 20);
                matrix = (void *) (all + 64);
            }
            if (rank == 1 && !strcmp(mode, "small")) {
                free(matrix);
                matrix = malloc(64);
            }
            for (long i = 0; i < iterations && !error; i++) {
                XMPI_Monitor_begin(rows);
                error = XMPI_Monitor_end(rows, &count, &displ, &moved);
            }
            char text[MPI_MAX_ERROR_STRING] = "none";
            int length, class = 0;
            if (error) {
                MPI_Error_string(error, text, &length);
                MPI_Error_class(error, &class);
            }
            printf("rank %d error %d: %s\n", rank, class == MPI_ERR_ARG, text);
            MPI_Finalize();
            return 0;
        } else if (!strcmp(mode, "work")) {
            /* Row i costs i units, which only the program knows; processes are equally fast in them. */
            for (long i = 0; i < iterations; i++) {
                int moved;
                double units = 0;
                for (long j = 0; j < count; j++)
                    units += (double) (displ + j);
                XMPI_Monitor_begin(rows);
                double end = MPI_Wtime() + units * 1e-7;
                while (MPI_Wtime() < end)
                    usleep(50);
                CHECK(XMPI_Set_work(rows, units) == MPI_SUCCESS);
                CHECK(XMPI_Monitor_end(rows, &count, &displ, &moved) == MPI_SUCCESS);
                moves += moved;
                if (moved)
                    printf("rank %d count %ld\n", rank, (long) count);
                fflush(stdout);
            }
        } else if (!strcmp(mode, "die")) {
            for (long i = 0; i < iterations; i++) {
                int moved;
                XMPI_Monitor_begin(rows);
                if (rank == 1 && i == iterations - 1)
                    raise(SIGKILL);
                XMPI_Monitor_end(rows, &count, &displ, &moved);
            }
        } else if (!strncmp(mode, "resize", 6)) {
            resize(iterations, !strcmp(mode, "resize-split"));
        } else if (!strcmp(mode, "die-resizing")) {
            die_resizing();
        } else if (!strcmp(mode, "die-moving")) {
            die_moving(iterations);
        } else if (!strncmp(mode, "waits", 5) || !strcmp(mode, "left") || !strcmp(mode, "load") ||
                   !strcmp(mode, "burst") || !strcmp(mode, "costly") || !strcmp(mode, "some") ||
                   !strcmp(mode, "worse") || !strcmp(mode, "sometimes")) {
            iterate_with(mode, iterations);
        } else if (!strcmp(mode, "goal")) {
            CHECK(XMPI_Set_goal(rows, XMPI_GOAL_TIME, 0.033) == MPI_SUCCESS);
            iterate_with(mode, iterations);
        } else
            iterate(iterations, !strcmp(mode, "split"));
        if (strcmp(mode, "work") != 0) {
            check();
            CHECK(XMPI_Deregister(rows, &starts) == MPI_SUCCESS);
        }
        CHECK(XMPI_Deregister(rows, &vector) == MPI_SUCCESS);
        free(vector), free(matrix), free(columns), free(gaps), free(starts), free(column), free(value);
    }
    printf("rank %d rows %ld from %ld moves %d\n", rank, (long) count, (long) displ, moves);
    CHECK(XMPI_Partition_free(&rows) == MPI_SUCCESS);
    MPI_Finalize();
    return wrong != 0;
}
