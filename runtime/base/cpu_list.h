// SPDX-License-Identifier: MIT
//
// CPUs as people and the kernel write them: "0-3,8".
#pragma once

#include <string>
#include <vector>

namespace ws::base {

// `cpus` rise. Returns "none" if there are none.
inline std::string cpu_list(const std::vector<int>& cpus)
{
    std::string text;
    for (size_t i = 0, end; i < cpus.size(); i = end) {
        for (end = i + 1; end < cpus.size() && cpus[end] == cpus[end - 1] + 1;)
            end++;
        text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
        if (end > i + 1)
            text += "-" + std::to_string(cpus[end - 1]);
    }
    return text.empty() ? "none" : text;
}

} // namespace ws::base
