// SPDX-License-Identifier: MIT
//
// Counter-based random numbers: (seed, a, b) gives the same number in every process, so results do not depend on which
// process has which rows.
#pragma once

#include <cstdint>

namespace flex {

inline uint64_t random_bits(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = seed * 0x9E3779B97F4A7C15ull + a * 0xBF58476D1CE4E5B9ull + b * 0x94D049BB133111EBull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}
inline double random_unit(uint64_t seed, uint64_t a, uint64_t b)
{
    return double(random_bits(seed, a, b) >> 11) * 0x1p-53;
}

} // namespace flex
