// SPDX-License-Identifier: MIT
//
// What tests of several rooms need of the window: one in memory of this process alone, and sets of CPUs.
#pragma once

#include "base/mapping.h"
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
        : ranks_(ranks), mask_size_(mask_size),
          memory_(base::map_anonymous(base::copy_on_write, Window::bytes(ranks, ranks, mask_size)))
    {
        REQUIRE(memory_.get_address());
        for (unsigned r = 0; r < ranks; r++) {
            Window window;
            map(window, r);
            window.init_own(int(r), ranks, 0, {});
        }
    }

    // `window` is that of `rank` from here on.
    void map(Window& window, unsigned rank) { window.map(memory_.get_address(), ranks_, ranks_, rank, mask_size_); }
    void make_read_only() { REQUIRE(mprotect(memory_.get_address(), memory_.get_size(), PROT_READ) == 0); }

private:
    unsigned ranks_, mask_size_;
    base::Mapping memory_;
};

} // namespace ws::window
