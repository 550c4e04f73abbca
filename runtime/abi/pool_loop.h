// SPDX-License-Identifier: MIT
//
// A loop in which threads run whatever a pool has: its iterations are turns, and how many there are says nothing of the
// work. Between calls of ws_loop_next().
#pragma once

#include "loop/region.h"
#include "loop/site.h"

namespace ws::abi {

// Before the loop is opened: what its iterations took the last time decides nothing.
inline void forget_turns(ws_site& site) { loop::forget_costs(&site); }
// By a guest: it gets no turn after this one.
inline void leave_after_turn() { loop::leave_after_chunk(); }
// By the owner: there are no more turns. Thousands can be left, of 0.2 us each.
inline void end_turns() { loop::end_turns(); }

} // namespace ws::abi
