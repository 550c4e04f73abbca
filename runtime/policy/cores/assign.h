// SPDX-License-Identifier: MIT
//
// Which processors move when a deal changes: those near the rank that gets them. Arithmetic alone.
#pragma once

#include "policy/cores/deal.h"
#include "window/window.h"

namespace ws::policy::cores {

struct Located {
    unsigned owner;
    bool home;       // of its owner's own thread: it never moves
    unsigned first;  // who had it at the start
    window::Place place;
};

struct Move {
    unsigned processor, from, to;
};

// What leads from the owners as they are to `deal`, whose sum is the number of processors. Each processor at most once.
// A rank gets, of what others have too much, what was its own first, and else what is nearest to its home processor.
std::vector<Move> moves_to(const Deal& deal, const std::vector<Located>& processors);

} // namespace ws::policy::cores
