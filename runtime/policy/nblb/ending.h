// SPDX-License-Identifier: MIT
//
// When no task is left anywhere. The paper ends when some node is light, which is no end where tasks make tasks. Here
// tasks are counted: put and done, in waves along a tree of the ranks, flat and wide, as each level
// of it takes five letters in a row when all have become idle. A rank answers when it has nothing to do.
//
// Mattern's four counters: let a second wave begin when the first is over. If as many were done when the first one
// counted as had been put when the second one did, then every task was done before the second began, and nobody was
// left who could put one. tests/model/ending.pml is checked for that, with mistakes.
//
// A task is counted as put before it can run, and as done after all that it puts has been counted. No MPI here.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ws::policy::nblb {

struct Counts {
    uint64_t put = 0, done = 0;
    uint64_t failed = 0; // ranks on which a task has; final where no task is left
    void operator+=(const Counts& other)
    {
        put += other.put;
        done += other.done;
        failed += other.failed;
    }
};

class Ending {
public:
    enum class Say : uint8_t { nothing, ask, answer, end };
    // To whom: ask and end to the children, answer to the parent; both with `sum`, at the end that of all.
    struct Do {
        Say say = Say::nothing;
        Counts sum = {};
    };

    // The root, rank 0, asks without being asked.
    Ending(int me, int ranks) : me_(me), ranks_(ranks), asked_(me == 0) {}

    int parent() const { return (me_ - 1) / width; }
    int children() const { return std::clamp(ranks_ - child(0), 0, width); }
    int child(int i) const { return width * me_ + 1 + i; }

    void ask()
    {
        asked_ = true;
        told_ = false;
        answers_ = 0;
        sum_ = {};
    }
    void answer(const Counts& sum)
    {
        answers_++;
        sum_ += sum;
    }
    void end() { ended_ = true; }
    bool ended() const { return ended_; }

    // This rank has nothing to do now. To be called until it says nothing.
    Do idle(const Counts& own)
    {
        const uint64_t before = waves_;
        const Do now = count(own);
        return now.say == Say::nothing && waves_ != before ? count(own) : now; // the next wave begins
    }
    uint64_t waves() const { return waves_; } // of the root

private:
    static constexpr int width = 16; // children of a rank at most
    Do count(const Counts& own)
    {
        if (ended_ || !asked_)
            return {};
        if (!told_) { // first the children count
            told_ = true;
            if (children())
                return {Say::ask, {}};
        }
        if (answers_ < children())
            return {};
        Counts all = own;
        all += sum_;
        asked_ = false;
        if (me_ != 0)
            return {Say::answer, all};
        waves_++;
        if (had_wave_ && before_.done == all.put) {
            ended_ = true;
            return {Say::end, all};
        }
        had_wave_ = true;
        before_ = all;
        ask();
        return {};
    }

    int me_, ranks_;
    bool asked_, told_ = false, ended_ = false, had_wave_ = false;
    int answers_ = 0;
    Counts sum_, before_;
    uint64_t waves_ = 0;
};

} // namespace ws::policy::nblb
