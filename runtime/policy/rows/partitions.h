// SPDX-License-Identifier: MIT
//
// The partitions of a process by their handles. A handle is used once, so that one of a partition that was freed is
// never taken for another's. Any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace ws::policy::rows {

class Decomposition;

class Partitions {
public:
    Partitions();
    ~Partitions();

    int add(std::unique_ptr<Decomposition> made); // its handle, from 1
    Decomposition* find(int handle) const; // null: there is none
    std::unique_ptr<Decomposition> take(int handle);
    // The former one: the handle is of `made` now.
    std::unique_ptr<Decomposition> replace(int handle, std::unique_ptr<Decomposition> made);
    // Calls look(handle, decomposition) for each until that returns true. None ends meanwhile.
    template <class Look> void each(Look&& look) const
    {
        std::lock_guard<std::mutex> guard(lock_);
        for (const auto& [handle, decomposition] : all_)
            if (look(handle, *decomposition))
                return;
    }

private:
    mutable std::mutex lock_; // of what follows
    std::map<int, std::unique_ptr<Decomposition>> all_;
    int last_ = 0;
};

} // namespace ws::policy::rows
