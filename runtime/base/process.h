// SPDX-License-Identifier: MIT
//
// The identity of a process, which it tells the others of its node, and whether it still lives. A wrong "dead" ends a
// healthy job. So in doubt a process counts as alive, and the launcher notices its death.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace ws::base {

struct ProcessId {
    pid_t pid;
    uint64_t pid_namespace; // in which that number is valid; 0: /proc does not tell
    uint64_t started;       // clock ticks after boot: pids are given again. 0: /proc does not tell
};

// The calling process. `proc` here and below: where /proc is, another folder in tests.
ProcessId own_process(const char* proc = "/proc");

// What can be seen of a process from here.
enum class Sight : unsigned char {
    nothing,   // its pid counts in another pid namespace (containers)
    existence, // /proc shows others, or hides it (hidepid): a zombie looks alive
    state,
};
// To be called while `process` lives.
Sight sight_of(const ProcessId& process, const ProcessId& own, const char* proc = "/proc");

// False for a process that is gone, and for a zombie that nobody has reaped yet.
bool process_alive(const ProcessId& process, Sight sight, const char* proc = "/proc");

// Whether a process does nothing, as the kernel has it: neither it nor any of its threads has used a CPU lately.
class Activity {
public:
    // Reads /proc/PID/stat at most every `base::times::activity_look_us`. False until a whole interval has been seen,
    // while the main thread is ready to run, and where /proc does not tell. `now_us`: of any clock that goes on.
    bool is_idle(const ProcessId& process, uint64_t now_us, const char* proc = "/proc");

private:
    uint64_t looked_us_ = 0, cpu_ = 0; // cpu_: in clock ticks
    bool idle_ = false;
};

} // namespace ws::base
