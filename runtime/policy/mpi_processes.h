// SPDX-License-Identifier: MIT
#pragma once

#include "policy/processes.h"

namespace ws::policy {

// Collective over comm, which is duplicated. `what`: whose messages they are, for the message that ends the job where
// MPI fails in a flight.
std::unique_ptr<Processes> processes_of(MPI_Comm comm, const char* what);

} // namespace ws::policy
