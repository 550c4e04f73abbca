// SPDX-License-Identifier: MIT
//
// The one place that names the policies.
#include "policy/cores/dpb.h"
#include "policy/rows/flex.h"
#include "policy/tasks/nblb.h"
#include "policy/policy.h"
#include "policy/placement/reorder.h"

#include <iterator>

namespace ws::policy {

const std::vector<Policy*>& policies()
{
    static Policy* const each[] = {&placement::policy(), &cores::policy(), &rows::policy(), &tasks::policy()};
    static_assert(std::size(each) <= window::max_policies);
    // never destroyed: exit() may run beside its users
    static auto& all = *new std::vector<Policy*>(std::begin(each), std::end(each));
    return all;
}

} // namespace ws::policy
