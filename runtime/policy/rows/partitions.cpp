// SPDX-License-Identifier: MIT
#include "policy/rows/partitions.h"

#include "policy/rows/decomposition.h"

namespace ws::policy::rows {

Partitions::Partitions() = default;
Partitions::~Partitions() = default;

int Partitions::add(std::unique_ptr<Decomposition> made)
{
    std::lock_guard<std::mutex> guard(lock_);
    all_[++last_] = std::move(made);
    return last_;
}

Decomposition* Partitions::find(int handle) const
{
    std::lock_guard<std::mutex> guard(lock_);
    const auto found = all_.find(handle);
    return found != all_.end() ? found->second.get() : nullptr;
}

std::unique_ptr<Decomposition> Partitions::take(int handle)
{
    std::lock_guard<std::mutex> guard(lock_);
    const auto found = all_.find(handle);
    std::unique_ptr<Decomposition> gone = std::move(found->second);
    all_.erase(found);
    return gone;
}

std::unique_ptr<Decomposition> Partitions::replace(int handle, std::unique_ptr<Decomposition> made)
{
    std::lock_guard<std::mutex> guard(lock_);
    all_.at(handle).swap(made);
    return made;
}

} // namespace ws::policy::rows
