// SPDX-License-Identifier: MIT
//
// What mpirun, workshare and the tools answer to an unknown option.
#pragma once

#include "options/letters.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ws::option {

inline std::string without_dashes(const std::string& name)
{
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

// Returns those of `names`, two at most, that differ from `misspelt` in fewer than `most` letters and not in all,
// dashes before them aside; the nearest first.
inline std::vector<std::string> nearest(const std::vector<std::string>& names, const std::string& misspelt, int most)
{
    std::vector<std::pair<int, std::string>> all;
    const std::string letters = without_dashes(misspelt);
    for (const std::string& name : names) {
        const std::string other = without_dashes(name);
        const int apart = letters_apart(letters, other);
        if (apart < int(std::max(letters.size(), other.size())))
            all.emplace_back(apart, name);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> found;
    for (size_t i = 0; i < all.size() && i < 2 && all[i].first < most; i++)
        found.push_back(all[i].second);
    return found;
}

// "; did you mean A or B?"; empty if there is none.
inline std::string did_you_mean(const std::vector<std::string>& names)
{
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "; did you mean " : " or ") + name;
    return text.empty() ? "" : text + "?";
}

} // namespace ws::option
