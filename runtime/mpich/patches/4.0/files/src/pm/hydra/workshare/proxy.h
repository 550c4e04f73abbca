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

/* The process at the other end of `fd` has entered a barrier of PMI. */
void HYD_pmcd_pmip_barrier(int fd);

/* All processes are in that barrier, and leave it. */
void HYD_pmcd_pmip_barrier_over(void);

/* False if process `i` has ended, or closed its PMI connection: to write there would be a SIGPIPE. */
int HYD_pmcd_pmip_listens(int i);

/* True if `key` is what libmpich says of the process at the other end of `fd` to its proxy alone: `value` is the call
 * that it is in, "MPI_Init" or "MPI_Finalize", or another text. libmpich says so if MPIR_WORKSHARE_TELL is set. */
int HYD_pmcd_pmip_told(int fd, const char *key, const char *value);

/* What a proxy's living processes do, told with -disable-auto-cleanup: some run, all wait for others, none is left. */
enum { HYDU_WAITS_NOT, HYDU_WAITS, HYDU_WAITS_NONE_LEFT };

/* A process asks mpiexec for something. */
void HYD_pmcd_pmip_asks(const char *cmd);

/* `fd` is where a process has written something. */
void HYD_pmcd_pmip_wrote(int fd);

/* All processes of the proxy have ended. */
void HYD_pmcd_pmip_settle(void);

#endif /* HYDRA_WORKSHARE_PROXY_H_INCLUDED */
