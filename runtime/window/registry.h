// SPDX-License-Identifier: MIT
//
// The names of the loops that were shared on this node and what was stolen from each: the variable-sized part of the
// window, kept by Boost.Interprocess. Cold: written when a rank detaches, read for the
// verdict.
#pragma once

#include <cstdint>
#include <string>

namespace ws {

// Lays the registry out in `memory` of registry_bytes. Leader only, before anyone opens it.
bool registry_create(void* memory);
bool registry_open(void* memory);

// Adds published regions to the record of the loop named `where`. Thread- and process-safe; gives up silently when the
// registry is full or its lock is not to be had within a millisecond (a peer may have died holding it).
void registry_add(const char* where, uint64_t regions, uint64_t iterations, uint64_t stolen);

// The loop that most iterations were stolen from; empty when there is none.
struct LoopRecord {
    std::string where;
    uint64_t regions = 0, iterations = 0, stolen = 0;
};
LoopRecord registry_top();

} // namespace ws
