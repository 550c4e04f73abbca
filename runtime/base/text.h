// SPDX-License-Identifier: MIT
//
// What settings, files and messages consist of.
#pragma once

#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ws::base {

// Without the blanks around it.
inline std::string_view trim(std::string_view s)
{
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())))
        s.remove_prefix(1);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())))
        s.remove_suffix(1);
    return s;
}

// The number that a text is if it has decimal digits and nothing else: no sign, no blank. None: it is no such text, or
// its number is too large.
inline std::optional<uint64_t> whole_number(std::string_view text)
{
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return {};
    return number;
}

} // namespace ws::base
