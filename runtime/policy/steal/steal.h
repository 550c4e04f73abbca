// SPDX-License-Identifier: MIT
#pragma once

#include "policy/policy.h"

namespace ws::policy::steal {

// Whom waiting ranks help: -workshare-victim. Finding, claiming and lending is in lend/.
policy::Policy& policy();

} // namespace ws::policy::steal
