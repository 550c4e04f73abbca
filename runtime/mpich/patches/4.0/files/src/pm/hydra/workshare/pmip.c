/* SPDX-License-Identifier: MIT
 *
 * How this version of hydra keeps a proxy's processes, for proxy.c. Included by pmip_utils.c.
 */
#include "../pm/pmiserv/common.h"

typedef struct HYDU_process process;    /* in the order of hydra's lists */

static process *processes;
static struct HYDU_group the_group;

#define PID(p) HYD_pmcd_pmip.downstream.pid[(p) - processes]
#define EXIT_STATUS(p) HYD_pmcd_pmip.downstream.exit_status[(p) - processes]
#define PMI_FD(p) HYD_pmcd_pmip.downstream.pmi_fd[(p) - processes]
#define IS_ACTIVE(p) HYD_pmcd_pmip.downstream.pmi_fd_active[(p) - processes]
#define ERR(p) HYD_pmcd_pmip.downstream.err[(p) - processes]
#define RANK(p) HYD_pmcd_pmip.downstream.pmi_rank[(p) - processes]
#define STATE(p) (*(p))
#define GROUP(p) ((struct pmip_pg *) NULL)
#define HOST(p) HYD_pmcd_pmip.local.hostname
#define TOLD(pg) the_group

#include "proxy.c"

static process *next_process(const process * p)
{
    if (!processes)
        processes = MPL_calloc(HYD_pmcd_pmip.local.proxy_process_count, sizeof(*processes), MPL_MEM_OTHER);
    p = p ? p + 1 : processes;
    return p - processes < HYD_pmcd_pmip.local.proxy_process_count ? (process *) p : NULL;
}

static void signal_all(int sig)
{
    HYD_pmcd_pmip_send_signal(sig);
}

static void send_up(process * p, enum HYD_pmcd_cmd cmd, int number, char *text, int len)
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
