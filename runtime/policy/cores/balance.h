// SPDX-License-Identifier: MIT
//
// Decides how the node's processors are assigned: one of the waiting ranks does so, from what all have measured.
#pragma once

#include "arbiter/decider.h"
#include "policy/cores/deal.h"
#include "policy/cores/table.h"

#include <vector>

namespace ws::policy::cores {

class Balance {
public:
    // `first`: this rank, one of the node's, says how much is measured at the start.
    void attach(Table& table, const window::Window& window, arbiter::Decider decider, Rule rule, bool first,
                double ticks_per_us);
    // In blocked time, about every `every` ticks. Decides if no other rank does, and all have measured enough.
    void step(uint64_t now, uint64_t every);

private:
    // What a period is that was measured.
    struct PeriodSource {
        bool by_turns = true; // of all ranks
        unsigned calls = 0;   // of a turn, all ranks' together
    };
    bool read_rows(std::vector<Measured>& ranks, PeriodSource& kind, TurnsOfRanks& turns) const;
    bool watch(uint64_t now);
    bool watch_present(uint64_t now);
    bool present_deal(Deal& deal) const;
    void deal_out(const Deal& deal, uint64_t now);
    void take_back(uint64_t now);

    Table* table_ = nullptr;
    const window::Window* window_ = nullptr;
    arbiter::Decider decider_;
    Rule rule_ = whole_deal;
    double ticks_per_us_ = 1000;
};

} // namespace ws::policy::cores
