// SPDX-License-Identifier: MIT
#include "window/window.h"

#include "window/locks.h"
#include <cstring>
#include <new>
#include <sched.h>
#include <unistd.h>

namespace ws {

namespace {
constexpr size_t align(size_t n) { return (n + 63) & ~size_t(63); }
size_t slots_bytes(unsigned ranks) { return align(size_t(ranks) * ranks * sizeof(GuestSlot)); }
} // namespace

size_t Window::bytes(unsigned ranks)
{
    return sizeof(Node) + ranks * sizeof(Row) + slots_bytes(ranks) + LockTable::bytes + registry_bytes + 64; // 64: to align the base
}

void Window::map(void* base, unsigned ranks, unsigned me)
{
    ranks_ = ranks;
    me_ = me;
    char* p = reinterpret_cast<char*>(align(reinterpret_cast<size_t>(base)));
    node_ = reinterpret_cast<Node*>(p);
    rows_ = reinterpret_cast<Row*>(p += sizeof(Node));
    slots_ = reinterpret_cast<GuestSlot*>(p += ranks * sizeof(Row));
    locks_ = p += slots_bytes(ranks);
    registry_ = p + LockTable::bytes;
}

void Window::init_own(int world_rank)
{
    if (me_ == 0) {
        new (node_) Node{ranks_, 1};
        std::memset(locks_, 0, LockTable::bytes);
    }
    new (&mine()) Row{};
    Row& r = mine();
    r.loop.init();
    r.core.tenant = me_;
    r.core.running_on = Flag(sched_getcpu());
    r.core.pid = getpid();
    r.core.world_rank = world_rank;
    r.core.place = {-1, -1, -1, -1, -1};
    if (sched_getaffinity(0, sizeof r.core.mask, &r.core.mask) < 0)
        CPU_ZERO(&r.core.mask); // unknown: guests are not pinned
    for (unsigned thief = 0; thief < ranks_; thief++)
        new (&guest(me_, thief)) GuestSlot{guest_none, 0};
}

} // namespace ws
