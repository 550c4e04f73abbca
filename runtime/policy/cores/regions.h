// SPDX-License-Identifier: MIT
//
// What a rank's parallel regions take, by their site, and so whether more threads pay: threads that come and go cost
// tens of microseconds.
#pragma once

#include "policy/cores/back_off.h"
#include "policy/cores/site_table.h"

#include <algorithm>
#include <cstdint>

namespace ws::policy::cores {

class Regions {
public:
    // `cost`: ticks that threads of a region more than usual cost it, together. `most_wait`: see waits().
    explicit Regions(uint64_t cost = 0, uint64_t most_wait = 0) : cost_(cost), most_wait_(most_wait) {}

    // Whether `more` threads beside `own` make it faster; one that is not known is taken to be long.
    bool pays(const void* site, unsigned own, unsigned more) const
    {
        return !sites_.find(site) || saves(site, own, more) > cost_;
    }
    // Ticks by which they make it shorter; 0: it is not known.
    uint64_t saves(const void* site, unsigned own, unsigned more) const
    {
        const SiteWork* its = sites_.find(site);
        return its ? its->work / own - its->work / (own + more) : 0;
    }
    // A rank may only just have begun to wait, or is about to. Ticks that a region waits for up to `more` cores of such
    // ranks before it begins without them: 0.25 % of it with one more thread. 0 if they would not pay, and for a while
    // if nobody came some times; otherwise waited() is to follow.
    uint64_t waits(const void* site, unsigned own, unsigned more)
    {
        const uint64_t gain = saves(site, own, more);
        return gain > cost_ && sites_[site].waits.is_due() ? std::min(most_wait_, gain / 200) : 0;
    }
    void waited(const void* site, bool came) { sites_[site].waits.tried(came); }
    void took(const void* site, uint64_t ticks, unsigned threads)
    {
        const bool known = sites_.find(site);
        uint64_t &least = sites_[site].work, work = ticks * threads;
        least = !known || work < least ? work : least + (work - least) / 4;
    }

private:
    struct SiteWork {
        uint64_t work = 0; // ticks of one thread: the least, which creeps up
        BackOff<15> waits;
    };

    uint64_t cost_, most_wait_;
    SiteTable<SiteWork> sites_;
};

} // namespace ws::policy::cores
