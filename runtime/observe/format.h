// SPDX-License-Identifier: MIT
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace ws::observe {

// printf's text.
__attribute__((format(printf, 1, 2))) inline std::string format(const char* f, ...)
{
    char text[2048];
    va_list args;
    va_start(args, f);
    std::vsnprintf(text, sizeof text, f, args);
    va_end(args);
    return text;
}

} // namespace ws::observe
