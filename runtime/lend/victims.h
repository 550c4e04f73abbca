// SPDX-License-Identifier: MIT
//
// Victim policies: the values of -workshare-victim, which say which rank a thief helps. chooser.h finds the regions,
// lender.cpp claims.
#pragma once

#include "lend/chooser.h"

namespace ws::lend {

// In the order of the words of WS_VICTIM in options/options.txt.
constexpr unsigned victim_policies = 6;
extern const Score victims[victim_policies];

} // namespace ws::lend
