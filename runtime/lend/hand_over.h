// SPDX-License-Identifier: MIT
//
// What it costs to hand a thief's core over, as measured, and which work is worth that. Arithmetic alone, in ticks.
//
// For `there`, until the guest begins, and for `back`, until the thief goes on, nobody computes on the core. If a core
// is lent for one region after the other, both take 4 us. If it is lent rarely, with cold caches, they take 30 and 12
// us. The owner is not to wait for the thief, so the guest leaves early by the way home. If the work would take the
// owner R, the guest's part is (R - there - back) / 2, and the region gains as much.
#pragma once

#include <cstdint>

namespace ws::lend {

class HandOver {
public:
    // Less work is left alone: the guest would compute for less than half of what the way home takes, and its cold
    // caches eat that up. But who refuses never learns that hand-overs one after the other are cheaper: after some
    // refusals one is tried, as if the way there took no longer than the way home.
    uint64_t least() const { return refused_ < try_again ? there_ + 2 * back_ : 2 * back_; }

    // The guest's part of that much work, while `others` share it already.
    uint64_t part(uint64_t work, unsigned others) const
    {
        const uint64_t without = others * (there_ + back_);
        return work > without ? (work - without) / (others + 1) : 0;
    }

    uint64_t back() const { return back_; }

    // Work was left alone, in one more wait.
    void refused() { refused_++; }
    // Work was not.
    void begins() { refused_ = 0; }
    // A hand-over is finished. Others on the core may delay both ways as they like: none counts for more than `most`,
    // else nothing would ever be worth one again.
    void took(uint64_t there, uint64_t back, uint64_t most)
    {
        there_ = usual(there_, there, most);
        back_ = usual(back_, back, most);
    }

    // What a way usually takes, after one more that took `took` (known: 0 at first): it follows the median, as a guest
    // that goes home too early loses as much as one that goes too late. The first one of all finds a thread that was
    // just made, and nothing in its caches: it is no measure, else short regions would never see a second one.
    static uint64_t usual(uint64_t known, uint64_t took, uint64_t most)
    {
        most = known ? most : most / 4;
        took = took < most ? took : most;
        const uint64_t step = known / 16 + 1;
        return known == 0 || took < known / 2 ? took : took > known ? (took < known + step ? took : known + step)
               : took > known - step ? took : known - step;
    }

private:
    static constexpr unsigned try_again = 16;
    uint64_t there_ = 0, back_ = 0;
    unsigned refused_ = 0; // since the last hand-over
};

} // namespace ws::lend
