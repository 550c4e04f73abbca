// SPDX-License-Identifier: MIT
//
// One process's view of the node's shared window.
#pragma once

#include "window/types.h"
#include <cstddef>
#include <cstdint>

namespace ws {

class Window {
public:
    // Bytes for a node of `ranks` ranks, the registry included.
    static size_t bytes(unsigned ranks);

    // `base` is the window's address in this process, zeroed by nobody. Each rank then calls init_own().
    void map(void* base, unsigned ranks, unsigned me);
    // Writes this rank's row and its guests' slots. The leader (rank 0) writes the header as well.
    void init_own(int world_rank);

    unsigned ranks() const { return ranks_; }
    unsigned me() const { return me_; }
    Node& node() const { return *node_; }
    Row& row(unsigned rank) const { return rows_[rank]; }
    Row& mine() const { return rows_[me_]; }
    GuestSlot& guest(unsigned owner, unsigned thief) const { return slots_[size_t(owner) * ranks_ + thief]; }
    void* locks() const { return locks_; }
    void* registry() const { return registry_; }

private:
    unsigned ranks_ = 0, me_ = 0;
    Node* node_ = nullptr;
    Row* rows_ = nullptr;
    GuestSlot* slots_ = nullptr;
    void* locks_ = nullptr;
    void* registry_ = nullptr;
};

// Fills the place of every row from the machine's topology and counts the node's usable cores. Leader only, after every
// rank's init_own(); returns false when hwloc gives no topology (places stay -1).
bool fill_places(Window& window);

} // namespace ws
