// SPDX-License-Identifier: MIT
#include "policy/placement/reorder.h"

namespace ws::policy::placement {

Reorder& policy()
{
    static Reorder& reorder = *new Reorder; // never destroyed: exit() may run beside its users
    return reorder;
}

} // namespace ws::policy::placement
