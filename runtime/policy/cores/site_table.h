// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ws::policy::cores {

// What a rank knows of its parallel regions, by their sites. If two sites share a place, the later one has it.
template <class Row> class SiteTable {
public:
    // Null: the site has no row.
    const Row* find(const void* site) const
    {
        const Place& place = places_[number_of(site)];
        return place.site == site ? &place.row : nullptr;
    }
    // The site's row, a new one if it had none.
    Row& operator[](const void* site)
    {
        Place& place = places_[number_of(site)];
        if (place.site != site)
            place = {site, {}};
        return place.row;
    }

private:
    struct Place {
        const void* site = nullptr;
        Row row;
    };
    static size_t number_of(const void* site)
    {
        return (reinterpret_cast<uintptr_t>(site) * 0x9E3779B97F4A7C15ull) >> 57;
    }
    std::array<Place, 128> places_ = {};
};

} // namespace ws::policy::cores
