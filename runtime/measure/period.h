// SPDX-License-Identifier: MIT
//
// The period of a sequence of events: one turn of a program's outer loop, seen from its MPI calls. No MPI here, and no
// clock.
//
// An event is a number that is the same whenever the same call is made from the same place. Turns of an inner loop
// repeat, too: what counts is the longest sequence that stays. It is known after two equal turns, and forgotten when
// the program does something else.
//
//   candidate (an earlier place where the last events looked alike) -> compared event by event -> equal for a whole
//   turn: confirmed
//
// Costs: feed() one comparison, two loads and three stores, 5 to 10 ns; where no period fits also a search, of
// `search_per_event` comparisons an event on average.
#pragma once

#include <array>
#include <cstdint>

namespace ws::measure {

class Period {
public:
    static constexpr unsigned longest = 4095; // events that a period may have

    // The next event, at `now`: ticks, or whatever the caller counts in.
    void feed(uint32_t event, uint64_t now)
    {
        const uint32_t i = next_++;
        events_[i % size] = event;
        // Chains of places where the last two events were the same.
        uint32_t& head = heads_[(event * 0x9E3779B1u ^ last_ * 0x85EBCA6Bu) >> (32 - head_bits)];
        last_ = event;
        if (candidate_ && events_[(i - candidate_) % size] == event) {
            if (--left_ == 0)
                turn(now);
        } else
            search(i, head, now);
        earlier_[i % size] = head;
        head = i;
    }

    // Events of a period; 0: none is known.
    unsigned length() const { return length_; }
    // Whole turns of it so far, periods known before included; and what the last one took.
    uint64_t turns() const { return turns_; }
    uint64_t last_turn() const { return last_turn_; }

private:
    static constexpr unsigned size = longest + 1, head_bits = 10;
    static constexpr unsigned search_per_event = 4, most_search = 4096; // comparisons
    static constexpr unsigned most_places = 16;                         // looked at in one search

    void turn(uint64_t now);
    void search(uint32_t i, uint32_t head, uint64_t now);

    std::array<uint32_t, size> events_ = {}, earlier_ = {};
    std::array<uint32_t, 1u << head_bits> heads_ = {};
    uint32_t next_ = size;    // so that the zeroes above are places too far back
    uint32_t last_ = 0;
    uint32_t candidate_ = 0;  // events that may be a period; 0: none
    uint32_t left_ = 0;       // events left of its present turn
    uint32_t since_ = 0;      // number of the event at which it became a candidate,
    uint64_t turn_began_ = 0; // and the time at which its present turn began
    uint32_t searched_ = size, spent_ = 0; // the last search, and what it has taken beyond what it was allowed
    uint32_t confirmed_at_ = 0;
    unsigned length_ = 0;
    uint64_t turns_ = 0, last_turn_ = 0;
};

} // namespace ws::measure
