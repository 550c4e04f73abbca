/* SPDX-License-Identifier: MIT
 *
 * See launch.h; what a proxy does of it. Included by pmip_pg.c.
 */

static int kills;               /* we have begun to kill processes */

static void signal_process(int pid, int pgid, int sig)
{
    kills |= sig == SIGKILL;
    if (pgid == getpgrp())      /* it has no group of its own yet */
        kill(pid, sig);
    else
        killpg(pgid, sig);
}

/* Of processes that we are about to kill, those that gave no reason for it count as 0. */
static HYD_status forgive(struct pmip_pg *pg)
{
    for (int i = 0; i < pg->num_procs; i++)
        if (pg->downstreams[i].exit_status == PMIP_EXIT_STATUS_UNSET)
            pg->downstreams[i].exit_status = 0;
    return HYD_SUCCESS;
}

int HYD_pmcd_pmip_kills(void)
{
    return kills;
}

int HYD_pmcd_pmip_ended(int pid, int ret_status, int ends_others)
{
    struct pmip_downstream *p = PMIP_find_downstream_by_pid(pid);

    if (!p)
        return 0;
    /* Its number may be another process's from here on */
    p->pid = -1;
    if (p->exit_status != PMIP_EXIT_STATUS_UNSET)       /* one of those that we killed */
        return 1;
    p->exit_status = ret_status;
    if (ends_others && WIFSIGNALED(ret_status)) {
        if (!kills)
            PMIP_foreach_pg_do(forgive);
        PMIP_bcast_signal(SIGKILL);
    }
    return 1;
}

void HYD_pmcd_pmip_not_started(struct pmip_pg *pg)
{
    char text[HYD_TMP_STRLEN];
    struct HYD_pmcd_hdr hdr;
    int len;

    PMIP_bcast_signal(SIGKILL);
    for (int i = 0; i < pg->num_procs; i++)
        if (pg->downstreams[i].pid != -1)
            waitpid(pg->downstreams[i].pid, NULL, 0);

    HYD_pmcd_init_header(&hdr);
    hdr.cmd = CMD_LAUNCH_FAILED;
    len = snprintf(text, sizeof(text), "mpiexec: cannot start rank %d on host %s: %s\n",
                   pg->downstreams[HYDU_launch_error.idx].pmi_rank, pg->hostname, HYDU_launch_error.why);
    PMIP_send_hdr_upstream(pg, &hdr, text, MPL_MIN(len, (int) sizeof(text) - 1) + 1);
}
