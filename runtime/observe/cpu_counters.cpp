// SPDX-License-Identifier: MIT
#include "observe/cpu_counters.h"

#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ws::observe {

namespace {

// The calling thread's, on whichever CPU, without the kernel's part, which needs more rights.
int open_event(const CpuCounters::PerfEvent& event, int group)
{
    perf_event_attr a = {};
    a.size = sizeof a;
    a.type = event.type;
    a.config = event.config;
    a.exclude_kernel = a.exclude_hv = 1;
    a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return int(syscall(SYS_perf_event_open, &a, 0, -1, group, PERF_FLAG_FD_CLOEXEC));
}

size_t page_bytes() { return size_t(sysconf(_SC_PAGESIZE)); }

#if defined(__x86_64__)
constexpr bool can_read_counters = true;
uint64_t read_counter(uint32_t i)
{
    uint32_t low, high;
    asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(i));
    return low | uint64_t(high) << 32;
}
#else
constexpr bool can_read_counters = false;
uint64_t read_counter(uint32_t) { return 0; }
#endif

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
    for (int i = 0; i < 2; i++) {
        if (pages_[i])
            munmap(const_cast<perf_event_mmap_page*>(pages_[i]), page_bytes());
        if (fds_[i] >= 0)
            close(fds_[i]);
    }
}

std::string CpuCounters::open()
{
    return open({PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES});
}

std::string CpuCounters::open(const PerfEvent& first, const PerfEvent& second)
{
    fds_[0] = open_event(first, -1);
    if (fds_[0] >= 0)
        fds_[1] = open_event(second, fds_[0]);
    if (fds_[0] < 0 || fds_[1] < 0)
        return why_refused(errno);
    map_pages();
    return "";
}

// The pages are used only if what they say lies between two answers of the kernel.
void CpuCounters::map_pages()
{
    if (!can_read_counters)
        return;
    void* mapped[2];
    for (int i = 0; i < 2; i++)
        mapped[i] = mmap(nullptr, page_bytes(), PROT_READ, MAP_SHARED, fds_[i], 0);
    bool are_right = mapped[0] != MAP_FAILED && mapped[1] != MAP_FAILED;
    if (are_right) {
        const CpuCount before = read_by_kernel();
        uint64_t first = 0, second = 0;
        are_right = read_event(*static_cast<perf_event_mmap_page*>(mapped[0]), read_counter, first) &&
                    read_event(*static_cast<perf_event_mmap_page*>(mapped[1]), read_counter, second);
        const CpuCount after = read_by_kernel();
        are_right = are_right && before.instructions <= double(first) && double(first) <= after.instructions &&
                    before.cycles <= double(second) && double(second) <= after.cycles;
    }
    for (int i = 0; i < 2; i++)
        if (are_right)
            pages_[i] = static_cast<perf_event_mmap_page*>(mapped[i]);
        else if (mapped[i] != MAP_FAILED)
            munmap(mapped[i], page_bytes());
}

CpuCount CpuCounters::read() const
{
    uint64_t first, second;
    if (pages_[0] && read_event(*pages_[0], read_counter, first) && read_event(*pages_[1], read_counter, second))
        return {double(first), double(second)};
    return read_by_kernel();
}

CpuCount CpuCounters::read_by_kernel() const
{
    struct {
        uint64_t events, enabled, running, first, second;
    } got = {};
    if (::read(fds_[0], &got, sizeof got) != ssize_t(sizeof got) || got.running == 0)
        return {};
    // With more events than the processor has counters, the kernel lets them take turns.
    const double scale = double(got.enabled) / double(got.running);
    return {scale * double(got.first), scale * double(got.second)};
}

} // namespace ws::observe
