// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace ws::abi {

// What ws_last_error() answers from now on, in the calling thread; "workshare: " is put before it.
void say_last_error(const std::string& text);

} // namespace ws::abi
