// SPDX-License-Identifier: MIT
//
// What the verdict says of the policy: of the ranks of all nodes, from what their rows say at the end.
#pragma once

#include "observe/verdict.h"
#include "policy/cores/table.h"

namespace ws::policy::cores {

struct Done {
    bool lends, balances, shares; // as those of Dpb, and the same on all ranks
    double ticks_per_us;
    double job_s; // from MPI_Init on
    bool alone;   // on its node: nobody could lend it a core
};

// Collective over MPI_COMM_WORLD; rank 0's `facts` get it. `table`: that of node `node`, on its first rank; null on all
// others, and where cores are not moved.
void tell(observe::Facts& facts, const Table* table, int node, const Done& what);

} // namespace ws::policy::cores
