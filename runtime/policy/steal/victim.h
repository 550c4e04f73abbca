// SPDX-License-Identifier: MIT
//
// Whom a thief helps: the policies that -workshare-victim knows. How regions are found and claimed is in lend/.
#pragma once

#include "lend/chooser.h"

namespace ws::policy::steal {

// In the order of the words of WS_VICTIM in options/options.txt.
constexpr unsigned victim_policies = 6;
extern const lend::VictimPolicy victims[victim_policies];
// Null: none has that name.
const lend::VictimPolicy* victims_by_name(const char* name);

} // namespace ws::policy::steal
