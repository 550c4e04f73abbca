/* SPDX-License-Identifier: MIT
 *
 * What a proxy sees of its processes when a job ends. For hydra.h.
 */
#ifndef HYDRA_WORKSHARE_PROXY_H_INCLUDED
#define HYDRA_WORKSHARE_PROXY_H_INCLUDED

/* A proxy's process `i` has closed its PMI connection before MPI_Finalize. */
void HYD_pmcd_pmip_left(int i);

/* The process at the other end of `fd` is in MPI_Finalize. */
void HYD_pmcd_pmip_finalized(int fd);

/* A process has entered a barrier of PMI: `waits`, for others of this proxy. */
void HYD_pmcd_pmip_barrier(int waits);

/* A process asks mpiexec for something. */
void HYD_pmcd_pmip_asks(const char *cmd);

/* `fd` is where a process has written something. */
void HYD_pmcd_pmip_wrote(int fd);

/* All processes of the proxy have ended. */
void HYD_pmcd_pmip_settle(void);

#endif /* HYDRA_WORKSHARE_PROXY_H_INCLUDED */
