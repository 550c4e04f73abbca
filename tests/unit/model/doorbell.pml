/* SPDX-License-Identifier: MIT
 *
 * The doorbell on a machine with store buffers (x86-64's TSO): a rank that spins, lends its core or sleeps, and a sender whose
 * stores reach memory later than its loads look at it. The guest never runs out of chunks: it leaves only when it is recalled,
 * so a message that rings nobody stays unseen.
 *
 *   Home    blocked(), idle(), unblocked(), Rank::stop() (lend/home.cpp); Lender::arm(), disarm_if_rung(), lend(), sleep(),
 *           sleep_while_lent(), resume() (lend/lender.cpp)
 *   Sender  MPI posts a message, then Rank::ring() (lend/doorbell.cpp)
 *   Waker   Rank::wake() of an owner that publishes a region (lend/doorbell.cpp)
 *   Guest   give_back() (lend/guest.cpp)
 *
 * What is proved:
 *   message_is_seen        with the quantum, every message is seen; and without it, when senders have no store buffer
 *   only_the_window_loses  without the quantum, a message stays unseen only if the sender decided not to ring while the message
 *                          was still in its store buffer: the window that docs/internals/protocol.md leaves open
 *
 * The home rank's own stores need no buffer: those that matter are full barriers, and the others (kept, recall) let a sender
 * ring once too often at worst. A macro after #if other than QUANTUM, MESSAGES and NO_STORE_BUFFER is a mistake made on
 * purpose; see descriptor.pml. */

#ifndef MESSAGES
#define MESSAGES 2
#endif

mtype = { kept, armed, lent, asleep };
mtype state = kept;
bool recall, home_sleeps;

/* Memory, and what is on its way to it. The sender's stores arrive in order: messages, then its recall. */
byte arrived;          /* messages that a poll finds */
byte buffered;         /* messages in the sender's store buffer */
bool buffered_recall;

/* The checker's records. */
bool window;           /* a sender did not ring while its message was in the buffer */
bool guest_on, done;

/* A locked instruction waits until the buffer is empty. */
#define full_barrier buffered == 0 && !buffered_recall

inline wake()
{
    if
    :: state == asleep ->
        full_barrier;
        d_step { /* CAS, then futex_wake() */
            if
            :: state == asleep -> state = kept; home_sleeps = false
            :: else
            fi
        }
    :: else
    fi
}

inline ring_core()
{
    if
    :: atomic { state == kept -> window = window || buffered > 0 }
    :: else ->
        if
        :: atomic { recall || buffered_recall -> window = window || buffered > 0 } /* somebody has rung */
        :: else -> buffered_recall = true; full_barrier
        fi;
#ifndef NO_SECOND_LOOK
        wake()
#endif
    fi
}

active proctype Sender()
{
    byte sent;
    do
    :: sent < MESSAGES ->
        sent++;
#ifdef NO_STORE_BUFFER
        arrived++;
#else
        buffered++;
#endif
#ifndef NO_RING
        ring_core()
#endif
    :: else -> break
    od
}

active proctype StoreBuffer()
{
end:
    do
    :: atomic { buffered > 0 -> buffered--; arrived++ }
    :: atomic { buffered == 0 && buffered_recall -> buffered_recall = false; recall = true }
    od
}

active proctype Waker()
{
end:
    d_step { state == asleep -> state = kept; home_sleeps = false }
}

active proctype Guest()
{
end:
    do
    :: guest_on && recall ->
        d_step { assert(state == lent); guest_on = false };
        state = kept;
        home_sleeps = false
    od
}

inline futex_wait(value)
{
    atomic {
        if
        :: state == value -> home_sleeps = true
        :: else
        fi
    };
    if
    :: !home_sleeps
#ifdef QUANTUM
    :: home_sleeps -> home_sleeps = false
#endif
    fi
}

inline sleep_while_lent()
{
    futex_wait(lent);
    if
    :: state != lent -> has_lease = false
    :: else
    fi
}

inline sleep()
{
    state = asleep;
#ifdef NO_RECHECK_AFTER_SLEEP
    futex_wait(asleep);
#else
    if
    :: !recall -> futex_wait(asleep)
    :: else
    fi;
#endif
    next_state = (recall -> kept : armed);
    d_step {
        if
        :: state == asleep -> state = next_state
        :: else
        fi;
        next_state = kept
    }
}

inline arm() { recall = false; state = armed }

active proctype Home()
{
    byte waits;
    bool has_lease, target;
    mtype next_state = kept;

    do
    :: waits < MESSAGES ->
        do
        :: arrived > waits -> break /* MPI has polled */
        :: else -> /* blocked() */
            if
            :: has_lease -> sleep_while_lent()
            :: else ->
                if /* choose() */
                :: target = true
                :: target = false
                fi;
                if
                :: state != armed ->
#ifdef NO_ARM_BEFORE_SLEEP
                    if
                    :: target -> arm()
                    :: else -> recall = false; sleep()
                    fi
#else
                    arm()
#ifdef NO_POLL_AFTER_ARM
                    ; state = lent; has_lease = true; guest_on = true; sleep_while_lent()
#endif
#endif
                :: else ->
                    if
                    :: recall -> state = kept /* disarm_if_rung() */
                    :: else ->
                        if
                        :: target -> d_step { state = lent; has_lease = true }; guest_on = true; sleep_while_lent()
                        :: else -> sleep()
                        fi
                    fi
                fi;
                target = false
            fi
        od;
        waits++;
        /* unblocked() */
        if
        :: has_lease ->
            if
            :: state == lent -> recall = true
            :: else -> has_lease = false
            fi
        :: else ->
            if
            :: state == armed -> state = kept
            :: else
            fi
        fi
    :: else -> break
    od;
    /* Rank::stop() */
    do
    :: has_lease -> recall = true; sleep_while_lent()
    :: else -> break
    od;
    assert(state == kept && !guest_on);
    done = true
}

ltl message_is_seen { <> done }
ltl only_the_window_loses { <> (done || window) }
