// SPDX-License-Identifier: MIT
#include "measure/period.h"

#include <algorithm>

namespace ws::measure {

// A whole turn of the candidate was equal to the one before it. If it is longer than the period that is known, it most
// likely contains that one: it becomes the period at once. If it is shorter it may be an inner loop: it becomes the
// period when it has lasted for more than two turns of the longer one.
bool Period::turn()
{
    const uint32_t i = next_ - 1;
    left_ = candidate_;
    if (candidate_ < length_ && i - since_ <= 2 * length_)
        return false;
    length_ = candidate_;
    ended_at_ = i;
    turns_++;
    return true;
}

// The earlier place before which the longest sequence of events was the same as now; of several the nearest.
bool Period::search(uint32_t i, uint32_t head)
{
    candidate_ = 0;
    if (length_ && i - ended_at_ > 2 * std::max(length_, size / 4))
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
    // What was equal already is a part of the turn where nothing is known yet. Where an inner loop is, whose number of
    // turns differs, it would often be as long as some turn before it: there the next turn has to be equal from here
    // on.
    if (candidate_ && length_ == 0 && soon_) {
        const uint32_t since_turn = i - ended_at_;
        if (const uint32_t done = std::min(most, since_turn); done < candidate_)
            left_ -= done;
        else
            return turn();
    }
    return false;
}

void Periods::choose()
{
    if (about_.stays() && place_.stays())
        chosen_ = about_.length() > place_.length() ? &about_ : &place_;
    else if (about_.stays() || place_.stays())
        chosen_ = about_.stays() ? &about_ : &place_;
}

bool Periods::feed(uint32_t about, uint32_t place, const Spent& now)
{
    calls_[fed_ % kept] = now;
    fed_++;
    const bool by_about = about_.feed(about), by_place = place_.feed(place);
    if (by_about || by_place)
        choose();
    const bool turned = chosen_ == &about_ ? by_about : by_place;
    const bool other = chosen_->length() != length_;
    length_ = chosen_->length();
    if (turned) {
        turns_++;
        ended_at_ = fed_ - 1;
    }
    return turned || other;
}

bool Periods::has(unsigned before) const
{
    const uint64_t back = fed_ - 1 - ended_at_ + (before + 1) * uint64_t(length_);
    return length_ && turns_ && back < kept && back < fed_;
}

Spent Periods::turn(unsigned before) const
{
    if (!has(before))
        return {};
    const Spent &end = calls_[(ended_at_ - before * length_) % kept],
                &begin = calls_[(ended_at_ - (before + 1) * length_) % kept];
    return {end.at - begin.at, end.useful - begin.useful, end.waited - begin.waited};
}

uint64_t Periods::turn_began(unsigned before) const
{
    return has(before) ? calls_[(ended_at_ - (before + 1) * length_) % kept].at : 0;
}

} // namespace ws::measure
