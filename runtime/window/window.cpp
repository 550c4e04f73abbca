// SPDX-License-Identifier: MIT
#include "window/window.h"

#include "window/locks.h"
#include "window/os.h"

#include <cstring>
#include <new>
#include <sched.h>

namespace ws {

namespace {
constexpr size_t whole_lines(size_t n) { return (n + 63) & ~size_t(63); }
size_t open_bytes(unsigned ranks) { return whole_lines(ranks * sizeof(Flag)); }
size_t lag_bytes(unsigned ranks) { return whole_lines(ranks * sizeof(Hardware::Word)); }
size_t slots_bytes(unsigned ranks, unsigned cores) { return whole_lines(size_t(ranks) * cores * sizeof(GuestSlot)); }
} // namespace

size_t Window::bytes(unsigned ranks, unsigned cores)
{
    return sizeof(Node) + open_bytes(ranks) + lag_bytes(ranks) + ranks * sizeof(Row) + cores * sizeof(Core) + slots_bytes(ranks, cores) +
           LockTable::bytes + 64; // 64: to align the base
}

void Window::map(void* base, unsigned ranks, unsigned cores, unsigned me)
{
    ranks_ = ranks;
    cores_ = cores;
    me_ = me;
    char* p = reinterpret_cast<char*>(whole_lines(reinterpret_cast<size_t>(base)));
    node_ = reinterpret_cast<Node*>(p);
    open_ = reinterpret_cast<volatile Flag*>(p += sizeof(Node));
    lag_ = reinterpret_cast<volatile Hardware::Word*>(p += open_bytes(ranks));
    rows_ = reinterpret_cast<Row*>(p += lag_bytes(ranks));
    core_table_ = reinterpret_cast<Core*>(p += ranks * sizeof(Row));
    slots_ = reinterpret_cast<GuestSlot*>(p += cores * sizeof(Core));
    locks_ = p += slots_bytes(ranks, cores);
}

namespace {
void init_core(Core& c, unsigned home, int world_rank, const ProcessId& process, const cpu_set_t& mask)
{
    new (&c) Core{};
    c.tenant = c.home = home;
    c.process = process;
    c.world_rank = world_rank;
    c.mask = mask;
    c.place = {-1, -1, -1, -1, -1};
}
} // namespace

void Window::init_own(int world_rank, unsigned first_worker, unsigned workers, const std::vector<int>& worker_cpus)
{
    first_worker_ = first_worker;
    workers_ = workers;
    if (me_ == 0) {
        new (node_) Node{ranks_, cores_, 1, 0, 0};
        std::memset(locks_, 0, LockTable::bytes);
    }
    open_[me_] = 0;
    lag_[me_] = 0;
    new (&mine()) Row{};
    for (Descriptor& d : mine().loops)
        d.init();
    for (unsigned core = 0; core < cores_; core++)
        new (&guest(me_, core)) GuestSlot{guest_none, 0};

    const ProcessId process = own_process();
    const cpu_set_t mask = own_cpus(); // none: guests are not pinned
    cpu_set_t one;
    int here = sched_getcpu();
    init_core(own_core(), me_, world_rank, process, mask);
    own_core().running_on = Flag(here);
    for (unsigned w = 0; w < workers; w++) {
        const bool pinned = w < worker_cpus.size();
        CPU_ZERO(&one);
        if (pinned)
            CPU_SET(worker_cpus[w], &one);
        init_core(core(first_worker + w), me_, world_rank, process, pinned ? one : mask);
        core(first_worker + w).running_on = Flag(pinned ? worker_cpus[w] : here);
    }
}

} // namespace ws
