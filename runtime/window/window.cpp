// SPDX-License-Identifier: MIT
#include "window/window.h"

#include "window/locks.h"

#include <cstring>
#include <new>
#include <sched.h>

namespace ws::window {

namespace {
constexpr size_t whole_lines(size_t n) { return (n + 63) & ~size_t(63); }
size_t open_bytes(unsigned ranks) { return whole_lines(ranks * sizeof(base::Flag)); }
size_t lag_bytes(unsigned ranks) { return whole_lines(ranks * sizeof(base::Hardware::Word)); }
size_t masks_bytes(unsigned cores, unsigned size) { return whole_lines(size_t(cores) * size * sizeof(unsigned long)); }
size_t slots_bytes(unsigned ranks, unsigned cores) { return whole_lines(size_t(ranks) * cores * sizeof(GuestSlot)); }
} // namespace

size_t Window::bytes(unsigned ranks, unsigned cores, unsigned mask_size)
{
    return sizeof(Node) + open_bytes(ranks) + lag_bytes(ranks) +
           ranks * (sizeof(Row) + sizeof(LoadRow) + sizeof(Whereabouts)) + cores * sizeof(Home) +
           masks_bytes(cores, mask_size) + slots_bytes(ranks, cores) + LockTable::bytes + 64; // 64: to align the base
}

void Window::map(void* base, unsigned ranks, unsigned cores, unsigned me, unsigned mask_size)
{
    ranks_ = ranks;
    cores_ = cores;
    me_ = me;
    mask_size_ = mask_size;
    char* p = reinterpret_cast<char*>(whole_lines(reinterpret_cast<size_t>(base)));
    node_ = reinterpret_cast<Node*>(p);
    open_ = reinterpret_cast<volatile base::Flag*>(p += sizeof(Node));
    lag_ = reinterpret_cast<volatile base::Hardware::Word*>(p += open_bytes(ranks));
    rows_ = reinterpret_cast<Row*>(p += lag_bytes(ranks));
    loads_ = reinterpret_cast<LoadRow*>(p += ranks * sizeof(Row));
    whereabouts_ = reinterpret_cast<Whereabouts*>(p += ranks * sizeof(LoadRow));
    homes_ = reinterpret_cast<Home*>(p += ranks * sizeof(Whereabouts));
    masks_ = reinterpret_cast<unsigned long*>(p += cores * sizeof(Home));
    slots_ = reinterpret_cast<GuestSlot*>(p += masks_bytes(cores, mask_size));
    locks_ = p += slots_bytes(ranks, cores);
}

namespace {
void init_core(Home& c, unsigned home, int world_rank, const base::ProcessId& process, int cpu)
{
    new (&c) Home{};
    c.tenant = c.rank = home;
    c.process = process;
    c.world_rank = world_rank;
    c.running_on = base::Flag(cpu);
    c.place = {-1, -1, -1, -1, -1};
}
} // namespace

void Window::init_own(int world_rank, unsigned first_worker, unsigned workers, const std::vector<int>& worker_cpus)
{
    first_worker_ = first_worker;
    workers_ = workers;
    if (me_ == 0) {
        Node& node = *new (node_) Node{};
        node.ranks = ranks_;
        node.cores = cores_;
        node.cpus = 1;
        std::memset(locks_, 0, LockTable::bytes);
    }
    open_[me_] = 0;
    lag_[me_] = 0;
    new (&mine()) Row{};
    new (&load(me_)) LoadRow{};
    new (&whereabouts(me_)) Whereabouts{};
    for (loop::Descriptor& d : mine().loops)
        d.init();
    for (unsigned core = 0; core < cores_; core++)
        new (&guest(me_, core)) GuestSlot{guest_none, 0};

    const base::ProcessId process = base::own_process();
    const base::CpuSet mask = base::own_cpus();
    const int here = sched_getcpu();
    init_core(own_home(), me_, world_rank, process, here);
    set_mask(me_, mask);
    for (unsigned w = 0; w < workers; w++) {
        const bool pinned = w < worker_cpus.size();
        base::CpuSet one;
        if (pinned)
            one.add(worker_cpus[w]);
        init_core(home(first_worker + w), me_, world_rank, process, pinned ? worker_cpus[w] : here);
        set_mask(first_worker + w, pinned ? one : mask);
    }
}

unsigned distance(const Place& a, const Place& b)
{
    auto same = [](int x, int y) { return x >= 0 && x == y; };
    return same(a.core, b.core)         ? 0
           : same(a.l2, b.l2)           ? 1
           : same(a.l3, b.l3)           ? 2
           : same(a.numa, b.numa)       ? 3
           : same(a.package, b.package) ? 4
                                        : farthest;
}

void Window::set_mask(unsigned core, base::CpuMask mask)
{
    unsigned long* words = masks_ + size_t(core) * mask_size_;
    for (unsigned i = 0; i < mask_size_; i++)
        words[i] = i < mask.size() ? mask.words()[i] : 0;
}

} // namespace ws::window
