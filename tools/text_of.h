// SPDX-License-Identifier: MIT
//
// What a tool says of an exception.
#pragma once

#include <exception>
#include <new>

namespace ws::tools {

// Returns one line. C++'s own words for a lack of memory are those of the compiler.
inline const char* text_of(const std::exception& error)
{
    return dynamic_cast<const std::bad_alloc*>(&error)
               ? "not enough memory; raise the limit (ulimit -v), or use a machine that has more"
               : error.what();
}

} // namespace ws::tools
