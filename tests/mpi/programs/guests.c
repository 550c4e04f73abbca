/* SPDX-License-Identifier: MIT
 *
 * guests WHAT: where guests run.
 *    cpu      with each rank bound to a CPU, a guest runs on the CPU of the rank that waits, not on its owner's
 *    stack    an iteration may use as much stack as the rank's main thread: MB megabytes */
#define _GNU_SOURCE
#include "test.h"
#include <sched.h>

static void __attribute__((noinline)) deep(size_t bytes)
{
    volatile char array[bytes];
    for (size_t k = 0; k < bytes; k += 4096)
        array[k] = 1;
    CHECK(array[0] == 1);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int cpus[64], mine = sched_getcpu(), on_guests = 0, elsewhere = 0, moved = 0;
    MPI_Allgather(&mine, 1, MPI_INT, cpus, 1, MPI_INT, MPI_COMM_WORLD);
    int cpu = !strcmp(argv[1], "cpu");
    size_t megabytes = argc > 2 ? (size_t) atoi(argv[2]) : 0;
    if (rank == 0) {
        double deadline = now() + 10;
        do {
#pragma ws for reduction(+ : on_guests, elsewhere, moved)
            for (int i = 0; i < 2000; i++) {
                busy(10e-6);
                if (on_guest()) {
                    on_guests++;
                    elsewhere += sched_getcpu() != cpus[1];
                    if (megabytes && i % 100 == 0)
                        deep(megabytes << 20);
                } else {
                    moved += sched_getcpu() != cpus[0];
                }
            }
        } while (on_guests < 200 && now() < deadline);
        CHECK(on_guests >= 200);
        if (cpu) {
            CHECK(cpus[0] != cpus[1]);
            CHECK(elsewhere == 0);
            CHECK(moved == 0);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!cpu || sched_getcpu() == mine);
    return end();
}
