// SPDX-License-Identifier: MIT
//
// What a rank's parallel regions take, by their site, and so whether more threads pay: threads that come and go cost
// tens of microseconds.
#pragma once

#include "policy/cores/back_off.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace ws::policy::cores {

class Regions {
public:
    // `cost`: ticks that threads of a region more than usual cost it, together. `most_wait`: see waits().
    explicit Regions(uint64_t cost = 0, uint64_t most_wait = 0) : cost_(cost), most_wait_(most_wait) {}

    // Whether `more` threads beside `own` make it faster; one that is not known is taken to be long.
    bool pays(const void* site, unsigned own, unsigned more) const
    {
        return rows_[place(site)].site != site || saves(site, own, more) > cost_;
    }
    // Ticks by which they make it shorter; 0: it is not known.
    uint64_t saves(const void* site, unsigned own, unsigned more) const
    {
        const SiteWork& row = rows_[place(site)];
        return row.site != site ? 0 : row.work / own - row.work / (own + more);
    }
    // A rank may only just have begun to wait, or is about to. Ticks that a region waits for up to `more` cores of such
    // ranks before it begins without them: 0.25 % of it with one more thread. 0 if they would not pay, and for a while
    // if nobody came some times; otherwise waited() is to follow.
    uint64_t waits(const void* site, unsigned own, unsigned more)
    {
        const uint64_t gain = saves(site, own, more);
        return gain > cost_ && rows_[place(site)].waits.is_due() ? std::min(most_wait_, gain / 200) : 0;
    }
    void waited(const void* site, bool came) { rows_[place(site)].waits.tried(came); }
    void took(const void* site, uint64_t ticks, unsigned threads)
    {
        SiteWork& row = rows_[place(site)];
        const uint64_t work = ticks * threads;
        if (row.site != site)
            row = {site, work, {}};
        else
            row.work = work < row.work ? work : row.work + (work - row.work) / 4;
    }

private:
    struct SiteWork {
        const void* site;
        uint64_t work; // ticks of one thread: the least, which creeps up
        BackOff<15> waits;
    };
    static size_t place(const void* site) { return (reinterpret_cast<uintptr_t>(site) * 0x9E3779B97F4A7C15ull) >> 57; }

    uint64_t cost_, most_wait_;
    std::array<SiteWork, 128> rows_ = {};
};

} // namespace ws::policy::cores
