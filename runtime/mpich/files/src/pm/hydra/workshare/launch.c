/* SPDX-License-Identifier: MIT
 *
 * See launch.h. Included by hydra's launch.c: a file of its own would need an entry in Makefile.mk, and with that
 * autoconf and automake.
 */
#include <poll.h>

struct HYD_launch_error HYDU_launch_error;

/* A process that cannot start its program writes to this pipe; exec closes the ends of the others. */
static int exec_pipe[2] = { HYD_FD_UNSET, HYD_FD_UNSET };

void HYDU_set_launch_error(int idx, const char *call, const char *name)
{
    HYDU_launch_error.idx = idx;
    snprintf(HYDU_launch_error.why, sizeof(HYDU_launch_error.why), "%s%s: %s", call, name,
                 MPL_strerror(errno));
}

/* One pipe for all processes until the next HYDU_wait_for_exec; -1 if there is none. */
static int open_exec_pipe(void)
{
    if (exec_pipe[0] != HYD_FD_UNSET)
        return 0;
    if (pipe(exec_pipe) < 0)
        return -1;
    HYDU_sock_cloexec(exec_pipe[0]);
    HYDU_sock_cloexec(exec_pipe[1]);
    return 0;
}

/* The child process should never get back to the proxy's code. */
static void end_child(int idx, const char *name)
{
    if (!HYDU_launch_error.why[0])
        HYDU_set_launch_error(idx, "preparing ", name);
    if (write(exec_pipe[1], &HYDU_launch_error, sizeof(HYDU_launch_error)) < 0)
        HYDU_dump(stderr, "%s\n", HYDU_launch_error.why);
    _exit(255);
}

HYD_status HYDU_wait_for_exec(HYD_status status, const char *name)
{
    int len;

    if (exec_pipe[0] != HYD_FD_UNSET && status == HYD_SUCCESS) {
        close(exec_pipe[1]);
        do {
            len = read(exec_pipe[0], &HYDU_launch_error, sizeof(HYDU_launch_error));
        } while (len < 0 && errno == EINTR);
        close(exec_pipe[0]);
        exec_pipe[0] = exec_pipe[1] = HYD_FD_UNSET;
        if (len > 0)
            status = HYD_NOT_STARTED;
    }
    if (status == HYD_NOT_STARTED && name)
        HYDU_error_printf("cannot start %s: %s\n", name, HYDU_launch_error.why);
    return status;
}

void HYDU_proxy_not_started(const struct HYD_proxy *proxy)
{
    HYDU_dump_noprefix(stderr, "mpiexec: cannot start the proxy on host %s: %s\n",
                       proxy->node->hostname, HYDU_launch_error.why);
}

void HYDU_sigpipe(int signum)
{
    struct pollfd readers[2] = { {.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO} };

    /* otherwise a proxy has gone, and its last message is still to be read */
    if (poll(readers, 2, 0) > 0 && ((readers[0].revents | readers[1].revents) & POLLERR)) {
        signal(signum, SIG_DFL);
        raise(signum);
    }
}
