/* SPDX-License-Identifier: MIT
 *
 * Workshare in the device ch4: waits with a VCI's lock, and the doorbell. For ch4_impl.h.
 */
#ifndef CH4_WORKSHARE_H_INCLUDED
#define CH4_WORKSHARE_H_INCLUDED

/* MPICH 5.0 has these. */
#ifndef MPIDI_VCI_LOCK
#define MPIDI_VCI_LOCK(vci) MPIDI_VCI(vci).lock
#endif
#ifndef DEBUG_PROGRESS_START
#define DEBUG_PROGRESS_START
#define DEBUG_PROGRESS_CHECK
#endif

/* Ends one turn of a wait with a VCI's lock, which is left around the hook, as MPIDI_progress_test_vci leaves it for
 * global progress. While Workshare is off the lock is yielded, as MPICH 4.2 does. */
#define MPIDIU_WORKSHARE_YIELD(polls_, vci)                                     \
    do {                                                                        \
        int leave_ = MPIR_Workshare.blocked != NULL;                            \
        if (unlikely(leave_))                                                   \
            MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI_LOCK(vci));                      \
        MPIR_WORKSHARE_YIELD(polls_);                                           \
        if (unlikely(leave_))                                                   \
            MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI_LOCK(vci));                     \
        else                                                                    \
            MPID_THREAD_CS_YIELD(VCI, MPIDI_VCI_LOCK(vci));                     \
    } while (0)

/* The same for waits that keep their locks while Workshare is off */
#define MPIDIU_WORKSHARE_BLOCKED(polls_, vci)                                   \
    do {                                                                        \
        if (unlikely(MPIR_Workshare.blocked != NULL))                           \
            MPIDIU_WORKSHARE_YIELD(polls_, vci);                                \
    } while (0)

#define MPIDIU_PROGRESS_TURN(polls_, vci)                                       \
    do {                                                                        \
        mpi_errno = MPIDI_progress_test_vci(vci);                               \
        MPIR_ERR_CHECK(mpi_errno);                                              \
        MPIDIU_WORKSHARE_YIELD(polls_, vci);                                    \
        DEBUG_PROGRESS_CHECK;                                                   \
    } while (0)

#define MPIDIU_PROGRESS_WHILE(cond, vci)                                        \
    do {                                                                        \
        MPIR_WORKSHARE_WAIT(polls_);                                            \
        DEBUG_PROGRESS_START;                                                   \
        while (cond) {                                                          \
            MPIDIU_PROGRESS_TURN(polls_, vci);                                  \
        }                                                                       \
    } while (0)

#define MPIDIU_PROGRESS_DO_WHILE(cond, vci)                                     \
    do {                                                                        \
        MPIR_WORKSHARE_WAIT(polls_);                                            \
        DEBUG_PROGRESS_START;                                                   \
        do {                                                                    \
            MPIDIU_PROGRESS_TURN(polls_, vci);                                  \
        } while (cond);                                                         \
    } while (0)

/* MPIR_WORKSHARE_POLLED with a VCI's lock, which is left meanwhile */
#define MPIDIU_WORKSHARE_POLLED(vci)                                            \
    do {                                                                        \
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI_LOCK(vci));                          \
        MPIR_WORKSHARE_POLLED();                                                \
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI_LOCK(vci));                         \
    } while (0)

/* av's place in av_table0 is the process's rank in MPI_COMM_WORLD. A process of another world
 * (spawned, connected) is in another table: -1. */
MPL_STATIC_INLINE_PREFIX int MPIDIU_workshare_world_rank(MPIDI_av_entry_t * av)
{
    uintptr_t offset = (uintptr_t) av - (uintptr_t) MPIDI_global.avt_mgr.av_table0->table;
    return offset < MPIDI_global.avt_mgr.av_table0->size * sizeof(MPIDI_av_entry_t) ?
        (int) (offset / sizeof(MPIDI_av_entry_t)) : -1;
}

/* Not inline: it would move the code of each send. */
__attribute__ ((noinline, unused))
static void MPIDIU_workshare_ring(MPIDI_av_entry_t * av)
{
    int rank = MPIDIU_workshare_world_rank(av);
    if (rank >= 0)
        MPIR_Workshare_ring(rank);
}

/* Something was just posted for the process behind av, which is looked up only while the hook is set. */
#define MPIDIU_WORKSHARE_RING(av)                                               \
    do {                                                                        \
        if (unlikely(MPIR_Workshare.ring != NULL))                              \
            MPIDIU_workshare_ring(av);                                          \
    } while (0)

/* A send to the process behind av needs its receiver to end. */
__attribute__ ((noinline, unused))
static void MPIDIU_workshare_send_opened(MPIDI_av_entry_t * av)
{
    MPIR_Workshare_send_opened(MPIDIU_workshare_world_rank(av));
}

#endif /* CH4_WORKSHARE_H_INCLUDED */
