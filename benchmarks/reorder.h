/* SPDX-License-Identifier: MIT
 *
 * What the benchmarks of rank reordering share: which processes share a core, communicators in different orders of the
 * ranks, and a table of what is predicted from the cores' loads and what is measured.
 *
 * Processes must be bound to one core each, several to the same (mpirun -bind-to core). With sleeping work, cores that
 * the machine does not have are pretended: as nodes, by MPIR_CVAR_NUM_CLIQUES, all processes of a node bound to the
 * same core. A process that sleeps for its work then holds its core's lock.
 */
#ifndef WS_BENCH_REORDER_H
#define WS_BENCH_REORDER_H

#include "work.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <workshare/mpix.h>

struct place {
    int node, core;
};
static struct place own_place;
static pthread_mutex_t *core_lock; /* of the pretended core, in memory of its processes */
static double chain_steps;         /* of work_chain in a second; 0: sleeping work */

static inline void reorder_find_place(const char *program)
{
    MPI_Comm node, core;
    own_place.node = bench_rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Bcast(&own_place.node, 1, MPI_INT, 0, node);
    const size_t bytes = CPU_ALLOC_SIZE(1 << 16); /* a cpu_set_t may be too small */
    cpu_set_t *cpus = CPU_ALLOC(1 << 16);
    int bound = sched_getaffinity(0, bytes, cpus) == 0 && CPU_COUNT_S(bytes, cpus) == 1;
    MPI_Allreduce(MPI_IN_PLACE, &bound, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (!bound)
        bench_fail(2, "%s: processes must be bound to a core: mpirun -bind-to core", program);
    while (!CPU_ISSET_S(own_place.core, bytes, cpus))
        own_place.core++;
    CPU_FREE(cpus);
    MPI_Comm_split(node, own_place.core, 0, &core);
    MPI_Win window;
    int rank, unit;
    MPI_Aint size;
    MPI_Comm_rank(core, &rank);
    MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint) sizeof *core_lock : 0, 1, MPI_INFO_NULL, core, &core_lock, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &core_lock);
    if (rank == 0) {
        pthread_mutexattr_t shared;
        pthread_mutexattr_init(&shared);
        pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(core_lock, &shared);
    }
    MPI_Barrier(core); /* the window stays until the program ends */
    MPI_Comm_free(&node);
}

static inline struct place *reorder_places(MPI_Comm comm, int n)
{
    struct place *all = (struct place *) malloc((size_t) n * sizeof *all);
    MPI_Allgather(&own_place, 2, MPI_INT, all, 2, MPI_INT, comm);
    return all;
}

/* The work of the core that has most; `shared`: of a process of that core, if the processes of a node share the node's
 * work. */
static inline double reorder_highest(MPI_Comm comm, const double *loads, bool shared)
{
    int n;
    double highest = 0;
    MPI_Comm_size(comm, &n);
    struct place *all = reorder_places(comm, n);
    for (int r = 0; r < n; r++) {
        double sum = 0, processes = 0;
        for (int s = 0; s < n; s++)
            if (all[s].node == all[r].node && (shared || all[s].core == all[r].core)) {
                sum += loads[s];
                processes++;
            }
        highest = fmax(highest, shared ? sum / processes : sum);
    }
    free(all);
    return highest;
}

/* Ranks in the order of the cores: with falling loads, the heaviest together. */
static inline MPI_Comm reorder_by_core(MPI_Comm comm)
{
    int n, me, key = 0;
    MPI_Comm result;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    struct place *all = reorder_places(comm, n);
    for (int r = 0; r < n; r++)
        key += all[r].node < own_place.node ||
               (all[r].node == own_place.node &&
                (all[r].core < own_place.core || (all[r].core == own_place.core && r < me)));
    free(all);
    MPI_Comm_split(comm, 0, key, &result);
    return result;
}

static inline MPI_Comm reorder_at_random(MPI_Comm comm)
{
    int me;
    MPI_Comm result;
    MPI_Comm_rank(comm, &me);
    uint64_t x = ((uint64_t) me + 1) * 0x9e3779b97f4a7c15u; /* splitmix64's finish */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    MPI_Comm_split(comm, 0, (int) ((x ^ (x >> 31)) >> 34), &result);
    return result;
}

/* Every second core keeps three of its processes in five; the others of it are in no communicator. */
static inline MPI_Comm reorder_three_five(MPI_Comm comm)
{
    int n, me, index = 0, number = 0, room = 0;
    MPI_Comm result;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    struct place *all = reorder_places(comm, n);
    for (int r = 0; r < n; r++) {
        bool first = true, same = all[r].node == own_place.node && all[r].core == own_place.core;
        for (int s = 0; s < r; s++)
            first = first && !(all[s].node == all[r].node && all[s].core == all[r].core);
        number +=
            first && (all[r].node < own_place.node || (all[r].node == own_place.node && all[r].core < own_place.core));
        index += same && r < me;
        room += same;
    }
    free(all);
    MPI_Comm_split(comm, number % 2 == 0 && index >= room * 3 / 5 ? MPI_UNDEFINED : 0, me, &result);
    return result;
}

/* The new communicator, by one of the algorithms. */
static inline MPI_Comm reorder_by_load(MPI_Comm comm, const double *loads, const char *algorithm, const char *domain,
                                       bool distributed)
{
    MPI_Comm result;
    MPI_Info info;
    int me;
    MPI_Comm_rank(comm, &me);
    MPI_Info_create(&info);
    MPI_Info_set(info, "ws_load_algorithm", algorithm);
    MPI_Info_set(info, "ws_load_domain", domain);
    if (distributed)
        MPIX_Dist_load_create(comm, 1, &me, loads + me, info, &result);
    else
        MPIX_Load_create(comm, loads, info, &result);
    MPI_Info_free(&info);
    return result;
}

static inline void reorder_compute(double seconds)
{
    double x = work_chain(0.3, (long) (seconds * chain_steps));
    __asm__ volatile("" :: "m"(x) : "memory"); /* a chain that nobody uses is not computed */
}

/* Steps of work_chain that fit in a second on a core, measured while the others sleep. */
static inline void reorder_calibrate(void)
{
    bench_others_sleep();
    if (bench_rank == 0)
        for (int k = 0; k < 5; k++) {
            const double guess = 0.02 * 5e8;
            double begin = bench_now(), x = work_chain(0.3, (long) guess);
            __asm__ volatile("" :: "m"(x) : "memory");
            chain_steps = fmax(chain_steps, guess / (bench_now() - begin));
        }
    bench_others_stop();
    MPI_Bcast(&chain_steps, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* Works for `seconds` of the core's time. */
static inline void reorder_work(double seconds)
{
    if (chain_steps > 0) {
        reorder_compute(seconds);
    } else if (seconds > 0) {
        pthread_mutex_lock(core_lock);
        work_sleep(seconds);
        pthread_mutex_unlock(core_lock);
    }
}

/* Waits without taking the core from those who work. */
static inline void reorder_wait(MPI_Request *request)
{
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE), !done) {
        struct timespec nap = { 0, 500000 };
        nanosleep(&nap, NULL);
    }
}

typedef void (*reorder_body) (MPI_Comm comm, void *context);

/* The time from a common begin until the last has ended. For processes of one machine, which have one clock. */
static inline double reorder_time(MPI_Comm comm, reorder_body body, void *context)
{
    MPI_Request request;
    double begin = bench_now() + 0.02, end, last;
    MPI_Iallreduce(MPI_IN_PLACE, &begin, 1, MPI_DOUBLE, MPI_MAX, comm, &request);
    reorder_wait(&request);
    struct timespec t = { (time_t) begin, (long) ((begin - (double) (time_t) begin) * 1e9) };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    body(comm, context);
    end = bench_now();
    MPI_Iallreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, comm, &request);
    reorder_wait(&request);
    return last - begin;
}

struct order {
    const char *name;
    MPI_Comm comm;
    reorder_body body;
    double highest, *seconds, median;
};

static inline double reorder_median(const double *samples, const double *by, long n)
{
    double *ratios = (double *) malloc((size_t) n * sizeof(double));
    for (long k = 0; k < n; k++)
        ratios[k] = samples[k] / (by ? by[k] : 1);
    double median = bench_summary(ratios, n).median;
    free(ratios);
    return median;
}

/* Times all orders in turn and prints the table. Ratios are to the first, the medians of what the turns say: the
 * machine's speed changes in between. */
static inline void reorder_measure(const char *program, struct order *orders, int count, void *context, long repeats,
                                   bool json)
{
    int me;
    MPI_Comm_rank(orders[0].comm, &me);
    const bool prints = bench_rank == 0;
    for (int i = 0; i < count; i++)
        orders[i].seconds = (double *) malloc((size_t) repeats * sizeof(double));
    for (long k = 0; k < repeats; k++)
        for (int i = 0; i < count; i++)
            orders[i].seconds[k] = reorder_time(orders[i].comm, orders[i].body, context);
    for (int i = 0; i < count; i++)
        orders[i].median = reorder_median(orders[i].seconds, NULL, repeats);
    if (prints && json) {
        printf("{\"program\": \"%s\", \"ranks\": %d, \"sleeping\": %s, \"turns_ms\": [", program, bench_ranks,
               chain_steps > 0 ? "false" : "true");
        for (long k = 0; k < repeats; k++)
            for (int i = 0; i < count; i++)
                printf("%s%.3f%s", i ? ", " : k ? ", [" : "[", orders[i].seconds[k] * 1e3, i == count - 1 ? "]" : "");
        fputs("], \"orders\": [", stdout);
    } else if (prints) {
        if (chain_steps == 0)
            puts("sleeping work: no core computes");
        printf("%-12s %12s %10s %12s %10s\n", "order", "highest load", "predicted", "measured", "ratio");
    }
    for (int i = 0; i < count && prints; i++) {
        const struct order *o = &orders[i];
        double predicted = orders[0].highest / o->highest;
        double ratio = reorder_median(orders[0].seconds, o->seconds, repeats);
        if (json)
            printf("%s{\"order\": \"%s\", \"highest\": %g, \"predicted\": %.4f, \"ms\": %.3f, \"measured\": %.4f}",
                   i ? ", " : "", o->name, o->highest, predicted, o->median * 1e3, ratio);
        else
            printf("%-12s %12g %9.3fx %9.1f ms %9.3fx\n", o->name, o->highest, predicted, o->median * 1e3, ratio);
    }
    if (prints && json)
        puts("]}");
    for (int i = 0; i < count; i++)
        free(orders[i].seconds);
}

#endif
