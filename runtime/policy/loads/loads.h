// SPDX-License-Identifier: MIT
//
// Balances nothing itself, but serves other policies: it makes the loads of each node's ranks known on all nodes. It
// runs only if a policy wants them (Policy::wants_loads()).
//
//   a node's decider sums up its ranks' loads -> letter to node 0 -> letter with the sums of all -> rows in the memory
//   of each node
//
// Each side writes to the rank that wrote last from there, as that one looks for letters; at first to a node's first
// rank. So a node is heard of as long as one of its ranks waits in MPI now and then, or calls it.
#pragma once

#include "policy/policy.h"

namespace ws::policy::loads {

policy::Policy& policy();

} // namespace ws::policy::loads
