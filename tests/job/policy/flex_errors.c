/* SPDX-License-Identifier: MIT
 *
 * What is wrong with a call of XMPI is an error of MPI's, with the argument named, and nothing is registered or moved.
 * With an argument: that mistake with MPI's usual handler, which ends the job.
 */
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <workshare/xmpi.h>

static int rank, ranks, wrong;

static void expect(int line, int error, int class, const char *words)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, is = MPI_SUCCESS;
    if (error != MPI_SUCCESS) {
        MPI_Error_class(error, &is);
        MPI_Error_string(error, text, &length);
    }
    if (is != class || !strstr(text, words)) {
        wrong++;
        printf("rank %d, line %d: class %d instead of %d: %s\n", rank, line, is, class, text);
        fflush(stdout);
    }
}
#define EXPECT(call, class, words) expect(__LINE__, call, class, words)

int main(int argc, char **argv)
{
    MPI_Count count = 0, displ = 0;
    XMPI_Partition rows, other, none = XMPI_PARTITION_NULL;
    int moved;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) {
        XMPI_Get_wsize(MPI_COMM_WORLD, 100, MPI_INFO_NULL, &rows, &count, &displ);
        XMPI_Register(rows, NULL, 1, MPI_DOUBLE, XMPI_ROWS);
        puts("went on");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    EXPECT(XMPI_Get_wsize(MPI_COMM_NULL, 1, MPI_INFO_NULL, &rows, &count, &displ), MPI_ERR_COMM,
           "comm is MPI_COMM_NULL");
    EXPECT(XMPI_Get_wsize(MPI_COMM_WORLD, -1, MPI_INFO_NULL, &rows, &count, &displ), MPI_ERR_COUNT, "rows is negative");
    EXPECT(XMPI_Get_wsize(MPI_COMM_WORLD, 100, MPI_INFO_NULL, NULL, &count, &displ), MPI_ERR_ARG, "partition is NULL");
    EXPECT(XMPI_Get_wsize(MPI_COMM_WORLD, 100, MPI_INFO_NULL, &rows, rank ? &count : NULL, &displ), MPI_ERR_ARG,
           "count is NULL (rank 0)");
    if (ranks > 1) {
        EXPECT(XMPI_Get_wsize(MPI_COMM_WORLD, 100 + (rank == 1), MPI_INFO_NULL, &rows, &count, &displ), MPI_ERR_COUNT,
               "rows is not the same as on rank 0 (101) (rank 1)");
        MPI_Comm inter, half;
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &inter);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        EXPECT(XMPI_Get_wsize(inter, 100, MPI_INFO_NULL, &rows, &count, &displ), MPI_ERR_COMM,
               "comm is an intercommunicator");
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    const char *const keys[][2] = {{"ws_flex_domain", "rack"}, {"ws_flex_iterations", "many"}, {"ws_flex_k", "0"},
                                   {"ws_flex_interval", "-1"}, {"ws_flex_th1", "101"},         {"ws_flex_th2", "x"}};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, keys[i][0], keys[i][1]);
        EXPECT(XMPI_Get_wsize(MPI_COMM_WORLD, 100, info, &rows, &count, &displ), MPI_ERR_INFO_VALUE, keys[i][0]);
        MPI_Info_free(&info);
    }
    if (rows != XMPI_PARTITION_NULL)
        wrong++;

    EXPECT(XMPI_Get_wsize(MPI_COMM_WORLD, 100, MPI_INFO_NULL, &rows, &count, &displ), MPI_SUCCESS, "");
    EXPECT(XMPI_Get_wsize(MPI_COMM_WORLD, 50, MPI_INFO_NULL, &other, &displ, &displ), MPI_SUCCESS, "");
    double *a = malloc(sizeof *a * 100), *b = malloc(sizeof *b * 100), *null = NULL, *same = a;
    long long *starts = calloc(101, sizeof *starts);
    EXPECT(XMPI_Register(none, &a, 1, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_ARG, "partition is XMPI_PARTITION_NULL");
    EXPECT(XMPI_Register(77, &a, 1, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_ARG, "partition (77) does not exist");
    EXPECT(XMPI_Register(rows, NULL, 1, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_ARG, "address is NULL");
    EXPECT(XMPI_Register(rows, &null, 1, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_ARG, "*address is NULL");
    EXPECT(XMPI_Register(rows, &a, 0, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_COUNT, "width (0)");
    EXPECT(XMPI_Register(rows, &a, INT64_MAX / 8, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_COUNT, "are too much");
    EXPECT(XMPI_Register(rows, &a, (MPI_Count) INT_MAX + 1, MPI_DOUBLE, XMPI_COLUMNS), MPI_ERR_COUNT, "are too much");
    EXPECT(XMPI_Register(rows, &a, 1, MPI_DOUBLE, 2), MPI_ERR_ARG, "layout (2)");
    EXPECT(XMPI_Register(rows, &a, 1, MPI_DATATYPE_NULL, XMPI_ROWS), MPI_ERR_TYPE, "type is MPI_DATATYPE_NULL");
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_DOUBLE, &type);
    EXPECT(XMPI_Register(rows, &a, 1, type, XMPI_ROWS), MPI_ERR_TYPE, "");
    MPI_Type_free(&type);
    EXPECT(XMPI_Register(rows, &a, 1, MPI_DOUBLE, XMPI_ROWS), MPI_SUCCESS, "");
    EXPECT(XMPI_Register(rows, &a, 1, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_ARG, "*address is registered already");
    EXPECT(XMPI_Register(rows, &same, 1, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_ARG, "*address is registered already");
    EXPECT(XMPI_Register(other, &a, 1, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_ARG, "in another partition");
    EXPECT(XMPI_Deregister(other, &a), MPI_ERR_ARG, "that of a structure of another partition");
    EXPECT(XMPI_Deregister(rows, &b), MPI_ERR_ARG, "not that of a registered structure");
    EXPECT(XMPI_Deregister(rows, NULL), MPI_ERR_ARG, "address is NULL");
    EXPECT(XMPI_Set_resize(rows, &b, NULL), MPI_ERR_ARG, "resize is NULL");

    EXPECT(XMPI_Register_csr(rows, &starts, MPI_FLOAT, &b, MPI_INT, &same, MPI_DOUBLE), MPI_ERR_ARG,
           "*values is registered already");
    double *values = malloc(sizeof *values);
    EXPECT(XMPI_Register_csr(rows, &starts, MPI_FLOAT, &b, MPI_INT, &values, MPI_DOUBLE), MPI_ERR_TYPE, "start_type");
    EXPECT(XMPI_Register_csr(rows, &starts, MPI_SHORT, &b, MPI_INT, &values, MPI_DOUBLE), MPI_ERR_TYPE, "start_type");
    EXPECT(XMPI_Register_csr(rows, &starts, MPI_LONG_LONG, &b, MPI_INT, &b, MPI_DOUBLE), MPI_ERR_ARG,
           "columns and values are the same array");
    if (count > 1) {
        starts[1] = 5;
        EXPECT(XMPI_Register_csr(rows, &starts, MPI_LONG_LONG, &b, MPI_INT, &values, MPI_DOUBLE), MPI_ERR_ARG,
               "starts[2] is less than the one before");
        starts[1] = 0;
    }
    EXPECT(XMPI_Register_csr(rows, &starts, MPI_LONG_LONG, &b, MPI_INT, &values, MPI_DOUBLE), MPI_SUCCESS, "");

    EXPECT(XMPI_Resize(none, 1), MPI_ERR_ARG, "partition is XMPI_PARTITION_NULL");
    EXPECT(XMPI_Resize(rows, 0), MPI_ERR_ARG, "processes (0) is less than 1 (rank 0)");
    EXPECT(XMPI_Resize(rows, ranks + 1), MPI_ERR_ARG, "is more than the communicator has");
    if (ranks > 1)
        EXPECT(XMPI_Resize(rows, rank == 0 ? 2 : 1), MPI_ERR_ARG,
               "processes (1) is not the same as on rank 0 (2) (rank 1)");
    EXPECT(XMPI_Resize(rows, ranks), MPI_SUCCESS, "");
    EXPECT(XMPI_Set_comm(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "partition is NULL");
    EXPECT(XMPI_Set_comm(MPI_COMM_NULL, &none), MPI_ERR_COMM, "comm is MPI_COMM_NULL, and partition XMPI_PARTITION_NULL");
    XMPI_Partition unknown = 12345;
    EXPECT(XMPI_Set_comm(MPI_COMM_WORLD, &unknown), MPI_ERR_ARG, "partition (12345) does not exist");
    EXPECT(XMPI_Set_comm(MPI_COMM_WORLD, &none), MPI_ERR_ARG, "no process of comm has a partition");
    EXPECT(XMPI_Set_comm(MPI_COMM_WORLD, &rows), MPI_SUCCESS, ""); /* the same processes */
    EXPECT(XMPI_Set_goal(none, XMPI_GOAL_NONE, 0), MPI_ERR_ARG, "partition is XMPI_PARTITION_NULL");
    EXPECT(XMPI_Set_goal(rows, 3, 1), MPI_ERR_ARG, "goal (3) is unknown");
    EXPECT(XMPI_Set_goal(rows, XMPI_GOAL_TIME, 0), MPI_ERR_ARG, "value (0) is not a time longer than 0");
    EXPECT(XMPI_Set_goal(rows, XMPI_GOAL_TIME, NAN), MPI_ERR_ARG, "value (nan) is not a time longer than 0");
    EXPECT(XMPI_Set_goal(rows, XMPI_GOAL_EFFICIENCY, 1.5), MPI_ERR_ARG, "value (1.5) is not more than 0 and at most 1");
    if (ranks > 1) {
        EXPECT(XMPI_Set_goal(rows, XMPI_GOAL_TIME, 1 + rank), MPI_ERR_ARG, "value (2) is not the same as on rank 0");
        EXPECT(XMPI_Set_goal(rows, rank ? XMPI_GOAL_TIME : XMPI_GOAL_NONE, 1), MPI_ERR_ARG,
               "goal is not the same as on rank 0");
    }
    EXPECT(XMPI_Set_goal(rows, XMPI_GOAL_NONE, -5), MPI_SUCCESS, "");
    EXPECT(XMPI_Set_work(rows, -1), MPI_ERR_ARG, "work (-1)");
    EXPECT(XMPI_Set_work(rows, NAN), MPI_ERR_ARG, "work (nan)");
    EXPECT(XMPI_Monitor_begin(none), MPI_ERR_ARG, "partition");
    EXPECT(XMPI_Monitor_begin(rows), MPI_SUCCESS, "");
    EXPECT(XMPI_Monitor_end_finish(rows, &count, &displ, &moved), MPI_ERR_ARG, "XMPI_Monitor_end_begin was not called");
    EXPECT(XMPI_Monitor_end(rows, &count, rank ? &displ : NULL, &moved), rank ? MPI_SUCCESS : MPI_ERR_ARG,
           rank ? "" : "displ is NULL");
    EXPECT(XMPI_Monitor_end_begin(rows), MPI_SUCCESS, "");
    EXPECT(XMPI_Monitor_end_begin(rows), MPI_ERR_ARG, "was called already");
    double *late = malloc(sizeof *late * 100);
    EXPECT(XMPI_Register(rows, &late, 1, MPI_DOUBLE, XMPI_ROWS), MPI_ERR_ARG, "rows may be moving");
    EXPECT(XMPI_Register_csr(rows, &starts, MPI_LONG_LONG, &b, MPI_INT, &late, MPI_DOUBLE), MPI_ERR_ARG,
           "rows may be moving");
    EXPECT(XMPI_Set_resize(rows, &a, NULL), MPI_ERR_ARG, "rows may be moving");
    EXPECT(XMPI_Deregister(rows, &a), MPI_ERR_ARG, "rows may be moving");
    EXPECT(XMPI_Resize(rows, 1), MPI_ERR_ARG, "rows may be moving");
    EXPECT(XMPI_Set_comm(MPI_COMM_WORLD, &rows), MPI_ERR_ARG, "rows may be moving");
    EXPECT(XMPI_Set_goal(rows, XMPI_GOAL_TIME, 1), MPI_ERR_ARG, "rows may be moving");
    EXPECT(XMPI_Monitor_end_finish(rows, &count, &displ, &moved), MPI_SUCCESS, "");
    EXPECT(XMPI_Register(rows, &late, 1, MPI_DOUBLE, XMPI_ROWS), MPI_SUCCESS, "");

    EXPECT(XMPI_Alloc(-1, &b), MPI_ERR_COUNT, "bytes (-1)");
    EXPECT(XMPI_Alloc(INT64_MAX, &null), MPI_ERR_NO_MEM, "bytes");
    EXPECT(XMPI_Alloc(8, NULL), MPI_ERR_ARG, "address is NULL");
    EXPECT(XMPI_Alloc(8, &null), MPI_SUCCESS, "");
    EXPECT(XMPI_Free(&null), MPI_SUCCESS, "");
    if (null)
        wrong++;
    EXPECT(XMPI_Partition_free(NULL), MPI_ERR_ARG, "partition is NULL");
    EXPECT(XMPI_Partition_free(&none), MPI_ERR_ARG, "XMPI_PARTITION_NULL");
    XMPI_Partition copy = other;
    EXPECT(XMPI_Partition_free(&other), MPI_SUCCESS, "");
    EXPECT(XMPI_Partition_free(&copy), MPI_ERR_ARG, "was freed");
    EXPECT(XMPI_Get_wsize(MPI_COMM_WORLD, 10, MPI_INFO_NULL, &other, &count, &displ), MPI_SUCCESS, "");
    EXPECT(XMPI_Partition_free(&copy), MPI_ERR_ARG, "was freed"); /* nor is it the new one's */
    EXPECT(XMPI_Partition_free(&other), MPI_SUCCESS, "");
    EXPECT(XMPI_Partition_free(&rows), MPI_SUCCESS, "");
    MPI_Finalize();
    return wrong != 0;
}
