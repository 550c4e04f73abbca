/* SPDX-License-Identifier: MIT
 *
 * See workshare/launch.h and ending.h; what a proxy does of it. Included by pmip_utils.c.
 */
#include "../pm/pmiserv/common.h"
#include "remove_files.c"
#include <poll.h>

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
    int is_in_init, is_in_finalize;     /* as it says itself */
    int is_in_barrier;          /* of PMI: in MPI_Init or MPI_Finalize */
} *processes;
static int first_left = -1;     /* the process that ended the job by leaving it */
static int is_aborted;          /* by MPI_Abort, which says so itself */

static struct process *process(int i)
{
    if (!processes)
        processes = MPL_calloc(HYD_pmcd_pmip.local.proxy_process_count, sizeof(*processes), MPL_MEM_OTHER);
    return processes + i;
}

static void send_up(enum HYD_pmcd_cmd cmd, int number, const char *text, int len)
{
    struct HYD_pmcd_hdr hdr;
    int sent, closed;

    HYD_pmcd_init_header(&hdr);
    hdr.cmd = cmd;
    hdr.pid = number;
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
    send_up(RANK_LEFT, 0, NULL, 0);
    HYD_pmcd_pmip_send_signal(SIGKILL);
}

/* Nobody leaves MPI_Init without process `i`. */
static int ends_all(int i)
{
    return HYD_pmcd_pmip.user_global.auto_cleanup || process(i)->is_in_init;
}

void HYD_pmcd_pmip_left(int i)
{
    siginfo_t info = {.si_pid = 0 };

    HYD_pmcd_pmip.downstream.pmi_fd[i] = HYD_FD_CLOSED; /* its number may be another connection's */
    if (process(i)->how != stayed || HYD_pmcd_pmip.downstream.forced_cleanup)
        return;
    /* A process that ends closes its connection first; its status follows at once */
    for (int tries = 0; tries < 200 && HYD_pmcd_pmip.downstream.pid[i] != -1; tries++) {
        if (waitid(P_PID, HYD_pmcd_pmip.downstream.pid[i], &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
            break;
        usleep(1000);
    }
    process(i)->how = info.si_pid ? left : closed_pmi;
    if (ends_all(i))
        end_because_of(i);
}

/* The line on process `i`, which others wait for. */
static int describe(int i, char *text, int len)
{
    int status = HYD_pmcd_pmip.downstream.exit_status[i];
    char how[100] = "closed its connection to mpiexec";

    if (process(i)->how != closed_pmi && WIFSIGNALED(status))
        snprintf(how, sizeof(how), "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (process(i)->how != closed_pmi)
        snprintf(how, sizeof(how), "exited with status %d", WEXITSTATUS(status));
    return MPL_snprintf(text, len, "mpiexec: rank %d on host %s %s %s\n", HYD_pmcd_pmip.downstream.pmi_rank[i],
                        HYD_pmcd_pmip.local.hostname, how, process(i)->how == never_came ?
                        "before MPI_Init, where others wait" : process(i)->is_in_init ?
                        "in MPI_Init, where others wait" : process(i)->is_in_finalize ?
                        "in MPI_Finalize, where others wait" : "before MPI_Finalize, where others wait") + 1;
}

/* A process that is in a barrier of PMI, or in MPI_Finalize, never leaves it if another one has ended before. mpiexec
 * knows of other proxies' processes: with -disable-auto-cleanup those that do not wait go on, and the job ends after
 * them. */
static void check_barrier(void)
{
    static int waits = HYDU_WAITS_NOT, is_told;
    char text[HYD_TMP_STRLEN];
    int some_wait = 0, some_run = 0, gone = -1, now, len;

    for (int i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++) {
        if (HYD_pmcd_pmip.downstream.pid[i] == -1 && !process(i)->is_finalized && !process(i)->is_in_barrier)
            gone = gone < 0 ? i : gone;
        else if (HYD_pmcd_pmip.downstream.pid[i] != -1 && !process(i)->is_finalized &&
                 (process(i)->is_in_barrier || process(i)->is_in_finalize))
            some_wait = 1;
        else if (HYD_pmcd_pmip.downstream.pid[i] != -1)
            some_run = 1;
    }
    if (some_wait && gone >= 0 && HYD_pmcd_pmip.user_global.auto_cleanup)
        end_because_of(gone);
    now = some_run ? HYDU_WAITS_NOT : some_wait ? HYDU_WAITS : HYDU_WAITS_NONE_LEFT;
    if (now != waits && !HYD_pmcd_pmip.user_global.auto_cleanup)
        send_up(RANKS_WAIT, waits = now, NULL, 0);
    if (gone >= 0 && !is_told && !HYD_pmcd_pmip.downstream.forced_cleanup) {
        is_told = 1;
        len = describe(gone, text, sizeof(text));
        send_up(RANK_GONE, HYD_pmcd_pmip.downstream.exit_status[gone] == 0, text, len);
    }
}

void HYD_pmcd_pmip_barrier(int fd)
{
    for (int i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        if (HYD_pmcd_pmip.downstream.pmi_fd[i] == fd)
            process(i)->is_in_barrier = 1;
    check_barrier();
}

void HYD_pmcd_pmip_barrier_over(void)
{
    for (int i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        process(i)->is_in_barrier = 0;
    check_barrier();
}

int HYD_pmcd_pmip_listens(int i)
{
    struct pollfd end = {.fd = HYD_pmcd_pmip.downstream.pmi_fd[i] };

    return end.fd != HYD_FD_CLOSED && poll(&end, 1, 0) == 0;
}

int HYD_pmcd_pmip_told(int fd, const char *key, const char *value)
{
    if (strcmp(key, "workshare-is-in"))
        return 0;
    for (int i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        if (HYD_pmcd_pmip.downstream.pmi_fd[i] == fd) {
            process(i)->is_in_init = !strcmp(value, "MPI_Init");
            process(i)->is_in_finalize = !strcmp(value, "MPI_Finalize");
        }
    check_barrier();
    return 1;
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
            if (p->how == left && ends_all(i))
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

    if (i >= 0 && !is_aborted && !HYD_pmcd_pmip.user_global.auto_cleanup &&
        WIFSIGNALED(HYD_pmcd_pmip.downstream.exit_status[i])) {
        code = describe(i, text, sizeof(text));
        send_up(RANK_LEFT, 0, text, code);
    }
    if (i >= 0 && !is_aborted && WIFEXITED(HYD_pmcd_pmip.downstream.exit_status[i])) {
        code = WEXITSTATUS(HYD_pmcd_pmip.downstream.exit_status[i]);
        snprintf(what, sizeof(what), "exited with status %d before %s", code,
                 process(i)->how == never_came ? "MPI_Init, where others wait" : "MPI_Finalize");
        if (process(i)->how == closed_pmi)
            strcpy(what, "closed its connection to mpiexec before MPI_Finalize");
        if (code == 0)
            HYD_pmcd_pmip.downstream.exit_status[i] = 1 << 8;
        if (code == 0 || process(i)->how == closed_pmi || !process(i)->wrote_error)
            send_up(RANK_LEFT, 0, text, MPL_snprintf(text, sizeof(text), "mpiexec: rank %d on host %s %s\n",
                                                     HYD_pmcd_pmip.downstream.pmi_rank[i],
                                                     HYD_pmcd_pmip.local.hostname, what) + 1);
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
