// SPDX-License-Identifier: MIT
//
// What a caller says in info, and the options that stand where it says nothing.
#pragma once

#include "policy/rows/decomposition.h"

namespace ws::policy::rows {

// "" or which key has which wrong value.
std::string read_wishes(MPI_Info info, Wishes& wishes);

} // namespace ws::policy::rows
