// SPDX-License-Identifier: MIT
//
// WS_STEAL_ALL and WS_CHECK, which test whether loops may be shared: each region of more than one unit is published,
// whatever it costs and whether or not somebody waits, and its owner leaves chunks to helpers. WS_CHECK takes another
// order for each execution of a loop and notes what it did. All of it is cold, except for one branch on
// LoopHost::share_all where a region is cut into chunks anyway.
#pragma once

#include "abi/abi.h"
#include "observe/board.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ws::loop {

struct Participant;
struct Region;
struct Sizing;

// What is different in a region that is shared for a test.
enum class Order : uint8_t {
    usual,     // nothing
    to_others, // the owner takes nothing while there is a helper; chunks of the usual sizes
    // The orders of WS_CHECK. Executions take them in turn, beginning with the first:
    backwards, // small chunks from the far end, the owner and helpers at the same time
    halves,    // two chunks that begin at the same moment
    forwards,  // small chunks, all by helpers
    turns,     // small chunks, the owner and helpers at the same time
    random,    // chunks of random sizes with random breaks between them
};
constexpr unsigned first_order = unsigned(Order::backwards), check_orders = 5;
const char* order_name(unsigned order); // from 0

// Decides how the region that is about to be published is shared: sets its order, and the sizes of its chunks where no
// clause fixes them. False if it has one unit, which cannot be shared out.
bool open_for_test(Region& r, Sizing& own);
// The owner, before it takes a chunk itself: waits until helpers have come, or have taken everything, or no helper can
// be expected.
void leave_to_helpers(Region& r);
// Order::halves: waits, for a moment at most, until the other half begins too. Order::random: takes a break.
void before_chunk(Region& r);
uint64_t random_size(uint64_t remaining);

// ---- what WS_CHECK notes

struct CheckedLoop {
    std::string name;
    uint64_t runs = 0;      // all executions
    uint64_t empty = 0, single = 0; // with no iteration, with one
    // inside another shared loop, on a thread that may not share, before MPI_Init or after MPI_Finalize
    uint64_t plain = 0;
    uint64_t refused = 0;   // by its clause `if`
    uint64_t one_chunk = 0; // a clause makes one chunk of all iterations
    uint64_t nobody = 0;    // published, but no helper came
    uint64_t shared = 0;    // helpers ran iterations
    uint64_t iterations = 0, helped = 0; // of the shared ones; run by helpers
    uint64_t orders[check_orders] = {};  // of the shared ones
    // of the shared ones: results of reductions were compared with a serial pass; they differed
    uint64_t compared = 0, differ = 0;
    uint64_t uncompared = 0;             // the serial pass failed
    // the first reason why an execution, or a reduction of the loop, was not compared
    std::string why_not;
    void add(const CheckedLoop& more);
};

void note_short(const ws_site* site, uint64_t iterations); // one iteration, or none
void note_plain(const ws_site* site);
void note_refused(const ws_site* site);
void note_published(const Region& r, uint64_t stolen); // its results are complete
// Whether results of this process's loops differed.
bool results_differ();
// All loops of this process; those of its binaries that were never run, too.
std::vector<CheckedLoop> checked_loops();

} // namespace ws::loop
