// SPDX-License-Identifier: MIT
#include "policy/policy.h"

#include <utility>

namespace ws::policy {

void Rank::post(const Policy& policy, int to, uint32_t kind, std::string letter) const
{
    mail->post(to, number_of(policy) << kind_bits | kind, std::move(letter));
}

} // namespace ws::policy
