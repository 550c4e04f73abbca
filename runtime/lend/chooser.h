// SPDX-License-Identifier: MIT
//
// Which of the published regions a thief helps with. A look at a node without work reads two words a rank. It writes
// only once: that somebody waits.
#pragma once

#include "observe/board.h"
#include "window/window.h"
#include <cstdint>
#include <vector>

namespace ws::lend {

// A published region that a thief could help with, as a victim policy sees it.
struct Candidate {
    double work;       // what is left: iterations times their measured cost, in ticks
    unsigned joiners;  // guests and workers at it
    unsigned distance; // from the thief's core to the owner's, see distance()
    uint64_t random;   // another number at each look
};

// Scores a candidate: a thief prefers the region with the highest score above 0. Called for each region that has work,
// by a rank that is blocked or a worker that is idle: some nanoseconds, no memory but the candidate's. victims.cpp has
// the table. Null: nobody is helped; ranks wait as in MPICH, and are measured.
using Score = double (*)(const Candidate&);

// A region to help with; `rank` is nobody when there is none.
struct Target {
    static constexpr unsigned nobody = ~0u;
    unsigned rank = nobody, slot = 0;
    loop::Descriptor::Look look = {};
    explicit operator bool() const { return rank != nobody; }
};

// The eyes of one lending thread.
class Chooser {
public:
    // For the thread at home on `core` of the window's table. With `help_own` its own rank is looked at as well.
    void start(window::Window& window, unsigned core, Score score, bool help_own);

    // The region to help with now, if there is one whose owner has a guest for this core (if `direct`, none is needed
    // for the thread's own rank). Where it finds none, it tells the owners that somebody waits, and how hungry it is.
    // Regions with less than `least` ticks of work left, where that is known, are not worth it.
    Target choose(window::Hungry hunger, bool direct, uint64_t least);
    // Why the last choose() found none.
    observe::Refusal why_none() const { return why_none_; }
    // If choose() found too little work, returns for how many ticks the owners and their helpers are still busy. Then
    // the first of these regions is over. 0: unknown.
    uint64_t little_left() const { return little_left_ == unknown ? 0 : little_left_; }

private:
    uint64_t random();

    window::Window* window_ = nullptr;
    unsigned core_ = 0, me_ = 0;
    Score score_ = nullptr;
    bool help_own_ = false;
    observe::Refusal why_none_ = observe::Refusal::nothing_shared;
    static constexpr uint64_t unknown = ~uint64_t(0);
    uint64_t little_left_ = unknown;
    uint64_t random_ = 1;
    std::vector<unsigned char> distances_; // by rank
};

} // namespace ws::lend
