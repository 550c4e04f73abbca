/* SPDX-License-Identifier: MIT
 *
 * What a proxy sees of its processes when a job ends. For hydra.h.
 */
#ifndef HYDRA_WORKSHARE_PROXY_H_INCLUDED
#define HYDRA_WORKSHARE_PROXY_H_INCLUDED

struct pmip_downstream;

/* A process has closed its PMI connection before MPI_Finalize. */
void HYD_pmcd_pmip_left(struct pmip_downstream *p);

/* A process is in MPI_Finalize. */
void HYD_pmcd_pmip_finalized(struct pmip_downstream *p);

/* A process has entered a barrier of PMI: others that have ended will never come. */
void HYD_pmcd_pmip_check_barriers(void);

/* A process asks mpiexec for something. */
void HYD_pmcd_pmip_asks(const char *cmd);

/* All processes of the proxy have ended. */
void HYD_pmcd_pmip_settle(void);

#endif /* HYDRA_WORKSHARE_PROXY_H_INCLUDED */
