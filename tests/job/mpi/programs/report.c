/* SPDX-License-Identifier: MIT
 *
 * report SHAPE STEPS [nap]: a program that knows for itself what the report should say of it. Each rank prints a line
 *    rank R iterations N loops S mpi S took S worked S
 * of what it did: seconds in its loops, seconds in the calls that end the steps, and seconds that its work took, on any
 * rank. A step is work of the given shape, and a barrier. With `nap` work sleeps: then it lasts the same whatever else
 * runs on the machine.
 *    rotate   each step another rank has all the work
 *    one      the last rank has all the work
 *    phases   as `one` in MPI_Pcontrol level 2, then all work the same, outside of loops, in level -7
 *    serial   the last rank computes, most of it outside of ws loops
 *    coarse   the last rank's loop has one long iteration among short ones
 *    chain    the last rank is helped, then rank 0 computes, then it is the last one's turn again
 *    absorb   rank 0 helps the last rank, but all wait for rank 1, which computes outside of loops
 *    names    loops whose names need quoting, and 90 MPI_Pcontrol levels a step */
#include "test.h"

static unsigned long iterations;
static double in_loops, in_mpi;
static int nap;
static long worked; /* ns; of this rank's work, by guests too */

static void work(double seconds)
{
    double began = now();
    if (nap)
        usleep((useconds_t) (1e6 * seconds));
    else
        busy(seconds);
    __atomic_fetch_add(&worked, (long) (1e9 * (now() - began)), __ATOMIC_RELAXED);
}

static void loop(int n, double each)
{
    double began = now();
#pragma ws for
    for (int i = 0; i < n; i++)
        work(each);
    in_loops += now() - began;
    iterations += (unsigned long) n;
}

static void coarse_loop(int n, double each, double longest)
{
    double began = now();
#pragma ws for
    for (int i = 0; i < n; i++)
        work(i == n / 2 ? longest : each);
    in_loops += now() - began;
    iterations += (unsigned long) n;
}

static void named_loop(int n, double each)
{
    double began = now();
#pragma ws for name("a, \"quoted\" name")
    for (int i = 0; i < n; i++)
        work(each);
    in_loops += now() - began;
    iterations += (unsigned long) n;
}

static void barrier(void)
{
    double began = now();
    MPI_Barrier(MPI_COMM_WORLD);
    in_mpi += now() - began;
}

static void send(int to)
{
    MPI_Send(NULL, 0, MPI_INT, to, 0, MPI_COMM_WORLD);
}

static void receive(int from)
{
    MPI_Recv(NULL, 0, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void step(const char *shape, int s)
{
    int last = rank == ranks - 1;
    if (!strcmp(shape, "rotate") && rank == s % ranks)
        loop(100, 100e-6);
    if (!strcmp(shape, "one") && last)
        loop(100, 100e-6);
    for (int level = 0; !strcmp(shape, "names") && level < 90; level++)
        MPI_Pcontrol(1000 + level);
    if (!strcmp(shape, "names") && last)
        named_loop(100, 100e-6);
    if (!strcmp(shape, "coarse") && last)
        coarse_loop(40, 50e-6, 10e-3);
    if (!strcmp(shape, "serial") && last) {
        work(10e-3);
        loop(20, 100e-6);
    }
    if (!strcmp(shape, "phases")) {
        MPI_Pcontrol(2);
        if (last)
            loop(100, 100e-6);
        barrier();
        MPI_Pcontrol(-7);
        work(5e-3);
    }
    if (!strcmp(shape, "chain")) {
        if (last) {
            loop(100, 100e-6);
            send(0);
            receive(0);
        } else if (rank == 0) {
            receive(ranks - 1);
            work(5e-3);
            send(ranks - 1);
        }
    }
    if (!strcmp(shape, "absorb")) {
        if (rank == 1) {
            /* four times what the loop takes alone, and more than when each of its naps takes twice as long */
            work(60e-3);
            for (int r = 0; r < ranks; r++)
                if (r != 1)
                    send(r);
        } else {
            if (last)
                loop(100, 100e-6);
            receive(1);
        }
    }
    barrier();
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int steps = atoi(argv[2]);
    nap = argc > 3;
    barrier();
    double began = now();
    for (int s = 0; s < steps; s++)
        step(argv[1], s);
    double took = now() - began;
    printf("rank %d iterations %lu loops %.6f mpi %.6f took %.6f worked %.6f\n", rank, iterations, in_loops, in_mpi,
           took, 1e-9 * (double)worked);
    return end();
}
