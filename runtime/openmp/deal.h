// SPDX-License-Identifier: MIT
//
// How a parallel region of OpenMP's is cut into virtual threads, and how the loops inside are dealt to them. Arithmetic
// alone. Any deal of whole chunks is right for `dynamic` and `guided`, and any at all for `auto`, and for `static`
// without a chunk: which thread has an iteration is not said. `runtime` is one of these, or `static` with a chunk. A
// part is contiguous, and follows from the number of its virtual thread alone: so nothing is counted or claimed inside
// a region, and a loop that is run again is dealt in the same way. But where threads may wait for each other, an
// iteration may wait for any later one: then chunks of `dynamic` and `guided` are claimed one by one (on_demand.h).
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
struct Part {
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
inline Part part_of_loop(uint64_t n, uint64_t chunk, const Units& u)
{
    if (chunk < 2)
        return {cut(n, u.lo, u.of), cut(n, u.hi, u.of)};
    const uint64_t chunks = n / chunk + (n % chunk != 0);
    const auto at = [&](uint64_t c) { return c == chunks ? n : c * chunk; };
    return {at(cut(chunks, u.lo, u.of)), at(cut(chunks, u.hi, u.of))};
}

// schedule(static, chunk): chunks are dealt round robin. The units' first chunk, in which neighbours lie side by side:
// [first, first + size), the next ones so many iterations further on. `first` may lie behind the end.
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
    const Part part = part_of_loop(n, chunk, u);
    return {part.empty() ? n : part.from, part.to - part.from, n, !part.empty() && part.to == n};
}

// The pieces of a loop whose iterations have an order: round robin by chunks of so many, or (0) one contiguous part.
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

// How many virtual threads a region is cut into where nobody can count them: so many that each takes about `grain`,
// at least 16 and at most most_units, a power of two; and no more than keep what each does before and after its part
// of the work (`setup` each) below a fiftieth. Less than 4: it does not pay. Where one call can be `several` of them
// they are a quarter as long: as they are called so many at a time as take long enough, and one alone only at the
// region's end, they cost no more, and who ends first waits less for the other.
inline unsigned choose_units(double region, double grain, double setup, bool several = false)
{
    const auto fit = [&](double each) {
        unsigned units = 16;
        while (units < most_units && double(units) * each * 2 <= region)
            units *= 2;
        return units;
    };
    unsigned units = fit(grain);
    if (several && double(units) * setup * 50 <= region)
        return fit(grain / 4);
    while (units > 1 && double(units) * setup * 50 > region)
        units /= 2;
    return units;
}

// And where they stop at barriers: 16, but fewer, at least 4, where a phase between two barriers would give each less
// than `least` to do.
inline unsigned choose_units_that_stop(double phase, double least)
{
    unsigned units = 16;
    while (units > 4 && phase < double(units) * least)
        units /= 2;
    return units;
}

// Where OpenMP itself has `threads` threads they may wait for each other: no two of them become one virtual thread, and
// all chunks of a virtual thread, dealt round robin, would be those of one of them. What does not pay (less than 4)
// stays so.
inline unsigned no_fewer_than(unsigned threads, unsigned units)
{
    if (units < 4 || threads < 2)
        return units;
    if (threads >= most_units)
        return most_units;
    return std::min((units + threads - 1) / threads, most_units / threads) * threads;
}

} // namespace ws::openmp
