/* SPDX-License-Identifier: MIT
 *
 * guests WHAT: where guests run.
 *    cpu      with each rank bound to a CPU, a guest runs on the CPU of the rank that waits, not on its owner's
 *    stack    an iteration may use as much stack as the rank's main thread: MB megabytes
 *    handler  the program's own handler of SIGSEGV, there before the first guest or not until then (late), has the
 *             faults of guests, with their addresses, and those that somebody sends
 *    fault    a guest that faults dies of it */
#define _GNU_SOURCE
#include "test.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

static void __attribute__((noinline)) deep(size_t bytes)
{
    volatile char array[bytes];
    for (size_t k = 0; k < bytes; k += 4096)
        array[k] = 1;
    CHECK(array[0] == 1);
}

static char *page;
static volatile int handled, sent;
static void handler(int signal, siginfo_t *info, void *context)
{
    (void) signal, (void) context;
    if (info->si_code <= 0) {
        sent++;
    } else {
        if (info->si_addr != page)
            _exit(9);
        handled++;
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
    }
}
static void handle(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
}

static int faults(const char *when)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!strcmp(when, "before"))
        handle();
    int on_guests = 0;
    for (double deadline = now() + PATIENCE; (on_guests < 200 || !sent) && now() < deadline;) {
        int late = on_guests > 100;
        if (late && !strcmp(when, "late"))
            handle();
#pragma ws for reduction(+ : on_guests)
        for (int i = 0; i < 2000; i++) {
            busy(10e-6);
            if (!on_guest())
                continue;
            if (on_guests++ == 0 && (late || strcmp(when, "late"))) { /* the first of a visit */
                *(volatile char *) page = 1;
                if (handled && !sent)
                    pthread_kill(pthread_self(), SIGSEGV);
            }
        }
    }
    CHECK(handled == 1);
    CHECK(sent >= 1);
    return on_guests;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (!strcmp(argv[1], "handler") || !strcmp(argv[1], "fault")) {
        if (rank == 0)
            CHECK(faults(argc > 2 ? argv[2] : "never") >= 200);
        MPI_Barrier(MPI_COMM_WORLD);
        return end();
    }
    int cpus[64], mine = sched_getcpu(), on_guests = 0, elsewhere = 0, moved = 0;
    MPI_Allgather(&mine, 1, MPI_INT, cpus, 1, MPI_INT, MPI_COMM_WORLD);
    int cpu = !strcmp(argv[1], "cpu");
    size_t megabytes = argc > 2 ? (size_t) atoi(argv[2]) : 0;
    if (rank == 0) {
        double deadline = now() + PATIENCE;
        do {
#pragma ws for reduction(+ : on_guests, elsewhere, moved)
            for (int i = 0; i < 2000; i++) {
                busy(10e-6);
                if (on_guest()) {
                    on_guests++;
                    elsewhere += sched_getcpu() != cpus[1];
                    if (megabytes && i % 97 == 0) /* odd: chunks of two may go in turn to owner and guest */
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
