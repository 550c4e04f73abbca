// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace doctor {

// Returns it as one word of a shell's command.
inline std::string quoted(const std::string& word)
{
    if (!word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_") ==
            std::string::npos)
        return word;
    std::string text = "'";
    for (char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

} // namespace doctor
