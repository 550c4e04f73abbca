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
    // `cost`: ticks that threads of a region more than usual cost it, together. `most_wait`: see waits(). `most_trial`:
    // see keeps_alone().
    explicit Regions(uint64_t cost = 0, uint64_t most_wait = 0, uint64_t most_trial = 0)
        : cost_(cost), most_wait_(most_wait), most_trial_(most_trial)
    {}

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
    // Whether an execution with `own` threads that could borrow cores is to borrow none, because those with borrowed
    // cores took longer: the threads take turns at what they all change, such as libgomp's counter of a loop in chunks
    // of one iteration. Then it rarely tries them again. A region is run without them two times to know it, and then
    // rarely: the more borrowed cores it has, the longer this takes. Not before many executions where one would take
    // more than `most_trial`.
    bool keeps_alone(const void* site, unsigned own)
    {
        if (!sites_.find(site))
            return false;
        SiteWork& its = sites_[site];
        const bool is_long = its.helped.ticks * (1 + its.more) >= most_trial_;
        if (its.own != own || its.helped.times < (is_long ? enough_long * its.more : enough))
            return false;
        if (its.alone.times < 2 || its.since_alone >= most_since_alone * its.more)
            return true;
        if (its.helped.ticks <= its.alone.ticks) {
            its.until_try = first_try;
            its.tries = 0;
            return false;
        }
        if (its.until_try > 0) {
            its.until_try--;
            return true;
        }
        its.tries = std::min(its.tries + 1, most_tries);
        its.until_try = first_try << its.tries;
        return false;
    }
    // An execution, of whose threads `own` were not on borrowed cores. `is_like_others`: keeps_alone() may compare it.
    // So it could have borrowed cores: those for which there were none may be the short ones.
    void took(const void* site, uint64_t ticks, unsigned threads, unsigned own, bool is_like_others = true)
    {
        const bool known = sites_.find(site);
        SiteWork& its = sites_[site];
        const uint64_t work = ticks * threads;
        its.work = !known || work < its.work ? work : its.work + (work - its.work) / 4;
        if (!is_like_others)
            return;
        if (its.own != own) {
            its.own = own;
            its.alone = its.helped = {};
            its.until_try = first_try;
            its.tries = its.since_alone = 0;
        }
        const bool is_helped = threads > own;
        Length& length = is_helped ? its.helped : its.alone;
        its.since_alone = is_helped ? std::min(its.since_alone + 1, most) : 0;
        if (is_helped)
            its.more = (threads - 1) / own;
        else if (ticks < its.helped.ticks && length.times >= 2) // it may have changed: soon again
            its.since_alone = most_since_alone * its.more - first_try;
        const uint64_t least = length.times ? std::min(ticks, length.last) : ticks, was = length.ticks;
        length.last = ticks;
        length.times = std::min(length.times + 1, most);
        if (length.times <= 2)
            length.ticks = least;
        else if (is_helped)
            length.ticks = least < was ? least : was + (least - was) / 4;
        else
            length.ticks = least > was ? least : was - (was - least) / 2;
    }

private:
    struct Length {
        uint64_t ticks = 0, last = 0; // of two executions in a row, the shorter one counts: others may disturb one
        unsigned times = 0;
    };
    struct SiteWork {
        uint64_t work = 0; // ticks of one thread: the least, which creeps up
        BackOff<15> waits;
        // Without borrowed cores: the most, which creeps down; and with them: the least, which creeps up. So a region
        // whose length changes rarely seems slower with them, and not for long.
        Length alone, helped;
        unsigned own = 0, until_try = first_try, tries = 0, since_alone = 0; // executions
        unsigned more = 1; // borrowed cores for each own one
    };
    // Executions with borrowed cores before they are judged, and if they are long; between tries, which becomes twice
    // as many so often.
    static constexpr unsigned enough = 4, enough_long = 64, first_try = 8, most_tries = 6, most_since_alone = 512,
                              most = 1 << 30;

    uint64_t cost_, most_wait_, most_trial_;
    SiteTable<SiteWork> sites_;
};

} // namespace ws::policy::cores
