/* SPDX-License-Identifier: MIT
 *
 * See ending.h: how a job ends, as mpiexec knows it. Included by utils/launch/launch.c.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

int HYDU_ended_by;

static int ending;              /* the ranks are being killed */
static int end_code = -1;       /* mpiexec's exit status, if it is settled */
static time_t end_time;

/* mpiexec reads the output of killed ranks until all their descendants have closed it, or for this many seconds. */
enum { most_seconds = 5 };

time_t HYDU_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

void HYDU_received(int signum)
{
    const char *name = signum == SIGINT ? "SIGINT" : signum == SIGTERM ? "SIGTERM" : signum == SIGQUIT ? "SIGQUIT" : NULL;

    if (!name)
        return;
    if (!HYDU_ended_by)
        HYDU_dump_noprefix(stderr, "mpiexec: received %s, passing it on to the ranks%s\n", name,
                           signum == SIGINT ? "; press Ctrl-C again to kill them" : "");
    HYDU_ended_by = signum;
}

int HYDU_exit_code(int failed, int exit_status)
{
    if (end_code >= 0)
        return end_code;
    return HYDU_ended_by && (failed || exit_status) ? 128 + HYDU_ended_by : -1;
}

void HYDU_job_ends(int code)
{
    if (!ending)
        end_time = HYDU_seconds() + most_seconds;
    ending = 1;
    if (end_code < 0 && code >= 0)
        end_code = code && !(code & 0xff) ? 1 : code & 0xff;
}

int HYDU_job_is_ending(void)
{
    return ending;
}

int HYDU_time_left(int time_left)
{
    int left;

    if (!ending)
        return time_left;
    left = end_time - HYDU_seconds();
    if (left <= 0)
        exit(end_code >= 0 ? end_code : HYDU_ended_by ? 128 + HYDU_ended_by : 255);
    return time_left < 0 || time_left > left ? left : time_left;
}

HYD_status HYDU_proxy_is_connected(int fd)
{
    unsetenv("HYDI_CONTROL_FD");
    unsetenv("HYDI_CONTROL_SECRET");
    return HYDU_sock_cloexec(fd);
}
