// SPDX-License-Identifier: MIT
//
// When the watchdog looks at the threads of an open region. Arithmetic alone.
#pragma once

#include <cstdint>

namespace ws::openmp {

// All times are in ticks of one clock. `patience`: how long nothing happens before the first look.
class Looks {
public:
    // Returns whether a look is due at `now`. `region` and `progress` change when something has happened.
    bool are_due(uint64_t region, uint64_t progress, uint64_t now, uint64_t patience)
    {
        if (region != region_ || progress != progress_) {
            region_ = region;
            progress_ = progress;
            since_ = now;
            next_ = now + patience;
        }
        return now > next_;
    }
    // One was taken at `now`, in vain. Each look interrupts the threads, so those that compute for long get them less
    // and less often.
    void looked(uint64_t now, uint64_t patience) { next_ = now + (now - since_) / 4 + patience; }
    // When something last happened.
    uint64_t since() const { return since_; }

private:
    uint64_t region_ = 0, progress_ = 0, since_ = 0, next_ = 0;
};

// How long the watchdog sleeps between two looks. Each look wakes it on a core that computes, which costs 10 us. Once
// all regions have gone on for a while it sleeps longer, until one stands still or a new one appears.
class Naps {
public:
    static constexpr unsigned first_us = 3000, calm_us = 24000, calm_after = 64;

    unsigned next_us() const { return calm_ < calm_after ? first_us : calm_us; }
    // A look has found that all open regions `went_on` since the one before. `sites`: regions that the program has.
    void looked(bool went_on, unsigned sites)
    {
        calm_ = !went_on || sites != sites_ ? 0 : calm_ + (calm_ < calm_after);
        sites_ = sites;
    }

private:
    unsigned calm_ = 0, sites_ = 0;
};

} // namespace ws::openmp
