// SPDX-License-Identifier: MIT
#include "policy/loads/rows.h"
#include "window/times.h"

#include <algorithm>
#include <cstring>

namespace ws::policy::loads {

std::string write(uint32_t sender, const std::vector<Row>& rows)
{
    std::string letter(sizeof sender, '\0');
    std::memcpy(letter.data(), &sender, sizeof sender);
    if (!rows.empty())
        letter.append(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row));
    return letter;
}

bool read(std::string_view letter, unsigned nodes, uint32_t& sender, std::vector<Row>& rows)
{
    if (letter.size() < sizeof sender || (letter.size() - sizeof sender) % sizeof(Row))
        return false;
    std::memcpy(&sender, letter.data(), sizeof sender);
    letter.remove_prefix(sizeof sender);
    rows.resize(letter.size() / sizeof(Row));
    if (!rows.empty())
        std::memcpy(static_cast<void*>(rows.data()), letter.data(), letter.size());
    return sender < nodes && std::all_of(rows.begin(), rows.end(), [&](const Row& r) { return r.node < nodes; });
}

double every_us(unsigned nodes)
{
    return std::max(window::times::loads_least_us,
                    double(nodes) * nodes * sizeof(Row) / window::times::loads_bytes_per_us);
}

} // namespace ws::policy::loads
