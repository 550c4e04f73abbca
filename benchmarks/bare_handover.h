/* SPDX-License-Identifier: MIT
 *
 * What it takes the machine at least to hand a core over, as Workshare does it: two processes on one CPU, one of which
 * wakes the other by a futex and then sleeps itself. Nothing else is done, so nobody who hands over by the kernel's
 * means can do it in less.
 */
#ifndef WS_BENCH_BARE_HANDOVER_H
#define WS_BENCH_BARE_HANDOVER_H

#include "bench.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct bare_place {
    uint32_t turn __attribute__((aligned(128)));        /* its parity says whose; counts up by one each time */
    double gone __attribute__((aligned(128)));          /* when the one who had the CPU began to hand it over */
    double took;                                        /* until the other one ran */
};

static inline void bare_give(struct bare_place *p)
{
    p->gone = bench_now();
    __atomic_fetch_add(&p->turn, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &p->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Sleeps until it is the caller's turn; false if the other has ended before. A timeout as long as this costs nothing:
 * the kernel's own tick comes earlier. */
static inline bool bare_take(struct bare_place *p, uint32_t parity, pid_t other)
{
    const struct timespec second = { 1, 0 };
    uint32_t turn;
    while (turn = __atomic_load_n(&p->turn, __ATOMIC_SEQ_CST), (turn & 1) != parity)
        if (syscall(SYS_futex, &p->turn, FUTEX_WAIT, turn, &second, NULL, 0) && errno == ETIMEDOUT && other > 0 &&
            waitpid(other, NULL, WNOHANG) != 0)
            return false;
    return true;
}

static inline void bare_compute(double seconds)
{
    for (double end = bench_now() + seconds; bench_now() < end;) {
    }
}

/* Hands the caller's CPU over and back `repeats` times, and computes for `seconds` between: seconds until the other
 * runs, and until the caller goes on. Returns how often it worked: less where the system refuses a process. */
static inline long bare_hand_overs(long repeats, double seconds, double *there, double *back)
{
    cpu_set_t before, one;
    long done = 0;
    CPU_ZERO(&one);
    CPU_SET((size_t) sched_getcpu(), &one);
    struct bare_place *p = (struct bare_place *) mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE,
                                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || sched_getaffinity(0, sizeof before, &before) || sched_setaffinity(0, sizeof one, &one))
        return 0;
    const pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (long r = 0; r < repeats && bare_take(p, 1, 0); r++) {
            p->took = bench_now() - p->gone;
            bare_compute(seconds);
            bare_give(p);
        }
        _exit(0);
    }
    for (; other > 0 && done < repeats; done++) {
        bare_compute(seconds);
        bare_give(p);
        if (!bare_take(p, 0, other))
            break;
        back[done] = bench_now() - p->gone;
        there[done] = p->took;
    }
    if (other > 0)
        waitpid(other, NULL, 0);
    sched_setaffinity(0, sizeof before, &before);
    munmap(p, sizeof *p);
    return done;
}

#endif
