// SPDX-License-Identifier: MIT
#include "observe/cpu_counters.h"

#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ws::observe {

namespace {

// The calling thread's, on whichever CPU, without the kernel's part, which needs more rights.
int open_event(const CpuCounters::Event& event, int group)
{
    perf_event_attr a = {};
    a.size = sizeof a;
    a.type = event.type;
    a.config = event.config;
    a.exclude_kernel = a.exclude_hv = 1;
    a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return int(syscall(SYS_perf_event_open, &a, 0, -1, group, PERF_FLAG_FD_CLOEXEC));
}

std::string why_refused(int error)
{
    switch (error) {
    case EACCES:
    case EPERM: return "the kernel forbids them (kernel.perf_event_paranoid, or the container's seccomp profile)";
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV: return "the processor or virtual machine has none";
    case ENOSYS: return "the kernel was built without them";
    default: return std::strerror(error);
    }
}

} // namespace

CpuCounters::~CpuCounters()
{
    for (int fd : {first_, second_})
        if (fd >= 0)
            close(fd);
}

std::string CpuCounters::open()
{
    return open({PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES});
}

std::string CpuCounters::open(const Event& first, const Event& second)
{
    first_ = open_event(first, -1);
    if (first_ >= 0)
        second_ = open_event(second, first_);
    return first_ >= 0 && second_ >= 0 ? "" : why_refused(errno);
}

CpuCount CpuCounters::read() const
{
    struct {
        uint64_t events, enabled, running, first, second;
    } got = {};
    if (::read(first_, &got, sizeof got) != ssize_t(sizeof got) || got.running == 0)
        return {};
    // With more events than the processor has counters, the kernel lets them take turns.
    const double scale = double(got.enabled) / double(got.running);
    return {scale * double(got.first), scale * double(got.second)};
}

} // namespace ws::observe
