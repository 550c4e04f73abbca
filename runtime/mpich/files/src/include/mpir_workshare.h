/* SPDX-License-Identifier: MIT
 *
 * All that MPICH and the Workshare runtime (libws) know of each other.
 *
 * MPICH calls hooks and holds no policy; libws fills them in when the job was started with
 * `mpirun -workshare`. While the flag is off every hook is NULL and a call site costs one load and one
 * branch, in places that are already waiting (blocked, unblocked), looking in vain (polled) or already
 * sending (ring) or receiving (taken); and at the begin of each MPI function (called), which also notes its
 * name for the thread.
 *
 * This header is C, is copied into the MPICH source tree by the build, and is included by libws from here.
 */
#ifndef MPIR_WORKSHARE_H_INCLUDED
#define MPIR_WORKSHARE_H_INCLUDED

#include <stdint.h>

/* Raised whenever the struct below changes; MPICH passes it, libws refuses another one. */
#define MPIR_WORKSHARE_VERSION 6

/* A wait counts as blocked after this many polls without progress: a short wait (ping-pong) never leaves MPICH. */
#define MPIR_WORKSHARE_POLLS 8

/* What MPI_T shows as control variables: name, MPI_T scope, default, range (text: length), description. The environment
 * variable of the same name sets it; MPI_T_cvar_write does so too until MPI_Init, and later where set_option takes it. */
#define MPIR_WORKSHARE_CVARS(NUMBER, TEXT) \
    NUMBER(ENABLE, READONLY, 0, 0, 1, "1: the job was started with mpirun -workshare") \
    NUMBER(QUIET, ALL_EQ, 0, 0, 1, "1: no verdict at the end") \
    NUMBER(QUANTUM, LOCAL, 400, 1, 1000000, "microseconds after which a rank that lent its core looks at MPI itself; can be changed at any time") \
    NUMBER(SPIN, LOCAL, 2, 0, 1000000, "microseconds that a wait lasts before it lends; can be changed at any time") \
    NUMBER(LINGER, LOCAL, 50, 0, 1000000, "microseconds that a guest without work stays for its owner's next loop; can be changed at any time") \
    NUMBER(CHUNK_TIME, LOCAL, 30, 1, 1000000, "microseconds that a chunk should take in a loop without schedule clause; can be changed at any time") \
    NUMBER(POLL, ALL, 0, 0, 1, "1: MPI_Test, MPI_Iprobe and their like help as well") \
    TEXT(VICTIM, ALL, "auto", 16, "whom a waiting rank helps: auto, most, fewest, nearest, random or none") \
    TEXT(WORKERS, ALL, "0", 16, "threads on spare cores that help their rank first, or auto") \
    TEXT(SCHEDULE, ALL, "", 64, "what schedule(runtime) means, in the syntax of OMP_SCHEDULE") \
    TEXT(STEAL_SCHEDULE, ALL, "", 64, "what steal_schedule(runtime) means, in the syntax of OMP_SCHEDULE")

/* What MPI_T shows as performance variables: name, class, description. Of the calling rank if they do not say otherwise, since
 * MPI_Init. Timers are nanoseconds in `counter` and seconds in MPI_T. */
#define MPIR_WORKSHARE_PVARS(X) \
    X(STATE, STATE, "what this rank's core does now") \
    X(RANKS_BLOCKED, LEVEL, "ranks of the node that wait in MPI now, with their core lent or not") \
    X(GUESTS, LEVEL, "threads that run iterations of this rank on cores lent to it, now") \
    X(REGIONS, COUNTER, "ws loops that this rank ran") \
    X(REGIONS_CUT, COUNTER, "of them those that it ran in chunks; the others were too short to be worth that") \
    X(REGIONS_SHARED, COUNTER, "of them those that it offered to ranks that wait") \
    X(REGIONS_JOINED, COUNTER, "of them those that another core worked on") \
    X(CHUNKS_KEPT, COUNTER, "chunks that this rank ran of its own loops") \
    X(CHUNKS_STOLEN, COUNTER, "chunks of this rank's loops that ran on other cores") \
    X(ITERATIONS_STOLEN, COUNTER, "iterations in them") \
    X(LENDS, COUNTER, "how often this rank lent its core") \
    X(RECALLS, COUNTER, "how often it asked for it back") \
    X(CLAIMS_LOST, COUNTER, "chunks that another rank was faster to claim") \
    X(REFUSALS, COUNTER, "waits in which the core was not free to lend, as other ranks compute on it") \
    X(SLEEPS, COUNTER, "how often this rank slept in a wait, for want of work to help with") \
    X(TIME_BLOCKED, TIMER, "seconds that this rank waited in MPI, lent time included") \
    X(TIME_LENT, TIMER, "seconds that this rank's core was lent") \
    X(TIME_ASLEEP, TIMER, "seconds that this rank slept in waits") \
    X(TIME_BORROWED, TIMER, "seconds that other cores computed for this rank, added up")

#define MPIR_WORKSHARE_NUMBER_(name, scope, def, least, most, desc) MPIR_WORKSHARE_CVAR_##name,
#define MPIR_WORKSHARE_TEXT_(name, scope, def, length, desc) MPIR_WORKSHARE_CVAR_##name,
enum { MPIR_WORKSHARE_CVARS(MPIR_WORKSHARE_NUMBER_, MPIR_WORKSHARE_TEXT_) MPIR_WORKSHARE_CVAR_KINDS };
#undef MPIR_WORKSHARE_NUMBER_
#undef MPIR_WORKSHARE_TEXT_
#define MPIR_WORKSHARE_NUMBER_(name, scope, def, least, most, desc) MPIR_WORKSHARE_DEFAULT_##name = def,
#define MPIR_WORKSHARE_TEXT_(name, scope, def, length, desc)
enum { MPIR_WORKSHARE_CVARS(MPIR_WORKSHARE_NUMBER_, MPIR_WORKSHARE_TEXT_) };
#undef MPIR_WORKSHARE_NUMBER_
#undef MPIR_WORKSHARE_TEXT_
#define MPIR_WORKSHARE_PVAR_(name, class, desc) MPIR_WORKSHARE_PVAR_##name,
enum { MPIR_WORKSHARE_PVARS(MPIR_WORKSHARE_PVAR_) MPIR_WORKSHARE_PVAR_KINDS };
#undef MPIR_WORKSHARE_PVAR_

/* Values of the performance variable STATE */
#define MPIR_WORKSHARE_STATES(X) X(OFF, "off") X(COMPUTING, "computing") X(BLOCKED, "blocked") X(LENT, "lent") X(ASLEEP, "asleep")
#define MPIR_WORKSHARE_STATE_(name, text) MPIR_WORKSHARE_STATE_##name,
enum { MPIR_WORKSHARE_STATES(MPIR_WORKSHARE_STATE_) MPIR_WORKSHARE_STATE_KINDS };
#undef MPIR_WORKSHARE_STATE_

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
    /* The calling thread enters (1) or leaves (0) the MPI function `name`, and is in no other one. The same name has the same
     * address in each call. Not told of the MPI_Init that filled in this hook, and only the begin of MPI_Finalize. Maybe under
     * MPICH's lock: brief, never calls MPI. NULL unless somebody wants it: without it a call costs two stores, a load and two
     * branches. */
    void (*called) (const char *name, int enter);
    /* The program called MPI_Pcontrol(level, ...). */
    void (*pcontrol) (int level);
    /* The value of one MPIR_WORKSHARE_PVAR_..., from any thread. Still asked for while `finalize` is at work, and once after it. */
    unsigned long long (*counter) (int which);
    /* MPI_T sets the number MPIR_WORKSHARE_CVAR_..., which is within its range, after MPI_Init. 0 if it takes effect. */
    int (*set_option) (int which, unsigned value);
    /* The last of MPI_Finalize and MPI_Session_finalize was entered; MPI still works. Collective over MPI_COMM_WORLD. */
    void (*finalize) (void);
    /* This node has more ranks than CPUs that they may run on: what a collective operation costs is its messages, not its rounds. The
     * same for all ranks of the node. */
    int crowded;
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
    /* The MPI function that the calling thread is in ("MPI_Allreduce"): the one that the program called, not one that MPICH
     * uses for it. NULL outside of MPI. The same name has the same address in each call. */
    const char *(*call_name) (void);
} MPIR_Workshare_hooks;

extern MPIR_Workshare_hooks MPIR_Workshare;

/* Begin of the first MPI_Init, MPI_Init_thread or MPI_Session_init: the level to initialize with when the program asks for
 * `level`. Higher under WS_ENABLE=1 if the program's shared loops are known to call MPI, as several threads will then, and if it
 * asks for MPI_THREAD_SERIALIZED: one of its threads could be inside MPI at any time, see let_threads_in. Local. */
int MPIR_Workshare_thread_level(int level);
/* MPI works and all processes are here: the end of MPI_Init or MPI_Init_thread, in programs of sessions of the first
 * MPI_Comm_create_from_group of all processes. Loads libws when the launcher asked for it (WS_ENABLE=1) or the program has
 * node-wide locks. One MPI_Allreduce. Only the first call does anything. */
void MPIR_Workshare_init(void);
/* Begin of the last MPI_Finalize or MPI_Session_finalize. */
void MPIR_Workshare_finalize(void);

/* MPI_T's variables. The second is told of each write: MPI_SUCCESS if it may go on. `place` is the variable in memory. */
void MPIR_Workshare_mpi_t_init(void);
int MPIR_Workshare_cvar_write(const void *place, const void *value);

/* The MPI function that this thread is in. Stacks grow down: what is called from there has a lower frame, so one comparison
 * tells the outermost function, and an error handler that jumped out of MPI leaves nothing that lasts. */
typedef struct {
    uintptr_t frame;            /* 0: in none */
    const char *name;           /* as in the source, see call_name in mpir_workshare.c */
    int told;                   /* `called` knows of it */
} MPIR_Workshare_call_t;
extern __thread MPIR_Workshare_call_t MPIR_Workshare_call __attribute__ ((tls_model("initial-exec")));
void MPIR_Workshare_tell_begin(void);
void MPIR_Workshare_tell_end(void);

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

/* An MPI function begins and ends; `frame` is its __builtin_frame_address(0). */
static inline void MPIR_Workshare_enter(const char *name, void *frame)
{
    if ((uintptr_t) frame >= MPIR_Workshare_call.frame) {
        MPIR_Workshare_call.frame = (uintptr_t) frame;
        MPIR_Workshare_call.name = name;
        if (__builtin_expect(MPIR_Workshare.called != 0, 0))
            MPIR_Workshare_tell_begin();
    }
}

static inline void MPIR_Workshare_leave(void *frame)
{
    if ((uintptr_t) frame == MPIR_Workshare_call.frame) {
        if (__builtin_expect(MPIR_Workshare_call.told, 0))
            MPIR_Workshare_tell_end();
        MPIR_Workshare_call.frame = 0;
    }
}

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
