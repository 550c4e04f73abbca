// SPDX-License-Identifier: MIT
//
// What tests of several rooms need of the window: one in memory of this process alone, and sets of CPUs.
#pragma once

#include "window/window.h"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <sys/mman.h>

namespace ws::window {

inline base::CpuSet cpus(std::initializer_list<int> list)
{
    base::CpuSet set;
    for (int c : list)
        set.add(c);
    return set;
}

// The window of a node whose ranks are all in this process, one core each.
class InMemory {
public:
    explicit InMemory(unsigned ranks, unsigned mask_size = base::CpuSet::usual)
        : ranks_(ranks), mask_size_(mask_size), bytes_(Window::bytes(ranks, ranks, mask_size)),
          memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    {
        REQUIRE(memory_ != MAP_FAILED);
        for (unsigned r = 0; r < ranks; r++) {
            Window window;
            map(window, r);
            window.init_own(int(r), ranks, 0, {});
        }
    }
    ~InMemory() { munmap(memory_, bytes_); }
    InMemory(const InMemory&) = delete;
    InMemory& operator=(const InMemory&) = delete;

    // `window` is that of `rank` from here on.
    void map(Window& window, unsigned rank) { window.map(memory_, ranks_, ranks_, rank, mask_size_); }
    void make_read_only() { REQUIRE(mprotect(memory_, bytes_, PROT_READ) == 0); }

private:
    unsigned ranks_, mask_size_;
    size_t bytes_;
    void* memory_;
};

} // namespace ws::window
