/* SPDX-License-Identifier: MIT
 *
 * The interface between MPICH and the Workshare runtime (libws).
 *
 * MPICH calls hooks and holds no policy; libws fills them in if the job was started with
 * `mpirun -workshare`. While the flag is off, every hook is NULL, and a call site costs one load and one
 * branch. Call sites wait (blocked, unblocked), looked in vain (polled), send (ring) or receive (taken)
 * anyway. Each MPI function reads one word when it begins and when it ends; with the flag it also records
 * its name for the thread, and calls `called` if that is set.
 *
 * This header is C, is copied into the MPICH source tree by the build, and is included by libws from here.
 */
#ifndef MPIR_WORKSHARE_H_INCLUDED
#define MPIR_WORKSHARE_H_INCLUDED

#include <stdint.h>

/* Raise it whenever the struct below changes; MPICH passes it, and libws refuses any other version. */
#define MPIR_WORKSHARE_VERSION 10

/* A wait counts as blocked after this many polls without progress: a short wait (ping-pong) never leaves MPICH. In a
 * ping-pong over shared memory a rank polls 70 to 80 times per message, for about 4 ns each time. If a poll
 * takes longer, because it may be a system call or takes a lock, with several nodes or several threads, the count is SLOW_POLLS. */
#define MPIR_WORKSHARE_POLLS 128
#define MPIR_WORKSHARE_SLOW_POLLS 8

/* What MPI_T shows: libws has the lists, so that a new option or counter needs no new build of MPICH. libmpich asks for them when a tool
 * initializes MPI_T, with -workshare or without. */
typedef struct {
    const char *name, *desc;    /* the environment variable of that name sets it; MPI_T_cvar_write does so too until MPI_Init */
    int scope;                  /* MPI_T_SCOPE_... */
    unsigned value, least, most;        /* for a number: the default, the range */
    const char *text;           /* for a text: the default, */
    int length;                 /* and its maximum length; 0: a number */
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
    /* Sets a cvar to a number within its range, after MPI_Init. Returns 0 if that takes effect. */
    int (*set_cvar) (int which, unsigned value);
} MPIR_Workshare_variables_t;

typedef struct MPIR_Workshare_hooks {
    /* This thread waits in MPI and its last poll made no progress. Called once per poll, from the
     * MPIR_WORKSHARE_POLLS-th on; `polls` counts from there, starting with 0 for each wait.
     * May take as long as a quantum (the core may be lent). Holds no MPICH lock, and may call MPI on
     * communicators of its own if the call returns at once: libws sends its messages that way. */
    void (*blocked) (unsigned polls);
    /* The wait that called `blocked` is over. Not called for a wait that never called it. */
    void (*unblocked) (void);
    /* The program looked for something that is not there yet (MPI_Test and its like, MPI_Iprobe, MPI_Improbe), after a poll
     * of MPI's own. Holds no MPICH lock; never calls MPI. NULL unless such programs are to help, too. */
    void (*polled) (void);
    /* Something was just posted for this MPI_COMM_WORLD rank, which may be on another node. Under MPICH's lock: brief. */
    void (*ring) (int world_rank);
    /* This rank received something. A rank of the node that has `sends_open` may have waited for that, or this rank may have sent
     * more of its own open sends. Called only while *senders_waiting (how many ranks with `sends_open` wait; NULL while Workshare is
     * off) or this rank's sends_open is not 0. Under MPICH's lock: brief. */
    void (*taken) (void);
    const volatile unsigned *senders_waiting;
    /* The calling thread enters (1) or leaves (0) the MPI function `name`, and is in no other one. The same name has the same
     * address in each call. Not called for the MPI_Init that filled in this hook, and only for the start of MPI_Finalize. May be
     * under MPICH's lock: brief, and calls no MPI. NULL unless libws wants it. */
    void (*called) (const char *name, int enter);
    /* The program called MPI_Pcontrol(level, ...). */
    void (*pcontrol) (int level);
    /* The last of MPI_Finalize and MPI_Session_finalize was entered; MPI still works. Collective over MPI_COMM_WORLD. */
    void (*finalize) (void);
    /* This node has more ranks than CPUs that they may run on: a collective operation's cost is its messages, not its rounds. The
     * value is the same for all ranks of the node. */
    int crowded;
    /* MPICH sets the fields from here on. The number of sends in which the receiver has to take part (synchronous sends, large ones,
     * sends that found a full queue; puts and gets that wait in a flush), and their MPI_COMM_WORLD rank, -1 if there may be
     * several. Both are hints: other threads change them. */
    int sends_open;
    int sends_to;
    /* Incremented by each poll of the network that handled anything, wanted or not, while `blocked` is not NULL: one poll
     * does not handle everything that has arrived. Wraps. */
    unsigned events;
    /* The level of thread support that the program asked for; MPI may have given more. */
    int thread_level_asked;
    /* If `several` is not 0, any thread may call MPI from here on, whatever level was given, as with MPI_THREAD_MULTIPLE;
     * if it is 0, the level given holds again. Call it while no thread of the process is inside MPI. */
    void (*let_threads_in) (int several);
    /* The MPI function that the calling thread is in ("MPI_Allreduce"): the one that the program called, not one that MPICH
     * uses for it. NULL outside of MPI. The same name has the same address in each call. */
    const char *(*call_name) (void);
    /* The return address of this function: it tells which of the program's calls it is. In Fortran it is in the binding, and the
     * same for all calls. NULL outside of MPI, and if the layout of the frame is not known. */
    const void *(*call_site) (void);
    /* The machine's hwloc_topology_t as MPICH has loaded it, until MPI_Finalize ends; NULL if there is none. */
    void *topology;
} MPIR_Workshare_hooks;

/* Private to libmpich: if the compiler knows that, a call site reads a hook without a register for its address. */
#define MPIR_WORKSHARE_OWN __attribute__ ((visibility("hidden")))

extern MPIR_Workshare_hooks MPIR_Workshare MPIR_WORKSHARE_OWN;

/* At the start of the first MPI_Init, MPI_Init_thread or MPI_Session_init: returns the level to initialize with when the program
 * asks for `level`. It is higher under WS_ENABLE=1 if the program's shared loops are known to call MPI, because several threads
 * call MPI then. It is also higher if the program asks for MPI_THREAD_SERIALIZED, because one of its threads could be inside MPI
 * at any time, see let_threads_in. Local. */
int MPIR_Workshare_thread_level(int level);
/* MPI works and all processes are here: at the end of MPI_Init or MPI_Init_thread, or, in programs with sessions, of the first
 * MPI_Comm_create_from_group of all processes. Loads libws if the launcher asked for it (WS_ENABLE=1) or the program has
 * node-wide locks. Costs one MPI_Allreduce. Only the first call does anything. */
void MPIR_Workshare_init(void);
/* The last MPI_Finalize or MPI_Session_finalize starts. */
void MPIR_Workshare_finalize(void);

/* MPI_T's variables. The first is called by MPI_T_init_thread: only tools pay for the list. The second checks each write, and
 * returns MPI_SUCCESS if it may go on. `place` is the variable in memory. */
void MPIR_Workshare_mpi_t_init(void);
int MPIR_Workshare_cvar_write(const void *place, const void *value);

/* The MPI function that this thread is in. Stacks grow down: a function called from there has a lower frame, so one comparison
 * finds the outermost function, and an error handler that jumps out of MPI leaves no lasting state. */
typedef struct {
    uintptr_t frame;            /* 0: in no MPI function */
    const char *name;           /* as in the source, see call_name in mpir_workshare.c */
    int told;                   /* `called` was called for it */
} MPIR_Workshare_call_t;
extern __thread MPIR_Workshare_call_t MPIR_Workshare_call
    __attribute__ ((tls_model("initial-exec"))) MPIR_WORKSHARE_OWN;
void MPIR_Workshare_tell_begin(void) __attribute__ ((cold)) MPIR_WORKSHARE_OWN;
void MPIR_Workshare_tell_end(void) __attribute__ ((cold)) MPIR_WORKSHARE_OWN;
/* Not 0 if calls are recorded: libws is loaded, and reads them or has set `called`. Without -workshare an MPI function
 * reads nothing else when it begins and ends. */
extern int MPIR_Workshare_notes_calls MPIR_WORKSHARE_OWN;

/* __builtin_frame_address(0), without its cost: with it a function keeps a frame pointer, without -workshare too, and so
 * has one register less. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define MPIR_WORKSHARE_FRAME ((void *) ((uintptr_t *) __builtin_dwarf_cfa() - 2))
#else
#define MPIR_WORKSHARE_FRAME __builtin_frame_address(0)
#endif

/* The function of libws that MPICH finds by name. `what` is MPIR_WORKSHARE_STEAL, or 0 for the locks alone. Fills *hooks and
 * returns 0; if it returns any other value, the hooks stay NULL. Collective over MPI_COMM_WORLD; prints its own message if the
 * user must know. */
#define MPIR_WORKSHARE_ATTACH_NAME "ws_fork_attach"
#define MPIR_WORKSHARE_STEAL 1u
typedef int (*MPIR_Workshare_attach_fn) (int version, unsigned what, MPIR_Workshare_hooks * hooks);

/* Returns what MPI_T shows; NULL if libws has another version. */
#define MPIR_WORKSHARE_VARIABLES_NAME "ws_fork_variables"
typedef const MPIR_Workshare_variables_t *(*MPIR_Workshare_variables_fn)(int version);

/* An unsigned in libws that is complete before main: the features that the program linked with it uses (ws_uses in
 * runtime/abi/abi.h). Programs without shared loops have no such symbol. */
#define MPIR_WORKSHARE_FEATURES_NAME "ws_used_features"
#define MPIR_WORKSHARE_USES_LOCKS 1u
#define MPIR_WORKSHARE_USES_MPI_IN_LOOPS 2u

/* Record that an MPI function begins and ends, while calls are recorded; `frame` is its MPIR_WORKSHARE_FRAME. */
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

/* The same in the function itself. The frame is determined only if calls are recorded. */
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

/* One turn of a waiting loop. `polls` is a local variable of the wait, 0 at first. */
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

/* Count a send that needs its receiver to end: it begins, and it ends. */
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

/* Call it after messages may have been received. */
void MPIR_Workshare_tell_taken(void) MPIR_WORKSHARE_OWN;
static inline void MPIR_Workshare_taken(void)
{
    if (__builtin_expect(MPIR_Workshare.senders_waiting != 0, 0))
        MPIR_Workshare_tell_taken();
}

/* Call it after a poll of the network that handled `events` events, which count only for waits with `blocked`. Short:
 * MPICH's loop of polls is one function only as long as it is small enough. */
void MPIR_Workshare_handled(void) MPIR_WORKSHARE_OWN;
static inline void MPIR_Workshare_progressed(unsigned events)
{
    if (__builtin_expect(events != 0, 0) && __builtin_expect(MPIR_Workshare.blocked != 0, 0))
        MPIR_Workshare_handled();
}

/* Call it after something was posted for the given MPI_COMM_WORLD rank. */
static inline void MPIR_Workshare_ring(int world_rank)
{
    if (__builtin_expect(MPIR_Workshare.ring != 0, 0))
        MPIR_Workshare.ring(world_rank);
}

#endif /* MPIR_WORKSHARE_H_INCLUDED */
