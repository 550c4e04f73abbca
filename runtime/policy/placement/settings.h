// SPDX-License-Identifier: MIT
//
// What a caller says in info.
#pragma once

#include "policy/placement/arrange.h"
#include "policy/placement/fault.h"

namespace ws::policy::placement {

struct PlacementSettings {
    Algorithm algorithm = Algorithm::automatic;
    Domain domain = Domain::core;
    int spare = 0;
    int cell = 256;
    // Not from info:
    bool measured = false; // loads are MPIX_LOADS_MEASURED
    bool weighted = false; // edges have weights
    bool operator!=(const PlacementSettings& o) const
    {
        return algorithm != o.algorithm || domain != o.domain || spare != o.spare || cell != o.cell;
    }
};

// For a communicator of `size` processes.
Fault read_settings(MPI_Info info, int size, PlacementSettings& settings);

} // namespace ws::policy::placement
