// SPDX-License-Identifier: MIT
//
// Dynamic processor balancing for MPI+OpenMP: -workshare-openmp.
//
//   lend     processors of a rank that waits in MPI join the regions that other ranks of the node open meanwhile, for
//            that region
//   balance  processors change hands, by what the ranks' periods cost (deal.h): the paper's DPB
//   auto     both
#pragma once

#include "policy/policy.h"

namespace ws::policy::cores {

policy::Policy& policy();

} // namespace ws::policy::cores
