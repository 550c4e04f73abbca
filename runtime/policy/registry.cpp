// SPDX-License-Identifier: MIT
//
// The one place that names the policies.
#include "policy/policy.h"
#include "policy/reorder/reorder.h"
#include "policy/steal/steal.h"

namespace ws::policy {

const std::vector<Policy*>& policies()
{
    static auto& all = *new std::vector<Policy*>{&steal::policy(), &reorder::policy()}; // exit() may run beside its users
    return all;
}

} // namespace ws::policy
