// SPDX-License-Identifier: MIT
#include "lend/peers.h"

#include "base/os.h"

#include <algorithm>

namespace ws::lend {

using window::Window;

void Peers::start(const Window& window, const char* proc)
{
    window_ = &window;
    proc_ = proc;
    sights_.clear();
    processes_.clear();
    for (unsigned r = 0; r < window.ranks(); r++) {
        processes_.push_back(window.home(r).process);
        sights_.push_back(base::sight_of(processes_.back(), window.own_home().process, proc));
    }
}

unsigned Peers::find_dead() const
{
    WS_THREAD_LOCAL unsigned next = 0;
    const Window& w = *window_;
    for (unsigned i = 0; i < std::min(at_once, w.ranks() - 1); i++) {
        next = next % (w.ranks() - 1) + 1;
        const unsigned r = (w.me() + next) % w.ranks();
        if (!base::process_alive(processes_[r], sights_[r], proc_))
            return r;
    }
    return none;
}

} // namespace ws::lend
