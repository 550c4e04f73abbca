// SPDX-License-Identifier: MIT
//
// Commands and option names in what ws-doctor prints. Its texts are written for Workshare's own MPI; an installation
// without that MPI has `workshare` under another mpirun, and options without -workshare-.
#pragma once

#include "advice.h"

#include <string>

namespace doctor {

constexpr bool has_own_mpi = WS_OWN_MPI; // whether this installation has Workshare's MPICH

// Rewrites `text`: "mpirun -workshare-poll -n 2 ./app" becomes "mpirun -n 2 workshare --poll ./app", "mpicc -fws X" a
// command with the flags that `workshare` prints, and "-workshare-poll" in a sentence "--poll".
std::string for_any_mpi(const std::string& text);

// Returns `text` as this installation needs it.
inline std::string worded(const std::string& text) { return has_own_mpi ? text : for_any_mpi(text); }

// Returns why a check of a job was not made: `why`, unless this ws-doctor can see no job at all.
inline const char* without_job(const char* why)
{
    return has_own_mpi ? why : "ws-doctor starts no MPI but Workshare's own";
}

// Words each text of `counsel` so.
void word(Counsel& counsel);

} // namespace doctor
