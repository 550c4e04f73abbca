// SPDX-License-Identifier: MIT
//
// FLEX-MPI: rows follow the processes' speeds. docs/reference/xmpi.md has what a program does for it.
#pragma once

#include "policy/policy.h"

namespace ws::policy::rows {

policy::Policy& policy();

} // namespace ws::policy::rows
