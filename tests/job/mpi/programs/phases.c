/* SPDX-License-Identifier: MIT
 *
 * phases SHAPE [N]: a program that knows what the report should say of its phases. Work sleeps, so that it lasts the
 * same whatever else runs on the machine. Each rank prints, of each phase, by its own clock,
 *    rank R phase PATH own S whole S entered N
 *    nested     phases inside each other, of other lengths on each rank; a barrier in the last
 *    different  each rank has a phase that the others lack
 *    names N    N names, twice each, written into one buffer
 *    deep N     a phase that is N phases deep
 *    levels     MPI_Pcontrol inside and outside of named phases
 *    loops      a shared loop in phase "share", and one in phase "alone", with and without ws_enable
 *    metrics    ws_metrics says what the rank did
 *    open       two phases are still open at the end
 *    ends       an end too many, after a phase
 *    threads    another thread begins a phase
 *    counted    phases with other instructions per cycle, by counters that the program plays
 *    caliper    with Caliper's functions, which print what they get */
#include "test.h"
#include <pthread.h>
#include <workshare/ws.h>

#ifdef WITH_COUNTERS
#include "played_counters.h"

/* Instructions per cycle: 2 and 1/4, at 1.5 GHz of CPU time; between these phases thousands that are too short. */
static void counted(void)
{
    for (int i = 0; i < 10; i++) {
        play_counters(3, 1.5);
        ws_phase_begin("dense");
        work_on_cpu(10e-3);
        ws_phase_end();
        play_counters(100, 1);
        for (int k = 0; k < 2000; k++) {
            ws_phase_begin("short");
            ws_phase_end();
        }
        play_counters(0.375, 1.5);
        ws_phase_begin("sparse");
        work_on_cpu(10e-3);
        MPI_Pcontrol(2); /* inside of it */
        work_on_cpu(5e-3);
        ws_phase_end();
        play_counters(100, 1); /* in MPI, too, which is not counted */
        MPI_Barrier(MPI_COMM_WORLD);
    }
}
#endif

enum { MOST = 16, DEEPEST = 8 };
static struct {
    char path[64];
    double own, whole;
    int entered;
} seen[MOST];
static int open_now[DEEPEST], depth, seen_count;
static double began[DEEPEST], last; /* last: until when all time is in some phase's own */

static void count(void)
{
    double at = now();
    if (depth)
        seen[open_now[depth - 1]].own += at - last;
    last = at;
}

static void enter(const char *name)
{
    char path[64];
    int i = 0;
    snprintf(path, sizeof path, "%s%s%s", depth ? seen[open_now[depth - 1]].path : "", depth ? "/" : "", name);
    while (i < seen_count && strcmp(seen[i].path, path))
        i++;
    if (i == seen_count)
        strcpy(seen[seen_count++].path, path);
    count();
    seen[i].entered++;
    open_now[depth] = i;
    began[depth++] = last;
    ws_phase_begin(name);
}

static void leave(void)
{
    ws_phase_end();
    count();
    depth--;
    seen[open_now[depth]].whole += last - began[depth];
}

static void work(int ms)
{
    usleep((useconds_t) ms * 1000);
}

static void nested(void)
{
    for (int i = 0; i < 5; i++) {
        enter("step");
        work(4);
        enter("solve");
        work(rank == 0 ? 20 : 10);
        enter("inner");
        work(5);
        leave();
        leave();
        leave();
        enter("inner"); /* another than the one above */
        work(3);
        leave();
        enter("sync");
        MPI_Barrier(MPI_COMM_WORLD);
        leave();
    }
}

static void different(void)
{
    char name[16];
    snprintf(name, sizeof name, "rank %d", rank);
    enter("all");
    work(5);
    enter(name);
    work(10 + 10 * rank);
    leave();
    leave();
}

static void names(int n)
{
    static char name[200]; /* the same place for all of them */
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < n; i++) {
            snprintf(name, sizeof name, "name %d", i);
            ws_phase_begin(name);
            ws_phase_end();
        }
    for (int turn = 0; turn < 3; turn++) { /* of long names the first 111 bytes count */
        memset(name, 'x', sizeof name);
        name[150 + turn] = '\0';
        ws_phase_begin(name);
        ws_phase_end();
    }
    char one[] = "two literals", other[] = "two literals"; /* one phase */
    ws_phase_begin(one);
    ws_phase_end();
    ws_phase_begin(other);
    ws_phase_end();
}

static void levels(void)
{
    MPI_Pcontrol(2);
    ws_phase_begin("in level 2");
    MPI_Pcontrol(3);
    work(5);
    ws_phase_end(); /* and level 3 with it */
    work(5);
    MPI_Pcontrol(1); /* in no level */
    ws_phase_begin("solve");
    MPI_Pcontrol(4);
    MPI_Pcontrol(4); /* the same: no new one */
    work(5);
    MPI_Pcontrol(1);
    work(5);
    ws_phase_end();
    work(5);
}

static void shared_loop(void)
{
#pragma ws for name("in share")
    for (int i = 0; i < 100; i++)
        usleep(100);
}

static void other_loop(void)
{
#pragma ws for name("in alone")
    for (int i = 0; i < 100; i++)
        usleep(100);
}

static void both_loop(void)
{
#pragma ws for name("in both")
    for (int i = 0; i < 20; i++)
        usleep(100);
}

static void loops(int how)
{
    for (int i = 0; i < 10; i++) {
        ws_phase_begin("share");
        if (rank == 0) {
            shared_loop();
            both_loop();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        ws_phase_end();
        if (how)
            CHECK(ws_enable(0) == with_workshare);
        ws_phase_begin("alone");
        if (rank == 0) {
            other_loop();
            both_loop();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        ws_phase_end();
        if (how)
            CHECK(ws_enable(1) == 0);
    }
}

static void metrics(void)
{
    struct ws_metrics m, less;
    if (!with_workshare) {
        memset(&m, 7, sizeof m);
        less = m;
        CHECK(ws_metrics(&m, sizeof m) == -1);
        CHECK(memcmp(&m, &less, sizeof m) == 0);
        CHECK(ws_enable(0) == 0 && ws_enable(1) == 0);
        return;
    }
    double start = now(), waited = 0;
    for (int i = 0; i < 10; i++) {
        work(rank == 0 ? 20 : 5);
        double at = now();
        MPI_Barrier(MPI_COMM_WORLD);
        waited += now() - at;
    }
    CHECK(ws_metrics(&m, sizeof m) == 0);
    double took = now() - start;
    printf("rank %d took %.6f waited %.6f elapsed %.6f computing %.6f mpi %.6f blocked %.6f balance %.4f parallel %.4f "
           "transfer %.4f\n",
           rank, took, waited, m.elapsed_s, m.computing_s, m.mpi_s, m.blocked_s, m.load_balance, m.parallel_efficiency,
           m.transfer_efficiency);
    CHECK(m.size == sizeof m);
    CHECK(m.node_ranks == ranks);
    CHECK(m.lent_s >= 0 && m.lent_s <= m.blocked_s * 1.01);
    CHECK(m.load_balance > 0 && m.load_balance <= 1);
    CHECK(m.parallel_efficiency > 0 && m.parallel_efficiency <= 1);
    memset(&less, 7, sizeof less);
    CHECK(ws_metrics(&less, 24) == 0); /* of an older header */
    CHECK(less.size == 24 && less.computing_s > 0);
    CHECK(memcmp(&less.mpi_s, "\7\7\7\7\7\7\7\7", 8) == 0);
    char more[sizeof m + 8]; /* of a newer one */
    memset(more, 7, sizeof more);
    CHECK(ws_metrics((struct ws_metrics *) more, sizeof more) == 0);
    CHECK(((struct ws_metrics *) more)->size == sizeof m);
    CHECK(memcmp(more + sizeof m, "\0\0\0\0\0\0\0\0", 8) == 0);
    CHECK(ws_metrics(NULL, sizeof m) == -1);
    CHECK(ws_metrics(&m, 4) == -1);
}

static void *other_thread(void *unused)
{
    ws_phase_begin("of a thread");
    ws_phase_end();
    CHECK(ws_enable(0) == with_workshare); /* and changes nothing */
    return unused;
}

static void threads(void)
{
    pthread_t thread;
    ws_phase_begin("main");
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    CHECK(ws_enable(1) == with_workshare);
    ws_phase_end();
}

#ifdef WITH_CALIPER
void cali_begin_region(const char *name)
{
    printf("rank %d caliper begin %s\n", rank, name);
}

void cali_end_region(const char *name)
{
    printf("rank %d caliper end %s\n", rank, name);
}
#endif

int main(int argc, char **argv)
{
    ws_phase_begin("too early"); /* does nothing */
    ws_phase_end();
    begin(&argc, &argv);
    const char *shape = argv[1];
    int n = argc > 2 ? atoi(argv[2]) : 0;
    double start = last = now();
    if (!strcmp(shape, "nested"))
        nested();
#ifdef WITH_COUNTERS
    else if (!strcmp(shape, "counted"))
        counted();
#endif
    else if (!strcmp(shape, "different"))
        different();
    else if (!strcmp(shape, "names"))
        names(n);
    else if (!strcmp(shape, "levels"))
        levels();
    else if (!strcmp(shape, "loops"))
        loops(n);
    else if (!strcmp(shape, "metrics"))
        metrics();
    else if (!strcmp(shape, "threads"))
        threads();
    else if (!strcmp(shape, "deep")) {
        for (int i = 0; i < n; i++)
            ws_phase_begin("deeper");
        for (int i = 0; i < n; i++)
            ws_phase_end();
    } else if (!strcmp(shape, "open")) {
        ws_phase_begin("outer");
        ws_phase_begin("left \033 open");
    } else if (!strcmp(shape, "ends")) {
        ws_phase_begin("the last");
        ws_phase_end();
        if (rank == ranks - 1)
            ws_phase_end();
    } else if (!strcmp(shape, "caliper")) {
        ws_phase_begin("a");
        ws_phase_begin("b");
        ws_phase_end();
        ws_phase_end();
    } else
        CHECK(!"known shape");
    printf("rank %d took %.6f\n", rank, now() - start);
    for (int i = 0; i < seen_count; i++)
        printf("rank %d phase %s own %.6f whole %.6f entered %d\n", rank, seen[i].path, seen[i].own, seen[i].whole,
               seen[i].entered);
    int status = end();
    ws_phase_begin("too late");
    ws_phase_end();
    return status;
}
