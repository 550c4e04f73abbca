// SPDX-License-Identifier: MIT
//
// Sizes of memory as OMP_STACKSIZE has them, for mpirun and for the ranks.
#pragma once

#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace ws::option {

// A number and, perhaps after blanks, B, K, M, G or T; K without. Bytes; none: it is no such text, or not from 64K to
// 1T.
inline std::optional<uint64_t> stack_bytes(std::string_view text)
{
    constexpr uint64_t least = 64 << 10, most = uint64_t(1) << 40;
    static constexpr char units[] = "BKMGT";
    text = base::trim(text);
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string_view unit = base::trim(text.substr(digits));
    const char* const found =
        unit.size() == 1 ? std::strchr(units, std::toupper(static_cast<unsigned char>(unit[0]))) : nullptr;
    const unsigned shift = unit.empty() ? 10 : found ? 10 * unsigned(found - units) : 0;
    const std::optional<uint64_t> count = base::whole_number(text.substr(0, digits));
    if (!count || (!unit.empty() && !found) || *count > most >> shift || *count << shift < least)
        return {};
    return *count << shift;
}

} // namespace ws::option
