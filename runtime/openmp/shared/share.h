// SPDX-License-Identifier: MIT
//
// Whether parallel regions of this process are shared (-workshare-openmp=share). The contract: the program runs as with
// OMP_NUM_THREADS=V, and libws decides which cores run these V threads (docs/reference/openmp-share.md).
#pragma once

#include <string>

namespace ws::openmp {

// Why no region of this program is shared, although it was asked for; null: they are.
const char* why_not_shared();

// Files that WS_OPENMP_TRUST names and this process has not loaded, separated by commas.
std::string trusted_and_missing();

// They are to be, as far as was known when the process began.
bool shares_regions();

} // namespace ws::openmp
