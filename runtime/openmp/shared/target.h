// SPDX-License-Identifier: MIT
//
// Target constructs, which the OpenMP library runs here if there is no device for them, and teams constructs. Inside
// them a thread is an initial thread of OpenMP, with teams and limits that guests do not have.
#pragma once

#include "openmp/shared/unit.h"

#include <optional>

namespace ws::openmp {

// As long as this lives, the calling thread is no virtual thread, and no region of the process is shared.
class TargetOrTeams {
public:
    TargetOrTeams();
    ~TargetOrTeams();

private:
    const Current outside_;
};

// A target construct of libgomp's. If a thread enters it outside of all regions, it has one team of one thread, so
// regions inside it are shared like those outside. But a clause may limit their threads, and guests would not know of
// that.
class Target {
public:
    Target();
    ~Target();
    const int limit_outside; // of threads

private:
    std::optional<TargetOrTeams> inner_;
};

// Why a region that the calling thread opens now cannot be shared: it is in one of these constructs. Null: it can.
const char* target_or_teams();

} // namespace ws::openmp
