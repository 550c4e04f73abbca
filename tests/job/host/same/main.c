/* SPDX-License-Identifier: MIT
 *
 * same CASE...: what an MPI program may see. same_test.py compares what it prints with and without Workshare. Some
 * cases are erroneous or depend on more than the standard promises: they, too, must end as they do under that MPI
 * alone. */
#include "same.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int rank, ranks;
const char *now;
char *self;

void tell(const char *format, ...)
{
    va_list list;
    char text[400];
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    printf("%s %d: %s\n", now, rank, text);
    fflush(stdout);
}

int class_of(int error)
{
    int c = MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        MPI_Error_class(error, &c);
    return c;
}

void late(int who)
{
    if (rank == who)
        usleep(30000);
}

static int goes(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) value, (void) extra;
    int over, sum = 0;
    MPI_Finalized(&over);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tell("goes %d %d", over, sum);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"progress", progress},
        {"alone", alone},
        {"truncated", truncated},
        {"zero", zero},
        {"sparse", sparse},
        {"kinds", kinds},
        {"many", many},
        {"errors", errors},
        {"late_errors", late_errors},
        {"requests", requests},
        {"generalized", generalized},
        {"large", large},
        {"threads", threads},
        {"jump", jump},
        {"dynamic", dynamic},
        {"child", child},
        {"files", files},
        {"windows", windows},
        {"rma", rma},
        {"io", io},
#if MPI_VERSION >= 4
        {"counts", counts},
        {"sessions", sessions},
#endif
    };
    int before, after, level, key;
    self = argv[0];
    now = "main";
#if MPI_VERSION >= 4
    if (argc > 1 && !strcmp(argv[1], "session")) { /* without MPI_Init */
        now = "session";
        in_session("alone");
        return 0;
    }
#endif
    MPI_Initialized(&before);
    MPI_Init_thread(&argc, &argv, argc > 1 && !strcmp(argv[1], "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &level);
    MPI_Initialized(&after);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; i++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            if (!strcmp(argv[i], cases[c].name)) {
                now = cases[c].name;
                cases[c].run();
            }
    now = "main";
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, goes, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Finalize();
    MPI_Finalized(&level);
    tell("%d %d %d", before, after, level);
    return 0;
}
