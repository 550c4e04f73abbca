// SPDX-License-Identifier: MIT
//
// What this process computed, from its board.
#pragma once

namespace ws::reorder {

bool can_measure();
// Seconds since MPI_Init or the last begin_measuring().
double measured_load();
void begin_measuring();

} // namespace ws::reorder
