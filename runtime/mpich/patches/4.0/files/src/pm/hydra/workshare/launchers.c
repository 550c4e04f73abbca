/* SPDX-License-Identifier: MIT
 *
 * What mpiexec does about processes and proxies that could not be started. Included by pmiserv_pmci.c.
 */

#include "launch_failed.c"

/* A host that cannot be reached: ssh, or its like, fails there, and its proxy never connects. The launchers are left
 * for HYDT_bsci_wait_for_completion to wait for. Returns how many seconds to wait for the next event: `time_left`, but
 * one at most while there are any to look at again, as their end is no event. */
static int check_launchers(int time_left)
{
    struct HYD_pg *pg;
    struct HYD_proxy *proxy, *failed = NULL;
    const char *name = HYDT_bsci_info.launcher_exec ? HYDT_bsci_info.launcher_exec : HYDT_bsci_info.launcher;
    siginfo_t info, why;
    int some = 0;

    for (pg = &HYD_server_info.pg_list; pg; pg = pg->next) {
        for (proxy = pg->proxy_list; proxy; proxy = proxy->next) {
            if (proxy->control_fd != HYD_FD_UNSET || proxy->launcher_pid == 0)
                continue;
            some = 1;
            info.si_pid = 0;
            if (waitid(P_PID, proxy->launcher_pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
                (info.si_code != CLD_EXITED || info.si_status != 0) && !failed) {
                failed = proxy;
                why = info;
            }
        }
    }
    /* What the launcher has written itself comes first */
    if (failed)
        HYDT_dmx_wait_for_event(0);
    if (!failed || failed->control_fd != HYD_FD_UNSET)
        return some && (time_left < 0 || time_left > 1) ? 1 : time_left;

    HYDU_dump_noprefix(stderr, "mpiexec: cannot start the proxy on host %s: %s ended with %s %d\n",
                       failed->node->hostname, name, why.si_code == CLD_EXITED ? "exit status" : "signal",
                       why.si_status);

    /* The proxies that have connected end their processes when our sockets close */
    for (pg = &HYD_server_info.pg_list; pg; pg = pg->next)
        for (proxy = pg->proxy_list; proxy; proxy = proxy->next)
            if (proxy->control_fd == HYD_FD_UNSET && proxy->launcher_pid)
                kill(proxy->launcher_pid, SIGTERM);
    exit(255);
}
