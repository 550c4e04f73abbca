// SPDX-License-Identifier: MIT
//
// How much a misspelt word differs from a known one: for mpiexec's options and libws's variables, to say which was
// meant.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace ws::option {

// How many letters to insert, to drop, to replace or to swap with the next one make b of a; upper case or lower does
// not matter. 40 if one of them is longer than that.
inline int letters_apart(std::string_view a, std::string_view b)
{
    constexpr int longest = 40;
    int d[longest + 1][longest + 1];
    const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
    const auto same = [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    };

    if (n > longest || m > longest)
        return longest;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            d[i][j] = i && j ? d[i - 1][j - 1] + !same(a[i - 1], b[j - 1]) : i + j;
            if (i)
                d[i][j] = std::min(d[i][j], d[i - 1][j] + 1);
            if (j)
                d[i][j] = std::min(d[i][j], d[i][j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

} // namespace ws::option
