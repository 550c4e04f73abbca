/* SPDX-License-Identifier: MIT
 *
 * What mpiexec does about processes and proxies that could not be started. Included by pmiserv_pmci.c.
 */

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
