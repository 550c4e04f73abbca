/* SPDX-License-Identifier: MIT
 *
 * See workshare/launch.h and ending.h; what a proxy does of it. Included by pmip_utils.c.
 */
#include "../pm/pmiserv/common.h"
#include "remove_files.c"

static void signal_process(int pid, int pgid, int sig)
{
    if (pgid == getpgrp())      /* it has no group of its own yet */
        kill(pid, sig);
    else
        killpg(pgid, sig);
}

/* What is known of a process beside pmip.h's. */
static struct process {
    enum { stayed, left, closed_pmi, never_came } how;
    int is_finalized, wrote_error;
} *processes;
static int first_left = -1;     /* the process that ended the job by leaving it */
static int is_aborted;          /* by MPI_Abort, which says so itself */
static int some_wait;           /* in a barrier of PMI for others of this proxy */

static struct process *process(int i)
{
    if (!processes)
        processes = MPL_calloc(HYD_pmcd_pmip.local.proxy_process_count, sizeof(*processes), MPL_MEM_OTHER);
    return processes + i;
}

static void send_left(const char *text, int len)
{
    struct HYD_pmcd_hdr hdr;
    int sent, closed;

    HYD_pmcd_init_header(&hdr);
    hdr.cmd = RANK_LEFT;
    hdr.buflen = len;
    if (HYDU_sock_write(HYD_pmcd_pmip.upstream.control, &hdr, sizeof(hdr), &sent, &closed,
                        HYDU_SOCK_COMM_MSGWAIT) == HYD_SUCCESS && len)
        HYDU_sock_write(HYD_pmcd_pmip.upstream.control, text, len, &sent, &closed, HYDU_SOCK_COMM_MSGWAIT);
}

/* The other ranks, here and elsewhere, would wait for process `i` for ever. */
static void end_because_of(int i)
{
    if (first_left >= 0 || HYD_pmcd_pmip.downstream.forced_cleanup)
        return;
    first_left = i;
    send_left(NULL, 0);
    HYD_pmcd_pmip_send_signal(SIGKILL);
}

void HYD_pmcd_pmip_left(int i)
{
    siginfo_t info = {.si_pid = 0 };

    if (process(i)->how != stayed || HYD_pmcd_pmip.downstream.forced_cleanup)
        return;
    /* A process that ends closes its connection first; its status follows at once */
    for (int tries = 0; tries < 200 && HYD_pmcd_pmip.downstream.pid[i] != -1; tries++) {
        if (waitid(P_PID, HYD_pmcd_pmip.downstream.pid[i], &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
            break;
        usleep(1000);
    }
    process(i)->how = info.si_pid ? left : closed_pmi;
    if (HYD_pmcd_pmip.user_global.auto_cleanup)
        end_because_of(i);
}

/* A barrier of PMI that a process waits in, and another one has ended without having come, never ends. */
static void check_barrier(void)
{
    for (int i = 0; some_wait && i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        if (HYD_pmcd_pmip.downstream.pid[i] == -1 && !process(i)->is_finalized)
            end_because_of(i);
}

void HYD_pmcd_pmip_barrier(int waits)
{
    some_wait = waits;
    check_barrier();
}

void HYD_pmcd_pmip_finalized(int fd)
{
    for (int i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        if (HYD_pmcd_pmip.downstream.pmi_fd[i] == fd) {
            process(i)->is_finalized = 1;
            HYD_pmcd_pmip.downstream.pmi_fd_active[i] = 0;
            HYD_pmcd_pmip.downstream.pmi_fd[i] = HYD_FD_CLOSED; /* its number may be another connection's */
        }
}

void HYD_pmcd_pmip_asks(const char *cmd)
{
    is_aborted |= !strcmp(cmd, "abort");
}

void HYD_pmcd_pmip_wrote(int fd)
{
    for (int i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        if (HYD_pmcd_pmip.downstream.err[i] == fd)
            process(i)->wrote_error = 1;
}

int HYD_pmcd_pmip_ended(int pid, int ret_status, int ends_others)
{
    struct process *p;
    int i;

    for (i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        if (HYD_pmcd_pmip.downstream.pid[i] == pid) {
            p = process(i);
            if (!HYD_pmcd_pmip.downstream.forced_cleanup && p->how == stayed && !p->is_finalized)
                p->how = HYD_pmcd_pmip.downstream.pmi_fd_active[i] ? left : never_came;
            /* Those that we killed count as ended well */
            HYD_pmcd_pmip.downstream.exit_status[i] =
                HYD_pmcd_pmip.downstream.forced_cleanup && p->how == stayed ? 0 : ret_status;
            if (p->how == closed_pmi && HYD_pmcd_pmip.downstream.forced_cleanup)
                HYD_pmcd_pmip.downstream.exit_status[i] = 1 << 8;
            /* Its number may be another process's from here on */
            HYD_pmcd_pmip.downstream.pid[i] = -1;
            if (p->how == left && HYD_pmcd_pmip.user_global.auto_cleanup)
                end_because_of(i);
            if (ends_others && WIFSIGNALED(ret_status))
                HYD_pmcd_pmip_send_signal(SIGKILL);
            check_barrier();
            return 1;
        }
    return 0;
}

void HYD_pmcd_pmip_settle(void)
{
    char text[HYD_TMP_STRLEN], what[100];
    int i = first_left, code, is_bad = HYD_pmcd_pmip.downstream.forced_cleanup;

    if (i >= 0 && !is_aborted && WIFEXITED(HYD_pmcd_pmip.downstream.exit_status[i])) {
        code = WEXITSTATUS(HYD_pmcd_pmip.downstream.exit_status[i]);
        snprintf(what, sizeof(what), "exited with status %d before %s", code,
                 process(i)->how == never_came ? "MPI_Init, where others wait" : "MPI_Finalize");
        if (process(i)->how == closed_pmi)
            strcpy(what, "closed its connection to mpiexec before MPI_Finalize");
        if (code == 0)
            HYD_pmcd_pmip.downstream.exit_status[i] = 1 << 8;
        if (code == 0 || process(i)->how == closed_pmi || !process(i)->wrote_error)
            send_left(text, MPL_snprintf(text, sizeof(text), "mpiexec: rank %d on host %s %s\n",
                                         HYD_pmcd_pmip.downstream.pmi_rank[i], HYD_pmcd_pmip.local.hostname,
                                         what) + 1);
    }
    for (i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        is_bad |= HYD_pmcd_pmip.downstream.exit_status[i] != 0;
    if (is_bad)
        remove_files();
}

void HYD_pmcd_pmip_not_started(struct pmip_pg *pg)
{
    char text[HYD_TMP_STRLEN];
    struct HYD_pmcd_hdr hdr;
    int i, sent, closed;

    HYD_pmcd_pmip_send_signal(SIGKILL);
    for (i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        if (HYD_pmcd_pmip.downstream.pid[i] != -1)
            waitpid(HYD_pmcd_pmip.downstream.pid[i], NULL, 0);

    HYD_pmcd_init_header(&hdr);
    hdr.cmd = LAUNCH_FAILED;
    hdr.buflen = MPL_snprintf(text, sizeof(text), "mpiexec: cannot start rank %d on host %s: %s\n",
                              HYD_pmcd_pmip.downstream.pmi_rank[HYDU_launch_error.idx],
                              HYD_pmcd_pmip.local.hostname, HYDU_launch_error.why) + 1;
    if (HYDU_sock_write(HYD_pmcd_pmip.upstream.control, &hdr, sizeof(hdr), &sent, &closed,
                        HYDU_SOCK_COMM_MSGWAIT) == HYD_SUCCESS)
        HYDU_sock_write(HYD_pmcd_pmip.upstream.control, text, hdr.buflen, &sent, &closed,
                        HYDU_SOCK_COMM_MSGWAIT);
}
