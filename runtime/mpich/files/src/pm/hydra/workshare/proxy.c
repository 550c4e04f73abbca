/* SPDX-License-Identifier: MIT
 *
 * See launch.h and proxy.h; what a proxy does about its processes. Included by pmip.c, which defines for its version of hydra:
 *
 * - process, the type of a process
 * - PID(p), EXIT_STATUS(p), PMI_FD(p), IS_ACTIVE(p), ERR(p) and RANK(p), what hydra knows of it
 * - STATE(p), its struct HYDU_process
 * - GROUP(p), the group that it belongs to, and HOST(p), the proxy's host
 * - TOLD(group), the group's struct HYDU_group
 * - next_process(), which goes through the processes of all groups, and begins and ends with NULL
 * - signal_all(), which sends a signal to all of them, by signal_process()
 * - send_up(), which sends mpiexec a message
 */
#include "remove_files.c"
#include <poll.h>

static process *first_left;     /* the process that ended the job by leaving it */
static int kills;               /* we have begun to kill processes */
static int is_aborted;          /* by MPI_Abort, which says so itself */

static process *next_process(const process * p);
static void signal_all(int sig);
static void send_up(process * p, enum HYD_pmcd_cmd cmd, int number, char *text, int len);

static void signal_process(int pid, int pgid, int sig)
{
    kills |= sig == SIGKILL;
    if (pgid == getpgrp())      /* it has no group of its own yet */
        kill(pid, sig);
    else
        killpg(pgid, sig);
}

static process *find_process(int pmi_fd)
{
    process *p = next_process(NULL);

    while (p && PMI_FD(p) != pmi_fd)
        p = next_process(p);
    return p;
}

/* The other ranks, here and elsewhere, would wait for process `p` for ever. */
static void end_because_of(process * p)
{
    if (first_left || kills)
        return;
    first_left = p;
    send_up(p, CMD_RANK_LEFT, 0, NULL, 0);
    signal_all(SIGKILL);
}

/* Nobody leaves MPI_Init without process `p`. */
static int ends_all(process * p)
{
    return HYD_pmcd_pmip.user_global.auto_cleanup || STATE(p).is_in_init;
}

int HYD_pmcd_pmip_left(int fd)
{
    siginfo_t info = {.si_pid = 0 };
    process *p = find_process(fd);

    if (!p)
        return 1;
    PMI_FD(p) = HYD_FD_CLOSED;  /* its number may be another connection's */
    if (STATE(p).is_finalized)
        return 0;
    if (STATE(p).how != HYDU_STAYED || kills)
        return 1;
    /* A process that ends closes its connection first; its status follows at once */
    for (int tries = 0; tries < 200 && PID(p) != -1; tries++) {
        if (waitid(P_PID, PID(p), &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
            break;
        usleep(1000);
    }
    STATE(p).how = info.si_pid ? HYDU_LEFT : HYDU_CLOSED_PMI;
    if (ends_all(p))
        end_because_of(p);
    return 1;
}

/* Prints the line about process `p`, which others wait for. */
static int describe(process * p, char *text, int len)
{
    int status = EXIT_STATUS(p);
    char how[100] = "closed its connection to mpiexec";

    if (STATE(p).how != HYDU_CLOSED_PMI && WIFSIGNALED(status))
        snprintf(how, sizeof(how), "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (STATE(p).how != HYDU_CLOSED_PMI)
        snprintf(how, sizeof(how), "exited with status %d", WEXITSTATUS(status));
    return snprintf(text, len, "mpiexec: rank %d on host %s %s %s\n", RANK(p), HOST(p), how,
                        STATE(p).how == HYDU_NEVER_CAME ? "before MPI_Init, where others wait" :
                        STATE(p).is_in_init ? "in MPI_Init, where others wait" :
                        STATE(p).is_in_finalize ? "in MPI_Finalize, where others wait" :
                        "before MPI_Finalize, where others wait") + 1;
}

/* A process that is in a barrier of PMI, or in MPI_Finalize, never leaves it if another one of its group has ended before.
 * mpiexec knows of other proxies' processes: with -disable-auto-cleanup the processes that do not wait go on, and the
 * job ends after them. */
static void check_group(struct pmip_pg *pg)
{
    char text[HYD_TMP_STRLEN];
    int some_wait = 0, some_run = 0, waits;
    process *p, *gone = NULL, *one = NULL;

    for (p = next_process(NULL); p; p = next_process(p)) {
        if (GROUP(p) != pg)
            continue;
        one = p;
        if (PID(p) == -1 && !STATE(p).is_finalized && !STATE(p).is_in_barrier)
            gone = gone ? gone : p;
        else if (PID(p) != -1 && !STATE(p).is_finalized && (STATE(p).is_in_barrier || STATE(p).is_in_finalize))
            some_wait = 1;
        else if (PID(p) != -1)
            some_run = 1;
    }
    if (some_wait && gone && HYD_pmcd_pmip.user_global.auto_cleanup)
        end_because_of(gone);
    waits = some_run ? HYDU_WAITS_NOT : some_wait ? HYDU_WAITS : HYDU_WAITS_NONE_LEFT;
    if (waits != TOLD(pg).waits && !HYD_pmcd_pmip.user_global.auto_cleanup)
        send_up(one, CMD_RANKS_WAIT, TOLD(pg).waits = waits, NULL, 0);
    if (gone && !TOLD(pg).told_who_is_gone && !kills) {
        TOLD(pg).told_who_is_gone = 1;
        send_up(gone, CMD_RANK_GONE, EXIT_STATUS(gone) == 0, text, describe(gone, text, sizeof(text)));
    }
}

void HYD_pmcd_pmip_barrier(int fd)
{
    process *p = find_process(fd);

    if (p) {
        STATE(p).is_in_barrier = 1;
        check_group(GROUP(p));
    }
}

void HYD_pmcd_pmip_barrier_over(struct pmip_pg *pg)
{
    process *p;

    for (p = next_process(NULL); p; p = next_process(p))
        if (GROUP(p) == pg)
            STATE(p).is_in_barrier = 0;
    check_group(pg);
}

int HYD_pmcd_pmip_told(int fd, const char *key, const char *value)
{
    process *p = find_process(fd);

    if (!p || strcmp(key, "workshare-is-in"))
        return 0;
    STATE(p).is_in_init = !strcmp(value, "MPI_Init");
    STATE(p).is_in_finalize = !strcmp(value, "MPI_Finalize");
    STATE(p).is_finalized = !strcmp(value, "no-MPI");
    check_group(GROUP(p));
    return 1;
}

void HYD_pmcd_pmip_finalized(int fd)
{
    process *p = find_process(fd);

    if (p) {
        STATE(p).is_finalized = 1;
        IS_ACTIVE(p) = 0;
        PMI_FD(p) = HYD_FD_CLOSED;      /* its number may be another connection's */
    }
}

void HYD_pmcd_pmip_asks(const char *cmd)
{
    is_aborted |= !strcmp(cmd, "abort");
}

void HYD_pmcd_pmip_wrote(int fd)
{
    process *p;

    for (p = next_process(NULL); p; p = next_process(p))
        STATE(p).wrote_error |= ERR(p) == fd;
}

int HYD_pmcd_pmip_is_cut_off(void)
{
    struct pollfd end = {.fd = HYD_pmcd_pmip.upstream.control };

    return poll(&end, 1, 0) > 0;
}

int HYD_pmcd_pmip_ended(int pid, int ret_status, int ends_others)
{
    process *p = next_process(NULL);

    while (p && PID(p) != pid)
        p = next_process(p);
    if (!p)
        return 0;
    if (!kills && STATE(p).how == HYDU_STAYED && !STATE(p).is_finalized)
        STATE(p).how = IS_ACTIVE(p) ? HYDU_LEFT : HYDU_NEVER_CAME;
    /* A process that we killed counts as ended well */
    EXIT_STATUS(p) = kills && STATE(p).how == HYDU_STAYED ? 0 : ret_status;
    if (STATE(p).how == HYDU_CLOSED_PMI && kills)
        EXIT_STATUS(p) = 1 << 8;
    /* Its number may be another process's from here on */
    PID(p) = -1;
    if (STATE(p).how == HYDU_LEFT && ends_all(p))
        end_because_of(p);
    if (ends_others && WIFSIGNALED(ret_status))
        signal_all(SIGKILL);
    check_group(GROUP(p));
    return 1;
}

void HYD_pmcd_pmip_settle(void)
{
    char text[HYD_TMP_STRLEN], what[100];
    process *p = first_left;
    int code, is_bad = kills;

    if (p && !is_aborted && !HYD_pmcd_pmip.user_global.auto_cleanup && WIFSIGNALED(EXIT_STATUS(p))) {
        code = describe(p, text, sizeof(text));
        send_up(p, CMD_RANK_LEFT, 0, text, code);
    }
    if (p && !is_aborted && WIFEXITED(EXIT_STATUS(p))) {
        code = WEXITSTATUS(EXIT_STATUS(p));
        snprintf(what, sizeof(what), "exited with status %d before %s", code,
                 STATE(p).how == HYDU_NEVER_CAME ? "MPI_Init, where others wait" : "MPI_Finalize");
        if (STATE(p).how == HYDU_CLOSED_PMI)
            strcpy(what, "closed its connection to mpiexec before MPI_Finalize");
        if (code == 0)
            EXIT_STATUS(p) = 1 << 8;
        if (code == 0 || STATE(p).how == HYDU_CLOSED_PMI || !STATE(p).wrote_error) {
            code = snprintf(text, sizeof(text), "mpiexec: rank %d on host %s %s\n", RANK(p), HOST(p), what) + 1;
            send_up(p, CMD_RANK_LEFT, 0, text, code);
        }
    }
    for (p = next_process(NULL); p; p = next_process(p))
        is_bad |= EXIT_STATUS(p) != 0;
    if (is_bad) {
        remove_files();
        remove_segments();
    }
}

void HYD_pmcd_pmip_not_started(struct pmip_pg *pg)
{
    char text[HYD_TMP_STRLEN];
    int len, i = 0;
    process *p, *first = NULL;

    signal_all(SIGKILL);
    for (p = next_process(NULL); p; p = next_process(p)) {
        if (GROUP(p) != pg)
            continue;
        if (PID(p) != -1)
            waitpid(PID(p), NULL, 0);
        if (i++ == HYDU_launch_error.idx)
            first = p;
    }
    len = snprintf(text, sizeof(text), "mpiexec: cannot start rank %d on host %s: %s\n", RANK(first), HOST(first),
                       HYDU_launch_error.why);
    send_up(first, CMD_LAUNCH_FAILED, 0, text, MPL_MIN(len, (int) sizeof(text) - 1) + 1);
}
