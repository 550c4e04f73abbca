/* SPDX-License-Identifier: MIT
 *
 * How mpiexec starts its proxies, and what it does about proxies that could not be started. Included by pmiserv_pmci.c.
 */

static int is_connected(const struct HYD_proxy *proxy)
{
    return proxy->has_exec_info && proxy->control_fd != HYD_FD_UNSET && proxy->control_fd != HYD_FD_CLOSED;
}

static struct HYD_proxy *next_proxy(const struct HYD_proxy *proxy)
{
    struct HYD_pg *pg = proxy ? proxy->pg->next : &HYD_server_info.pg_list;

    if (proxy && proxy->next)
        return proxy->next;
    while (pg && !pg->proxy_list)
        pg = pg->next;
    return pg ? pg->proxy_list : NULL;
}

static struct HYD_pg *group_of(const struct HYD_proxy *proxy)
{
    return proxy->pg;
}

#include "job.c"

void HYD_pmcd_pmiserv_connected(struct HYD_proxy *proxy)
{
    proxy->has_exec_info = 1;
    if (HYDU_job_is_ending())
        HYD_pmcd_pmiserv_send_signal(proxy, SIGKILL);
}

HYD_status HYD_pmcd_pmiserv_launch(struct HYD_pg *pg, enum HYD_bool use_rmk)
{
    struct HYD_string_stash proxy_stash;
    struct HYD_proxy *proxy;
    char *control_port = NULL;
    int count = 0, strangers = 0, i, *control_fd = NULL, listen_fd;
    HYD_status status = HYD_SUCCESS;

    HYD_STRING_STASH_INIT(proxy_stash);
    for (proxy = pg->proxy_list; proxy; proxy = proxy->next, count++)
        strangers += is_stranger(proxy);

    if (strangers) {
        status = listen_for_strangers(&control_port, &listen_fd, HYD_pmcd_pmiserv_control_listen_cb,
                                      (void *) (size_t) pg->pgid);
        HYDU_ERR_POP(status, "unable to create PMI port\n");
        if (HYD_server_info.user_global.debug)
            HYDU_dump(stdout, "Got a control port string of %s\n", control_port);
    } else {
        control_port = MPL_strdup("none:0");
    }

    status = HYD_pmcd_pmi_fill_in_proxy_args(&proxy_stash, control_port, pg->pgid);
    HYDU_ERR_POP(status, "unable to fill in proxy arguments\n");
    status = HYD_pmcd_pmi_fill_in_exec_launch_info(pg);
    HYDU_ERR_POP(status, "unable to fill in executable arguments\n");

    HYDU_MALLOC_OR_JUMP(control_fd, int *, count * sizeof(int), status);
    for (i = 0; i < count; i++)
        control_fd[i] = HYD_FD_UNSET;
    status = HYDT_bsci_launch_procs(proxy_stash.strlist, pg->proxy_list, use_rmk, control_fd);
    HYDU_ERR_POP(status, "launcher cannot launch processes\n");

    for (proxy = pg->proxy_list, i = 0; proxy; proxy = proxy->next, i++)
        if (control_fd[i] != HYD_FD_UNSET) {
            proxy->control_fd = control_fd[i];
            status = HYDT_dmx_register_fd(1, &control_fd[i], HYD_POLLIN, (void *) (size_t) pg->pgid,
                                          HYD_pmcd_pmiserv_proxy_init_cb);
            HYDU_ERR_POP(status, "unable to register fd\n");
        }

  fn_exit:
    MPL_free(control_fd);
    MPL_free(control_port);
    HYD_STRING_STASH_FREE(proxy_stash);
    return status;

  fn_fail:
    goto fn_exit;
}

/* A host that cannot be reached: ssh, or its like, fails there, and its proxy never connects. HYDT_bsci_wait_for_completion
 * waits for the launchers. Returns how many seconds to wait for the next event: `time_left`, but one at most while a
 * launcher has to be checked again, because its end is no event. */
static int check_launchers(int time_left)
{
    struct HYD_pg *pg;
    struct HYD_proxy *proxy, *failed = NULL;
    const char *name = HYDT_bsci_info.launcher_exec ? HYDT_bsci_info.launcher_exec : HYDT_bsci_info.launcher;
    siginfo_t info, why;
    int some = 0;

    time_left = end_if_stuck(HYDU_time_left(time_left));

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
    /* The launcher's own output comes first */
    if (failed)
        HYDT_dmx_wait_for_event(0);
    if (!failed || failed->control_fd != HYD_FD_UNSET)
        return some && (time_left < 0 || time_left > 1) ? 1 : time_left;

    HYDU_dump_noprefix(stderr, "mpiexec: cannot start the proxy on host %s: %s ended with %s %d\n",
                       failed->node->hostname, name, why.si_code == CLD_EXITED ? "exit status" : "signal",
                       why.si_status);
    exit_now(255);
}
