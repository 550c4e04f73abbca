// SPDX-License-Identifier: MIT
//
// The period of a sequence of events: one turn of a program's outer loop, seen from its MPI calls. No MPI here, and no
// clock.
//
//   F. Freitag, J. Corbalan, J. Labarta: A Dynamic Periodicity Detector: Application to Speedup Computation. IPDPS
//   2001.
//
// An event is a number that is the same whenever the same call is made. Turns of an inner loop repeat, too: what counts
// is the longest sequence that stays. It is known after two equal turns, and forgotten when the program does something
// else.
//
//   candidate (an earlier place where the last events looked alike) -> compared event by event -> equal for a whole
//   turn: confirmed
//
// Costs: Period::feed() one comparison, two loads and three stores, 5 to 10 ns; where no period fits also a search, of
// `search_per_event` comparisons an event on average. Periods::feed() both of its periods, and three stores.
#pragma once

#include <array>
#include <cstdint>

namespace ws::measure {

class Period {
public:
    static constexpr unsigned longest = 4095; // events that a period may have

    // `soon`: the first one is known at the end of the second turn, not in the third. Then two turns that are equal by
    // chance are taken for a period, too.
    explicit Period(bool soon = false) : soon_(soon) {}

    // The next event. True: a whole turn of the period has ended with it.
    bool feed(uint32_t event)
    {
        const uint32_t i = next_++;
        events_[i % size] = event;
        // Chains of places where the last two events were the same.
        uint32_t& head = heads_[(event * 0x9E3779B1u ^ last_ * 0x85EBCA6Bu) >> (32 - head_bits)];
        last_ = event;
        bool turned = false;
        if (candidate_ && events_[(i - candidate_) % size] == event) {
            if (--left_ == 0)
                turned = turn();
        } else
            turned = search(i, head);
        earlier_[i % size] = head;
        head = i;
        return turned;
    }

    // Events of a period; 0: none is known.
    unsigned length() const { return length_; }
    // One is known, and its last turn is no longer ago than two turns take.
    bool stays() const { return length_ && next_ - 1 - ended_at_ <= 2 * length_; }
    // Whole turns of it so far, periods known before included.
    uint64_t turns() const { return turns_; }

private:
    static constexpr unsigned size = longest + 1, head_bits = 10;
    static constexpr unsigned search_per_event = 4, most_search = 4096; // comparisons
    static constexpr unsigned most_places = 16;                         // looked at in one search

    bool turn();
    bool search(uint32_t i, uint32_t head);

    std::array<uint32_t, size> events_ = {}, earlier_ = {};
    std::array<uint32_t, 1u << head_bits> heads_ = {};
    uint32_t next_ = size;    // so that the zeroes above are places too far back
    uint32_t last_ = 0;
    uint32_t candidate_ = 0;  // events that may be a period; 0: none
    uint32_t left_ = 0;       // events left of its present turn
    uint32_t since_ = 0;      // number of the event at which it became a candidate
    uint32_t searched_ = size, spent_ = 0; // the last search, and what it has taken beyond what it was allowed
    uint32_t ended_at_ = 0;   // number of the event with which a turn of the period ended
    unsigned length_ = 0;
    uint64_t turns_ = 0;
    bool soon_;
};

// What a thread has spent until a moment, in ticks (measure/meter.h).
struct Spent {
    uint64_t at = 0, useful = 0, waited = 0;
};

// The turns of a program, seen in two ways at once: calls are told apart by what they are about (function, peer and
// buffer, as in the paper on dynamic processor balancing), and by their places in the program (function and call site).
// Buffers that are allocated again or take turns hide turns from the first; calls from one place hide them from the
// second. The longer period of those that stay counts, and of two of one length that by places.
class Periods {
public:
    // A call begins, and the caller has spent `now`. True if what is told below has changed.
    bool feed(uint32_t about, uint32_t place, const Spent& now);

    unsigned length() const { return length_; } // calls a turn; 0: none are known
    uint64_t turns() const { return turns_; }   // that have ended so far, whichever way they were seen
    // What the last turn took, or the one before it (1): from the same call to the same call. All zero: not known.
    Spent turn(unsigned before = 0) const;
    uint64_t turn_began(unsigned before) const;

private:
    static constexpr unsigned kept = Period::longest + 1;

    void choose();
    bool has(unsigned before) const;

    Period about_, place_{true};
    const Period* chosen_ = &place_;
    std::array<Spent, kept> calls_ = {};
    uint64_t fed_ = 0, ended_at_ = 0; // calls so far; the one with which the last turn ended
    unsigned length_ = 0;
    uint64_t turns_ = 0;
};

} // namespace ws::measure
