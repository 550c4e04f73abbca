// SPDX-License-Identifier: MIT
//
// All ranks' machines at rank 0, by Workshare's own MPI: in a process of its own, so that whatever happens to it, there
// is a report.
#pragma once

#include "machine.h"
#include "program.h"

#include <optional>

namespace doctor {

struct RankFacts {
    Machine machine;
    std::optional<Program> program;
};

// At rank 0 the machines of all ranks, by rank; elsewhere nothing. If MPI does not start, rank 0 has only its own,
// whose mpi_error says so; on other ranks `failed` is set then.
std::vector<RankFacts> gather(const RankFacts& own, bool& failed);

} // namespace doctor
