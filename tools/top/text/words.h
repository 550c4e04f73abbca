// SPDX-License-Identifier: MIT
//
// Numbers, times and names as text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace ws::top {

template <class... Values>
std::string print(const char* format, Values... values)
{
    char text[512];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

std::string counted(uint64_t n, const char* one, const char* many); // "1 core", "2 cores"
std::string percent(double share);

// In five characters.
std::string number(double n);
std::string number(uint64_t n);

std::string duration(double seconds); // 340us, 12.3ms, 4.5s, 3:07, 2:03:07

std::string file_name(const std::string& path);
// A loop's name without the folders of its file's absolute path; one that the program gave is left alone.
std::string short_loop(const std::string& name);
// The same where there is little room: without folders at all, if it is file:line:function.
std::string shorter_loop(const std::string& name);

} // namespace ws::top
