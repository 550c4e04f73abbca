/* SPDX-License-Identifier: MIT
 *
 * Lending: an owner, a thief with its guest, and whoever sends the thief what it waits for; from the first region to the
 * end of the job. (Several guests in one region: region.pml. The memory order of the doorbell: doorbell.pml.)
 *
 *   Owner   alone_next() (loop/chunks.cpp), publish() (loop/region.cpp); Guests::make(), stop() (lend/guest.cpp)
 *   Guest   Guests::live(), next_lease(), guest_blocked() (lend/guest.cpp)
 *   Thief   blocked(), unblocked(), Rank::stop() (lend/home.cpp); Chooser::choose() (lend/chooser.cpp); Lender::arm(),
 *           disarm_if_rung(), lend(), sleep_while_lent(), resume() (lend/lender.cpp)
 *           polled() too, with -DPOLL
 *   ring    Rank::ring() (lend/doorbell.cpp)
 *   Other   another thief that wants a guest
 *
 * Assertions, beside those of descriptor.pml: one guest a slot; a guest gives back only what it has; the home rank and a
 * guest compute on a core together only after a recall; when a rank stops lending it has its core. No deadlock: everybody
 * ends. Liveness, with weak fairness: a recalled core comes back; a close ends; all ends. */

#ifndef THIEVES
#define THIEVES 1
#endif
#ifndef SENDERS
#define SENDERS 1     /* thieves whose first wait ends at any time; the others' ends when the owner is done */
#endif
#ifndef OTHERS
#define OTHERS 0
#endif
#ifndef WAITS
#define WAITS 2       /* MPI calls that a thief waits in */
#endif

#define blocking_unit 1 /* of each region: on a guest it waits for what the thief does after its first wait */
#define recalled(t) (always_recalled || recall[t])

#include "descriptor.pml"

mtype:core = { kept, armed, lent };
mtype:slot = { none, asked, starting, ready, refused, away };

bool hungry, wanted;   /* thieves raise them in the owner's row */
bool stopping;         /* the owner's process */

/* One element per thief: its core, and its guest's slot. */
mtype:core state[THIEVES] = kept;
bool recall[THIEVES], home_sleeps[THIEVES];
byte lease_lo[THIEVES], lease_hi[THIEVES];
mtype:slot slot[THIEVES] = none;
bit knock[THIEVES];    /* +1 in the code; no knock follows before the guest has seen the last one */
bool guest_sleeps[THIEVES];

/* MPI. */
byte posted[THIEVES];  /* what each of the thief's waits is for, a bit each */
bool got_on[THIEVES];  /* the thief's first wait is over, and it has sent something */

/* The checker's records. */
byte guests_of[THIEVES], threads;
bool guest_on[THIEVES], home_on[THIEVES];
byte stopped;          /* thieves that lend no more */

/* ---- doorbells */

inline ring(t)
{
#ifndef NO_RING
    if
    :: state[t] == kept
    :: else ->
        if
        :: !recall[t] -> recall[t] = true
        :: else
        fi
    fi
#endif
}

inline home_computes(t)
{
    d_step { assert(!guest_on[t] || recall[t]); home_on[t] = true };
    d_step { assert(!guest_on[t] || recall[t]); home_on[t] = false }
}

/* ---- the owner */

inline guests_make()
{
    t = 0;
    do
    :: t < THIEVES ->
        if
        :: slot[t] == asked ->
#ifndef TWO_GUESTS
            slot[t] = starting;
#endif
            if
            :: atomic { guests_of[t]++; assert(guests_of[t] == 1); threads++; run Guest(t) }
            :: slot[t] = refused
            fi
        :: else
        fi;
        t++
    :: else -> t = 0; break
    od
}

active proctype Owner()
{
    byte r, t, first;
    bool shared;
    claimant;

    do
    :: r < REGIONS ->
        run_alone(r, hungry);
        if
        :: shared ->
            if
            :: wanted -> wanted = false; guests_make()
            :: else
            fi;
            run_shared();
            if
            :: hungry = false
            :: skip /* it had to wait for guests */
            fi
        :: else
        fi;
        end_region();
        r++
    :: else -> break
    od;

    /* MPI_Finalize: the thieves' last wait ends; when all have stopped, so do the guests. */
    do
    :: t < THIEVES -> posted[t] = (1 << WAITS) - 1; ring(t); t++
    :: else -> t = 0; break
    od;
    stopped == THIEVES;
    stopping = true;
    do
    :: t < THIEVES ->
#ifndef STOP_WITHOUT_KNOCK
        knock[t] = 1 - knock[t];
#endif
        guest_sleeps[t] = false;
        t++
    :: else -> break
    od;
    threads == 0;
    assert(joiners == 0 && inside == 0)
}

/* ---- a guest */

/* Storing `kept` is the last touch of the core. */
inline give_back(t)
{
    d_step { assert(state[t] == lent && guest_on[t]); guest_on[t] = false };
#ifdef WAKE_BEFORE_STORE
    home_sleeps[t] = false;
    state[t] = kept
#else
    state[t] = kept;
#ifndef NO_WAKE
    home_sleeps[t] = false
#endif
#endif
}

/* An iteration of a guest waits in MPI. */
inline guest_blocked(t)
{
    if
    :: got_on[t] /* a short wait */
    :: !got_on[t] ->
#ifndef NO_AWAY
#ifndef BACK_BEFORE_AWAY
        slot[t] = away;
#endif
        at_core = false;
        always_recalled = true;
        give_back(t);
#ifdef BACK_BEFORE_AWAY
        slot[t] = away;
#endif
#endif
        got_on[t]
    fi
}

inline run_guest_chunk(t)
{
    waits = (lo <= blocking_unit && blocking_unit < hi && at_core);
    run_chunk();
    if
    :: waits -> waits = false; guest_blocked(t)
    :: else
    fi
}

proctype Guest(byte t)
{
    bit knocks;
    bool waits, at_core, always_recalled;
    claimant;

#ifdef READY_BEFORE_KNOCK
    slot[t] = ready;
    knocks = knock[t];
#else
    knocks = knock[t];
    slot[t] = ready;
#endif
    do
    ::
        do
        :: knock[t] != knocks -> break
        :: else ->
            if
            :: stopping -> break
            :: else ->
                atomic { /* futex_wait() */
                    if
                    :: knock[t] == knocks -> guest_sleeps[t] = true
                    :: else
                    fi
                };
                !guest_sleeps[t]
            fi
        od;
        if
        :: stopping -> break /* nobody lends any more */
        :: else
        fi;
        d_step { knocks = knock[t]; lo = lease_lo[t]; hi = lease_hi[t]; lease_lo[t] = 0; lease_hi[t] = 0;
                 at_core = true; always_recalled = false;
                 assert(state[t] == lent && !guest_on[t] && (!home_on[t] || recall[t])); guest_on[t] = true };
        do
        ::
            run_as_guest(t);
            /* next_lease(): lingers, for as long as it likes, or not at all */
            if
            :: !at_core || recall[t] -> break
            :: at_core && !recall[t] ->
                attempt(1, TAKES);
                if
                :: claim == TAKEN
                :: else -> break
                fi
            :: at_core -> break
            fi
        od;
        if
        :: at_core -> at_core = false; give_back(t)
        :: else -> slot[t] = ready
        fi
    od;
    threads--
}

/* ---- a thief */

/* Sleeps while the guest has the core; a quantum at most. */
inline sleep_while_lent(t)
{
    atomic { /* futex_wait() */
        if
        :: state[t] == lent -> home_sleeps[t] = true
        :: else
        fi
    };
    if
    :: !home_sleeps[t]
#ifdef QUANTUM
    :: home_sleeps[t] -> home_sleeps[t] = false
#endif
    fi;
    if
    :: state[t] != lent -> has_lease = false
    :: else
    fi
}

inline lend(t, one_chunk)
{
#ifdef WAKE_WITHOUT_CLAIM
    claim = TAKEN;
#else
    attempt(1, TAKES);
#endif
    if
    :: claim == TAKEN ->
        d_step { claim = LOST; lease_lo[t] = lo; lease_hi[t] = hi; lo = 0; hi = 0; has_lease = true };
        if
        :: one_chunk -> recall[t] = true
        :: else
        fi;
        state[t] = lent;
        knock[t] = 1 - knock[t];
        guest_sleeps[t] = false;
        sleep_while_lent(t)
    :: else -> claim = LOST
    fi
}

inline resume(t)
{
    if
    :: state[t] == lent ->
#ifndef NO_RECALL
        recall[t] = true
#endif
    :: else -> has_lease = false
    fi
}

inline look_for_work(t)
{
    victim = false;
    if
    :: slot[t] == ready || slot[t] == starting ->
        if
        :: slot[t] == ready && next != CLOSED -> victim = true
        :: else -> hungry = true
        fi
    :: slot[t] == none -> slot[t] = asked; wanted = true; hungry = true
    :: slot[t] == asked -> hungry = true
    :: slot[t] == refused
    :: slot[t] == away
#ifdef LEND_TO_AWAY
        -> victim = (next != CLOSED)
#endif
    fi
}

active [THIEVES] proctype Thief()
{
    byte wait;
    bool has_lease, victim;
    claimant;
    byte t = _pid - 1;

    do
    :: wait < WAITS ->
#ifdef POLL
        /* polled(): MPI_Test found nothing. One chunk, at once and without a doorbell; then the program goes on. */
        if
        :: has_lease -> resume(t)
        :: else
        fi;
        if
        :: !has_lease ->
            look_for_work(t);
            if
            :: victim -> victim = false; lend(t, true)
            :: else
            fi
        :: else
        fi;
        home_computes(t);
#endif
        do
        :: posted[t] >> wait & 1 -> break /* MPI has polled */
        :: else -> /* blocked() */
            if
            :: has_lease -> sleep_while_lent(t)
            :: else ->
                look_for_work(t);
                if
                :: !victim
                :: victim && state[t] == kept -> recall[t] = false; state[t] = armed
                :: victim && state[t] == armed ->
                    if
                    :: recall[t] -> state[t] = kept
                    :: else -> lend(t, false)
                    fi
                fi;
                victim = false
            fi
        od;
        /* unblocked() */
        if
        :: has_lease -> resume(t)
        :: else ->
            if
            :: state[t] == armed -> state[t] = kept
            :: else
            fi
        fi;
        home_computes(t);
        got_on[t] = true;
        wait++
    :: else -> break
    od;
    /* Rank::stop() */
    do
    :: has_lease -> recall[t] = true; sleep_while_lent(t)
    :: else -> break
    od;
    assert(state[t] == kept);
    atomic { stopped++ }
}

/* Posts what the thief's first wait is for, at any time. */
active [SENDERS] proctype Sender()
{
    byte t = _pid - 1 - THIEVES;
    posted[t] = posted[t] | 1;
    ring(t)
}

active [OTHERS] proctype Other()
{
    hungry = true;
    wanted = true;
    wanted = true
}

ltl core_comes_back { [] ((recall[0] && state[0] == lent) -> <> (state[0] != lent)) }
ltl close_ends { [] (closing -> <> !closing) }
ltl all_end { <> (stopped == THIEVES && threads == 0 && !open && region == REGIONS - 1) }
