/* SPDX-License-Identifier: MIT
 *
 * See launch.h and proxy.h; what a proxy does of it. Included by pmip_pg.c.
 */
#include "remove_files.c"

/* How a process ended, in its `how`. */
enum { stayed, left, closed_pmi, never_came };

static int kills;               /* we have begun to kill processes */
static struct pmip_downstream *first_left;      /* the process that ended the job by leaving it */
static int is_aborted;          /* by MPI_Abort, which says so itself */
static int is_bad;              /* some process was killed or failed */

static void signal_process(int pid, int pgid, int sig)
{
    kills |= sig == SIGKILL;
    if (pgid == getpgrp())      /* it has no group of its own yet */
        kill(pid, sig);
    else
        killpg(pgid, sig);
}

static void send_left(struct pmip_downstream *p, char *text, int len)
{
    struct HYD_pmcd_hdr hdr;

    HYD_pmcd_init_header(&hdr);
    hdr.cmd = CMD_RANK_LEFT;
    PMIP_send_hdr_upstream(PMIP_pg_from_downstream(p), &hdr, text, len);
}

/* The other ranks, here and elsewhere, would wait for process `p` for ever. */
static void end_because_of(struct pmip_downstream *p)
{
    if (first_left || kills)
        return;
    first_left = p;
    send_left(p, NULL, 0);
    PMIP_bcast_signal(SIGKILL);
}

void HYD_pmcd_pmip_left(struct pmip_downstream *p)
{
    siginfo_t info = {.si_pid = 0 };

    p->pmi_fd = HYD_FD_CLOSED;  /* its number may be another connection's */
    if (p->how != stayed || kills)
        return;
    /* A process that ends closes its connection first; its status follows at once */
    for (int tries = 0; tries < 200 && p->pid != -1; tries++) {
        if (waitid(P_PID, p->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
            break;
        usleep(1000);
    }
    p->how = info.si_pid ? left : closed_pmi;
    if (HYD_pmcd_pmip.user_global.auto_cleanup)
        end_because_of(p);
}

/* A barrier of PMI that a process waits in, and another one has ended without having come, never ends. */
static HYD_status check_barrier(struct pmip_pg *pg)
{
    for (int i = 0; pg->barrier_count && i < pg->num_procs; i++)
        if (pg->downstreams[i].pid == -1 && !pg->downstreams[i].is_finalized)
            end_because_of(&pg->downstreams[i]);
    return HYD_SUCCESS;
}

void HYD_pmcd_pmip_check_barriers(void)
{
    PMIP_foreach_pg_do(check_barrier);
}

void HYD_pmcd_pmip_finalized(struct pmip_downstream *p)
{
    p->is_finalized = 1;
    if (HYD_pmcd_pmip.user_global.auto_cleanup) {
        p->pmi_fd_active = 0;
        p->pmi_fd = HYD_FD_CLOSED;      /* its number may be another connection's */
    }
}

void HYD_pmcd_pmip_asks(const char *cmd)
{
    is_aborted |= !strcmp(cmd, "abort");
}

int HYD_pmcd_pmip_ended(int pid, int ret_status, int ends_others)
{
    struct pmip_downstream *p = PMIP_find_downstream_by_pid(pid);

    if (!p)
        return 0;
    if (!kills && p->how == stayed && !p->is_finalized)
        p->how = p->pmi_fd_active ? left : never_came;
    /* Those that we killed count as ended well */
    p->exit_status = kills && p->how == stayed ? 0 : ret_status;
    if (p->how == closed_pmi && kills)
        p->exit_status = 1 << 8;
    /* Its number may be another process's from here on */
    p->pid = -1;
    if (p->how == left && HYD_pmcd_pmip.user_global.auto_cleanup)
        end_because_of(p);
    if (ends_others && WIFSIGNALED(ret_status))
        PMIP_bcast_signal(SIGKILL);
    HYD_pmcd_pmip_check_barriers();
    return 1;
}

static HYD_status check_statuses(struct pmip_pg *pg)
{
    for (int i = 0; i < pg->num_procs; i++)
        is_bad |= pg->downstreams[i].exit_status != 0;
    return HYD_SUCCESS;
}

void HYD_pmcd_pmip_settle(void)
{
    char text[HYD_TMP_STRLEN], what[100];
    struct pmip_downstream *p = first_left;
    int code;

    if (p && !is_aborted && WIFEXITED(p->exit_status)) {
        code = WEXITSTATUS(p->exit_status);
        snprintf(what, sizeof(what), "exited with status %d before %s", code,
                 p->how == never_came ? "MPI_Init, where others wait" : "MPI_Finalize");
        if (p->how == closed_pmi)
            strcpy(what, "closed its connection to mpiexec before MPI_Finalize");
        if (code == 0)
            p->exit_status = 1 << 8;
        if (code == 0 || p->how == closed_pmi || !p->wrote_error)
            send_left(p, text, snprintf(text, sizeof(text), "mpiexec: rank %d on host %s %s\n", p->pmi_rank,
                                        PMIP_pg_from_downstream(p)->hostname, what) + 1);
    }
    is_bad = kills;
    PMIP_foreach_pg_do(check_statuses);
    if (is_bad)
        remove_files();
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
