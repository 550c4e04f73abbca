// SPDX-License-Identifier: MIT
//
// What the verdict says of the policy: of the node's ranks, from what their rows say at the end.
#pragma once

#include "observe/verdict.h"
#include "policy/dpb/table.h"

namespace ws::policy::dpb {

struct Done {
    bool lends, balances, leaves, shares; // as those of Dpb
    double ticks_per_us;
};

void tell(observe::Facts& facts, const Table& table, const Done& what);

} // namespace ws::policy::dpb
