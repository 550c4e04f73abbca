/* SPDX-License-Identifier: MIT
 *
 * What mpiexec does about a process that could not be started. Included by launchers.c.
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
