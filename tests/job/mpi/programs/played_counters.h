/* SPDX-License-Identifier: MIT
 *
 * The kernel's counters of instructions and cycles, played by a program: it stands before the functions of the C
 * library by which libws asks for them. They count the CPU time of the calling thread, times what play_counters()
 * said. */
#ifndef PLAYED_COUNTERS_H
#define PLAYED_COUNTERS_H

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int played_fds[2] = { -1, -1 };
static double played[2], per_ns[2] = { 1, 1 }, played_until;

static void settle_counters(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    const double at = 1e9 * (double) t.tv_sec + (double) t.tv_nsec;
    for (int i = 0; i < 2; i++)
        played[i] += per_ns[i] * (at - played_until);
    played_until = at;
}

/* From here on each nanosecond has this number of instructions, and of cycles. */
static void play_counters(double instructions, double cycles)
{
    settle_counters();
    per_ns[0] = instructions;
    per_ns[1] = cycles;
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED long syscall(long number, ...)
{
    typedef long (*next_call)(long number, ...);
    long w[6];
    __builtin_va_list words;
    __builtin_va_start(words, number);
    for (int i = 0; i < 6; i++)
        w[i] = __builtin_va_arg(words, long);
    __builtin_va_end(words);
    const next_call next = (next_call) dlsym(RTLD_NEXT, "syscall");
    const struct perf_event_attr *event = (const void *) w[0];
    if (number != SYS_perf_event_open || event->type != PERF_TYPE_HARDWARE)
        return next(number, w[0], w[1], w[2], w[3], w[4], w[5]);
    const int i = event->config == PERF_COUNT_HW_INSTRUCTIONS ? 0 : 1;
    played_fds[i] = memfd_create("played", 0);
    if (ftruncate(played_fds[i], 4096)) /* a page that says that only the kernel reads the event */
        return -1;
    settle_counters();
    return played_fds[i];
}

EXPORTED ssize_t read(int fd, void *to, size_t bytes)
{
    static ssize_t (*next)(int fd, void *to, size_t bytes);
    if (!next)
        next = (ssize_t(*)(int, void *, size_t)) dlsym(RTLD_NEXT, "read");
    if (fd != played_fds[0] || fd < 0)
        return next(fd, to, bytes);
    settle_counters();
    const unsigned long long says[5] = { 2, 1, 1, (unsigned long long) played[0], (unsigned long long) played[1] };
    if (bytes < sizeof says)
        return -1;
    memcpy(to, says, sizeof says);
    return sizeof says;
}

#endif
