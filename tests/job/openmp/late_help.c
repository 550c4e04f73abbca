/* SPDX-License-Identifier: MIT
 *
 * late_help TURNS [die]: rank 0 runs regions of tasks: nested ones, taskloop, taskgroup, dependences and priorities.
 * Rank 1 begins to wait when the region of the turn has run some of its tasks. Prints "right" or what is wrong, and how
 * many tasks ran on another thread than the one that opened the region, in all turns. With "die", rank 1 is killed in
 * its last wait. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LEAVES = 256, LOOP = 192, CHAIN = 64, LINKS = 8, BEGUN = 16, STEPS = 60000 };

static int tasks_begun, elsewhere, strayed;
static volatile int *begun_word;
static int own_tasks;
#pragma omp threadprivate(own_tasks)

/* About 100 us. The steps depend on each other, and so does the result on all of them. */
static unsigned long work(unsigned long x)
{
    for (int i = 0; i < STEPS; i++) {
        __asm__("" : "+r"(x)); /* clang would take several steps at once */
        x = x * 6364136223846793005ul + 1442695040888963407ul;
    }
    return x;
}

struct place {
    pthread_t thread;
    int number;
};
static struct place begin_task(void)
{
    const struct place here = { pthread_self(), omp_get_thread_num() };
    own_tasks++;
    if (here.number != 0)
        __atomic_add_fetch(&elsewhere, 1, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&tasks_begun, 1, __ATOMIC_RELAXED) == BEGUN)
        __atomic_store_n(begun_word, 1, __ATOMIC_RELEASE);
    return here;
}
/* A tied task ends on the thread that began it. */
static void end_task(struct place began)
{
    if (!pthread_equal(began.thread, pthread_self()) || began.number != omp_get_thread_num())
        __atomic_add_fetch(&strayed, 1, __ATOMIC_RELAXED);
}

static unsigned long tree(unsigned long seed, int leaves, int defers)
{
    if (leaves == 1)
        return work(seed);
    unsigned long a, b;
#pragma omp task shared(a) if (defers)
    {
        const struct place here = begin_task();
        a = tree(2 * seed, leaves / 2, defers);
        end_task(here);
    }
#pragma omp task shared(b) if (defers) priority(1)
    {
        const struct place here = begin_task();
        b = tree(2 * seed + 1, leaves / 2, defers);
        end_task(here);
    }
#pragma omp taskwait
    return a ^ (b << 1);
}

struct results {
    unsigned long tree, group, loop[LOOP], chain[LINKS];
};

static void compute(struct results *r, unsigned long seed)
{
    unsigned long group = 0;
    r->tree = tree(seed, LEAVES, 1);
#pragma omp taskgroup
    for (unsigned i = 0; i < CHAIN; i++)
#pragma omp task shared(group)
    {
        const struct place here = begin_task();
        const unsigned long mine = work(seed + i);
#pragma omp atomic
        group += mine;
        end_task(here);
    }
    r->group = group;
#pragma omp taskloop grainsize(2)
    for (int i = 0; i < LOOP; i++)
        r->loop[i] = work(seed ^ (unsigned long) i);
    for (int i = 0; i < CHAIN; i++) {
        unsigned long *link = &r->chain[i % LINKS];
#pragma omp task depend(inout : link[0]) firstprivate(link)
        {
            const struct place here = begin_task();
            *link = work(*link + 1);
            end_task(here);
        }
    }
}

static unsigned long plain_tree(unsigned long seed, int leaves)
{
    return leaves == 1 ? work(seed) : plain_tree(2 * seed, leaves / 2) ^ (plain_tree(2 * seed + 1, leaves / 2) << 1);
}
static void compute_plainly(struct results *r, unsigned long seed)
{
    r->tree = plain_tree(seed, LEAVES);
    for (unsigned i = 0; i < CHAIN; i++)
        r->group += work(seed + i);
    for (int i = 0; i < LOOP; i++)
        r->loop[i] = work(seed ^ (unsigned long) i);
    for (int i = 0; i < CHAIN; i++)
        r->chain[i % LINKS] = work(r->chain[i % LINKS] + 1);
}

int main(int argc, char **argv)
{
    int rank, size, bad = 0;
    const int turns = argc > 1 ? atoi(argv[1]) : 1, dies = argc > 2 && strcmp(argv[2], "die") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *shared;
    MPI_Win window;
    MPI_Win_allocate_shared(rank == 0 ? sizeof *shared : 0, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared,
                            &window);
    MPI_Aint bytes;
    int unit;
    MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
    begun_word = shared;
    for (int turn = 0; turn < turns; turn++) {
        *begun_word = 2;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != 0) /* out of the wait, so no core can be lent when the region opens */
            __atomic_store_n(begun_word, 0, __ATOMIC_RELEASE);
        while (size > 1 && rank == 0 && __atomic_load_n(begun_word, __ATOMIC_ACQUIRE))
            usleep(100);
        if (rank == 0) {
            struct results got = { 0 }, want = { 0 };
            int counted = 0, threads = 0;
            tasks_begun = 0;
#pragma omp parallel reduction(+ : counted, threads)
            {
                const int before = own_tasks;
                threads = 1;
                if (turn % 2 == 1) {
#pragma omp barrier
                }
#pragma omp single
                compute(&got, 77 + (unsigned) turn);
                counted = own_tasks - before;
                if (omp_get_num_threads() <= omp_get_thread_num())
                    abort();
            }
            compute_plainly(&want, 77 + (unsigned) turn);
            bad |= memcmp(&got, &want, sizeof got) != 0 || counted != tasks_begun ||
                   tasks_begun != 2 * LEAVES - 2 + 2 * CHAIN || threads < 1;
        } else {
            while (__atomic_load_n(begun_word, __ATOMIC_ACQUIRE) != 1)
                usleep(1000);
            if (dies && turn == turns - 1)
                ualarm(20000, 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%s elsewhere %d\n", bad ? "wrong" : strayed ? "strayed" : "right", elsewhere);
    MPI_Win_free(&window);
    MPI_Finalize();
    return bad || strayed;
}
