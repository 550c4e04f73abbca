// SPDX-License-Identifier: MIT
//
// The tasks of a rank that wait. The newest runs first: a tree of tasks then needs little memory. The oldest is given
// away first: of a tree that is the largest part. Not for several threads at once.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace ws::policy::tasks {

enum TaskFlags : uint8_t {
    task_pinned = 1,
    task_has_future = 2,
    task_on_heap = 4, // the data lies at `there`
    task_has_inputs = 8, // behind the program's own data: inputs.h
    task_keeps_result = 16, // if that is large: where the task runs, until its origin says who needs it
    task_lacks_inputs = 32, // some come separately; such a task is on its way to the rank that gets them
};

struct Task {
    static constexpr size_t most_here = 40;

    uint16_t kind;
    int8_t priority;
    uint8_t flags;
    uint8_t moves;
    uint16_t group; // 0: none
    uint32_t origin, future; // the rank that put it; the number there
    uint64_t bytes;
    union {
        alignas(8) char here[most_here];
        void* there;
    };
    void* data() { return flags & task_on_heap ? there : here; }
};
static_assert(sizeof(Task) == 64);

// Both ends, in a ring that grows.
class Ring {
public:
    size_t size() const { return newest_ - oldest_; }
    void push_newest(const Task& t)
    {
        if (size() == capacity_)
            grow();
        tasks_[newest_++ & (capacity_ - 1)] = t;
    }
    void push_oldest(const Task& t)
    {
        if (size() == capacity_)
            grow();
        tasks_[--oldest_ & (capacity_ - 1)] = t;
    }
    Task pop_newest() { return tasks_[--newest_ & (capacity_ - 1)]; }
    Task pop_oldest() { return tasks_[oldest_++ & (capacity_ - 1)]; }

private:
    __attribute__((noinline)) void grow()
    {
        const size_t more = capacity_ ? 2 * capacity_ : 64;
        std::unique_ptr<Task[]> larger(new Task[more]);
        for (size_t i = oldest_; i != newest_; i++)
            larger[i & (more - 1)] = tasks_[i & (capacity_ - 1)];
        tasks_ = std::move(larger);
        capacity_ = more;
    }
    std::unique_ptr<Task[]> tasks_;
    size_t capacity_ = 0, oldest_ = 0, newest_ = 0; // they count on and wrap
};

class Queue {
public:
    static constexpr int least_priority = -8, most_priority = 7;

    size_t size() const { return size_; }
    size_t movable() const { return movable_; }

    // `stays`: it is pinned, or has moved often enough.
    void put(const Task& t, bool stays)
    {
        const unsigned level = level_of(t);
        (stays ? staying_ : moving_)[level].push_newest(t);
        there_ |= 1u << level;
        size_++;
        movable_ += !stays;
    }

    // Takes a task of the highest priority, first one that must run here. False if there is none.
    bool take(Task& t)
    {
        if (!there_)
            return false;
        const unsigned level = 31 - unsigned(__builtin_clz(there_));
        Ring &staying = staying_[level], &moving = moving_[level];
        if (staying.size())
            t = staying.pop_newest();
        else {
            t = moving.pop_newest();
            movable_--;
        }
        taken(level);
        return true;
    }

    // Takes a task of priority 0 that may move, unless another one has to run before it.
    bool take_ordinary(Task& t)
    {
        constexpr unsigned level = 0 - least_priority;
        if (there_ >> (level + 1) || staying_[level].size() || !moving_[level].size())
            return false;
        return take(t);
    }
    int first_priority() const { return 31 - __builtin_clz(there_) + least_priority; } // if there is a task

    // The oldest that may move, those of high priority last: they run here before others would have them.
    bool give(Task& t)
    {
        for (unsigned level = 0; level < levels; level++)
            if (moving_[level].size()) {
                t = moving_[level].pop_oldest();
                movable_--;
                taken(level);
                return true;
            }
        return false;
    }
    void put_back(const Task& t)
    {
        const unsigned level = level_of(t);
        moving_[level].push_oldest(t);
        there_ |= 1u << level;
        size_++;
        movable_++;
    }

private:
    static constexpr unsigned levels = most_priority - least_priority + 1;
    static unsigned level_of(const Task& t) { return unsigned(t.priority - least_priority); }
    void taken(unsigned level)
    {
        size_--;
        if (!staying_[level].size() && !moving_[level].size())
            there_ &= ~(1u << level);
    }

    Ring staying_[levels], moving_[levels];
    uint32_t there_ = 0; // a bit for each level that has tasks
    size_t size_ = 0, movable_ = 0;
};

} // namespace ws::policy::tasks
