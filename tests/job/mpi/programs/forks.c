/* SPDX-License-Identifier: MIT
 *
 * forks WHAT: children of a rank whose loops are shared.
 *    between   a child between two loops: parent and child compute, both get their sums; the child uses ws critical and
 *              exits
 *    thread    the same, forked by a thread while the main thread's loop is shared
 *    inside    each iteration forks a child that runs a ws loop and ends; on the owner and on guests
 *    spawn     vfork, posix_spawn, system and popen in iterations
 *    state     CPUs and blocked signals of children of iterations, in four ways
 *    goes_on   a child of an iteration of a loop that is not shared runs the rest of it, as without Workshare
 *    shared, guest   a child goes on in a loop that guests have a part in: it ends with a message, its parent does not
 *                    notice */
#define _GNU_SOURCE
#include "test.h"
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

enum { N = 2000 };
extern char **environ;

static int on_guests;
static char rank_state[2][512];

static long squares(double each)
{
    long sum = 0;
    int others = 0;
#pragma ws for reduction(+ : sum, others)
    for (int i = 0; i < N; i++) {
        sum += (long) i * i;
        others += on_guest();
        busy(each);
    }
    on_guests = others;
    return sum;
}
#define SQUARES ((long) (N - 1) * N * (2L * N - 1) / 6)

static int in_critical(void)
{
    static int inside;
#pragma ws critical (forks)
    inside++;
    return inside;
}

static int ended_well(pid_t child)
{
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static pid_t computing_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        int right = 1;
        for (int k = 0; k < 3; k++)
            right &= squares(5e-6) == SQUARES && on_guests == 0 && in_critical() > 0;
        exit(!right);
    }
    return child;
}

static void *forking(void *end)
{
    for (int k = 0; k < 10; k++) {
        CHECK(ended_well(computing_child()));
        *(volatile int *) end = k < 9 ? 0 : 1;
    }
    return NULL;
}

static void between(void)
{
    int shared = 0;
    for (int k = 0; k < 10; k++) {
        CHECK(squares(10e-6) == SQUARES);
        pid_t child = computing_child();
        CHECK(squares(10e-6) == SQUARES);
        shared += on_guests > 0;
        in_critical();
        CHECK(ended_well(child));
    }
    CHECK(shared > 0);
}

static void thread(void)
{
    pthread_t t;
    volatile int end = 0;
    CHECK(squares(10e-6) == SQUARES);
    pthread_create(&t, NULL, forking, (void *) &end);
    while (!end)
        CHECK(squares(10e-6) == SQUARES);
    pthread_join(t, NULL);
}

static void inside(void)
{
    int bad = 0, forked_by_guests = 0;
    for (double deadline = now() + PATIENCE; forked_by_guests == 0 && now() < deadline;) {
        long sum = 0;
#pragma ws for reduction(+ : bad, forked_by_guests, sum) schedule(dynamic, 1)
        for (int i = 0; i < 40; i++) {
            busy(1e-3);
            forked_by_guests += on_guest();
            pid_t child = fork();
            int status = 0;
            if (child == 0)
                _exit(squares(1e-8) != SQUARES);
            bad += child < 0 || waitpid(child, &status, 0) != child || status != 0;
            sum += i;
        }
        CHECK(sum == 40 * 39 / 2);
    }
    CHECK(bad == 0);
    CHECK(forked_by_guests > 0);
    CHECK(squares(10e-6) == SQUARES);
}

/* What a child says of its CPUs and its blocked signals, which it has from the thread that starts it. */
static int is_as_of_rank(FILE *child)
{
    char line[512];
    int right = 0;
    while (fgets(line, sizeof line, child))
        right += !strcmp(line, rank_state[0]) || !strcmp(line, rank_state[1]);
    return right == 2;
}

static int reads_state_by(int way)
{
    static char *arguments[] = {"cat", "/proc/self/status", NULL};
    int ends[2], status = -1;
    pid_t child;
    if (way == 0) {
        FILE *f = popen("cat /proc/self/status", "r");
        const int right = is_as_of_rank(f);
        return pclose(f) == 0 && right;
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    if (way == 1) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        if (posix_spawn(&child, "/bin/cat", &actions, NULL, arguments, environ) != 0)
            return 0;
        posix_spawn_file_actions_destroy(&actions);
    } else if (way == 2) {
        child = fork();
        if (child == 0) {
            dup2(ends[1], 1);
            execv("/bin/cat", arguments);
            _exit(1);
        }
    } else {
        child = vfork();
        if (child == 0) {
            dup2(ends[1], 1);
            execve("/bin/cat", arguments, environ);
            _exit(1);
        }
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    const int right = is_as_of_rank(f);
    fclose(f);
    return waitpid(child, &status, 0) == child && status == 0 && right;
}

static void state(void)
{
    FILE *own = fopen("/proc/self/status", "r");
    char line[512];
    while (fgets(line, sizeof line, own))
        if (!strncmp(line, "Cpus_allowed_list:", 18))
            strcpy(rank_state[0], line);
        else if (!strncmp(line, "SigBlk:", 7))
            strcpy(rank_state[1], line);
    fclose(own);
    int wrong[4] = {0}, others = 0;
    for (double deadline = now() + PATIENCE; others == 0 && now() < deadline;) {
#pragma ws for reduction(+ : others) schedule(dynamic, 1)
        for (int i = 0; i < 32; i++) {
            busy(1e-3);
            others += on_guest();
            for (int way = 0; way < 4; way++)
                if (!reads_state_by(way))
                    __sync_fetch_and_add(&wrong[way], 1);
        }
    }
    CHECK(wrong[0] == 0); /* popen */
    CHECK(wrong[1] == 0); /* posix_spawn */
    CHECK(wrong[2] == 0); /* fork */
    CHECK(wrong[3] == 0); /* vfork */
    CHECK(others > 0);
}

static void spawn(void)
{
    int bad = 0, others = 0;
    for (double deadline = now() + PATIENCE; others == 0 && now() < deadline;) {
#pragma ws for reduction(+ : bad, others) schedule(dynamic, 1)
        for (int i = 0; i < 16; i++) {
            char *arguments[] = {"true", NULL};
            int status = -1;
            others += on_guest();
            pid_t child = vfork();
            if (child == 0) {
                execv("/bin/true", arguments);
                _exit(1);
            }
            bad += waitpid(child, &status, 0) != child || status != 0;
            bad += posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0;
            bad += waitpid(child, &status, 0) != child || status != 0;
            bad += system("exit 3") != 3 << 8;
            FILE *f = popen("echo 7", "r");
            int seven = 0;
            bad += fscanf(f, "%d", &seven) != 1 || seven != 7;
            pclose(f);
        }
    }
    CHECK(bad == 0);
    CHECK(others > 0);
}

/* A child that comes to the end of the loop ends there; returns its status in the parent, and whether a guest forked
 * it. */
static int child_goes_on(int by_guest, int count)
{
    static int seen[200];
    int status = -1, in_child = 0;
    pid_t child = -1;
    long sum = 0;
    memset(seen, 0, sizeof seen);
#pragma ws for reduction(+ : sum) schedule(dynamic, 1)
    for (int i = 0; i < count; i++) {
        seen[i]++;
        sum += i;
        if (count == 200)
            busy(1e-3);
        if (i > 50 && on_guest() == by_guest && __sync_bool_compare_and_swap(&child, -1, -2)) {
            fflush(NULL);
            pid_t forked = fork();
            if (forked == 0)
                in_child = 1;
            else
                child = forked;
        }
    }
    for (int i = 0; i < count; i++)
        CHECK(seen[i] == 1);
    CHECK(sum == (long) count * (count - 1) / 2);
    if (in_child)
        _exit(failures ? 5 : squares(1e-7) == SQUARES ? 0 : 6);
    if (child > 0)
        CHECK(waitpid(child, &status, 0) == child);
    return status;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    begin(&argc, &argv);
    if (rank == 0) {
        if (!strcmp(what, "between"))
            between();
        else if (!strcmp(what, "thread"))
            thread();
        else if (!strcmp(what, "inside"))
            inside();
        else if (!strcmp(what, "spawn"))
            spawn();
        else if (!strcmp(what, "state"))
            state();
        else if (!strcmp(what, "goes_on")) {
            CHECK(child_goes_on(0, 100) == 0);
        } else {
            int status = -1;
            for (double deadline = now() + PATIENCE; status < 0 && now() < deadline;)
                status = child_goes_on(!strcmp(what, "guest"), 200);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
