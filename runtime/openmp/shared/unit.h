// SPDX-License-Identifier: MIT
//
// What a virtual thread has of its region: libws's functions that stand before the library's find it by one load.
#pragma once

#include "openmp/library/threads.h"
#include "openmp/shared/distribution.h"
#include "openmp/shared/on_demand.h"
#include "base/os.h"

#include <algorithm>
#include <cstdint>

namespace ws::loop {
struct Participant;
}

namespace ws::openmp {

using base::Flag;
using base::Hardware;

class Fiber;
class VirtualTeam;

using Settings = ThreadSettings;

struct Unit {
    VirtualTeam* team;
    Units units;   // its number n, as [n, n + 1) of how many
    Fiber* fiber;  // null: it runs on its thread's own stack, as the only one of its team
    Settings settings;
    // The loop that it has, as [lo, hi) in the loop variable's own values.
    enum class Way : uint8_t { pieces, in_turn, on_demand } way; // in which its next iterations come
    bool has_part;
    uint64_t lo, hi, incr;
    bool has_last;
    // Where it has several pieces: the next one is rounds.first, of n iterations counted from 0, [lo, hi) is all.
    uint64_t n;
    Rounds rounds;
    void has_rounds(uint64_t count, const Rounds& its)
    {
        way = Way::pieces;
        n = count;
        rounds = its;
        has_part = rounds.first < n;
    }
    OnDemand* on_demand; // and where they are claimed one by one; null: none were
    IterationRange next_round() // has_part is true
    {
        const IterationRange piece = {rounds.first, rounds.first + std::min(rounds.size, n - rounds.first)};
        has_part = rounds.stride < n - rounds.first;
        rounds.first += rounds.stride;
        return piece;
    }
    unsigned sections;    // and how many sections
    static constexpr unsigned before_first = ~0u;
    unsigned section;     // the one that it runs, from 1; 0: no more
    // A loop whose iterations have an order, counted from 0: its pieces, and the one that it runs.
    struct OrderedLoop {
        unsigned loop;    // which one of the region's
        bool begun;       // its piece
        bool of_doacross; // the next loop is such a one
        uint64_t n;
        Rounds rounds;
        IterationRange piece;
    } turn;
    unsigned commons;     // calls of VirtualTeam::common()
    uintptr_t* reductions; // of libgomp's tasks, over all virtual threads: the latest, which knows the one before
    volatile Hardware::Word* sections_taken; // by all; null: each virtual thread has its own ones
    Flag singles;         // that it has come to
    // The thread that runs it now; null if that is its own parked thread. Long operations check whether it is recalled.
    loop::Participant* carrier;
    uintptr_t carrier_pointer; // that thread's thread pointer
    volatile Flag in_mpi;      // it waits there
};
extern __thread Unit* current __attribute__((tls_model("initial-exec")));

// The calling thread is that virtual thread until the end of this: number 0, on the identity of the thread that opened
// the region. Null: it is in none.
class Current {
public:
    explicit Current(Unit* unit);
    ~Current();
    Current(const Current&) = delete;

private:
    Unit* const was_;
    Settings* const settings_;
    const bool in_region_;
};

// What the calling thread's identity knows of being that virtual thread.
void be(Unit& unit);

// While it exists the calling virtual thread runs as the thread that carries it: for libws's own functions, which know
// that one. In no virtual thread, and on its own identity, it does nothing.
class AsCarrier {
public:
    AsCarrier();
    ~AsCarrier();
    AsCarrier(const AsCarrier&) = delete;

private:
    uintptr_t borrowed_;
};

} // namespace ws::openmp
