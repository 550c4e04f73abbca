// SPDX-License-Identifier: MIT
//
// How many units a participant takes at a time. Pure arithmetic, no shared state.
#pragma once

#include "abi/abi.h"
#include <cstdint>

namespace ws::loop {

// A schedule clause of one side, owner or thieves, resolved for one region.
struct Sizing {
    ws_schedule kind = WS_AUTO;
    uint64_t chunk = 1; // units; auto: the current time-sized chunk
    uint64_t least = 1; // units: less would cost more to claim than it balances

    // `given` in units, 0 = the clause gives none. Static without a chunk is auto: nobody can see which participant
    // runs an iteration, and of equal shares the last one cannot be divided when others begin to wait. Dynamic and
    // guided have OpenMP's default of 1.
    static Sizing resolve(ws_schedule kind, uint64_t given)
    {
        return {kind == WS_STATIC && given == 0 ? WS_AUTO : kind, given ? given : 1, 1};
    }

    // Units to take of `remaining`, with `participants` at work (the asker included). May exceed `remaining`.
    uint64_t units(uint64_t remaining, unsigned participants, unsigned sharers) const
    {
        // Half of an equal share at most, so that no chunk outlasts what the others still have to do.
        const uint64_t most = remaining / (2 * participants);
        switch (kind) {
        case WS_GUIDED: {
            uint64_t share = (remaining + sharers - 1) / sharers, n = several(most);
            return share > n ? share : n;
        }
        case WS_AUTO: {
            uint64_t n = chunk < most ? chunk : most;
            return n > least ? n : least;
        }
        default:
            return several(most);
        }
    }

    // The same, of the units from `next` on. Chunks of many units end at a multiple of 64 of them: neighbours then
    // share no cache line of what they write, and vectors lie in each chunk as they do in the whole loop.
    uint64_t units_from(uint64_t next, uint64_t remaining, unsigned participants, unsigned sharers) const
    {
        uint64_t n = units(remaining, participants, sharers);
        return kind != WS_AUTO || n < 256 || n >= remaining ? n : ((next + n) & ~uint64_t(63)) - next;
    }

    // The same, of the units before `end`.
    uint64_t units_until(uint64_t end, uint64_t remaining, unsigned participants, unsigned sharers) const
    {
        const uint64_t n = units(remaining, participants, sharers);
        return n < 256 || n >= remaining ? n : end - ((end - n + 63) & ~uint64_t(63));
    }

    // In one word, for the window: kind 8 bits, least 16, chunk 40.
    static constexpr uint64_t max_least = 0xffff, max_chunk = (uint64_t(1) << 40) - 1;
    uint64_t pack() const
    {
        return uint64_t(kind) << 56 | (least < max_least ? least : max_least) << 40 |
               (chunk < max_chunk ? chunk : max_chunk);
    }
    // Takes any word, because another process may have written there.
    static Sizing unpack(uint64_t v)
    {
        const uint64_t kind = v >> 56, chunk = v & max_chunk;
        return {kind <= WS_RUNTIME ? ws_schedule(kind) : WS_DYNAMIC, chunk ? chunk : 1, v >> 40 & max_least};
    }

private:
    // Chunks of the size that the user fixed, as many at once as `least` asks for and `most` allows.
    uint64_t several(uint64_t most) const
    {
        const uint64_t n = least < most ? least : most;
        return n > chunk ? n - n % chunk : chunk;
    }
};

// Measures a participant's chunks and sizes the next one by time (schedule auto).
class Pace {
public:
    void begin(Sizing sizing, uint64_t now)
    {
        sizing_ = sizing;
        started_ = now;
        last_ = unmeasured_ = units_ = ticks_ = longest_ = 0;
        for (Halves& h : halves_)
            h = {};
    }

    const Sizing& sizing() const { return sizing_; }
    // No claim for less than `ticks`, as far as is known what a unit takes.
    void set_least(uint64_t ticks, double unit_ticks) { sizing_.least = least_units(ticks, unit_ticks); }
    static uint64_t least_units(uint64_t ticks, double unit_ticks)
    {
        const double n = unit_ticks > 0 ? double(ticks) / unit_ticks : 1;
        return n < 1 ? 1 : n < double(Sizing::max_least) ? uint64_t(n) : Sizing::max_least;
    }
    // `crowded`: others are in the region, too.
    void start_chunk(uint64_t units, bool second_half = false, bool crowded = false)
    {
        last_ = units;
        second_half_ = second_half;
        crowded_ = crowded;
    }

    // Whether finish_chunk needs the time: always for auto; only now and then for sizes that the user fixed, as reading
    // the clock for each of their chunks would cost more than the claim.
    bool wants_time() const { return sizing_.kind == WS_AUTO || !last_ || unmeasured_ >= 15 * last_; }
    void skip_time() { unmeasured_ += last_; }

    // The chunk last started is done; `target` is the time a chunk should take.
    void finish_chunk(uint64_t now, uint64_t target)
    {
        if (last_) {
            uint64_t took = now - started_;
            units_ += last_ + unmeasured_;
            ticks_ += took;
            last_cost_ = double(took) / double(last_ + unmeasured_);
            const uint64_t chunk = unmeasured_ ? uint64_t(last_cost_ * double(last_)) : took;
            longest_ = chunk > longest_ ? chunk : longest_;
            Half& half = halves_[crowded_].half[second_half_];
            half.units += last_ + unmeasured_;
            half.ticks += took;
            unmeasured_ = 0;
            if (sizing_.kind == WS_AUTO)
                sizing_.chunk = resize(last_, took, target);
        }
        started_ = now;
    }

    uint64_t started() const { return started_; }
    uint64_t measured_units() const { return units_; }
    uint64_t measured_ticks() const { return ticks_; }
    uint64_t longest() const { return longest_; } // chunk, in ticks
    // The chunk that was finished last; 0 units: it was not measured.
    double last_cost() const { return last_cost_; }
    uint64_t last_units() const { return unmeasured_ ? 0 : last_; }
    // Cost of a unit in the second half of the units over one in the first; 0: this participant has not seen enough of
    // both, either alone or in company. Company makes units more expensive. So a comparison of the start of a region,
    // before its first guest came, with the rest of it says nothing about the loop.
    double tilt() const
    {
        const Halves &alone = halves_[0], &crowded = halves_[1];
        return (alone.fewest() >= crowded.fewest() ? alone : crowded).tilt();
    }
    // The same without regard to company.
    double rough_tilt() const
    {
        Halves all = halves_[0];
        for (unsigned k = 0; k < 2; k++) {
            all.half[k].units += halves_[1].half[k].units;
            all.half[k].ticks += halves_[1].half[k].ticks;
        }
        return all.tilt();
    }
    double ticks_per_unit() const { return units_ ? double(ticks_) / double(units_) : 0; }

private:
    // Grow by 4 or 2 while far below the target; fall to the measured size at once when above it.
    static uint64_t resize(uint64_t units, uint64_t took, uint64_t target)
    {
        if (took < target / 16)
            return units * 4;
        if (took < target * 2 / 3)
            return units * 2;
        uint64_t fit = uint64_t(double(units) * double(target) / double(took));
        return fit < 1 ? 1 : fit > 2 * units ? 2 * units : fit;
    }

    Sizing sizing_;
    uint64_t started_ = 0;    // ticks when the running chunk began
    uint64_t last_ = 0;       // units of the running chunk
    uint64_t unmeasured_ = 0; // units finished since the last reading
    uint64_t units_ = 0, ticks_ = 0, longest_ = 0;
    double last_cost_ = 0; // ticks a unit
    bool second_half_ = false, crowded_ = false; // where the running chunk lies, and who else is there
    struct Half {
        uint64_t units, ticks;
    };
    struct Halves {
        Half half[2];
        uint64_t fewest() const { return half[0].units < half[1].units ? half[0].units : half[1].units; }
        double tilt() const
        {
            const Half &a = half[0], &b = half[1];
            const bool enough = a.ticks && b.ticks && 8 * fewest() >= a.units && 8 * fewest() >= b.units;
            return enough ? double(b.ticks) / double(b.units) / (double(a.ticks) / double(a.units)) : 0;
        }
    } halves_[2] = {}; // alone, crowded
};

} // namespace ws::loop
