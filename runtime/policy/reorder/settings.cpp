// SPDX-License-Identifier: MIT
#include "policy/reorder/settings.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

namespace ws::reorder {

namespace {

// False if the key has a value that is none of those.
template <class Value>
bool choose(MPI_Info info, const char* key, std::initializer_list<std::pair<const char*, Value>> values, Value& value)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &found);
    if (!found)
        return true;
    for (const auto& v : values)
        if (std::string(text) == v.first) {
            value = v.second;
            return true;
        }
    return false;
}

} // namespace

Fault read_settings(MPI_Info info, int size, Settings& s)
{
    Fault f;
    if (info == MPI_INFO_NULL)
        return f;
    if (!choose(info, "ws_load_algorithm",
                {{"auto", Algorithm::automatic}, {"roundrobin", Algorithm::round_robin}, {"lpt", Algorithm::largest_first},
                 {"exact", Algorithm::exact}}, s.algorithm))
        f.what = What::algorithm;
    if (!choose(info, "ws_load_domain", {{"core", Domain::core}, {"numa", Domain::numa}, {"node", Domain::node}}, s.domain))
        f.what = What::domain;
    char text[MPI_MAX_INFO_VAL + 1], *end;
    int found = 0;
    PMPI_Info_get(info, "ws_load_spare", MPI_MAX_INFO_VAL, text, &found);
    if (found) {
        errno = 0;
        const long value = std::strtol(text, &end, 10);
        s.spare = 0;
        if (errno || end == text || *end || value < 0 || value >= size) {
            f.what = What::spare;
            f.index = size - 1;
        } else
            s.spare = int(value);
    }
    return f;
}

} // namespace ws::reorder
