// SPDX-License-Identifier: MIT
//
// One process's view of the node's shared window.
#pragma once

#include "base/cpus.h"
#include "window/types.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ws::window {

class Window {
public:
    // Bytes for a node of `ranks` ranks with `cores` cores, their workers' included, and masks of that many words.
    static size_t bytes(unsigned ranks, unsigned cores, unsigned mask_size = base::CpuSet::usual);

    // `base` is the window's address in this process, zeroed by nobody. Each rank then calls init_own().
    void map(void* base, unsigned ranks, unsigned cores, unsigned me, unsigned mask_size = base::CpuSet::usual);
    // Writes this rank's row, its cores and the slots of its guests. Its workers' cores begin at the index
    // `first_worker`; each is one of `worker_cpus`; if there are more workers than those, the rest may use any CPU of
    // the rank. The leader (rank 0) writes the header as well.
    void init_own(int world_rank, unsigned first_worker, unsigned workers, const std::vector<int>& worker_cpus);

    unsigned ranks() const { return ranks_; }
    unsigned cores() const { return cores_; }
    unsigned me() const { return me_; }
    Node& node() const { return *node_; }
    // A bit for each slot of the rank that has a published region: a hint, which other ranks read by one load.
    // Writers: the rank's owner threads.
    volatile base::Flag& open(unsigned rank) const { return open_[rank]; }
    // What stands there, without the bits that no slot has. A hint; the descriptor decides.
    base::Flag open_slots(unsigned rank) const
    {
        return base::Hardware::load_relaxed(open_[rank]) & ((1u << max_slots) - 1);
    }
    // See lag_now(), and docs/reference/report.md. Writers: the rank's owner threads.
    volatile base::Hardware::Word& lag(unsigned rank) const { return lag_[rank]; }
    Row& row(unsigned rank) const { return rows_[rank]; }
    Row& mine() const { return rows_[me_]; }
    LoadRow& load(unsigned rank) const { return loads_[rank]; }
    Whereabouts& whereabouts(unsigned rank) const { return whereabouts_[rank]; }
    Home& home(unsigned index) const { return homes_[index]; }
    Home& own_home() const { return homes_[me_]; }
    // Where a guest on this core may run. Constant after attach.
    base::CpuMask mask(unsigned core) const { return {masks_ + size_t(core) * mask_size_, mask_size_}; }
    unsigned mask_size() const { return mask_size_; } // words of each, enough for every CPU that the node may have
    void set_mask(unsigned core, base::CpuMask mask);
    unsigned first_worker() const { return first_worker_; }
    unsigned workers() const { return workers_; }
    // A core's slots lie together: its thief looks at all of them.
    GuestSlot& guest(unsigned owner, unsigned core) const { return slots_[size_t(core) * ranks_ + owner]; }
    void* locks() const { return locks_; }

private:
    unsigned ranks_ = 0, cores_ = 0, me_ = 0, first_worker_ = 0, workers_ = 0, mask_size_ = 0;
    Node* node_ = nullptr;
    volatile base::Flag* open_ = nullptr;
    volatile base::Hardware::Word* lag_ = nullptr;
    Row* rows_ = nullptr;
    LoadRow* loads_ = nullptr;
    Whereabouts* whereabouts_ = nullptr;
    Home* homes_ = nullptr;
    unsigned long* masks_ = nullptr;
    GuestSlot* slots_ = nullptr;
    void* locks_ = nullptr;
};

// How far apart two places are: 0 the same core, then L2, L3, NUMA node, package, machine; 5 where it is not known.
constexpr unsigned farthest = 5;
unsigned distance(const Place& a, const Place& b);

// A loaded hwloc_topology_t of this machine for what follows, until the next call; null: each loads its own, which
// takes a millisecond with 2 cores, and more with more. One that another version of hwloc made is not used.
void use_topology(void* loaded);

// Fills the place of every core from the machine's topology. Leader only, after every rank's init_own(); returns false
// when hwloc gives no topology (places stay -1).
bool fill_places(Window& window);

// Where CPUs sit; nowhere (-1) for one that the machine does not know.
std::vector<Place> places_of(const std::vector<int>& cpus);

// The CPUs of `mask` on which a rank can have workers, one a physical core: not the core that holds `cpu`.
std::vector<int> spare_cpus(base::CpuMask mask, int cpu);

// The core and the NUMA domain of each CPU of the machine, as hwloc numbers them; -1 for one that it does not know.
struct CpuPlace {
    int core, numa;
};
std::vector<CpuPlace> cpu_places();

} // namespace ws::window
