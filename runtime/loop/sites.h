// SPDX-License-Identifier: MIT
#pragma once

#include "directive/abi.h"
#include <vector>

namespace ws::loop {

// Every `ws for` in the binaries that this process has loaded, run or not; those of the API are not among them until they run. Slow.
std::vector<const ws_site*> sites_of_process();

} // namespace ws::loop
