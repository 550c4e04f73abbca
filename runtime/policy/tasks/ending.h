// SPDX-License-Identifier: MIT
//
// When no task is left anywhere, and whether all ranks have the same kinds of tasks. The paper ends when some node is
// light, which is no end where tasks make tasks. Here what travels is counted: tasks, results on their way to futures,
// and what delivering.cpp sends. A rank reports when it has nothing to do, to its parent in a tree of the ranks, which
// adds up.
//
// Up to Counts::most_each ranks report whenever their counts have changed: for each rank, how many were sent to it and
// how many it has received. If these are equal for each rank, in whatever reports came last, all is over: let a rank
// have begun to work again after its last report, and let it be the first one. What it received had been sent before
// its sender's last report, as that one did not begin again earlier; and all else that the rank has received, too. So
// it was sent more than it had received. One letter up and one down end a pool.
//
// A rank can begin to work again without a letter, too: when a thread that is no task puts one (Pool::put). What such a
// rank then sends may have been received, but not yet reported as sent, and so hide a letter that is under way. So
// letters with tasks and results say whether their sender was woken in this way. The receiver of such a letter counts
// as woken, too, and if any rank does, the root confirms the end by a wave (below).
//
// Counts go on from run to run, because what a woken rank sends may come after the run has ended. The next run then
// does not end before it has come.
//
// More ranks only have sums, and Mattern's four counters: reports are asked for in waves, and a second wave begins when
// the first is over. If as many were received when the first one counted as had been sent when the second one did,
// nothing was under way in between, and nobody has sent anything since. The tree is flat and wide, as each level of it
// takes five letters in a row when all have become idle.
//
// Ranks with new kinds hold until all have reported, and the root has seen that all have the same. Others need not
// wait: what they run all know. tests/unit/model/ending.pml is checked for the end, with mistakes. No MPI here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ws::policy::tasks {

// Sums over some ranks. `sent`, `received` and `under_way` count from the pool's first run on, the others from this
// run.
struct Counts {
    static constexpr int most_each = 64;
    uint64_t sent = 0, received = 0;          // tasks and results
    uint64_t failed = 0;                      // ranks on which a task has; final where no task is left
    uint64_t holding = 0;                     // ranks that wait until all are known to have the same kinds
    uint64_t woken = 0;                       // ranks that were, or have received something from one that was
    uint64_t in_wave = 0;                     // not 0: the answer to an ask, and no report
    uint64_t least_kinds = ~uint64_t(0), greatest_kinds = 0; // a number for what is registered
    // To each rank, unless there are more: sent to it, less what it received. The sums wrap around.
    uint32_t under_way[most_each] = {};
    void operator+=(const Counts& other)
    {
        sent += other.sent;
        received += other.received;
        failed += other.failed;
        holding += other.holding;
        woken += other.woken;
        least_kinds = std::min(least_kinds, other.least_kinds);
        greatest_kinds = std::max(greatest_kinds, other.greatest_kinds);
        for (int r = 0; r < most_each; r++)
            under_way[r] += other.under_way[r];
    }
    bool operator==(const Counts& other) const { return std::memcmp(this, &other, sizeof *this) == 0; }
    void sent_to(int rank)
    {
        sent++;
        if (rank < most_each)
            under_way[rank]++;
    }
    void received_by(int rank)
    {
        received++;
        if (rank < most_each)
            under_way[rank]--;
    }
    bool kinds_differ() const { return least_kinds != greatest_kinds; }
};

class Ending {
public:
    enum class Say : uint8_t { nothing, ask, answer, begin, end };
    // To whom: ask, begin and end to the children, answer to the parent, with `sum`. `begin`: nobody holds any more.
    struct Do {
        Say say = Say::nothing;
        Counts sum = {};
    };

    // The root, rank 0, asks without being asked. `each`: for tests.
    Ending(int me, int ranks, bool each) : me_(me), ranks_(ranks), each_(each), asked_(me == 0) {}
    Ending(int me, int ranks) : Ending(me, ranks, ranks <= Counts::most_each) {}

    int parent() const { return (me_ - 1) / width; }
    int children() const { return std::clamp(ranks_ - child(0), 0, width); }
    int child(int i) const { return width * me_ + 1 + i; }

    // A wave has begun. Ranks that report whenever their counts change do so no more in this run.
    void ask()
    {
        each_ = false;
        asked_ = true;
        told_ = false;
        answers_.clear();
    }
    void answer(int from, const Counts& sum)
    {
        if (!each_ && !sum.in_wave) // a report that was under way when the wave began
            return;
        for (Answer& a : answers_)
            if (a.from == from) {
                a.sum = sum;
                return;
            }
        answers_.push_back({from, sum});
    }
    void end() { ended_ = true; }
    bool ended() const { return ended_; }

    // This rank has nothing to do now, or holds. To be called until it says nothing.
    Do idle(const Counts& own)
    {
        if (ended_ || (!each_ && !asked_))
            return {};
        if (!each_ && !told_) { // first the children count
            told_ = true;
            if (children())
                return {Say::ask, {}};
        }
        if (int(answers_.size()) < children())
            return {};
        Counts all = own;
        for (const Answer& a : answers_)
            all += a.sum;
        all.in_wave = !each_;
        if (me_ != 0) {
            if (each_ && told_ && all == said_)
                return {};
            asked_ = false;
            told_ = true;
            said_ = all;
            return {Say::answer, all};
        }
        const Say say = judge(all);
        if (say == Say::nothing && !each_ && children())
            return idle(own); // the next wave begins
        return {say, all};
    }

private:
    static constexpr int width = 16; // children of a rank at most
    struct Answer {
        int from;
        Counts sum;
    };

    // The root's, of all ranks.
    Say judge(const Counts& all)
    {
        const bool had_wave = had_wave_;
        const uint64_t received = received_;
        had_wave_ = true;
        received_ = all.received;
        const bool is_quiet =
            each_ ? std::all_of(all.under_way, all.under_way + Counts::most_each, [](uint32_t n) { return n == 0; })
                  : had_wave && received == all.sent;
        if (!each_)
            ask();
        if (all.holding == uint64_t(ranks_) && !all.kinds_differ()) {
            if (begun_)
                return Say::nothing; // they have not heard of it yet
            begun_ = true;
            had_wave_ = false;
            return Say::begin;
        }
        if (!is_quiet || (all.holding && !all.kinds_differ()))
            return Say::nothing;
        if (each_ && all.woken && children()) {
            ask();
            return Say::nothing;
        }
        ended_ = true;
        return Say::end;
    }

    int me_, ranks_;
    bool each_, asked_, told_ = false, ended_ = false, begun_ = false;
    bool had_wave_ = false;
    uint64_t received_ = 0; // in the wave before
    std::vector<Answer> answers_; // of children
    Counts said_;
};

} // namespace ws::policy::tasks
