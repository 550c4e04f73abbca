/* SPDX-License-Identifier: MIT
 *
 * Regions and their guests: the owner opens one after the other, thieves join and run chunks. A thief and its guest are one
 * process here, and cores are left out (lending.pml has them): between its claim and its first chunk any time passes.
 *
 * Assertions, in descriptor.pml: each unit of each region runs exactly once, while the region is open; it is closed when
 * nobody is inside; lastprivate is written when nobody copies it in, nor will. No deadlock. Liveness: all ends. */

#ifndef THIEVES
#define THIEVES 2
#endif
#ifndef VISITS
#define VISITS 2      /* times that a thief tries to join */
#endif

#define recalled(t) false
#define run_guest_chunk(t) run_chunk()

#include "descriptor.pml"

byte ended;

active proctype Owner()
{
    byte r, first;
    bool shared;
    claimant;

    do
    :: r < REGIONS -> run_alone(r, true); run_shared(); end_region(); r++
    :: else -> break
    od;
    ended++
}

active [THIEVES] proctype Thief()
{
    byte visits;
    claimant;

    do
    :: visits < VISITS ->
        visits++;
        attempt(1, TAKES);
        if
        :: claim == TAKEN -> run_as_guest(0)
        :: else -> claim = LOST
        fi
    :: else -> break
    od;
    ended++
}

ltl all_end { <> (ended == THIEVES + 1) }
