/* SPDX-License-Identifier: MIT
 *
 * XMPI: processes join a partition and leave it. Each row is kept by exactly one process, with its data, and
 * XMPI_Get_counts says by which.
 *
 *   flex_members groups          parts of MPI_COMM_WORLD, of 4 ranks or more
 *   flex_members spawn N         N processes are started, get rows, give them back and end
 *   flex_members replace N       N processes are started and get all rows; the others leave
 *   flex_members die N           one of N processes that were started dies during a move of rows
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <workshare/xmpi.h>

enum { ROWS = 1000, WIDTH = 3, CHILD = 3, MODE = 1, NUMBER = 2 };

static MPI_Comm comm = MPI_COMM_NULL; /* of those that have the partition */
static XMPI_Partition rows = XMPI_PARTITION_NULL;
static MPI_Count count, displ;
static int rank, ranks, wrong, iteration;
static double *matrix, *value;
static long long *starts;
static int *column;

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); fflush(stdout); } } while (0)

static int length_of(long row) { return (int) (row * 7 % 5); }
static void *room(size_t bytes) { return malloc(bytes ? bytes : 1); }

static void make(void)
{
    long elements = 0;
    for (long i = 0; i < count; i++)
        elements += length_of(displ + i);
    matrix = room(sizeof *matrix * (size_t) (count * WIDTH));
    starts = room(sizeof *starts * (size_t) (count + 1));
    column = room(sizeof *column * (size_t) elements);
    value = room(sizeof *value * (size_t) elements);
    starts[0] = 0;
    for (long i = 0, at = 0; i < count; i++) {
        for (int w = 0; w < WIDTH; w++)
            matrix[i * WIDTH + w] = (double) ((displ + i) * WIDTH + w);
        starts[i + 1] = starts[i] + length_of(displ + i);
        for (int k = 0; k < length_of(displ + i); k++, at++) {
            column[at] = (int) (displ + i) + k;
            value[at] = (double) ((displ + i) * 8 + k);
        }
    }
    CHECK(XMPI_Register(rows, &matrix, WIDTH, MPI_DOUBLE, XMPI_ROWS) == MPI_SUCCESS);
    CHECK(XMPI_Register_csr(rows, &starts, MPI_LONG_LONG, &column, MPI_INT, &value, MPI_DOUBLE) == MPI_SUCCESS);
}

/* What this process has, and the first `active` processes of `comm`, or from process `from` on. */
static void check_rows(int from, int active)
{
    MPI_Count *counts = malloc(sizeof *counts * (size_t) ranks), *displs = malloc(sizeof *displs * (size_t) ranks);
    MPI_Count next = 0;
    CHECK(XMPI_Get_counts(rows, counts, displs) == MPI_SUCCESS);
    for (int r = 0; r < ranks; r++) {
        CHECK(displs[r] == next);
        CHECK((counts[r] > 0) == (r >= from && r < from + active));
        next += counts[r];
    }
    CHECK(next == ROWS && counts[rank] == count && displs[rank] == displ);
    free(counts), free(displs);
    for (long i = 0, at = 0; i < count && wrong < 5; i++) {
        for (int w = 0; w < WIDTH; w++)
            CHECK(matrix[i * WIDTH + w] == (double) ((displ + i) * WIDTH + w) + iteration);
        CHECK(starts[i + 1] - starts[i] == length_of(displ + i));
        for (int k = 0; k < length_of(displ + i); k++, at++)
            CHECK(column[at] == (int) (displ + i) + k && value[at] == (double) ((displ + i) * 8 + k));
    }
}

static int moves;
static void iterate(int times)
{
    for (int i = 0; i < times; i++) {
        int moved = 0;
        CHECK(XMPI_Monitor_begin(rows) == MPI_SUCCESS);
        for (long k = 0; k < count * WIDTH; k++)
            matrix[k]++;
        iteration++;
        XMPI_Set_work(rows, (double) count);
        if (i % 2)
            CHECK(XMPI_Monitor_end(rows, &count, &displ, &moved) == MPI_SUCCESS);
        else {
            CHECK(XMPI_Monitor_end_begin(rows) == MPI_SUCCESS);
            CHECK(XMPI_Monitor_end_finish(rows, &count, &displ, &moved) == MPI_SUCCESS);
        }
        moves += moved;
    }
}

static void resize(int processes)
{
    const int before = moves;
    CHECK(XMPI_Resize(rows, processes) == MPI_SUCCESS);
    iterate(1);
    CHECK(moves > before);
    check_rows(0, processes);
}

/* Those that give MPI_COMM_NULL leave. */
static void set_comm(MPI_Comm next)
{
    const int joins = rows == XMPI_PARTITION_NULL;
    CHECK(XMPI_Set_comm(next, &rows) == MPI_SUCCESS);
    CHECK((rows == XMPI_PARTITION_NULL) == (next == MPI_COMM_NULL));
    comm = next;
    if (next == MPI_COMM_NULL) {
        free(matrix), free(starts), free(column), free(value);
        return;
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (joins) {
        MPI_Count *displs = malloc(sizeof *displs * (size_t) ranks);
        CHECK(XMPI_Get_counts(rows, NULL, displs) == MPI_SUCCESS);
        displ = displs[rank];
        count = 0;
        free(displs);
        make();
    }
    MPI_Allreduce(MPI_IN_PLACE, &iteration, 1, MPI_INT, MPI_MAX, comm);
}

static void begin(MPI_Comm first)
{
    comm = first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    CHECK(XMPI_Get_wsize(comm, ROWS, MPI_INFO_NULL, &rows, &count, &displ) == MPI_SUCCESS);
    make();
    iterate(3);
}

static void expect_error(int line, int error, const char *words)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, class = MPI_SUCCESS;
    MPI_Error_string(error, text, &length);
    MPI_Error_class(error, &class);
#ifdef OPEN_MPI /* it has no text for an error of libws's */
    words = "";
#endif
    if (class != MPI_ERR_ARG || !strstr(text, words)) {
        wrong++;
        printf("rank %d, line %d: %s\n", rank, line, text);
        fflush(stdout);
    }
}
#define EXPECT(call, words) expect_error(__LINE__, call, words)

/* The ranks of MPI_COMM_WORLD for which `is_in`, in the order of `key`; MPI_COMM_NULL for the others. */
static MPI_Comm part(int is_in, int key)
{
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, is_in ? 0 : MPI_UNDEFINED, key, &made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
}

static void groups(void)
{
    int me, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    const int is_old = me < 2;
    MPI_Comm two = part(is_old, me), two_mirrored = part(is_old, -me), four = part(1, me), mirrored = part(1, -me),
             others_first = part(1, is_old ? all + me : me), others = part(!is_old, me);
    if (is_old)
        begin(two);
    set_comm(four);
    check_rows(0, 2);
    iterate(8); /* with an interval's end among them */
    resize(all);
    iterate(8);
    EXPECT(XMPI_Set_comm(is_old ? two : MPI_COMM_NULL, &rows), "first XMPI_Resize gives them to others");
    resize(2);
    EXPECT(XMPI_Set_comm(two_mirrored, &rows), "in the order that they had"); /* and nobody has left */
    CHECK(rows != XMPI_PARTITION_NULL);
    iterate(1);
    CHECK(XMPI_Resize(rows, 1) == MPI_SUCCESS); /* counts for the processes that come */
    set_comm(is_old ? two : MPI_COMM_NULL);
    if (is_old) {
        iterate(1);
        check_rows(0, 1);
        resize(2);
    }
    EXPECT(XMPI_Set_comm(mirrored, &rows), "in the order that they had");
    CHECK((rows == XMPI_PARTITION_NULL) == !is_old);
    if (!is_old)
        EXPECT(XMPI_Set_comm(others, &rows), "no process of comm has a partition");
    set_comm(others_first);
    check_rows(all - 2, 2);
    iterate(12);
    check_rows(all - 2, 2);
    resize(all);
    CHECK(XMPI_Set_goal(rows, XMPI_GOAL_EFFICIENCY, 0.5) == MPI_SUCCESS);
    CHECK(XMPI_Set_goal(rows, XMPI_GOAL_NONE, 0) == MPI_SUCCESS);
    resize(all - 2);
    set_comm(is_old ? MPI_COMM_NULL : others);
    if (!is_old) {
        iterate(8);
        check_rows(0, all - 2);
        CHECK(XMPI_Partition_free(&rows) == MPI_SUCCESS);
    }
    MPI_Comm *all_of_them[] = { &two, &two_mirrored, &four, &mirrored, &others_first, &others };
    for (unsigned i = 0; i < sizeof all_of_them / sizeof all_of_them[0]; i++)
        if (*all_of_them[i] != MPI_COMM_NULL)
            MPI_Comm_free(all_of_them[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int die(void *address, MPI_Count bytes)
{
    (void) address, (void) bytes;
    return raise(SIGKILL);
}

static void spawn(char **argv, int replaces, int dies)
{
    MPI_Comm parent, between, all;
    int number, is_old;
    MPI_Comm_get_parent(&parent);
    is_old = parent == MPI_COMM_NULL;
    if (is_old) {
        char *arguments[] = { argv[MODE], argv[NUMBER], "child", NULL };
        begin(MPI_COMM_WORLD);
        number = atoi(argv[NUMBER]);
        int *errors = malloc(sizeof *errors * (size_t) number);
        MPI_Comm_spawn(argv[0], arguments, number, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, errors);
        free(errors);
    } else
        between = parent;
    MPI_Intercomm_merge(between, is_old ? replaces : !replaces, &all);
    set_comm(all);
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    const int olds = is_old ? number : ranks - number;
    check_rows(replaces ? ranks - olds : 0, olds);
    iterate(8);
    if (dies && !is_old && rank == ranks - 1)
        XMPI_Set_resize(rows, &matrix, die);
    resize(replaces ? ranks - olds : ranks);
    iterate(8);
    if (!replaces)
        resize(olds);
    const int stays = replaces ? !is_old : is_old;
    set_comm(stays ? MPI_COMM_WORLD : MPI_COMM_NULL);
    MPI_Comm_free(&all); /* Open MPI 4.1 hangs in MPI_Comm_disconnect of a merged one */
    MPI_Comm_disconnect(&between);
    if (!stays)
        return;
    iterate(8);
    check_rows(0, ranks);
    CHECK(XMPI_Partition_free(&rows) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (argc > MODE && strcmp(argv[MODE], "groups") == 0)
        groups();
    else if (argc > NUMBER)
        spawn(argv, strcmp(argv[MODE], "replace") == 0, strcmp(argv[MODE], "die") == 0);
    else
        wrong++;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !wrong)
        printf("right%s\n", argc > CHILD ? ", in those that were started" : "");
    MPI_Finalize();
    return wrong != 0;
}
