// SPDX-License-Identifier: MIT
//
// What a team has only where its virtual threads need more than their turn: threads of their own, memory in common, an
// order. team.cpp and team_cold.cpp include it.
#pragma once

#include "openmp/team.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace ws::openmp {

struct VirtualTeam::Cold {
    explicit Cold(const VirtualTeam& of)
        : on_demand(of.units, of.at_once, of.minds_order() ? &of.site.slopes : nullptr)
    {
    }
    OnDemandLoops on_demand;
    std::mutex lock;
    std::condition_variable ended, released;
    std::vector<pthread_t> threads;
    uint64_t held = 0, phases = 0;  // virtual threads in hold(), and how often all have been let go on
    std::vector<std::unique_ptr<char[]>> commons;
    std::vector<uint64_t> over; // of each loop whose iterations have an order: those before this one
    std::condition_variable turned;
};

// The lowest `count` bits.
inline uint64_t bits_below(unsigned count) { return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1; }

// Takes the lowest run of neighbouring bits out of the word, which has some, and calls f(first, count).
template <class F> void take_run(uint64_t& bits, F f)
{
    const unsigned first = unsigned(__builtin_ctzll(bits));
    const uint64_t rest = ~(bits >> first);
    const unsigned count = rest ? unsigned(__builtin_ctzll(rest)) : 64;
    bits &= ~(bits_below(count) << first);
    f(first, count);
}

// Ends the job with that message.
[[noreturn]] void refuse(const RegionSite& site, const char* what);

} // namespace ws::openmp
