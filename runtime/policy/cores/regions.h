// SPDX-License-Identifier: MIT
//
// What a rank's parallel regions take, by their site, and so whether more threads pay: threads that come and go cost
// tens of microseconds.
#pragma once

#include <array>
#include <cstdint>

namespace ws::policy::cores {

class Regions {
public:
    // Ticks that threads of a region more than usual cost it, together.
    explicit Regions(uint64_t cost = 0) : cost_(cost) {}

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
    void took(const void* site, uint64_t ticks, unsigned threads)
    {
        SiteWork& row = rows_[place(site)];
        const uint64_t work = ticks * threads;
        row.work = row.site != site ? work : work < row.work ? work : row.work + (work - row.work) / 4;
        row.site = site;
    }

private:
    struct SiteWork {
        const void* site;
        uint64_t work; // ticks of one thread: the least, which creeps up
    };
    static size_t place(const void* site) { return (reinterpret_cast<uintptr_t>(site) * 0x9E3779B97F4A7C15ull) >> 57; }

    uint64_t cost_;
    std::array<SiteWork, 128> rows_ = {};
};

} // namespace ws::policy::cores
