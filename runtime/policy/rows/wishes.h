// SPDX-License-Identifier: MIT
//
// What a caller says in info, and the options that stand where it says nothing.
#pragma once

#include "options/options.h"
#include "policy/rows/decomposition.h"

namespace ws::policy::rows {

// `options`: null if there are none. "" or which key has which wrong value.
std::string read_wishes(MPI_Info info, const option::Options* options, Wishes& wishes);

} // namespace ws::policy::rows
