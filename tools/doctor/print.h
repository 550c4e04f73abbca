// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

namespace doctor {

// Prints lines of at most 104 columns, the first of which begins with `head`.
inline void print_wrapped(const char* head, const std::string& text)
{
    constexpr size_t width = 92;
    std::string line;
    size_t at = 0;
    bool first = true;
    const auto flush = [&] {
        std::printf("  %-9s %s\n", first ? head : "", line.c_str());
        first = false;
        line.clear();
    };
    while (at < text.size()) {
        const size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (!line.empty() && line.size() + 1 + word.size() > width)
            flush();
        line += (line.empty() ? "" : " ") + word;
        at = end + 1;
    }
    flush();
}

} // namespace doctor
