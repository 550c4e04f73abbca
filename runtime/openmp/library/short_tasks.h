// SPDX-License-Identifier: MIT
//
// Tasks that are too short to be given to another thread. Where a region has more than one thread, libgomp takes a lock
// and makes a system call for each task that is put: 0.2 to 1 us. So a region of tiny tasks takes several times as long
// with a borrowed core as without, and whether it has such tasks is known only when it runs.
//
// From then on most tasks run at once, in the thread that puts them, as with an if clause that is false. Where tasks
// put further ones, one task in each slice of time is still left to idle threads: one close to the root of the tree.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ws::openmp {

// One thread's. The clock is the caller's, in ticks.
class ShortTasks {
public:
    struct Limits {
        uint64_t slice, shortest; // ticks: a slice, and the mean time from put to put from which a thread is worth it
    };
    // `wake`: ticks of a futex call that wakes nobody. A put has one, which is part of the time from put to put. With
    // calls of up to 0.5 us, two threads of libgomp are faster than one from 0.7 to 1 us on (measured for tasks of one
    // loop). On virtual machines whose calls take 1 us and more, tasks of nothing take longer than that from put to
    // put: there a task has to take as long as a call.
    static Limits limits(double ticks_per_us, uint64_t wake)
    {
        const uint64_t shortest = std::max(uint64_t(ticks_per_us), 2 * wake);
        return {std::max(uint64_t(50 * ticks_per_us), 16 * shortest), shortest};
    }

    // The thread begins its part of a region whose tasks may run at once. What it has learned in other regions is
    // dropped.
    void region_begins()
    {
        is_on_ = true;
        are_short_ = gives_ = waited_ = false;
        given_ = began_ = puts_ = look_at_ = largest_ = pause_ = paused_ = calm_ = 0;
        pass_ = 1;
    }

    // Whether a task that is put now is to run at once. The caller's stack is at `frame`.
    template <class Clock> bool runs_at_once(Clock&& clock, uintptr_t frame, const Limits& limits)
    {
        if (!is_on_)
            return false;
        if (puts_ >= look_at_)
            look(clock(), limits);
        puts_++;
        all_puts_++;
        least_ = std::min(least_, depth_);
        bool runs = are_short_ && frame >= lowest_ && frame < highest_;
        if (runs && gives_ && depth_ <= level_)
            runs = gives_ = false;
        if (!runs)
            gives();
        return runs;
    }
    // A task is put as it was meant.
    void gives() { given_ |= own_bit(); }
    // The thread's tasks are short, but none can run at once before has_stack() was called.
    bool wants_stack() const { return are_short_ && highest_ == 0; }
    // A long chain of tasks, each of which puts the next, takes no stack if each runs later. So only a part of the
    // stack is used.
    void has_stack(uintptr_t lowest, uint64_t bytes)
    {
        highest_ = lowest + bytes;
        lowest_ = highest_ - std::min(bytes, most_stack) / stack_part; // it has no bound, by `ulimit -s unlimited`
    }
    // One that runs at once. What begins() returns is for ends().
    uint64_t begins()
    {
        depth_++;
        return all_puts_;
    }
    void ends(uint64_t began)
    {
        depth_--;
        largest_ = std::max(largest_, all_puts_ - began);
    }

    // The thread begins to wait, for the tasks that it has put or for all threads. The time until has_waited() does not
    // count as time of tasks that run at once. If this returns false, has_waited() need not be called.
    template <class Clock> bool waits_for_tasks(Clock&& clock, const Limits& limits)
    {
        if (!(given_ & own_bit())) // all have run
            return false;
        given_ &= ~own_bit();
        return waits(clock, limits);
    }
    template <class Clock> bool waits(Clock&& clock, const Limits& limits)
    {
        if (!are_short_)
            return false;
        look(clock(), limits);
        return true;
    }
    void has_waited() { waited_ = true; }

private:
    // For tasks at this depth. Those that are deeper than all bits share the last one.
    uint64_t own_bit() const { return uint64_t(1) << std::min(depth_, 63u); }
    void look(uint64_t now, const Limits& limits)
    {
        const uint64_t passed = now - last_;
        if (passed >= limits.slice && are_short_) {
            if (waited_)
                began_ += passed;
            else
                was_long();
        }
        last_ = now;
        waited_ = false;
        if (now - began_ >= limits.slice)
            end_slice(now, limits);
        look_at_ = puts_ + pass_;
    }
    void end_slice(uint64_t now, const Limits& limits)
    {
        const bool were_short = are_short_ && pause_ == 0;
        are_short_ = paused_ == 0 && puts_ > 0 && (now - began_) / puts_ < limits.shortest;
        paused_ -= paused_ > 0;
        if (are_short_ && ++calm_ >= most_pause) {
            calm_ = 0;
            pause_ /= 2;
        }
        pass_ = were_short && are_short_ ? std::clamp<uint64_t>(puts_ / 64, 1, most_pass) : 1;
        level_ = gives_ ? std::max(level_, least_) : least_;
        gives_ = gives_ || (puts_ > 0 && largest_ >= puts_ / worth_part);
        began_ = now;
        puts_ = largest_ = 0;
        least_ = ~0u;
    }
    // One of the last tasks that ran at once took a slice or longer. There may be more long ones among the short ones.
    // So no task runs at once for some slices, and for more slices each time.
    void was_long()
    {
        are_short_ = false;
        pass_ = 1;
        calm_ = 0;
        paused_ = pause_ = std::clamp(2 * pause_, least_pause, most_pause);
    }

    // A task is worth giving away if it takes that part of a slice, with those that it puts.
    static constexpr uint64_t worth_part = 8, stack_part = 4, most_stack = 8u << 20;
    static constexpr uint64_t least_pause = 4, most_pause = 64; // slices
    // Reading the clock takes 10 ns or more. The shorter the tasks are, the more of them pass between two readings. So
    // up to this many long tasks may run one after the other in one thread.
    static constexpr uint64_t most_pass = 4;

    uint64_t last_ = 0, look_at_ = 0, pass_ = 1; // the last look, and puts: at the next, and between two
    uint64_t began_ = 0, puts_ = 0;              // of the present slice
    uint64_t largest_ = 0;                       // and how many a task put that ended in it
    uint64_t pause_ = 0, paused_ = 0, calm_ = 0; // slices: the last pause, what is left of it, and since then
    uint64_t all_puts_ = 0;
    uint64_t given_ = 0;                 // a bit for each depth at which a task was put as it was meant
    uintptr_t lowest_ = 0, highest_ = 0; // where on the stack tasks may run at once
    unsigned depth_ = 0;                 // tasks of those that run at once, within each other
    unsigned level_ = 0;                 // the least in the slice before
    unsigned least_ = ~0u;               // and in this one
    bool is_on_ = false, are_short_ = false, gives_ = false, waited_ = false;
};

} // namespace ws::openmp
