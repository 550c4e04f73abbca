// SPDX-License-Identifier: MIT
#include "words.h"

#include <cmath>

namespace ws::top {

std::string counted(uint64_t n, const char* one, const char* many)
{
    return print("%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

std::string percent(double share) { return print("%.0f", 100 * share); }

std::string number(double n)
{
    if (n < 9.95 && n > 0)
        return print("%.1f", n);
    if (n < 99999.5)
        return print("%.0f", n);
    const char* unit = "kMGTPE";
    for (n /= 1000; n >= 999.5 && unit[1]; unit++)
        n /= 1000;
    return print(n < 99.95 ? "%.1f%c" : "%.0f%c", n, *unit);
}

std::string number(uint64_t n) { return n < 100000 ? std::to_string(n) : number(double(n)); }

std::string duration(double s)
{
    if (s < 0.9995e-3)
        return print("%.0fus", s * 1e6);
    if (s < 0.9995)
        return print(s < 9.995e-3 ? "%.1fms" : "%.0fms", s * 1e3);
    if (s < 59.95)
        return print("%.1fs", s);
    const long whole = std::lround(s);
    return whole < 3600 ? print("%ld:%02ld", whole / 60, whole % 60)
                        : print("%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string file_name(const std::string& path)
{
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string short_loop(const std::string& name)
{
    const size_t colon = name.find(':'), slash = name.rfind('/', colon);
    return name[0] == '/' && slash != std::string::npos ? name.substr(slash + 1) : name;
}

std::string shorter_loop(const std::string& name)
{
    const size_t colon = name.find(':'), slash = name.rfind('/', colon);
    if (colon == std::string::npos || slash == std::string::npos)
        return name;
    const size_t end = name.find_first_not_of("0123456789", colon + 1);
    return end != std::string::npos && end > colon + 1 && name[end] == ':' ? name.substr(slash + 1) : name;
}

} // namespace ws::top
