// SPDX-License-Identifier: MIT
//
// How loops of a parallel region are distributed to its virtual threads: `static` as OpenMP says, by the thread's
// number. Chunks of `dynamic` and `guided` are claimed one by one (on_demand.h). Arithmetic alone.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ws::openmp {

constexpr unsigned most_units = 256;

// The virtual threads [lo, hi) of `of`, run by one call of the region's function.
struct Units {
    unsigned lo, hi, of;
};

// Iterations [from, to), counted from 0.
struct IterationRange {
    uint64_t from, to;
    bool empty() const { return from == to; }
};

// Where part `number` of n, cut into `parts` of nearly the same size, begins. number <= parts.
inline uint64_t cut(uint64_t n, unsigned number, unsigned parts)
{
    const uint64_t each = n / parts, rest = n % parts;
    return number * each + std::min<uint64_t>(number, rest);
}

// What of a loop of n iterations belongs to these units, if it is cut only between chunks of `chunk` (0: none given).
inline IterationRange part_of_loop(uint64_t n, uint64_t chunk, const Units& u)
{
    if (chunk < 2)
        return {cut(n, u.lo, u.of), cut(n, u.hi, u.of)};
    const uint64_t chunks = n / chunk + (n % chunk != 0);
    const auto at = [&](uint64_t c) { return c == chunks ? n : c * chunk; };
    return {at(cut(chunks, u.lo, u.of)), at(cut(chunks, u.hi, u.of))};
}

// schedule(static, chunk): chunks are assigned round robin. The units' first chunk, in which neighbours lie side by
// side, is [first, first + size). Each next one lies `stride` iterations further on. `first` may lie behind the end.
struct Rounds {
    uint64_t first, size, stride;
    bool has_last; // the loop's last iteration is theirs
};
inline Rounds rounds_of_loop(uint64_t n, uint64_t chunk, const Units& u)
{
    const uint64_t last = n ? (n - 1) / chunk % u.of : 0;
    return {u.lo * chunk, (u.hi - u.lo) * chunk, u.of * chunk, n && u.lo <= last && last < u.hi};
}

// part_of_loop(), as the only piece.
inline Rounds one_round(uint64_t n, uint64_t chunk, const Units& u)
{
    const IterationRange part = part_of_loop(n, chunk, u);
    return {part.empty() ? n : part.from, part.to - part.from, n, !part.empty() && part.to == n};
}

// The pieces of a loop whose iterations have an order: round robin in chunks of `chunk` iterations, or one contiguous
// part if `chunk` is 0.
inline Rounds pieces_of_loop(uint64_t n, uint64_t chunk, const Units& u)
{
    if (chunk)
        return rounds_of_loop(n, std::min(chunk, std::max<uint64_t>(n, 1)), u);
    return one_round(n, 0, u);
}

// sections: the units' first section, counted from 1, and the one that follows `section`; 0: none.
inline unsigned first_section(unsigned count, const Units& u) { return u.lo < count ? u.lo + 1 : 0; }
inline unsigned next_section(unsigned count, unsigned section, const Units& u)
{
    const unsigned number = (section - 1) % u.of + 1 < u.hi ? section + 1 : section + u.of - (u.hi - u.lo) + 1;
    return number <= count ? number : 0;
}

} // namespace ws::openmp
