// SPDX-License-Identifier: MIT
//
// The one place that names the policies.
#include "policy/dpb/dpb.h"
#include "policy/flex/flex.h"
#include "policy/nblb/nblb.h"
#include "policy/policy.h"
#include "policy/reorder/reorder.h"

#include <iterator>

namespace ws::policy {

const std::vector<Policy*>& policies()
{
    static Policy* const each[] = {&reorder::policy(), &dpb::policy(), &flex::policy(), &nblb::policy()};
    static_assert(std::size(each) <= window::max_policies);
    // never destroyed: exit() may run beside its users
    static auto& all = *new std::vector<Policy*>(std::begin(each), std::end(each));
    return all;
}

} // namespace ws::policy
