/* SPDX-License-Identifier: MIT
 *
 * What a proxy sees of its processes when a job ends. For hydra.h.
 */
#ifndef HYDRA_WORKSHARE_PROXY_H_INCLUDED
#define HYDRA_WORKSHARE_PROXY_H_INCLUDED

/* What a proxy knows of a process besides hydra's own. */
struct HYDU_process {
    enum { HYDU_STAYED, HYDU_LEFT, HYDU_CLOSED_PMI, HYDU_NEVER_CAME } how;
    int is_finalized, wrote_error;
    int is_in_init, is_in_finalize;     /* as it says itself */
    int is_in_barrier;          /* of PMI: in MPI_Init or MPI_Finalize */
};

/* What a proxy's living processes do, which it reports with -disable-auto-cleanup: some run, all wait for others, none is left. */
enum { HYDU_WAITS_NOT, HYDU_WAITS, HYDU_WAITS_NONE_LEFT };

/* What a proxy has reported to mpiexec about its processes of one group. A proxy of MPICH 4.0 has one group, which is NULL below. */
struct HYDU_group {
    int waits;                  /* a HYDU_WAITS_ */
    int told_who_is_gone;
};
struct pmip_pg;

/* The process whose PMI connection was `fd` has closed it. Returns whether it did so before the end of MPI_Finalize. */
int HYD_pmcd_pmip_left(int fd);

/* The process at the other end of `fd` is in MPI_Finalize. */
void HYD_pmcd_pmip_finalized(int fd);

/* The process at the other end of `fd` has entered a barrier of PMI. */
void HYD_pmcd_pmip_barrier(int fd);

/* All processes of the group are in that barrier, and leave it. */
void HYD_pmcd_pmip_barrier_over(struct pmip_pg *pg);

/* Returns whether `key` is the key by which libmpich tells its proxy which call the process at the other end of `fd` is
 * in. `value` has no blank: "MPI_Init", "MPI_Finalize", "no-MPI" after MPI_Finalize, or another text. libmpich sends
 * "no-MPI" where its connection lasts longer, from MPICH 4.2 on; and all if MPIR_WORKSHARE_TELL is set. */
int HYD_pmcd_pmip_told(int fd, const char *key, const char *value);

/* A process asks mpiexec for something. */
void HYD_pmcd_pmip_asks(const char *cmd);

/* A process has written something to `fd`. */
void HYD_pmcd_pmip_wrote(int fd);

/* The proxy was sent SIGPIPE. Returns true if its connection to mpiexec has broken, false if a process ended while the
 * proxy wrote to it. */
int HYD_pmcd_pmip_is_cut_off(void);

/* All processes of the proxy have ended. */
void HYD_pmcd_pmip_settle(void);

#endif /* HYDRA_WORKSHARE_PROXY_H_INCLUDED */
