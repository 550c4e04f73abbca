// SPDX-License-Identifier: MIT
//
// A region run by a team: threads of the program's own that begin it together, as OpenMP's do. Either they share it out among
// themselves as OpenMP would, at OpenMP's cost; or the first of them owns it as any other region and the rest are its guests,
// so that thieves may come too.
#pragma once

#include "loop/participant.h"

namespace ws {

struct alignas(64) Team {
    // What each thread reads: one cache line, so that it costs one to come to the others.
    void (*fn)(void*);
    void* data;
    ws_site* site;
    long chunk;
    LoopBounds bounds;

    long steal_chunk;
    bool has_bounds; // else they come with the start call

    // The first way: the first iteration that no thread has, for dynamic and guided; threads that have asked for a chunk, if
    // somebody is to wait for that.
    alignas(64) volatile Hardware::Word next = 0;
    volatile Hardware::Word begun = 0;
    // The second way: what became of the region. Written by its owner, once.
    enum : Flag { unknown, published, over };
    volatile Flag state = unknown;
    unsigned owner_slot = 0;
    uint64_t iterations = 0; // written by the first thread
};

// A thread's part.
struct Member {
    Team* team;
    unsigned number, threads; // which of how many
    LoopBounds bounds;
    uint64_t turns;  // chunks of its own that it has had: static
    bool first;      // has not asked for a chunk yet
    bool took_last;
};

// That of an owner.
unsigned slot_of(const Participant& p);

// Runs the team's region by the calling thread as thread `number` of `threads`; returns when it has no more to do in it. The
// first way, and the second.
void share_out(Team& team, unsigned number, unsigned threads);
void run_with_guests(Team& team, unsigned number, unsigned threads);

// Whether this execution should be open to guests: thieves have been seen to wait. These two only where the calling thread owns
// regions and is in none.
bool team_wants_guests(ws_site* site);
// A team has run a region from `opened_at` on, without guests.
void remember_team(const Team& team, unsigned threads, uint64_t opened_at);

} // namespace ws
