// SPDX-License-Identifier: MIT
#include "openmp/shared/target.h"

#include "openmp/library/threads.h"

#include <climits>

namespace ws::openmp {

namespace {
volatile Flag open_ones; // constructs that are open, except outermost target constructs
WS_THREAD_LOCAL Target* outermost; // target construct of the calling thread; null: none

int thread_limit()
{
    const OpenMP& library = openmp(nullptr);
    return library.thread_limit ? library.thread_limit() : INT_MAX;
}
} // namespace

TargetOrTeams::TargetOrTeams() : outside_(nullptr) { Hardware::fetch_add_full(open_ones, 1); }
TargetOrTeams::~TargetOrTeams() { Hardware::fetch_add_full(open_ones, Flag(-1)); }

Target::Target() : limit_outside(thread_limit())
{
    if (current || outermost || nesting_level() != 0)
        inner_.emplace();
    else
        outermost = this;
}
Target::~Target()
{
    if (outermost == this)
        outermost = nullptr;
}

const char* target_or_teams()
{
    const OpenMP& library = openmp(nullptr);
    if (Hardware::load_relaxed(open_ones) != 0 || (library.num_teams && library.num_teams() > 1))
        return "it is in a teams construct, or in a target construct within a region";
    if (WS_UNLIKELY(outermost != nullptr) && thread_limit() != outermost->limit_outside)
        return "it is in a target construct that limits its threads";
    return nullptr;
}

} // namespace ws::openmp
