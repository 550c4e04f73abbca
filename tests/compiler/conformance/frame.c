/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

/* The fake runtime's; absent with libws. */
extern int ws_fake_regions __attribute__((weak));
extern int ws_fake_joined __attribute__((weak));
extern int ws_fake_tasks __attribute__((weak));
extern struct ws_site *ws_fake_site __attribute__((weak));
extern long ws_fake_chunk __attribute__((weak));
extern long ws_fake_steal_chunk __attribute__((weak));

enum { VALUES = 4096 };

int cell[CELLS];
int serial;
static long double values[2][VALUES];
static int count[2];
static const char *name = "before the first case";
static int cases, failures, regions_before, joined_before, tasks_before;
static int sharing, joined;         /* cases that open regions; those whose regions a guest joined */
static int rank, ranks = 1;
static double iteration_seconds;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

void work(void)
{
    if (iteration_seconds > 0)
        for (double end = now() + iteration_seconds; now() < end;)
            ;
}

void let_others_run(void)
{
    sched_yield();
}

static void fail(const char *what)
{
    failures++;
    printf("FAILED %s: %s\n", name, what);
    fflush(stdout);
}

/* A crash or a hang still tells which case it was. */
static void on_signal(int number)
{
    char text[300];
    int n =
        snprintf(text, sizeof text, "FAILED %s: %s\n", name, number == SIGALRM ? "takes too long" : strsignal(number));
    if (write(STDOUT_FILENO, text, (size_t) n) < 0)
        _exit(2);
    _exit(1);
}

static void start_run(void)
{
    memset(cell, 0, sizeof cell);
    count[!serial] = 0;
#ifdef WITH_MPI
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    iteration_seconds = !serial && ranks > 1 && cases % ranks == rank ? 20e-6 : 0;
}

void case_begin(const char *what)
{
    name = what;
    serial = 1;
    start_run();
}

void case_shared(void)
{
    serial = 0;
    regions_before = &ws_fake_regions ? ws_fake_regions : 0;
    tasks_before = &ws_fake_tasks ? ws_fake_tasks : 0;
    joined_before = &ws_fake_joined ? ws_fake_joined : 0;
    start_run();
}

void put(long double value)
{
    if (count[!serial] < VALUES)
        values[!serial][count[!serial]++] = value;
    else
        fail("puts too many values: the case must be adapted");
}

void put_cells(void)
{
    for (int i = 0; i < CELLS; i++)
        put(cell[i]);
}

void case_end(int regions, int tasks)
{
    char text[200];
    if (!count[0])
        fail("puts no value: the case must be adapted");
    if (count[0] != count[1])
        fail("another number of values than the plain loop");
    for (int i = 0; i < count[0] && i < count[1]; i++)
        if (!(values[0][i] == values[1][i])) {
            snprintf(text, sizeof text, "value %d is %.20Lg, in the plain loop %.20Lg", i, values[1][i], values[0][i]);
            fail(text);
            break;
        }
    if (&ws_fake_regions && ws_fake_regions - regions_before < regions) {
        snprintf(text, sizeof text, "%d regions, not %d: the directive was ignored", ws_fake_regions - regions_before,
                 regions);
        fail(text);
    }
    if (&ws_fake_tasks && ws_fake_tasks - tasks_before < tasks)
        fail("no task: the directive was ignored");
    cases++;
    sharing += regions > 0;
    joined += &ws_fake_joined && regions > 0 && ws_fake_joined > joined_before;
}

void schedule_is(int kind, long chunk, int steal_kind, long steal_chunk)
{
    char text[200];
    if (serial || !&ws_fake_site)
        return;
    const int kinds = (int) (ws_fake_site->kinds & 0xffff);
    if (!(ws_fake_site->kinds & WS_SITE_ANY_ORDER))     /* none of the cases that ask has a lastprivate clause */
        fail("the loop is not marked as free of order");
    if (kinds == (kind | steal_kind << 8) && ws_fake_chunk == chunk && ws_fake_steal_chunk == steal_chunk)
        return;
    snprintf(text, sizeof text, "schedule %d,%ld steal_schedule %d,%ld reached the runtime, not %d,%ld and %d,%ld",
             kinds & 0xff, ws_fake_chunk, kinds >> 8, ws_fake_steal_chunk, kind, chunk, steal_kind, steal_chunk);
    fail(text);
}

void name_is(const char *name)
{
    char text[400];
    if (serial || !&ws_fake_site || strcmp(ws_fake_site->where, name) == 0)
        return;
    snprintf(text, sizeof text, "the loop is called '%s', not '%s'", ws_fake_site->where, name);
    fail(text);
}

int main(int argc, char **argv)
{
    const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    (void) argc;
    (void) argv;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], on_signal);
    alarm(50);
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
    run_cases();
    name = "the program";
    /* A run in which no guests joined would test nothing. Some regions have so few iterations that none needs to. */
    const char *mode = getenv("WS_FAKE");
    const int expected = !mode || (strcmp(mode, "alone") != 0 && strcmp(mode, "plain") != 0);
    if (&ws_fake_joined && expected && 2 * joined < sharing)
        fail("guests joined in less than half of its cases");
    if (rank == 0)
        printf("%d cases, %d failed\n", cases, failures);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return failures != 0;
}
