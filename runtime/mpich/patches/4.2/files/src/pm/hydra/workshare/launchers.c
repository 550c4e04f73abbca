/* SPDX-License-Identifier: MIT
 *
 * What mpiexec does about processes and proxies that could not be started. Included by pmiserv_pmci.c.
 */

#include "launch_failed.c"

/* A host that cannot be reached: ssh, or its like, has ended with `ret` of waitpid before its proxy connected. With
 * status 0 it may have left the proxy running, which is waited for. */
static void launcher_ended(struct HYD_proxy *proxy, int ret)
{
    const char *name = HYDT_bsci_info.launcher_exec ? HYDT_bsci_info.launcher_exec : HYDT_bsci_info.launcher;

    if (ret == 0)
        return;
    HYDT_dmx_wait_for_event(0); /* what the launcher has written itself comes first */
    if (proxy->control_fd != HYD_FD_UNSET)
        return;
    HYDU_dump_noprefix(stderr, "mpiexec: cannot start the proxy on host %s: %s ended with %s %d\n",
                       proxy->node->hostname, name, WIFEXITED(ret) ? "exit status" : "signal",
                       WIFEXITED(ret) ? WEXITSTATUS(ret) : WTERMSIG(ret));

    /* The proxies that have connected end their processes when our sockets close */
    for (int i = 0; i < PMISERV_pg_max_id(); i++) {
        struct HYD_pg *pg = PMISERV_pg_by_id(i);
        for (int j = 0; j < pg->proxy_count; j++)
            if (&pg->proxy_list[j] != proxy && pg->proxy_list[j].control_fd == HYD_FD_UNSET &&
                pg->proxy_list[j].launcher_pid)
                kill(pg->proxy_list[j].launcher_pid, SIGTERM);
    }
    exit(255);
}
