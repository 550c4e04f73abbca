/* SPDX-License-Identifier: MIT
 *
 * Processes that cannot be started, in hydra: the place that fails records the reason, and the place that knows rank
 * and host prints it, in one line. For hydra.h.
 */
#ifndef HYDRA_WORKSHARE_LAUNCH_H_INCLUDED
#define HYDRA_WORKSHARE_LAUNCH_H_INCLUDED

extern struct HYD_launch_error {
    int idx;                    /* of the process that could not be started */
    char why[1000];
} HYDU_launch_error;

void HYDU_set_launch_error(int idx, const char *call, const char *name);

/* A call failed, with errno: leaves by fn_exit with HYD_NOT_STARTED, for which HYDU_ERR_POP prints nothing. */
#define HYDU_ERR_NOT_STARTED(status, idx, call, name) \
    {                                                 \
        HYDU_set_launch_error(idx, call, name);       \
        status = HYD_NOT_STARTED;                     \
        goto fn_exit;                                 \
    }

/* Waits until the processes created since the last call run their programs; fails if one of them cannot, or if `status`
 * is a failure. With `name`, the program of a single process, it prints the message itself. */
HYD_status HYDU_wait_for_exec(HYD_status status, const char *name);

/* Prints that mpiexec could not start a proxy. */
void HYDU_proxy_not_started(const struct HYD_proxy *proxy);

/* mpiexec's handler of SIGPIPE: it dies of the signal only if a reader of its own output has gone. */
void HYDU_sigpipe(int signum);

/* A process of this proxy could not be started: ends the proxy's other processes, and lets the launcher end those of
 * other proxies. `pg` is the group of the process; NULL if a proxy has one group only (MPICH 4.0). */
struct pmip_pg;
void HYD_pmcd_pmip_not_started(struct pmip_pg *pg);

/* The kernel has given up process `pid`; returns how many of the proxy's that was. Once we have killed processes, only
 * those that caused it count: their connection was closed, and `exit_status` has been 1 until here. With `ends_others`
 * a signal ends all. */
int HYD_pmcd_pmip_ended(int pid, int ret_status, int ends_others);

/* Prints a proxy's message, of `len` bytes, that it could not start a process, and ends the job. */
HYD_status HYD_pmcd_pmiserv_launch_failed(int fd, int len);

#endif /* HYDRA_WORKSHARE_LAUNCH_H_INCLUDED */
