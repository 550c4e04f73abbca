/* SPDX-License-Identifier: MIT
 *
 * What the call sites in MPICH use, one line each. For MPICH's own sources, after mpir_request.h and mpir_comm.h: libws
 * includes mpir_workshare.h.
 */
#ifndef MPIR_WORKSHARE_IMPL_H_INCLUDED
#define MPIR_WORKSHARE_IMPL_H_INCLUDED

#include "mpir_workshare.h"

static inline void MPIR_Workshare_wait_over(const unsigned *polls)
{
    MPIR_Workshare_unblocked(*polls);
}

/* Declares the count of a wait's polls. The wait is over when the scope is left, in whatever way. */
#define MPIR_WORKSHARE_WAIT(polls_) unsigned polls_ __attribute__ ((cleanup(MPIR_Workshare_wait_over))) = 0

/* What the call sites below do when Workshare is on. These are functions, so that the compiler treats, and inlines, the
 * functions around the call sites as without Workshare. They leave the lock of the GLOBAL granularity around the hook. */
void MPIR_Workshare_turn(unsigned *polls) MPIR_WORKSHARE_OWN;
extern unsigned MPIR_Workshare_quick_polls MPIR_WORKSHARE_OWN;  /* how many first polls of a wait need no turn, with one thread */
void MPIR_Workshare_looked(void) MPIR_WORKSHARE_OWN;

#if defined(MPICH_IS_THREADED)
#define MPIR_WORKSHARE_THREADED MPIR_ThreadInfo.isThreaded
#else
#define MPIR_WORKSHARE_THREADED 0
#endif

/* One turn of a wait whose last poll made no progress; yield_ is what the wait does when Workshare is off. With several
 * threads the wait leaves the lock from its first turn on: another thread may have to do what this one waits for. */
#define MPIR_WORKSHARE_BLOCKED(polls_, yield_)                                  \
    do {                                                                        \
        if (unlikely(MPIR_Workshare.blocked != NULL)) {                         \
            if ((polls_) < MPIR_Workshare_quick_polls && !MPIR_WORKSHARE_THREADED) \
                (polls_)++;                                                     \
            else                                                                \
                MPIR_Workshare_turn(&(polls_));                                 \
        } else {                                                                \
            yield_;                                                             \
        }                                                                       \
    } while (0)

/* The same for waits that yield MPICH's lock, and for waits that do nothing; _UNLESS for waits that check only at their
 * next turn whether they are over. */
#define MPIR_WORKSHARE_YIELD(polls_)                                            \
    MPIR_WORKSHARE_BLOCKED(polls_, MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX))
#define MPIR_WORKSHARE_YIELD_UNLESS(over_, polls_)                              \
    do {                                                                        \
        if (!(over_))                                                           \
            MPIR_WORKSHARE_YIELD(polls_);                                       \
    } while (0)
#define MPIR_WORKSHARE_BLOCKED_UNLESS(over_, polls_)                            \
    do {                                                                        \
        if (!(over_))                                                           \
            MPIR_WORKSHARE_BLOCKED(polls_, );                                   \
    } while (0)

/* One turn of a wait in the versions of MPICH whose MPID_Progress_wait polls once and does not return whether that made progress. It did
 * if the network handled anything: a wait without progress ends then, and another one begins. `over_` is evaluated after the poll. Uses
 * the wait's `mpi_errno` and `state`. */
#define MPIR_WORKSHARE_PROGRESS_WAIT(over_, polls_)                             \
    do {                                                                        \
        if (unlikely(MPIR_Workshare.blocked != NULL)) {                         \
            unsigned events_ = MPIR_Workshare.events;                           \
            mpi_errno = MPID_Progress_test(state);                              \
            if (mpi_errno || (over_))                                           \
                break;                                                          \
            if (events_ == MPIR_Workshare.events) {                             \
                MPIR_WORKSHARE_BLOCKED(polls_, );                               \
            } else {                                                            \
                MPIR_Workshare_unblocked(polls_);                               \
                polls_ = 0;                                                     \
            }                                                                   \
        } else {                                                                \
            mpi_errno = MPID_Progress_wait(state);                              \
        }                                                                       \
    } while (0)

/* The program looked for something that is not there. */
#define MPIR_WORKSHARE_POLLED()                                                 \
    do {                                                                        \
        if (unlikely(MPIR_Workshare.polled != NULL))                            \
            MPIR_Workshare_looked();                                            \
    } while (0)
#define MPIR_WORKSHARE_POLLED_UNLESS(there_)                                    \
    do {                                                                        \
        if (!(there_))                                                          \
            MPIR_WORKSHARE_POLLED();                                            \
    } while (0)

/* After MPI_Pcontrol */
static inline void MPIR_Workshare_pcontrol(int level)
{
    if (unlikely(MPIR_Workshare.pcontrol != NULL))
        MPIR_Workshare.pcontrol(level);
}

/* Waits for a generalized request that can be polled, in place of the request's own wait function, which calls no hook;
 * does nothing for other requests and while Workshare is off. */
void MPIR_Workshare_grequest_wait(MPIR_Request * request_ptr, MPI_Status * status);

/* Tells the launcher's proxy on this node, if it asked for that, which call of MPI this process is in: "MPI_Init",
 * "MPI_Finalize" or "none". With -disable-auto-cleanup the proxy lets other processes go on when one dies, unless that
 * one is in such a call. Needs PMI, and no other thread in it. */
void MPIR_Workshare_tell_launcher(const char *call);

/* The end of MPI_Comm_create_from_group: attaches, as MPIR_Workshare_init, if the group has all processes. Holds the
 * global lock, and leaves it meanwhile. */
void MPIR_Workshare_init_from_group(int is_world);

/* MPI_Allreduce with MPI_BAND of a mask of context ids. If ranks share CPUs, each message costs a switch between
 * them. Then it takes 2n messages in two trees, not n log n in log n rounds, if the whole communicator is on one node. */
#if MPICH_NUMVERSION < 40200000
typedef MPIR_Errflag_t *MPIR_Workshare_errflag_t;
#elif MPICH_NUMVERSION < 50000000
typedef MPIR_Errflag_t MPIR_Workshare_errflag_t;
#else
typedef int MPIR_Workshare_errflag_t;
#endif
int MPIR_Workshare_agree_on_mask(uint32_t * mask, MPIR_Comm * comm_ptr, MPIR_Workshare_errflag_t errflag);

/* Waits on memory that processes share, while *word is `value`: yields some times, then sleeps until it is woken. */
void MPIR_Workshare_sleep_while(MPL_atomic_int_t * word, int value);
void MPIR_Workshare_wake(MPL_atomic_int_t * word);

#endif /* MPIR_WORKSHARE_IMPL_H_INCLUDED */
