// SPDX-License-Identifier: MIT
#include "base/process.h"

#include "base/times.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::base {

namespace {

struct Stat {
    char state = 0; // 0: it could not be read
    long threads = 0;
    unsigned long long started = 0, cpu = 0; // cpu: of all threads, in clock ticks
};

Stat read_stat(const char* proc, const char* process)
{
    char path[4096], text[512];
    Stat s;
    std::snprintf(path, sizeof path, "%s/%s/stat", proc, process);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return s;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = 0;
    // "pid (name) state ...": the name may itself hold parentheses, so the rest follows the last one. See proc(5).
    const char* paren = std::strrchr(text, ')');
    char state;
    unsigned long long user, system;
    if (paren &&
        std::sscanf(paren + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %ld %*d %llu",
                    &state, &user, &system, &s.threads, &s.started) == 5) {
        s.state = state;
        s.cpu = user + system;
    }
    return s;
}

Stat read_stat(const char* proc, pid_t pid)
{
    char name[16];
    std::snprintf(name, sizeof name, "%d", int(pid));
    return read_stat(proc, name);
}

} // namespace

ProcessId own_process(const char* proc)
{
    char path[4096];
    struct stat link;
    std::snprintf(path, sizeof path, "%s/self/ns/pid", proc);
    return {getpid(), stat(path, &link) == 0 ? uint64_t(link.st_ino) : 0, read_stat(proc, "self").started};
}

Sight sight_of(const ProcessId& process, const ProcessId& own, const char* proc)
{
    if (process.pid_namespace != own.pid_namespace)
        return Sight::nothing;
    if (process.started && read_stat(proc, process.pid).started == process.started)
        return Sight::state;
    return own.pid_namespace ? Sight::existence : Sight::nothing;
}

bool process_alive(const ProcessId& process, Sight sight, const char* proc)
{
    if (sight == Sight::nothing)
        return true;
    if (kill(process.pid, 0) < 0 && errno == ESRCH)
        return false;
    if (sight == Sight::existence)
        return true;
    const Stat now = read_stat(proc, process.pid);
    if (!now.state) // it has just ended, which the next look will find; or it has become hidden
        return true;
    if (now.started != process.started) // another process has its pid
        return false;
    // The main thread may leave by pthread_exit, a zombie then, while others go on.
    return (now.state != 'Z' && now.state != 'X') || now.threads > 1;
}

bool Activity::is_idle(const ProcessId& process, uint64_t now_us, const char* proc)
{
    if (looked_us_ && now_us - looked_us_ < times::activity_look_us)
        return idle_;
    const Stat s = read_stat(proc, process.pid);
    const double passed_s = double(now_us - looked_us_) * 1e-6;
    const double used_s = double(s.cpu - cpu_) / double(sysconf(_SC_CLK_TCK));
    idle_ = looked_us_ && s.state && s.started == process.started && s.state != 'R' && s.cpu >= cpu_ &&
            used_s < times::activity_share * passed_s;
    looked_us_ = now_us;
    cpu_ = s.cpu;
    return idle_;
}

} // namespace ws::base
