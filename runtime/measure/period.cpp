// SPDX-License-Identifier: MIT
#include "measure/period.h"

#include <algorithm>

namespace ws::measure {

// A whole turn of the candidate was equal to the one before it. If it is longer than the period that is known, it most
// likely contains that one: it becomes the period at once. If it is shorter it may be an inner loop: it becomes the
// period when it has lasted for more than two turns of the longer one.
void Period::turn(uint64_t now)
{
    const uint32_t i = next_ - 1;
    const uint64_t took = now - turn_began_;
    turn_began_ = now;
    left_ = candidate_;
    if (candidate_ < length_ && i - since_ <= 2 * length_)
        return;
    length_ = candidate_;
    confirmed_at_ = i;
    turns_++;
    last_turn_ = took;
}

// The earlier place before which the longest sequence of events was the same as now; of several the nearest.
void Period::search(uint32_t i, uint32_t head, uint64_t now)
{
    candidate_ = 0;
    if (length_ && i - confirmed_at_ > 2 * std::max(length_, size / 4))
        length_ = 0;
    spent_ -= std::min(spent_, search_per_event * std::min(i - searched_, most_search));
    searched_ = i;
    uint32_t most = 0;
    unsigned places = 0;
    for (uint32_t at = head; i - at < size && places < most_places && spent_ < most_search;
         at = earlier_[at % size], places++) {
        const uint32_t distance = i - at, room = std::min(size - distance, most_search - spent_);
        uint32_t equal = 0;
        while (equal < room && events_[(i - equal) % size] == events_[(i - equal - distance) % size])
            equal++;
        spent_ += equal + 1;
        if (equal > most) {
            most = equal;
            candidate_ = distance;
        }
    }
    left_ = candidate_;
    since_ = i;
    turn_began_ = now;
}

} // namespace ws::measure
