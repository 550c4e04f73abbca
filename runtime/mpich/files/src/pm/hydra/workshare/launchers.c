/* SPDX-License-Identifier: MIT
 *
 * How mpiexec listens for its proxies, and what it does about proxies that could not be started. Included by
 * pmiserv_pmci.c.
 */

static int is_connected(const struct HYD_proxy *proxy)
{
    return proxy->node->control_fd != HYD_FD_UNSET && proxy->control_fd != HYD_FD_UNSET &&
        proxy->control_fd != HYD_FD_CLOSED;
}

static struct HYD_proxy *next_proxy(const struct HYD_proxy *proxy)
{
    int pgid = proxy ? proxy->pgid : 0, i = proxy ? proxy - PMISERV_pg_by_id(pgid)->proxy_list + 1 : 0;

    for (; pgid < PMISERV_pg_max_id(); pgid++, i = 0)
        if (i < PMISERV_pg_by_id(pgid)->proxy_count)
            return &PMISERV_pg_by_id(pgid)->proxy_list[i];
    return NULL;
}

static struct HYD_pg *group_of(const struct HYD_proxy *proxy)
{
    return PMISERV_pg_by_id(proxy->pgid);
}

#include "job.c"

void HYD_pmcd_pmiserv_connected(struct HYD_proxy *proxy)
{
    if (HYDU_job_is_ending())
        HYD_pmcd_pmiserv_send_signal(proxy, SIGKILL);
}

HYD_status HYD_pmcd_pmiserv_listen(void)
{
    MPL_free(HYD_server_info.control_port);
    HYD_server_info.control_port = NULL;
    return listen_for_strangers(&HYD_server_info.control_port, &HYD_server_info.control_listen_fd,
                                HYD_pmcd_pmiserv_control_listen_cb, NULL);
}

HYD_status HYD_pmcd_pmiserv_listen_for(struct HYD_pg *pg)
{
    for (int i = 0; i < pg->proxy_count; i++)
        if (is_stranger(&pg->proxy_list[i]))
            return HYD_control_listen();
    HYD_server_info.control_port = MPL_strdup("none:0");
    return HYD_SUCCESS;
}

HYD_status HYD_pmcd_pmiserv_lost(int fd, HYD_status(*cleanup) (struct HYD_proxy *proxy))
{
    struct HYD_proxy *proxy;
    HYD_status status = HYD_SUCCESS;

    for (proxy = next_proxy(NULL); proxy && status == HYD_SUCCESS; proxy = next_proxy(proxy))
        if (proxy->control_fd == fd) {
            HYD_pmcd_pmiserv_proxy_ended(proxy);
            if (!cleanup)
                exit_now(255);
            status = cleanup(proxy);
        }
    return status;
}

/* A host that cannot be reached: ssh, or its like, has ended with waitpid's status `ret` before its proxy connected.
 * With status 0 the launcher may have left the proxy running, and mpiexec waits for it. */
static void launcher_ended(struct HYD_proxy *proxy, int ret)
{
    const char *name = HYDT_bsci_info.launcher_exec ? HYDT_bsci_info.launcher_exec : HYDT_bsci_info.launcher;

    proxy->launcher_pid = 0;    /* its number may be another process's from here on */
    if (ret == 0)
        return;
    HYDT_dmx_wait_for_event(0); /* the launcher's own output comes first */
    if (proxy->control_fd != HYD_FD_UNSET)
        return;
    HYDU_dump_noprefix(stderr, "mpiexec: cannot start the proxy on host %s: %s ended with %s %d\n",
                       proxy->node->hostname, name, WIFEXITED(ret) ? "exit status" : "signal",
                       WIFEXITED(ret) ? WEXITSTATUS(ret) : WTERMSIG(ret));
    exit_now(255);
}
