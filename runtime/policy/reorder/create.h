// SPDX-License-Identifier: MIT
//
// Between the MPIX functions: the ranks dealt by one process that knows all.
#pragma once

#include "policy/reorder/fault.h"
#include "policy/reorder/place.h"
#include "policy/reorder/settings.h"

#include <vector>

namespace ws::reorder {

// The communicator in which process order[r] of comm is rank r, with what is noted about it. Collective.
int make_comm(MPI_Comm comm, const std::vector<int>& order, int spare, const std::shared_ptr<const Machine>& machine,
              MPI_Comm* newcomm);

} // namespace ws::reorder
