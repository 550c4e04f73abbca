/* SPDX-License-Identifier: MIT
 *
 * How mpiexec ends a job. Included by launchers.c, which has three functions for its version of hydra: is_connected(),
 * true from when a proxy got its command until its connection closes; next_proxy(), which goes through the proxies
 * of all groups and begins and ends with NULL; and group_of(), a proxy's group.
 */
#include <signal.h>
#include "in_barrier.h"

HYD_status HYD_pmcd_pmiserv_launch_failed(int fd, int len)
{
    char *buf = NULL;
    int count, closed;
    HYD_status status = HYD_SUCCESS;

    HYDU_MALLOC_OR_JUMP(buf, char *, len, status);
    status = HYDU_sock_read(fd, buf, len, &count, &closed, HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to read the reason from proxy\n");
    HYDU_ASSERT(!closed, status);

    /* The other proxies end their processes when our sockets close */
    HYDU_dump_noprefix(stderr, "%s", buf);
    exit(255);

  fn_exit:
    MPL_free(buf);
    return status;

  fn_fail:
    goto fn_exit;
}

/* Sends a signal to the ranks of all proxies except `but`, which may be NULL. */
static void signal_others(const struct HYD_proxy *but, int signum)
{
    struct HYD_proxy *proxy;

    for (proxy = next_proxy(NULL); proxy; proxy = next_proxy(proxy))
        if (proxy != but && is_connected(proxy))
            HYD_pmcd_pmiserv_send_signal(proxy, signum);
}

void HYD_pmcd_pmiserv_end_job(struct HYD_proxy *but, int code)
{
    HYDU_job_ends(code);
    signal_others(but, SIGKILL);
}

HYD_status HYD_pmcd_pmiserv_rank_left(int fd, struct HYD_proxy *proxy, int len)
{
    static int is_told;
    char *buf = NULL;
    int count, closed;
    HYD_status status = HYD_SUCCESS;

    if (len == 0) {     /* its proxy kills the other ranks that it has */
        HYD_pmcd_pmiserv_end_job(proxy, -1);
        goto fn_exit;
    }
    HYDU_MALLOC_OR_JUMP(buf, char *, len, status);
    status = HYDU_sock_read(fd, buf, len, &count, &closed, HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to read from proxy\n");
    if (!closed && !is_told && HYDU_exit_code(1, 1) < 0)
        HYDU_dump_noprefix(stderr, "%s", buf);
    is_told = 1;

  fn_exit:
    MPL_free(buf);
    return status;

  fn_fail:
    goto fn_exit;
}

HYD_status HYD_pmcd_pmiserv_rank_gone(int fd, struct HYD_proxy *proxy, int len, int gone_well)
{
    int count, closed;
    HYD_status status = HYD_SUCCESS;

    HYDU_MALLOC_OR_JUMP(proxy->gone, char *, len, status);
    status = HYDU_sock_read(fd, proxy->gone, len, &count, &closed, HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to read from proxy\n");
    proxy->gone_well = gone_well;

  fn_exit:
    return status;

  fn_fail:
    goto fn_exit;
}

/* True if other processes of the group wait for one of the proxy `gone` that will never come: in a barrier of PMI or, with
 * -disable-auto-cleanup, in MPI_Finalize. With that option all processes that are left must wait. */
static int is_stuck(const struct HYD_proxy *gone)
{
    const struct HYD_pg *pg = group_of(gone);
    int some_wait = is_in_barrier(pg), some_run = 0;
    struct HYD_proxy *proxy;

    for (proxy = next_proxy(NULL); proxy; proxy = next_proxy(proxy))
        if (group_of(proxy) == pg) {
            some_wait |= proxy->waits == HYDU_WAITS;
            some_run |= proxy->waits == HYDU_WAITS_NOT && !proxy->exit_status;
        }
    return some_wait && (HYD_server_info.user_global.auto_cleanup || !some_run);
}

/* Returns how many seconds to wait for the next event, at most `time_left`. Ends a job that is stuck: with
 * -disable-auto-cleanup after some seconds, because a process may have ended when all were in the barrier already. */
static int end_if_stuck(int time_left)
{
    enum { most_stuck = 5 };
    static time_t since;
    struct HYD_proxy *gone = next_proxy(NULL);

    while (gone && !(gone->gone && is_stuck(gone)))
        gone = next_proxy(gone);
    if (!gone || HYDU_job_is_ending()) {
        since = 0;
        return time_left;
    }
    since = since ? since : HYDU_seconds();
    if (HYD_server_info.user_global.auto_cleanup || HYDU_seconds() - since >= most_stuck) {
        if (HYDU_exit_code(1, 1) < 0)
            HYDU_dump_noprefix(stderr, "%s", gone->gone);
        HYD_pmcd_pmiserv_end_job(NULL, gone->gone_well ? 1 : -1);
        return HYDU_time_left(time_left);
    }
    return time_left < 0 || time_left > 1 ? 1 : time_left;
}

HYD_status HYD_pmcd_pmiserv_proxy_ended(struct HYD_proxy *proxy)
{
    if (!HYDU_job_is_ending())
        HYDU_dump_noprefix(stderr, "mpiexec: the proxy on host %s has ended unexpectedly, and its ranks with it\n",
                           proxy->node->hostname);
    HYD_pmcd_pmiserv_end_job(proxy, 255);
    return HYD_SUCCESS;
}

/* Some proxies have not connected, and may never connect: the others end their processes when our sockets close. */
static void exit_now(int code)
{
    struct HYD_proxy *proxy;

    for (proxy = next_proxy(NULL); proxy; proxy = next_proxy(proxy))
        if (proxy->control_fd == HYD_FD_UNSET && proxy->launcher_pid)
            kill(proxy->launcher_pid, SIGTERM);
    exit(code);
}

/* A signal that mpiexec was sent. */
static void pass_on(int signum)
{
    struct HYD_proxy *proxy;

    HYDU_received(signum);
    for (proxy = next_proxy(NULL); proxy; proxy = next_proxy(proxy))
        if (HYDU_ended_by && !is_connected(proxy) && proxy->control_fd != HYD_FD_CLOSED)
            exit_now(128 + HYDU_ended_by);
    signal_others(NULL, signum);
}

/* The proxies that mpiexec forks have a socket pair each; others connect. */
static int is_stranger(const struct HYD_proxy *proxy)
{
    const char *launchers[] = { "ssh", "rsh", "fork", "lsf", "sge" };
    int i, autofork;

    if (MPL_env2bool("HYDRA_LAUNCHER_AUTOFORK", &autofork) == 0)
        autofork = 1;
    for (i = 0; i < (int) (sizeof(launchers) / sizeof(launchers[0])); i++)
        if (autofork && !strcmp(HYDT_bsci_info.launcher, launchers[i]))
            return strcmp(launchers[i], "fork") && !MPL_host_is_local(proxy->node->hostname);
    return 1;
}

/* Listens for the proxies of all groups. */
static HYD_status listen_for_strangers(char **port_str, int *listen_fd,
                                       HYD_status(*callback) (int fd, HYD_event_t events, void *userp), void *userp)
{
    const char **hosts = NULL;
    struct HYD_proxy *proxy;
    struct HYDU_way way;
    int count = 0;
    HYD_status status = HYDU_secret_draw();

    HYDU_ERR_POP(status, "unable to draw a secret\n");
    for (proxy = next_proxy(NULL); proxy; proxy = next_proxy(proxy))
        count++;
    HYDU_MALLOC_OR_JUMP(hosts, const char **, (count + 1) * sizeof(*hosts), status);
    count = 0;
    for (proxy = next_proxy(NULL); proxy; proxy = next_proxy(proxy))
        if (is_stranger(proxy))
            hosts[count++] = proxy->node->hostname;
    hosts[count] = NULL;
    status = HYDU_find_way(hosts, HYD_server_info.user_global.iface, HYD_server_info.localhost, &way);
    HYDU_ERR_POP(status, "unable to find the interface that leads to the hosts\n");
    status = HYDU_listen_at(&way, HYD_server_info.port_range, port_str, listen_fd, callback, userp);
    HYDU_ERR_POP(status, "unable to create PMI port\n");

  fn_exit:
    MPL_free(hosts);
    return status;

  fn_fail:
    goto fn_exit;
}
