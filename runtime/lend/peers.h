// SPDX-License-Identifier: MIT
//
// The other ranks of the node, as far as their processes can be seen from here.
#pragma once

#include "base/process.h"
#include "window/window.h"
#include <vector>

namespace ws::lend {

class Peers {
public:
    // To be made while all ranks live and their rows are written.
    void start(const window::Window& window, const char* proc = "/proc");
    // A rank of the node that has died; none if all that were looked at live. Looks at a few ranks at a time, beginning
    // with the one after its own: if every rank that waits looked at all others, this would cost more on a large node
    // than the waits give. Any thread.
    static constexpr unsigned none = ~0u, at_once = 16;
    unsigned find_dead() const;
    pid_t pid(unsigned rank) const { return processes_[rank].pid; }

private:
    const window::Window* window_ = nullptr;
    const char* proc_ = nullptr;
    // By rank. Copies: by a stray store into the window a rank must not seem dead.
    std::vector<base::Sight> sights_;
    std::vector<base::ProcessId> processes_;
};

} // namespace ws::lend
