/* SPDX-License-Identifier: MIT
 *
 * wait_calls CALL [N [off]]: rank 0 waits in a function of the C library, or of a GPU's, until rank 1's loop of N
 * iterations is over. Each iteration runs once. `off`: after ws_enable(0).
 *
 * read, write, poll, select, recv, gpu
 *          that function; prints how many times as fast as on one core the loop ran
 * mix      signal handlers that write, calls that a jump leaves, children of vfork(), errors and short calls, with
 *          loops and MPI in between
 */
#define _GNU_SOURCE
#include "outside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <workshare/ws.h>

int cudaStreamSynchronize(void *stream);
void stub_ends_when(volatile int *over);

static int ends[2];        /* of a pipe or of two sockets */

static void *when_over(void *how)
{
    char room[65536];
    while (!*over)
        usleep(500);
    if (how)
        while (read(ends[0], room, sizeof room) == sizeof room)
            ;
    else if (write(ends[1], "x", 1) != 1)
        abort();
    return NULL;
}

static void wait_by(const char *call)
{
    char room[65536] = "";
    pthread_t thread;
    struct pollfd some = { .events = POLLIN };
    if (!strcmp(call, "gpu")) {
        stub_ends_when(over);
        CHECK(cudaStreamSynchronize((void *) over) == 77); /* what the stub returns */
        return;
    }
    CHECK((!strcmp(call, "recv") ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) == 0);
    some.fd = ends[0];
    if (!strcmp(call, "write")) { /* into a pipe that is full */
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        while (write(ends[1], room, sizeof room) > 0)
            ;
        fcntl(ends[1], F_SETFL, 0);
    }
    pthread_create(&thread, NULL, when_over, !strcmp(call, "write") ? room : NULL);
    if (!strcmp(call, "read"))
        CHECK(read(ends[0], room, sizeof room) == 1);
    else if (!strcmp(call, "recv"))
        CHECK(recv(ends[0], room, sizeof room, 0) == 1);
    else if (!strcmp(call, "write"))
        CHECK(write(ends[1], room, 1000) == 1000);
    else if (!strcmp(call, "poll"))
        CHECK(poll(&some, 1, -1) == 1 && some.revents == POLLIN);
    else {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        CHECK(select(ends[0] + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &set));
    }
    if (!strcmp(call, "write"))
        close(ends[1]);
    pthread_join(thread, NULL);
}

static sigjmp_buf out;
static volatile sig_atomic_t jumps, handled;
static int sink;

static void on_alarm(int number)
{
    (void) number;
    const int before = errno;
    handled++;
    if (write(sink, "x", 1) != 1)
        _exit(5);
    errno = before;
    if (jumps && !on_guest()) { /* nor on a thread of UCX's */
        jumps = 0;
        siglongjmp(out, 1);
    }
}

/* A function of its own, because the child uses its stack. */
static __attribute__((noinline)) pid_t child_that_writes(int late)
{
    const pid_t child = vfork();
    if (child == 0) {
        if (late)
            usleep(20000);
        _exit(write(sink, "x", 1) == 1 ? 3 : 4);
    }
    return child;
}

static void mix(int turns)
{
    struct sigaction action = { .sa_handler = on_alarm };
    struct itimerval often = { { 0, 700 }, { 0, 700 } }, never = { { 0, 0 }, { 0, 0 } };
    char room[100];
    sink = open("/dev/null", O_WRONLY);
    CHECK(pipe(ends) == 0);
    sigaction(SIGALRM, &action, NULL);
    for (int turn = 0; turn < turns; turn++) {
        setitimer(ITIMER_REAL, &often, NULL);
        run_loop(20, 1e-4);
        if (sigsetjmp(out, 1) == 0) { /* a read that nothing ends */
            jumps = 1;
            CHECK(read(ends[0], room, 1) == -1 && errno == EINTR);
            jumps = 0;
        }
        if (turn % 2)
            MPI_Barrier(MPI_COMM_WORLD); /* with signals */
        const ssize_t n = read(ends[0], room, 1); /* one ends it */
        CHECK(n == -1 && errno == EINTR);
        setitimer(ITIMER_REAL, &never, NULL);
        errno = 0;
        CHECK(read(-1, room, 1) == -1 && errno == EBADF);
        for (int i = 0; i < 100; i++) {
            errno = 42;
            CHECK(write(ends[1], "yz", 2) == 2 && read(ends[0], room, 2) == 2 && room[0] == 'y' && errno == 42);
        }
        const pid_t child = child_that_writes(turn % 4 == 0);
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
        int sum = 0, one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == ranks);
    }
    CHECK(handled > turns);
    for (int i = 0; i < 20; i++)
        CHECK(counts[i] == turns);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const long n = argc > 2 ? atol(argv[2]) : 1000;
    counts = calloc((size_t) n, sizeof(int));
    share_flag();
    if (!strcmp(argv[1], "mix"))
        mix((int) n);
    else if (rank == 0) {
        if (argc > 3)
            CHECK(ws_enable(0) == 1);
        wait_by(argv[1]);
    }
    else {
        run_loop(n / 10, 5e-4); /* a guest is made */
        const double began = now();
        run_loop(n, 5e-4);
        printf("%.3f times as fast\n", 5e-4 * (double) n / (now() - began));
        for (long i = 0; i < n; i++)
            CHECK(counts[i] == 1 + (i < n / 10));
        *over = 1;
    }
    MPI_Win_free(&window);
    return end();
}
