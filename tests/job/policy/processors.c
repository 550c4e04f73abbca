/* SPDX-License-Identifier: MIT
 *
 * An MPI+OpenMP program that knows nothing of Workshare: an outer loop, two parallel loops in it, messages between.
 * Each rank has so much work a turn, in microseconds of one thread; its threads sleep for it, or compute.
 *
 *   processors sleep|compute TURNS LOOPS WORK... [set=N] [clause=N] [die=TURN] [irregular=1]
 *              [every=TURNS] [until=FILE]
 *
 * LOOPS: parallel regions that the work is cut into. set: omp_set_num_threads(N) at the start. clause: the loops ask
 * for N threads. die: a signal ends rank 1 while it waits in that turn. irregular: no two turns have the same MPI
 * calls. every: each rank's work goes to the next rank after this many turns. until: two ranks end earlier, after the
 * turn in which there is such a file.
 *
 * Each rank prints what it was told and what it saw, rank 0 also the time of a turn, the median of the last third.
 * Every iteration is counted: one that is lost or done twice ends the job. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { iterations = 960, most_ranks = 64, most_turns = 100000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static double speed; /* additions a microsecond */
static volatile double sink;

static void compute(double us)
{
    double x = 0;
    for (long i = (long) (us * speed); i > 0; i--)
        x += (double) i;
    sink = x;
}

static void calibrate(void)
{
    speed = 1000;
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        const double began = now();
        compute(1000);
        const double took = now() - began;
        best = took < best ? took : best;
    }
    speed *= 1e-3 / best;
    MPI_Allreduce(MPI_IN_PLACE, &speed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static int done[iterations];
static int kept = 7; /* thread-private data of the first thread stay */
#pragma omp threadprivate(kept)

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static double times[most_turns];

int main(int argc, char **argv)
{
    int rank, ranks, clause = 0, die = -1, irregular = 0, every = 0, least = 1 << 30, most = 0, highest = 0;
    double work[most_ranks];
    int works = 0;
    const char *until = NULL;
    const int told_before = omp_get_max_threads();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int sleeps = !strcmp(argv[1], "sleep"), loops = atoi(argv[3]);
    int turns = atoi(argv[2]);
    for (int i = 4; i < argc; i++) {
        if (sscanf(argv[i], "set=%d", &clause) == 1) {
            omp_set_num_threads(clause);
            clause = 0;
        } else if (!strncmp(argv[i], "until=", 6))
            until = argv[i] + 6;
        else if (sscanf(argv[i], "clause=%d", &clause) != 1 && sscanf(argv[i], "die=%d", &die) != 1 &&
                 sscanf(argv[i], "irregular=%d", &irregular) != 1 && sscanf(argv[i], "every=%d", &every) != 1)
            work[works++ % most_ranks] = atof(argv[i]);
    }
    if (!sleeps)
        calibrate();
    const int told = omp_get_max_threads();
    kept = rank + 100;
    unsigned chance = 1; /* the same in all ranks */
    for (int turn = 0; turn < turns; turn++) {
        const double began = now(), mine = work[(rank + (every > 0 ? turn / every : 0)) % works] / loops;
        for (int loop = 0; loop < loops; loop++) {
            int threads = 0;
            /* The clause's value 0 means none. */
            #pragma omp parallel num_threads(clause > 0 ? clause : omp_get_max_threads())
            {
                const int n = omp_get_num_threads(), me = omp_get_thread_num();
                if (me == 0)
                    threads = n;
                #pragma omp critical
                highest = me > highest ? me : highest;
                #pragma omp for schedule(static)
                for (int i = 0; i < iterations; i++)
                    done[i]++;
                if (sleeps)
                    usleep((useconds_t) (mine / n));
                else {
                    #pragma omp for schedule(static)
                    for (int i = 0; i < iterations; i++)
                        compute(mine / iterations);
                }
            }
            least = threads < least ? threads : least;
            most = threads > most ? threads : most;
            for (int i = 0; i < iterations; i++) {
                if (done[i] != 1) {
                    printf("rank %d: iteration %d was done %d times\n", rank, i, done[i]);
                    fflush(stdout);
                    MPI_Abort(MPI_COMM_WORLD, 1);
                }
                done[i] = 0;
            }
        }
        if (turn == die && rank == 1) {
            const struct itimerval soon = {{0, 0}, {0, 5000}};
            setitimer(ITIMER_REAL, &soon, NULL);
        }
        int to = rank == 0 && until && access(until, F_OK) == 0 ? -1 : rank, from;
        MPI_Sendrecv(&to, 1, MPI_INT, (rank + 1) % ranks, 0, &from, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; irregular && i < 8; i++) {
            chance = chance * 1103515245u + 12345u;
            if (chance >> 16 & 1)
                MPI_Allreduce(MPI_IN_PLACE, &to, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            else
                MPI_Bcast(&from, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        times[turn % most_turns] = now() - began;
        if (until && (to < 0 || from < 0))
            turns = turn + 1;
    }
    if (kept != rank + 100) {
        printf("rank %d: thread-private data are lost\n", rank);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int last = 0;
    #pragma omp parallel
    {
        #pragma omp single
        last = omp_get_num_threads();
    }
    double all_turns = 0;
    for (int i = 0; i < turns; i++)
        all_turns += times[i % most_turns];
    const int count = turns / 3 > 0 ? turns / 3 : 1, at = turns - count;
    qsort(times + at, (size_t) count, sizeof *times, by_time);
    for (int r = 0; r < ranks; r++) {
        if (r == rank) {
            printf("rank %d told %d before %d procs %d least %d most %d last %d highest %d\n", rank, told, told_before,
                   omp_get_num_procs(), least, most, last, highest);
            if (r == 0)
                printf("turn %.6f\nall turns %.6f\n", times[at + count / 2], all_turns);
            fflush(stdout);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
