/* SPDX-License-Identifier: MIT
 *
 * All that MPICH and the Workshare runtime (libws) know of each other.
 *
 * MPICH calls six hooks and holds no policy; libws fills them in when the job was started with
 * `mpirun -workshare`. While the flag is off every hook is NULL and a call site costs one load and one
 * branch, in places that are already waiting (blocked, unblocked), looking in vain (polled) or already
 * sending (ring) or receiving (taken).
 *
 * This header is C, is copied into the MPICH source tree by the build, and is included by libws from here.
 */
#ifndef MPIR_WORKSHARE_H_INCLUDED
#define MPIR_WORKSHARE_H_INCLUDED

/* Raised whenever the struct below changes; MPICH passes it, libws refuses another one. */
#define MPIR_WORKSHARE_VERSION 4

/* A wait counts as blocked after this many polls without progress: a short wait (ping-pong) never leaves MPICH. */
#define MPIR_WORKSHARE_POLLS 8

typedef struct MPIR_Workshare_hooks {
    /* This thread waits in MPI and its last poll made no progress. Called once a poll, from the
     * MPIR_WORKSHARE_POLLS-th on; `polls` counts from there, starting with 0 for each wait.
     * May take as long as a quantum (the core may be lent); holds no MPICH lock; never calls MPI. */
    void (*blocked) (unsigned polls);
    /* The wait that called `blocked` is over. Not called for a wait that never called it. */
    void (*unblocked) (void);
    /* The program looked for something that is not there yet (MPI_Test and its like, MPI_Iprobe, MPI_Improbe), after a poll
     * of MPI's own. Holds no MPICH lock; never calls MPI. NULL unless such programs are to help, too. */
    void (*polled) (void);
    /* Something was just posted for this MPI_COMM_WORLD rank, which may be on another node. Under MPICH's lock: brief. */
    void (*ring) (int world_rank);
    /* This rank took something in, and so may have done what a rank of the node waits for that has `sends_open`, or have sent more of
     * its own ones to their receiver. Called only while *senders_waiting is not 0 (how many of the former wait; NULL while Workshare is
     * off) or its own sends_open is not 0. Under MPICH's lock: brief. */
    void (*taken) (void);
    const volatile unsigned *senders_waiting;
    /* MPI_Finalize was entered; MPI still works. Collective over MPI_COMM_WORLD. */
    void (*finalize) (void);
    /* The rest is set by MPICH. What this process has sent and the receiver has to take part in (synchronous sends, large ones,
     * those that found a full queue; puts and gets that wait in a flush); to which MPI_COMM_WORLD rank, -1 if there may be
     * several. A hint: other threads change it. */
    int sends_open;
    int sends_to;
    /* Raised by each poll of the network that handled anything, wanted or not: one poll does not handle all that is there. Wraps. */
    unsigned events;
    /* The level of thread support that the program asked for; MPI may have given more. */
    int thread_level_asked;
    /* With `several`, any thread may call MPI from here on, whatever level was given, as with MPI_THREAD_MULTIPLE; with 0
     * the level given holds again. Call while no thread of the process is inside MPI. */
    void (*let_threads_in) (int several);
} MPIR_Workshare_hooks;

extern MPIR_Workshare_hooks MPIR_Workshare;

/* Begin of MPI_Init / MPI_Init_thread: the level to initialize with when the program asks for `level`. Higher under
 * WS_ENABLE=1 if the program's shared loops are known to call MPI, as several threads will then, and if it asks for
 * MPI_THREAD_SERIALIZED: one of its threads could be inside MPI at any time, see let_threads_in. Local. */
int MPIR_Workshare_thread_level(int level);
/* End of MPI_Init / MPI_Init_thread, MPI works: loads libws when the launcher asked for it (WS_ENABLE=1) or the program
 * has node-wide locks. One MPI_Allreduce. */
void MPIR_Workshare_init(void);
/* Begin of MPI_Finalize. */
void MPIR_Workshare_finalize(void);

/* What libws exports for MPICH to find by name. `what` is MPIR_WORKSHARE_STEAL, or 0 for the locks alone. Fills *hooks and
 * returns 0; on any other value the hooks stay NULL. Collective over MPI_COMM_WORLD; prints its own message where the
 * user must know. */
#define MPIR_WORKSHARE_ATTACH_NAME "ws_fork_attach"
#define MPIR_WORKSHARE_STEAL 1u
typedef int (*MPIR_Workshare_attach_fn) (int version, unsigned what, MPIR_Workshare_hooks * hooks);

/* An unsigned in libws that is complete before main: what the program linked with it uses (ws_uses in
 * runtime/directive/abi.h). Not found in programs without shared loops. */
#define MPIR_WORKSHARE_FEATURES_NAME "ws_used_features"
#define MPIR_WORKSHARE_USES_LOCKS 1u
#define MPIR_WORKSHARE_USES_MPI_IN_LOOPS 2u

/* One turn of a waiting loop. `polls` is a local of the wait, 0 at its begin. */
static inline void MPIR_Workshare_blocked(unsigned *polls)
{
    if (__builtin_expect(MPIR_Workshare.blocked != 0, 0)) {
        unsigned n = (*polls)++;
        if (n >= MPIR_WORKSHARE_POLLS)
            MPIR_Workshare.blocked(n - MPIR_WORKSHARE_POLLS);
    }
}

/* The end of a waiting loop. */
static inline void MPIR_Workshare_unblocked(unsigned polls)
{
    if (__builtin_expect(polls > MPIR_WORKSHARE_POLLS, 0) && MPIR_Workshare.unblocked)
        MPIR_Workshare.unblocked();
}

/* A send that does not end by itself begins and ends. */
static inline void MPIR_Workshare_send_opened(int world_rank)
{
    if (MPIR_Workshare.sends_open++ == 0)
        MPIR_Workshare.sends_to = world_rank;
    else if (MPIR_Workshare.sends_to != world_rank)
        MPIR_Workshare.sends_to = -1;
}

static inline void MPIR_Workshare_send_closed(void)
{
    MPIR_Workshare.sends_open--;
}

/* After messages may have been taken in. */
static inline void MPIR_Workshare_taken(void)
{
    if (__builtin_expect(MPIR_Workshare.senders_waiting != 0, 0) &&
        (*MPIR_Workshare.senders_waiting || MPIR_Workshare.sends_open > 0))
        MPIR_Workshare.taken();
}

/* After a poll of the network that handled anything. */
static inline void MPIR_Workshare_progressed(void)
{
    MPIR_Workshare.events++;
    MPIR_Workshare_taken();
}

/* After something was posted for the given MPI_COMM_WORLD rank. */
static inline void MPIR_Workshare_ring(int world_rank)
{
    if (__builtin_expect(MPIR_Workshare.ring != 0, 0))
        MPIR_Workshare.ring(world_rank);
}

#endif /* MPIR_WORKSHARE_H_INCLUDED */
