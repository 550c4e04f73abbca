// SPDX-License-Identifier: MIT
//
// What a thread runs of a region that libws shares or watches: libws's functions that stand before the library's find
// it by one load.
#pragma once

#include "directive/openmp_threads.h"
#include "openmp/deal.h"
#include "openmp/on_demand.h"
#include "window/os.h"

#include <algorithm>
#include <cstdint>

namespace ws::openmp {

using window::Flag;
using window::Hardware;

struct Watch;
class Fiber;
class VirtualTeam;

// Virtual threads of a shared region, or a thread of one that is watched.
struct Unit {
    VirtualTeam* team;    // of a shared region; else
    Watch* watch;         // that of a watched one
    Units units;
    Fiber* fiber;         // null: all virtual threads are one, on its thread's own stack
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
        n = count;
        rounds = its;
        has_part = rounds.first < n;
    }
    OnDemand* on_demand; // and where they are claimed one by one; null: none were
    Part next_round() // has_part is true
    {
        const Part piece = {rounds.first, rounds.first + std::min(rounds.size, n - rounds.first)};
        has_part = rounds.stride < n - rounds.first;
        rounds.first += rounds.stride;
        return piece;
    }
    unsigned sections;    // and sections, so many
    static constexpr unsigned before_first = ~0u;
    unsigned section;     // the one that it runs, from 1; 0: no more
    // A loop whose iterations have an order, counted from 0: its pieces, and the one that it runs.
    struct Turn {
        unsigned loop;    // which one of the region's
        bool begun;       // its piece
        bool of_doacross; // the next loop is such a one
        uint64_t n;
        Rounds rounds;
        Part piece;
    } turn;
    unsigned nest_locks;  // that it holds and may set again
    unsigned commons;     // calls of VirtualTeam::common()
    uintptr_t* reductions; // of libgomp's tasks, over all virtual threads: the latest, which knows the one before
    volatile Hardware::Word* sections_taken; // by all; null: each virtual thread has its own ones
    Flag singles;         // that it has come to
    unsigned slot;        // its number for who asks unexpectedly, from 1; 0: none
    uint64_t began;       // watched: ticks
    unsigned barriers;    // watched: so many that are not the region's end
};
extern __thread Unit* current __attribute__((tls_model("initial-exec")));

// Makes `unit` the calling thread's while it exists; null: it is in none.
class Current {
public:
    explicit Current(Unit* unit);
    ~Current();
    Current(const Current&) = delete;

private:
    Unit* const was_;
    void (*const asked_)(directive::Question, void*);
    const unsigned number_, numbers_;
    const int level_, depth_;
};

} // namespace ws::openmp
