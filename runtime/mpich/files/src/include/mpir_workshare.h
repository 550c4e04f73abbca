/* SPDX-License-Identifier: MIT
 *
 * All that MPICH and the Workshare runtime (libws) know of each other.
 *
 * MPICH calls hooks and holds no policy; libws fills them in when the job was started with
 * `mpirun -workshare`. While the flag is off every hook is NULL and a call site costs one load and one
 * branch, in places that are already waiting (blocked, unblocked), looking in vain (polled) or already
 * sending (ring) or receiving (taken). Each MPI function looks at one word at its begin and at its end; with
 * the flag it notes its name for the thread there, and tells who wants to know (called).
 *
 * This header is C, is copied into the MPICH source tree by the build, and is included by libws from here.
 */
#ifndef MPIR_WORKSHARE_H_INCLUDED
#define MPIR_WORKSHARE_H_INCLUDED

#include <stdint.h>

/* Raised whenever the struct below changes; MPICH passes it, libws refuses another one. */
#define MPIR_WORKSHARE_VERSION 9

/* A wait counts as blocked after this many polls without progress: a short wait (ping-pong) never leaves MPICH. In a
 * ping-pong over shared memory a rank polls 70 to 80 times for each message, for about 4 ns each time. Where a poll
 * takes longer, as it may be a system call or takes a lock, with several nodes or several threads, it is SLOW_POLLS. */
#define MPIR_WORKSHARE_POLLS 128
#define MPIR_WORKSHARE_SLOW_POLLS 8

/* What MPI_T shows: libws has the lists, so that a new option or counter is no new build of MPICH. libmpich asks for them when a tool
 * initializes MPI_T, with -workshare or without. */
typedef struct {
    const char *name, *desc;    /* the environment variable of that name sets it; MPI_T_cvar_write does so too until MPI_Init */
    int scope;                  /* MPI_T_SCOPE_... */
    unsigned value, least, most;        /* of a number: the default, the range */
    const char *text;           /* of a text: the default, */
    int length;                 /* and the room that it has; 0: a number */
} MPIR_Workshare_cvar_t;

/* A value of the calling rank since MPI_Init, unless its description says otherwise. The class decides the type: a state is an int, a level an unsigned,
 * a counter an unsigned long long, a timer a double. */
typedef struct {
    const char *name, *desc;
    int varclass;               /* MPI_T_PVAR_CLASS_... */
} MPIR_Workshare_pvar_t;

typedef struct {
    const MPIR_Workshare_cvar_t *cvars;
    const MPIR_Workshare_pvar_t *pvars;
    int cvar_count, pvar_count;
    const char *const *states;  /* names of the values of pvars that are states, ended by NULL */
    /* The value of a pvar, from any thread, at any time: 0 before MPI_Init and without -workshare, the last one after MPI_Finalize. Timers
     * are nanoseconds here and seconds in MPI_T. */
    unsigned long long (*pvar) (int which);
    /* Sets a cvar that is a number and within its range, after MPI_Init. 0 if it takes effect. */
    int (*set_cvar) (int which, unsigned value);
} MPIR_Workshare_variables_t;

typedef struct MPIR_Workshare_hooks {
    /* This thread waits in MPI and its last poll made no progress. Called once a poll, from the
     * MPIR_WORKSHARE_POLLS-th on; `polls` counts from there, starting with 0 for each wait.
     * May take as long as a quantum (the core may be lent). Holds no MPICH lock, and may call MPI where that returns at
     * once and on communicators of its own: so libws carries its letters. */
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
     * MPICH's lock: brief, and calls no MPI. NULL unless somebody wants it. */
    void (*called) (const char *name, int enter);
    /* The program called MPI_Pcontrol(level, ...). */
    void (*pcontrol) (int level);
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
    /* Raised by each poll of the network that handled anything, wanted or not, while `blocked` is not NULL: one poll
     * does not handle all that is there. Wraps. */
    unsigned events;
    /* The level of thread support that the program asked for; MPI may have given more. */
    int thread_level_asked;
    /* With `several`, any thread may call MPI from here on, whatever level was given, as with MPI_THREAD_MULTIPLE; with 0
     * the level given holds again. Call while no thread of the process is inside MPI. */
    void (*let_threads_in) (int several);
    /* The MPI function that the calling thread is in ("MPI_Allreduce"): the one that the program called, not one that MPICH
     * uses for it. NULL outside of MPI. The same name has the same address in each call. */
    const char *(*call_name) (void);
    /* The place that this function returns to: which of the program's calls it is. In Fortran that of the binding, the same for
     * all. NULL outside of MPI, and where a frame's layout is not known. */
    const void *(*call_site) (void);
} MPIR_Workshare_hooks;

/* Libmpich's own: where the compiler knows that, a place looks at a hook without a register for its address. */
#define MPIR_WORKSHARE_OWN __attribute__ ((visibility("hidden")))

extern MPIR_Workshare_hooks MPIR_Workshare MPIR_WORKSHARE_OWN;

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

/* MPI_T's variables. The first is called by MPI_T_init_thread: only tools pay for the list. The second is told of each write: MPI_SUCCESS
 * if it may go on. `place` is the variable in memory. */
void MPIR_Workshare_mpi_t_init(void);
int MPIR_Workshare_cvar_write(const void *place, const void *value);

/* The MPI function that this thread is in. Stacks grow down: what is called from there has a lower frame, so one comparison
 * tells the outermost function, and an error handler that jumped out of MPI leaves nothing that lasts. */
typedef struct {
    uintptr_t frame;            /* 0: in none */
    const char *name;           /* as in the source, see call_name in mpir_workshare.c */
    int told;                   /* `called` knows of it */
} MPIR_Workshare_call_t;
extern __thread MPIR_Workshare_call_t MPIR_Workshare_call
    __attribute__ ((tls_model("initial-exec"))) MPIR_WORKSHARE_OWN;
void MPIR_Workshare_tell_begin(void) __attribute__ ((cold)) MPIR_WORKSHARE_OWN;
void MPIR_Workshare_tell_end(void) __attribute__ ((cold)) MPIR_WORKSHARE_OWN;
/* Calls are noted: libws is there, and asks for them or is told of them. All that the begin and the end of an MPI
 * function look at without -workshare. */
extern int MPIR_Workshare_notes_calls MPIR_WORKSHARE_OWN;

/* __builtin_frame_address(0), without what that one does to a function: it keeps a frame pointer, on the way without
 * -workshare too, and so has a register less. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define MPIR_WORKSHARE_FRAME ((void *) ((uintptr_t *) __builtin_dwarf_cfa() - 2))
#else
#define MPIR_WORKSHARE_FRAME __builtin_frame_address(0)
#endif

/* What libws exports for MPICH to find by name. `what` is MPIR_WORKSHARE_STEAL, or 0 for the locks alone. Fills *hooks and
 * returns 0; on any other value the hooks stay NULL. Collective over MPI_COMM_WORLD; prints its own message where the
 * user must know. */
#define MPIR_WORKSHARE_ATTACH_NAME "ws_fork_attach"
#define MPIR_WORKSHARE_STEAL 1u
typedef int (*MPIR_Workshare_attach_fn) (int version, unsigned what, MPIR_Workshare_hooks * hooks);

/* What MPI_T shows; NULL if libws is of another version. */
#define MPIR_WORKSHARE_VARIABLES_NAME "ws_fork_variables"
typedef const MPIR_Workshare_variables_t *(*MPIR_Workshare_variables_fn)(int version);

/* An unsigned in libws that is complete before main: what the program linked with it uses (ws_uses in
 * runtime/directive/abi.h). Not found in programs without shared loops. */
#define MPIR_WORKSHARE_FEATURES_NAME "ws_used_features"
#define MPIR_WORKSHARE_USES_LOCKS 1u
#define MPIR_WORKSHARE_USES_MPI_IN_LOOPS 2u

/* An MPI function begins and ends, and calls are noted; `frame` is its MPIR_WORKSHARE_FRAME. */
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

/* The same in the function itself. The frame is looked for only where it is wanted. */
#define MPIR_WORKSHARE_ENTER(name_)                                             \
    do {                                                                        \
        if (__builtin_expect(MPIR_Workshare_notes_calls, 0))                    \
            MPIR_Workshare_enter(name_, MPIR_WORKSHARE_FRAME);                  \
    } while (0)
#define MPIR_WORKSHARE_LEAVE()                                                  \
    do {                                                                        \
        if (__builtin_expect(MPIR_Workshare_notes_calls, 0))                    \
            MPIR_Workshare_leave(MPIR_WORKSHARE_FRAME);                         \
    } while (0)

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
void MPIR_Workshare_tell_taken(void) MPIR_WORKSHARE_OWN;
static inline void MPIR_Workshare_taken(void)
{
    if (__builtin_expect(MPIR_Workshare.senders_waiting != 0, 0))
        MPIR_Workshare_tell_taken();
}

/* After a poll of the network that handled `events` things, which count only for those who wait with `blocked`. Short:
 * MPICH's loop of polls is one function only as long as it is small enough. */
void MPIR_Workshare_handled(void) MPIR_WORKSHARE_OWN;
static inline void MPIR_Workshare_progressed(unsigned events)
{
    if (__builtin_expect(events != 0, 0) && __builtin_expect(MPIR_Workshare.blocked != 0, 0))
        MPIR_Workshare_handled();
}

/* After something was posted for the given MPI_COMM_WORLD rank. */
static inline void MPIR_Workshare_ring(int world_rank)
{
    if (__builtin_expect(MPIR_Workshare.ring != 0, 0))
        MPIR_Workshare.ring(world_rank);
}

#endif /* MPIR_WORKSHARE_H_INCLUDED */
