// SPDX-License-Identifier: MIT
//
// What WS_DISPLAY_ENV=1 prints: every setting, its value and its origin.
#pragma once

#include <string>

namespace ws::option {

// Returns the settings of this process's environment, a line each, in the style of OMP_DISPLAY_ENV. Settings for tests
// are in it only if they are set. After settle_names(), with values that read_options() has accepted.
std::string settings_text(const char* version);

} // namespace ws::option
