// SPDX-License-Identifier: MIT
//
// A process of a job may start mpiexec or `workshare` again, with the outer job's libraries still named in LD_PRELOAD.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

namespace ws::launcher {

// Takes Workshare's own libraries out of LD_PRELOAD, and the variable itself if nothing is left in it. If one of them
// was named without a folder, LD_LIBRARY_PATH begins with the folder that it lies in, which goes, too.
inline void forget_preloads()
{
    const char* const preloaded = std::getenv("LD_PRELOAD");
    if (!preloaded)
        return;
    std::string all = preloaded, others;
    std::replace(all.begin(), all.end(), ':', ' ');
    std::istringstream libraries(all);
    bool by_name = false;
    for (std::string one; libraries >> one;) {
        const std::string name = one.substr(one.rfind('/') + 1);
        if (name != "libws-calls.so" && name != "libws-early.so" && name != "libws-late.so" &&
            name != "libws-waits.so" && name != "libws.so.1")
            others += (others.empty() ? "" : ":") + one;
        else
            by_name |= name == one;
    }
    if (others.empty())
        unsetenv("LD_PRELOAD");
    else
        setenv("LD_PRELOAD", others.c_str(), 1);
    const char* const folders = by_name ? std::getenv("LD_LIBRARY_PATH") : nullptr;
    if (const char* const rest = folders ? std::strchr(folders, ':') : nullptr)
        setenv("LD_LIBRARY_PATH", std::string(rest + 1).c_str(), 1);
    else if (folders)
        unsetenv("LD_LIBRARY_PATH");
}

} // namespace ws::launcher
