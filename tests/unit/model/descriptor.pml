/* SPDX-License-Identifier: MIT
 *
 * What region.pml and lending.pml share: the descriptor of a published region (loop/descriptor.h: publish, claim,
 * claim_and_join, clamp, leave and close are BasicDescriptor's members) and what participants do with their chunks
 * (alone_next(), claim_next(), guest_next(), no_more() in loop/chunks.cpp; publish(), close_published() in loop/region.cpp;
 * run_as_guest() in loop/visit.cpp).
 *
 * A step is one access to memory that others write, as in the code; what a process does alone in between is part of it.
 * Memory is sequentially consistent: the descriptor's CASes are full barriers, and its publish is a release.
 *
 * A macro after #if that is neither a size nor QUANTUM or POLL is a part of the protocol left out or done wrong on purpose:
 * model_test.py sees to it that each of them is found.
 *
 * A process that includes this has the variables of `claimant`. */

#ifndef REGIONS
#define REGIONS 2
#endif
#ifndef UNITS
#define UNITS 3       /* of every even region; the odd ones have one less */
#endif
#ifndef TAKES
#define TAKES 1       /* units that a thief claims for its guest */
#endif
#ifndef GENERATIONS
#define GENERATIONS 4 /* fewer than regions: it repeats, as after 2^13 regions in the code */
#endif

#define CLOSED 15     /* next: the closed mark */
#define LOST 0
#define TAKEN 1
#define EMPTY 2
#define NOT_OPEN 3
#define units_of(r) (UNITS - (r) % 2)

/* The descriptor: its word, and the region's end. */
byte generation, joiners, next = CLOSED;
byte end_;

/* The owner's process. */
byte region;   /* struct Region: what guests run */
byte inside;   /* guests_inside */

/* The checker's records. */
byte ran;      /* units of the open region, a bit each */
bool open, last_written, closing;
byte copying, visitors;

#define claimant byte lo, hi, n, w_generation, w_joiners, w_next, claim; bool took_last, joined_late

inline load_word() { d_step { w_generation = generation; w_joiners = joiners; w_next = next } }

#define word_is_as_loaded (w_generation == generation && w_joiners == joiners && w_next == next)

/* One attempt: `claim` becomes TAKEN, with the chunk in lo and hi, LOST, EMPTY or NOT_OPEN. */
inline attempt(join, wish)
{
    load_word();
    if
    :: w_next == CLOSED -> claim = NOT_OPEN
    :: else ->
        n = end_; /* of this generation, or the CAS fails */
        d_step {
            if
            :: w_next >= n -> claim = EMPTY
            :: w_next < n && word_is_as_loaded ->
                lo = w_next;
                hi = w_next + (n - w_next < wish -> n - w_next : wish);
                next = hi;
                joiners = joiners + join;
                claim = TAKEN
            :: else -> claim = LOST
            fi;
            n = 0; w_generation = 0; w_joiners = 0; w_next = 0
        }
    fi
}

/* claim() never returns lost. */
inline claim_chunk(wish)
{
    do
    :: attempt(0, wish);
        if
        :: claim != LOST -> break
        :: else
        fi
    od
}

/* ---- iterations */

inline run_chunk()
{
    d_step {
        assert(open && lo < hi && hi <= units_of(region));
        n = lo;
        do
        :: n < hi -> assert(!(ran >> n & 1)); ran = ran | (1 << n); n++
        :: else -> break
        od;
        n = 0;
        took_last = (hi == units_of(region));
        claim = LOST; lo = 0; hi = 0
    }
}

/* no_more(), and then what the compiler puts after the loop: who has the last iteration writes the variable. */
inline no_more()
{
    if
    :: took_last ->
#ifndef NO_WAIT_FOR_STARTING_GUESTS
        do
        :: n = joiners;
            if
            :: n <= inside -> break
            :: else
            fi
        od;
#endif
        atomic { n = 0; assert(copying == 0); last_written = true }
    :: else
    fi
}

inline close_published()
{
    closing = true;
    do
    ::
#ifdef CLOSE_WITH_GUESTS_INSIDE
        next = CLOSED; break
#else
        joiners == 0;
        load_word();
        if
        :: w_joiners == 0 ->
#if defined(NO_CLOSED_MARK)
            break
#elif defined(STORE_INSTEAD_OF_CAS_IN_CLOSE)
            d_step { joiners = 0; next = CLOSED; generation = w_generation }; break
#else
            d_step {
                if
                :: word_is_as_loaded -> next = CLOSED; claim = TAKEN
                :: else -> claim = LOST
                fi;
                w_generation = 0; w_joiners = 0; w_next = 0
            };
            if
            :: claim == TAKEN -> break
            :: else
            fi
#endif
        :: else
        fi
#endif
    od;
    atomic { closing = false; claim = LOST; w_generation = 0; w_joiners = 0; w_next = 0 }
}

/* ---- the owner */

/* Region r opens, and runs privately until a thief is hungry (`look`) or to its end: then `shared` is false. */
inline run_alone(r, look)
{
    d_step { region = r; ran = 0; open = true; last_written = false };
    do /* alone_next() */
    :: first == units_of(r) -> break
    :: first < units_of(r) && !(look) -> d_step { lo = first; first++; hi = first }; run_chunk()
    :: first < units_of(r) && (look) -> shared = true; break
    od
}

inline run_shared()
{
    end_ = units_of(region);
    d_step { generation = (generation + 1) % GENERATIONS; joiners = 0; next = first; took_last = false }; /* publish() */
    do
    :: claim_chunk(1);
        if
        :: claim == TAKEN -> run_chunk()
        :: else -> break
        fi
    od;
    no_more();
    close_published();
    assert(visitors == 0 && copying == 0)
}

inline end_region()
{
    d_step { assert(ran == (1 << units_of(region)) - 1); open = false; first = 0; shared = false; claim = LOST; took_last = false }
}

/* ---- a guest's visit */

/* run_as_guest(): run_guest_chunk() and recalled are the includer's. */
inline run_as_guest(t)
{
    d_step { /* clamp(): end_ is stable, we have joined. Then the body begins with copies, firstprivate ones too. */
        assert(open);
        claim = LOST;
        visitors++;
#ifndef NO_CLAMP
        lo = (lo < end_ -> lo : end_);
        hi = (hi < end_ -> hi : end_);
#endif
        if
#ifndef EMPTY_LEASE_RUNS_BODY
        :: lo == hi -> joined_late = true
#endif
        :: else -> copying++; assert(!last_written)
        fi
    };
    if
    :: joined_late
    :: else ->
        d_step { assert(open && !last_written); copying--; inside++ }; /* the first `next` */
        if
        :: lo < hi -> run_guest_chunk(t)
        :: else
        fi;
        do
        :: recalled(t) -> break
        :: else ->
            claim_chunk(1);
            if
            :: claim == TAKEN -> run_guest_chunk(t)
            :: else -> break
            fi
        od;
        no_more();
        inside--
    fi;
    d_step { assert(joiners > 0); joiners--; visitors--; joined_late = false; claim = LOST; took_last = false; lo = 0; hi = 0 } /* leave() */
}

