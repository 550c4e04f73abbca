// SPDX-License-Identifier: MIT
//
// Names of loops end in terminals, JSON and tables: here is what makes one line of UTF-8 of any text. For the plugins
// and libws.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace ws::abi {

// The length of the character that begins at `at` and its code; 0: the bytes there are not UTF-8.
inline size_t read_utf8(const std::string &text, size_t at, unsigned long &code) {
    const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
    const unsigned first = byte(0);
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xC2 && first < 0xE0 ? 2
                          : first >= 0xE0 && first < 0xF0 ? 3
                          : first >= 0xF0 && first < 0xF5 ? 4
                                                          : 0;
    code = length < 2 ? first : first & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte(i) & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (byte(i) & 0x3F);
    }
    constexpr unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    return length && code >= least[length] && code < 0x110000 && !(code >= 0xD800 && code < 0xE000) ? length : 0;
}

// Also what ends a line or turns the direction of writing.
inline bool is_control(unsigned long code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

// Without what would harm a terminal or a file: '?' instead.
inline std::string one_line(const std::string &text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        unsigned long code;
        const size_t length = read_utf8(text, at, code);
        out += length && !is_control(code) ? text.substr(at, length) : "?";
        at += std::max<size_t>(length, 1);
    }
    return out;
}

// Returns the path of a source file without "." and "..": a build in another folder calls it "../../a.c". Nobody sees
// from which folder that is when the program runs.
inline std::string plain_path(const std::string &file) {
    std::vector<std::string> parts;
    for (size_t at = 0, end; at <= file.size(); at = end + 1) {
        end = std::min(file.find('/', at), file.size());
        const std::string part = file.substr(at, end - at);
        if (part == "..") {
            if (!parts.empty())
                parts.pop_back();
        } else if (!part.empty() && part != ".") {
            parts.push_back(part);
        }
    }
    std::string path;
    for (const std::string &part : parts)
        path += (path.empty() && file[0] != '/' ? "" : "/") + part;
    return path;
}

// Shortened to `most` bytes: dots replace the middle, or the beginning.
inline std::string shortened(const std::string &text, size_t most, bool keep_begin) {
    static const std::string gap = "...";
    if (text.size() <= most)
        return text;
    const size_t kept = most - gap.size();
    size_t head = keep_begin ? kept / 2 : 0, tail = text.size() - (kept - head);
    // Not within a character.
    const auto inside = [&](size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    };
    while (head && inside(head))
        head--;
    while (inside(tail))
        tail++;
    return text.substr(0, head) + gap + text.substr(tail);
}

}  // namespace ws
