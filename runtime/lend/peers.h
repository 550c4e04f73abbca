// SPDX-License-Identifier: MIT
//
// The other ranks of the node, as far as their processes can be seen from here.
#pragma once

#include "window/process.h"
#include "window/window.h"
#include <vector>

namespace ws::lend {

class Peers {
public:
    // While all ranks live, and their rows are written.
    void start(const window::Window& window, const char* proc = "/proc");
    // A rank of the node that has died; none if all of those that were looked at live. A few at a time, the ranks after the own
    // one first: were all looked at by all that wait, this would cost more than the waits give on a large node. Any thread.
    static constexpr unsigned none = ~0u, at_once = 16;
    unsigned find_dead() const;

private:
    const window::Window* window_ = nullptr;
    const char* proc_ = nullptr;
    std::vector<window::Sight> sights_; // by rank
};

} // namespace ws::lend
