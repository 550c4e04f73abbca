/* SPDX-License-Identifier: MIT
 *
 * See workshare/launch.h; what a proxy does of it. Included by pmip_utils.c.
 */
#include "../pm/pmiserv/common.h"

static void signal_process(int pid, int pgid, int sig)
{
    if (pgid == getpgrp())      /* it has no group of its own yet */
        kill(pid, sig);
    else
        killpg(pgid, sig);
}

int HYD_pmcd_pmip_ended(int pid, int ret_status, int ends_others)
{
    int i;

    for (i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++)
        if (HYD_pmcd_pmip.downstream.pid[i] == pid) {
            HYD_pmcd_pmip.downstream.exit_status[i] = HYD_pmcd_pmip.downstream.forced_cleanup &&
                HYD_pmcd_pmip.downstream.exit_status[i] == -1 ? 0 : ret_status;
            /* Its number may be another process's from here on */
            HYD_pmcd_pmip.downstream.pid[i] = -1;
            if (ends_others && WIFSIGNALED(ret_status))
                HYD_pmcd_pmip_send_signal(SIGKILL);
            return 1;
        }
    return 0;
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
