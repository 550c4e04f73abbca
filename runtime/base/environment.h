// SPDX-License-Identifier: MIT
//
// Variables of the environment that are Workshare's. A rank takes them out when MPI_Init has read them, so that its
// children do not inherit them (mpi/children.cpp); what asks for one later finds it here.
#pragma once

#include <vector>

namespace ws::base {

// The value of the variable `name`: the one that was taken out, else the environment's; null: it is not set.
const char* own_variable(const char* name);

// Whether the job shares: WS_ENABLE is 1. Any other value, 0 above all, means off, wherever it is asked.
bool is_turned_on();

// Whether `name` was taken out.
bool is_taken_out(const char* name);

// Takes all `names` out of the environment and keeps their values. Once, while no other thread writes the environment.
void take_out(const std::vector<const char*>& names);

} // namespace ws::base
