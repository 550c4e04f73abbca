// SPDX-License-Identifier: MIT
//
// All ranks' machines at rank 0, by Workshare's own MPI: in a process of its own, so that whatever happens to it, there is a report.
#pragma once

#include "machine.h"
#include "program.h"

#include <optional>

namespace doctor {

struct RankFacts {
    Machine machine;
    std::optional<Program> program;
};

// At rank 0 those of all ranks, by rank; elsewhere nothing. If MPI does not start, at rank 0 its own, whose mpi_error says so.
// Whether a rank other than 0 did: `failed`.
std::vector<RankFacts> gather(const RankFacts& own, bool& failed);

} // namespace doctor
