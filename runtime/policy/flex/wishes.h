// SPDX-License-Identifier: MIT
//
// What a caller says in info, and the options that stand where it says nothing.
#pragma once

#include "policy/flex/decomposition.h"

namespace ws::policy::flex {

// "" or which key has which wrong value.
std::string read_wishes(MPI_Info info, Wishes& wishes);

} // namespace ws::policy::flex
