// SPDX-License-Identifier: MIT
#include "policy/placement/settings.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string>
#include <utility>

namespace ws::policy::placement {

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

bool number(MPI_Info info, const char* key, int least, int most, int& value)
{
    char text[MPI_MAX_INFO_VAL + 1], *end;
    int found = 0;
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &found);
    if (!found)
        return true;
    errno = 0;
    const long given = std::strtol(text, &end, 10);
    if (errno || end == text || *end || given < least || given > most)
        return false;
    value = int(given);
    return true;
}

} // namespace

Fault read_settings(MPI_Info info, int size, Settings& s)
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
    if (!number(info, "ws_load_spare", 0, size - 1, s.spare)) {
        f.what = What::spare;
        f.index = size - 1;
    }
    if (!number(info, "ws_load_cell", 1, INT_MAX, s.cell))
        f.what = What::cell;
    return f;
}

} // namespace ws::policy::placement
