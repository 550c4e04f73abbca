/* SPDX-License-Identifier: MIT
 *
 * Admits only connections that know the job's secret, and ends a job with an honest status, one message and nothing left. For hydra.h.
 */
#ifndef HYDRA_WORKSHARE_ENDING_H_INCLUDED
#define HYDRA_WORKSHARE_ENDING_H_INCLUDED

/* The secret: 128 random bits, as text. mpiexec puts it into the environment of the launchers that it starts, and also
 * writes it to the standard input of ssh and rsh. With -launcher manual the secret is in the command that mpiexec prints,
 * unless mpiexec took it from its own environment. A proxy sends the secret before its greeting. A proxy that mpiexec
 * forks has a socket pair instead. */

#define HYDU_SECRET_LEN 32

/* mpiexec: draws the secret, or takes it from the environment, and puts it into the environment of all processes that
 * it starts from here on. */
HYD_status HYDU_secret_draw(void);

/* mpiexec: writes the secret to the standard input, `fd`, of a launcher. */
void HYDU_secret_to_launcher(int fd);

/* mpiexec with -launcher manual: prints the start of the command that the user has to run. */
void HYDU_secret_tell(void);

/* A proxy that is not forked by mpiexec: takes the secret from its environment or its standard input, and sends it to
 * mpiexec by the new connection `fd`. */
HYD_status HYDU_secret_send(int fd);

/* mpiexec: accepts a connection at its listening socket `fd`. A connection that sends the secret is passed to `proxy_cb`
 * with `userp`; any other is closed. Never blocks. */
HYD_status HYDU_secret_accept(int fd, void *userp,
                              HYD_status(*proxy_cb) (int fd, HYD_event_t events, void *userp));

/* True if -localhost was given: the name or address by which proxies reach mpiexec. */
extern int HYDU_localhost_is_given;

/* Where mpiexec listens for its proxies: an address, INADDR_ANY for all; and the name that they connect to. */
struct HYDU_way {
    struct in_addr address;
    char name[MAX_HOSTNAME_LEN];
};

/* Finds the way to `hosts`, ended by NULL: the address of -iface; else that of -localhost, if that is one of this
 * host's; else the one from which this host reaches them all. If this host reaches them from several addresses, or a
 * name does not resolve, the way is all addresses. */
HYD_status HYDU_find_way(const char *const *hosts, char *iface, char *localhost, struct HYDU_way *way);

/* Listens at `way`; sets `*port_str` to the name and the port. */
HYD_status HYDU_listen_at(const struct HYDU_way *way, char *port_range, char **port_str, int *listen_fd,
                          HYD_status(*callback) (int fd, HYD_event_t events, void *userp), void *userp);

/* True if the other end of `fd`, a connection over the loopback interface, belongs to this user. */
int HYDU_peer_is_this_user(int fd);

/* SIGINT, SIGTERM or SIGQUIT, if mpiexec was sent one; else 0. */
extern int HYDU_ended_by;

/* mpiexec was sent a signal that it passes on to the ranks: prints one line if the signal ends the job. */
void HYDU_received(int signum);

/* Returns mpiexec's exit status, from waitpid's statuses of all ranks, or-ed, and its own state. -1: the ranks' status. */
int HYDU_exit_code(int failed, int exit_status);

/* Some rank has ended the job: by MPI_Abort (its code), or because it left; `code` 0 or more is mpiexec's exit status.
 * The ranks are being killed; mpiexec waits a few seconds at most for their output. */
void HYDU_job_ends(int code);

/* Returns the seconds of a monotonic clock. */
time_t HYDU_seconds(void);

/* Returns how many seconds to wait for the next event: `time_left`, or less while a job ends; exits if that takes too long. */
int HYDU_time_left(int time_left);

/* Returns whether the job is being ended: processes that are started now are killed at once. */
int HYDU_job_is_ending(void);

/* Keeps the proxy's connection to mpiexec private: its processes inherit neither the socket nor its address. */
HYD_status HYDU_proxy_is_connected(int fd);

#include "proxy.h"

#endif /* HYDRA_WORKSHARE_ENDING_H_INCLUDED */
