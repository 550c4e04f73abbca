// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdarg>
#include <cstdint>
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

// A time in seconds, with three digits and a unit.
inline std::string duration(double s)
{
    return s < 1e-3 ? format("%.3g us", 1e6 * s) : s < 1 ? format("%.3g ms", 1e3 * s) : format("%.3g s", s);
}

// Returns the nearest 64-bit count to a sum of counts, which may be larger than 64 bits can hold.
inline uint64_t whole(double x) { return !(x > 0) ? 0 : x < 0x1p64 ? uint64_t(std::round(x)) : UINT64_MAX; }

} // namespace ws::observe
