// SPDX-License-Identifier: MIT
#include "window/os.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>

namespace ws {

bool process_alive(pid_t pid)
{
    if (kill(pid, 0) < 0 && errno == ESRCH)
        return false;
    char path[32], text[512];
    std::snprintf(path, sizeof path, "/proc/%d/stat", int(pid));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno != ENOENT;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return true;
    text[n] = 0;
    // "pid (name) S ...": the name may itself hold parentheses, so the state follows the last one.
    const char* paren = std::strrchr(text, ')');
    return !paren || !paren[1] || (paren[2] != 'Z' && paren[2] != 'X');
}

void Clock::start()
{
    seconds0_ = seconds_now();
    ticks0_ = ticks();
}

void Clock::calibrate()
{
    double elapsed;
    while ((elapsed = seconds_now() - seconds0_) < 1e-3)
        cpu_relax();
    ticks_per_us_ = (ticks() - ticks0_) / (elapsed * 1e6);
}

} // namespace ws
