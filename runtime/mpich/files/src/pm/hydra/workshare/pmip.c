/* SPDX-License-Identifier: MIT
 *
 * How this version of hydra keeps a proxy's processes, for proxy.c. Included by pmip_pg.c.
 */
typedef struct pmip_downstream process;

#define PID(p) (p)->pid
#define EXIT_STATUS(p) (p)->exit_status
#define PMI_FD(p) (p)->pmi_fd
#define IS_ACTIVE(p) (p)->pmi_fd_active
#define ERR(p) (p)->err
#define RANK(p) (p)->pmi_rank
#define STATE(p) (p)->state
#define GROUP(p) PMIP_pg_from_downstream(p)
#define HOST(p) GROUP(p)->hostname
#define TOLD(pg) (pg)->told

#include "proxy.c"

static process *next_process(const process * p)
{
    int i = p ? p->pg_idx : 0, j = p ? p->idx + 1 : 0;

    for (; i < (int) utarray_len(PMIP_pgs); i++, j = 0) {
        struct pmip_pg *pg = (void *) utarray_eltptr(PMIP_pgs, i);

        if (j < pg->num_procs)
            return &pg->downstreams[j];
    }
    return NULL;
}

static void signal_all(int sig)
{
    PMIP_bcast_signal(sig);
}

static void send_up(process * p, enum HYD_pmcd_cmd cmd, int number, char *text, int len)
{
    struct HYD_pmcd_hdr hdr;

    HYD_pmcd_init_header(&hdr);
    hdr.cmd = cmd;
    hdr.u.data = number;
    PMIP_send_hdr_upstream(GROUP(p), &hdr, text, len);
}
