// SPDX-License-Identifier: MIT
#pragma once

#include "policy/policy.h"

namespace ws::policy::placement {

// Ranks dealt to cores by load, when the program asks: the functions of workshare/mpix.h. docs/reference/placement.md
policy::Policy& policy();

} // namespace ws::policy::placement
