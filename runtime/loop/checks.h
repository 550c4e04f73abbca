// SPDX-License-Identifier: MIT
//
// What WS_STEAL_ALL, WS_CHAOS and WS_CHECK change about regions, to test loops and the runtime: the room check/
// implements it. Null in every other job, so that the hot path has one branch for all of it, on LoopHost::share_all,
// where a region is cut into chunks anyway.
#pragma once

#include "abi/abi.h"
#include <cstdint>

namespace ws::loop {

struct Participant;
struct Region;
struct Sizing;

// What is different in a region that is shared for a test.
enum class Order : uint8_t {
    usual,     // nothing
    to_others, // the owner takes nothing while there is a helper; chunks of the usual sizes
    // The orders of WS_CHECK. Executions take them in turn, beginning with the first:
    backwards, // small chunks from the far end, the owner and helpers at the same time
    halves,    // two chunks that begin at the same moment
    forwards,  // small chunks, all by helpers
    turns,     // small chunks, the owner and helpers at the same time
    random,    // chunks of random sizes with random breaks between them
};

class Checks {
public:
    // Decides how the region that is about to be published is shared: sets its order, and the sizes of its chunks where
    // no clause fixes them. Returns false if it has one unit, which cannot be shared out.
    virtual bool open(Region& r, Sizing& own) = 0;
    // Called by the owner before it takes a chunk itself: waits until helpers have come, or have taken everything, or
    // no helper can be expected.
    virtual void leave_to_helpers(Region& r) = 0;
    // Order::halves: waits, for a moment at most, until the other half begins too. Order::random: takes a break.
    virtual void before_chunk(Region& r) = 0;
    virtual uint64_t random_size(uint64_t remaining) = 0;
    // In a process that only runs a pass (Mode::shuffled): gets the next chunk of the participant that runs now.
    virtual bool shuffled_next(Participant& p, long* lo, long* hi) = 0;

    // WS_CHECK notes executions that are not shared,
    virtual void note_short(const ws_site* site, uint64_t iterations) = 0; // with one iteration, or none
    virtual void note_plain(const ws_site* site) = 0;                      // where no region can be opened
    virtual void note_refused(const ws_site* site) = 0;                    // by a clause `if`
    // and those that were published. Their results are complete.
    virtual void note_published(const Region& r, uint64_t stolen) = 0;

protected:
    ~Checks() = default;
};

} // namespace ws::loop
