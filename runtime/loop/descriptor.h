// SPDX-License-Identifier: MIT
//
// The descriptor of a published region: the slot in the node's window from which the owner and its guests claim chunks.
//
//   publish (owner) -> claim (owner, guests) / claim_and_join (thief) -> leave (guest) -> close (owner)
//
// One 64-bit word claims and joins with a single CAS:
//
//     63      51  50  49      40 39                    0
//    +----------+----+----------+-----------------------+
//    |generation|ends| joiners  | next unclaimed unit   |     next == all ones: closed
//    +----------+----+----------+-----------------------+
//                               |  behind   |  before   |     a region with two ends: units claimed from its end,
//                               +-----------+-----------+     and units claimed from its begin
//                              39         20 19        0
//
// In a region with two ends, the owner claims from the start and guests from the end, until they meet. What a
// participant computes then lies in one piece, at the same place in each loop over the same data. So it is mostly in
// the caches of its core.
//
// Calls that may run at the same time (x = the caller must exclude it):
//
//                    publish  claim  claim_and_join  leave  close
//    publish            x       x          -           x      x      the owner is one thread, and guests exist only
//    claim              x       -          -           -      x      between claim_and_join and leave
//    claim_and_join     -       -          -           -      -
//    leave              x       -          -           -      x      close waits for joiners() == 0 first
//    close              x       x          -           x      x
//
// Exactly once: every successful CAS moves `next` from lo to hi, and hi becomes some other claimant's lo; so the
// claimed chunks tile [first, end) whatever the interleaving; with two ends likewise from either end, and a claim takes
// no more than what the same word says is left between them. A thief that was delayed since it read the word sees its
// CAS fail: the generation has changed. After 2^13 regions the generation repeats; then the CAS may succeed with a
// chunk sized for an older region, which is still a claim of units that follow those claimed of the region open now:
// clamp() cuts it where these end, and nothing is lost or doubled.
//
// No more than most_joiners: the CAS that joins counts from the number of joiners that was compared with it.
//
// Costs: publish 4 plain stores; claim 1 load + 1 CAS; close 1 load + 1 CAS when no guest is left.
#pragma once

#include "base/atomics.h"
#include <cstdint>

namespace ws::loop {

using base::Hardware;

enum class Claim {
    taken,  // the chunk is the caller's alone
    lost,   // another claimant was faster; there may be more
    empty,  // every unit is claimed
    closed, // no region is published
    full,   // as many have joined as may
};

struct Chunk {
    uint64_t lo, hi;
    uint64_t size() const { return hi - lo; }
};

constexpr unsigned descriptor_joiner_bits = 10;

// What a thief must know of a region before it claims; written by the owner before the word is released.
struct Terms {
    uint64_t end;        // units in the region
    uint64_t sizing;     // how a thief sizes its first chunk: Sizing::pack()
    uint64_t unit_ticks; // measured cost of a unit, for the choice between victims
    unsigned most_joiners = (1u << descriptor_joiner_bits) - 1; // at a time
    unsigned joined = 0; // counted as joined from the start: threads of the owner's own, which are sure to come
    bool two_ends = false; // guests claim from the end; of max_units_of_two_ends units at most
};

template <class Atomics = Hardware>
class BasicDescriptor {
    using A = Atomics;
    using Word = typename A::Word;

public:
    static constexpr unsigned next_bits = 40, joiner_bits = descriptor_joiner_bits;
    static constexpr uint64_t next_mask = (uint64_t(1) << next_bits) - 1;
    static constexpr uint64_t joiner_one = uint64_t(1) << next_bits;
    static constexpr uint64_t joiner_mask = ((uint64_t(1) << joiner_bits) - 1) << next_bits;
    static constexpr uint64_t two_ends = uint64_t(1) << (next_bits + joiner_bits);
    static constexpr uint64_t generation_one = two_ends << 1;
    static constexpr uint64_t max_units = next_mask - 1;
    // with two ends: the part of `next` that counts units claimed from the start
    static constexpr unsigned before_bits = next_bits / 2;
    static constexpr uint64_t before_mask = (uint64_t(1) << before_bits) - 1;
    static constexpr uint64_t max_units_of_two_ends = before_mask - 1; // so that no region looks closed
    static constexpr unsigned max_joiners = (1u << joiner_bits) - 1;

    // Owner, before anyone can see the window.
    void init() { A::store_relaxed(word_, next_mask); }

    // Owner, with no region published: offers the units [first, terms.end).
    void publish(uint64_t first, const Terms& terms)
    {
        A::store_relaxed(end_, Word(terms.most_joiners) << next_bits | terms.end);
        A::store_relaxed(sizing_, terms.sizing);
        A::store_relaxed(unit_ticks_, terms.unit_ticks);
        Word old = A::load_relaxed(word_); // only the owner writes the word while it is closed
        // Release: a reader of the word sees the terms and the owner's region. Pairs with the acquire in attempt().
        A::store_release(word_, ((old & ~(joiner_mask | next_mask | two_ends)) + generation_one) |
                                    (terms.two_ends ? two_ends : 0) | Word(terms.joined) << next_bits | first);
    }

    // Owner or guest, inside a published region. `size(remaining, joiners)` says how many units are wanted; while it is
    // asked `out` is empty, where the chunk will begin, or end for a guest in a region with two ends.
    // Never returns lost: a failed CAS means that another claimant moved on.
    enum By { owner, guest };
    template <class Size>
    Claim claim(Size&& size, Chunk& out, By by = owner)
    {
        Claim c;
        while ((c = attempt(0, by, size, out)) == Claim::lost) {
        }
        return c;
    }

    // Thief: claims a chunk and registers a guest in one step. One attempt. Which units the chunk holds clamp() tells.
    template <class Size>
    Claim claim_and_join(Size&& size, Chunk& out)
    {
        return attempt(joiner_one, guest, size, out);
    }

    // Guest, inside its process: the units of the chunk that its thief claimed. Cuts it where the region that is open
    // now ends (see "Exactly once").
    Chunk clamp(Chunk c) const
    {
        const uint64_t end = A::load_relaxed(end_) & next_mask; // stable: the caller has joined
        if (!(c.lo & from_end))
            return {c.lo < end ? c.lo : end, c.hi < end ? c.hi : end};
        const uint64_t before = c.lo >> before_bits & before_mask, behind = c.lo & before_mask, n = c.size();
        const uint64_t hi = end > behind ? end - behind : 0, lo = hi > n ? hi - n : 0;
        return {lo > before ? lo : before, hi > before ? hi : before};
    }

    // Guest: its last use of the region. Full: what the guest's chunks wrote comes before. Pairs with joiners().
    void leave() { A::fetch_add_full(word_, Word(0) - joiner_one); }

    unsigned joiners() const
    {
        // Acquire: at 0 the owner sees everything that its guests wrote. Pairs with leave().
        return joiners_in(A::load_acquire(word_));
    }

    // Owner, when every unit is claimed and joiners() is 0. Without the marker a stale word could match the next
    // region. False when a guest is inside after all, to be waited for: a claim of 2^13 regions ago (see "Exactly
    // once") can succeed even on a region that has nothing left. Hence a CAS, not a store.
    bool close()
    {
        Word w = A::load_acquire(word_); // pairs with leave()
        return !(w & joiner_mask) && A::cas_full(word_, w, w | next_mask);
    }

    // Anyone: what a look without claiming tells. A hint, stale as soon as it is returned.
    struct Look {
        bool open, full;
        unsigned joiners;
        uint64_t remaining, sizing, unit_ticks;
    };
    Look look() const
    {
        Word w = A::load_acquire(word_);
        if ((w & next_mask) == next_mask)
            return {false, false, 0, 0, 0, 0};
        const Word terms = A::load_relaxed(end_);
        const uint64_t end = terms & next_mask, claimed = before_in(w) + behind_in(w);
        const unsigned joiners = joiners_in(w);
        return {true,
                joiners >= terms >> next_bits,
                joiners,
                claimed < end ? end - claimed : 0,
                A::load_relaxed(sizing_),
                A::load_relaxed(unit_ticks_)};
    }

private:
    // In a chunk that a thief claimed in a region with two ends, `lo` holds, with this bit, the units that were claimed
    // before from the start and from the end. Only the guest knows for sure where the end is.
    static constexpr uint64_t from_end = uint64_t(1) << 63;

    static unsigned joiners_in(Word w) { return unsigned((w & joiner_mask) >> next_bits); }
    static uint64_t before_in(Word w) { return w & (w & two_ends ? before_mask : next_mask); }
    static uint64_t behind_in(Word w) { return w & two_ends ? (w & next_mask) >> before_bits : 0; }

    template <class Size>
    Claim attempt(Word join, By by, Size&& size, Chunk& out)
    {
        Word w = A::load_acquire(word_); // pairs with publish()
        if ((w & next_mask) == next_mask)
            return Claim::closed;
        const Word terms = A::load_relaxed(end_); // of this generation, or the CAS below fails
        uint64_t end = terms & next_mask;
        if ((w & two_ends) && end > max_units_of_two_ends) // terms of another generation: neither count may overflow
            end = max_units_of_two_ends;
        const uint64_t before = before_in(w), behind = behind_in(w);
        if (before + behind >= end)
            return Claim::empty;
        const unsigned joiners = joiners_in(w);
        if (join && joiners >= terms >> next_bits)
            return Claim::full;
        const bool from_far = by == guest && (w & two_ends);
        out.lo = out.hi = from_far ? end - behind : before;
        uint64_t remaining = end - before - behind;
        uint64_t want = size(remaining, joiners);
        uint64_t n = want < 1 ? 1 : want > remaining ? remaining : want;
        // Full: the thief's joining must not sink below the claimed chunk's use, nor the guest's chunk rise above it.
        if (!A::cas_full(word_, w, w + (from_far ? n << before_bits : n) + join))
            return Claim::lost;
        if (!from_far)
            out.hi += n;
        else if (!join)
            out.lo -= n;
        else {
            out.lo = from_end | before << before_bits | behind;
            out.hi = out.lo + n;
        }
        return Claim::taken;
    }

    // Writers: owner and claimants. The one contended line.
    alignas(64) volatile Word word_;
    // Writer: owner, in publish(). Readers: claimants. Above the end: most_joiners.
    alignas(64) volatile Word end_;
    volatile Word sizing_;
    volatile Word unit_ticks_;
};

using Descriptor = BasicDescriptor<>;

} // namespace ws::loop
