// SPDX-License-Identifier: MIT
#include "policy/placement/settings.h"

#include "policy/info.h"

#include <climits>
#include <string>
#include <utility>

namespace ws::policy::placement {

namespace {

// False if the key has a value that is none of those.
template <class Value>
bool choose(MPI_Info info, const char* key, std::initializer_list<std::pair<const char*, Value>> values, Value& value)
{
    const std::optional<std::string> text = info_value(info, key);
    if (!text)
        return true;
    for (const auto& v : values)
        if (*text == v.first) {
            value = v.second;
            return true;
        }
    return false;
}

} // namespace

Fault read_settings(MPI_Info info, int size, PlacementSettings& s)
{
    Fault f;
    if (info == MPI_INFO_NULL)
        return f;
    if (!choose(info, "ws_load_algorithm",
                {{"auto", Algorithm::automatic},
                 {"roundrobin", Algorithm::round_robin},
                 {"lpt", Algorithm::largest_first},
                 {"exact", Algorithm::exact}},
                s.algorithm))
        f.what = What::algorithm;
    if (!choose(info, "ws_load_domain", {{"core", Domain::core}, {"numa", Domain::numa}, {"node", Domain::node}},
                s.domain))
        f.what = What::domain;
    if (!take_number(info, "ws_load_spare", 0, uint64_t(size - 1), s.spare)) {
        f.what = What::spare;
        f.index = size - 1;
    }
    if (!take_number(info, "ws_load_cell", 1, INT_MAX, s.cell))
        f.what = What::cell;
    return f;
}

} // namespace ws::policy::placement
