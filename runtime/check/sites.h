// SPDX-License-Identifier: MIT
#pragma once

#include "abi/abi.h"
#include <vector>

namespace ws::check {

// Every `ws for` in the binaries that this process has loaded, whether it has run or not; loops of the API only once
// they have run. Slow.
std::vector<const ws_site*> sites_of_process();

} // namespace ws::check
