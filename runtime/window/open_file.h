// SPDX-License-Identifier: MIT
//
// For files that other processes have open, or that somebody else could have put in place of what is expected.
#pragma once

#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::window {

// Opens what `path` leads to with `flags`, if it is a regular file and `accepts(struct stat)` says yes; else -1. A file
// that is not accepted is never opened, only referred to: opening a device or a pipe can block or do something, and
// opening a file on which somebody holds a lease takes up to 45 s, without O_NONBLOCK.
template <class Accepts> int open_regular(const char* path, int flags, Accepts&& accepts)
{
    const int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0)
        return -1;
    struct stat s;
    const bool fits = fstat(place, &s) == 0 && S_ISREG(s.st_mode) && accepts(s);
    const int fd = fits ? open(("/proc/self/fd/" + std::to_string(place)).c_str(),
                               flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                        : -1;
    close(place);
    return fd;
}

} // namespace ws::window
