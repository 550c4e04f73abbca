/* SPDX-License-Identifier: MIT
 *
 * placement WHAT ROUNDS MICROSECONDS: loops of ranks that sit on the node in some way, each iteration so long. In each
 * round one rank after the other computes while the others wait for it.
 *
 *   loops     every iteration runs once; a guest runs only where its thief may; every thread keeps the affinity it had
 *   comms     the same, waiting in communicators of all kinds: halves, one rank, reversed, intercommunicators
 *   openmp    with regions of OpenMP between the loops, in which workers must sleep
 *   recall    a worker of rank 0 helps rank 1 until rank 0 begins a region
 *
 * Rank 0 prints "seconds S, on others N", and with openmp "workers R L": the share of the time that workers were on a
 * CPU in regions and in loops. */
#define _GNU_SOURCE
#include "test.h"
#include <dirent.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>

enum { MOST = 4000 };

static unsigned char ran[MOST];
static cpu_set_t masks[64], at_start; /* the ranks' own */
static double unit;
static long on_others;

/* Whether some rank may run on exactly these CPUs, or on a set that contains them. */
static int belongs_to_a_rank(const cpu_set_t *mask)
{
    cpu_set_t both;
    for (int r = 0; r < ranks; r++) {
        CPU_AND(&both, mask, &masks[r]);
        if (CPU_EQUAL(&both, mask))
            return 1;
    }
    return 0;
}

static void body(long i)
{
    ran[i]++; /* not atomic: nobody else has iteration i */
    work_on_cpu(unit);
    if (on_guest()) {
        cpu_set_t mask;
        __atomic_fetch_add(&on_others, 1, __ATOMIC_RELAXED);
        CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0 && belongs_to_a_rank(&mask));
    }
}

static void loop(long n)
{
    memset(ran, 0, sizeof ran);
#pragma ws for schedule(dynamic)
    for (long i = 0; i < n; i++)
        body(i);
    for (long i = 0; i < n; i++)
        CHECK(ran[i] == 1);
}

static void affinity_is_kept(void)
{
    cpu_set_t mask;
    CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_EQUAL(&mask, &at_start));
}

/* A thread of the program's, with an affinity of its own. */
static cpu_set_t of_thread;
static volatile int thread_may_end;

static void *bystander(void *unused)
{
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    for (int c = 0; c < CPU_SETSIZE; c++)   /* the last of its CPUs */
        if (CPU_ISSET(c, &mask)) {
            CPU_ZERO(&of_thread);
            CPU_SET(c, &of_thread);
        }
    CHECK(sched_setaffinity(0, sizeof of_thread, &of_thread) == 0);
    while (!thread_may_end)
        usleep(1000);
    CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_EQUAL(&mask, &of_thread));
    return unused;
}

static void rounds(int count, long n, MPI_Comm comm)
{
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (int r = 0; r < count; r++) {
        if (me == r % size)
            loop(n);
        MPI_Barrier(comm);
        affinity_is_kept();
    }
}

static void comms(int count, long n)
{
    MPI_Comm half, reversed, alone, other;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    rounds(count, n, half);
    rounds(count, n, reversed);
    rounds(1, n / 4, alone);
    if (ranks > 1) {
        int sum = 0, want = rank % 2 ? (ranks + 1) / 2 : ranks / 2, one = 1;
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 0, &other);
        if (rank == 0)
            loop(n);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other); /* of the other half */
        CHECK(sum == want);
        MPI_Comm_free(&other);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&alone);
}

/* Seconds that threads named "ws worker" have had a CPU. */
static double worker_seconds(void)
{
    double total = 0, t;
    char path[300], name[32];
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *e; folder && (e = readdir(folder));) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        int is_worker = f && fgets(name, sizeof name, f) && strncmp(name, "ws worker", 9) == 0;
        if (f)
            fclose(f);
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", e->d_name);
        if (is_worker && (f = fopen(path, "r"))) {
            total += fscanf(f, "%lf", &t) == 1 ? 1e-9 * t : 0;
            fclose(f);
        }
    }
    closedir(folder);
    return total;
}

static void with_openmp(int count, long n)
{
    double in_regions = 0, in_loops = 0, regions = 0, loops = 0;
    omp_set_num_threads(2);
    for (int r = 0; r < count; r++) {
        double t0 = now(), w0 = worker_seconds();
#pragma omp parallel
        busy(0.05);
        double t1 = now(), w1 = worker_seconds();
        loop(n);
        double t2 = now(), w2 = worker_seconds();
        if (r) { /* what sleeps at first may still be on its way there */
            in_regions += w1 - w0;
            regions += t1 - t0;
            in_loops += w2 - w1;
            loops += t2 - t1;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("workers %.4f %.4f\n", in_regions / regions, in_loops / loops);
}

/* 2 ranks, of which only the first has a worker. */
static void recall(void)
{
    enum { N = 20000 };
    static double when[N]; /* an iteration ran on a guest */
    double region[2] = {0, 0};
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        busy(0.05);
        omp_set_num_threads(2);
        region[0] = now();
#pragma omp parallel
        busy(0.2);
        region[1] = now();
        busy(0.1);
    } else {
        double end = now() + 0.5;
#pragma ws for schedule(dynamic)
        for (long i = 0; i < N; i++)
            if (now() < end) {
                busy(100e-6);
                if (on_guest())
                    when[i] = now();
            }
    }
    MPI_Bcast(region, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    long during = 0, other = 0;
    for (long i = 0; i < N && rank == 1; i++)
        if (when[i] > region[0] + 0.1 &&
            when[i] < region[1]) /* on a busy machine a core that was lent may take a while to come back */
            during++;
        else
            other += when[i] > 0;
    if (rank == 1)
        printf("of the worker: %ld, in the region %ld\n", other, during);
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    const int count = atoi(argv[2]);
    const long n = 200;
    pthread_t thread;
    begin(&argc, &argv);
    unit = 1e-6 * atof(argv[3]);
    CHECK(sched_getaffinity(0, sizeof at_start, &at_start) == 0);
    MPI_Allgather(&at_start, sizeof at_start, MPI_BYTE, masks, sizeof at_start, MPI_BYTE, MPI_COMM_WORLD);
    pthread_create(&thread, NULL, bystander, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now();
    if (strcmp(what, "loops") == 0)
        rounds(count, n, MPI_COMM_WORLD);
    else if (strcmp(what, "comms") == 0)
        comms(count, n);
    else if (strcmp(what, "openmp") == 0)
        with_openmp(count, n);
    else
        recall();
    double seconds = now() - start;
    affinity_is_kept();
    thread_may_end = 1;
    pthread_join(thread, NULL);
    long all;
    MPI_Reduce(&on_others, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.4f, on others %ld\n", seconds, all);
    return end();
}
