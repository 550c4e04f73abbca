// SPDX-License-Identifier: MIT
//
// Programs that a rank starts: they inherit nothing of Workshare's.
#pragma once

namespace ws::mpi {

// From now on this process is a rank, and its children are none. Takes our variables out of its environment; call it
// while MPI_Init is under way, from the rank's own thread, when nothing reads them there any more.
void begin_children();

// In a child of fork(): the CPUs and the name of the rank's own thread, if a helper thread has forked it.
void leave_lent_core();

} // namespace ws::mpi
