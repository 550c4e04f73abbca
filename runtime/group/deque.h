// SPDX-License-Identifier: MIT
//
// The tasks that one thread has put and nobody has begun: a ring with two ends, after Chase and Lev, "Dynamic Circular
// Work-Stealing Deque" (SPAA 2005). Its thread puts and takes the newest, others steal the oldest, which in a tree of
// tasks is the largest. Here the ring does not grow: who finds it full runs the task at once. That bounds the memory of
// any recursion, and no thief can hold an old ring.
#pragma once

#include "base/atomics.h"
#include <type_traits>

namespace ws::group {

template <class Task, class Atomics = base::Hardware, unsigned room = 256> class BasicDeque {
    using A = Atomics;
    using Word = typename A::Word;

public:
    static constexpr Word capacity = room;

    // ---- its thread

    bool is_full() const { return A::load_relaxed(newest_) - A::load_relaxed(oldest_) >= capacity; }
    // False if it is full.
    bool put(Task* task)
    {
        const Word end = A::load_relaxed(newest_); // only this thread writes it
        // Acquire: a slot is written again only after the thief that emptied it has read it. Pairs with steal().
        if (end - A::load_acquire(oldest_) >= capacity)
            return false;
        A::store_relaxed(ring_[end % capacity], reinterpret_cast<Word>(task));
        A::store_release(newest_, end + 1); // a thief that sees the new end sees the task. Pairs with steal()
        return true;
    }
    // Takes the newest; null if there is none.
    Task* take()
    {
        if (A::load_relaxed(newest_) == A::load_relaxed(oldest_)) // only this thread adds
            return nullptr;
        // Full: the other end is read after this one has moved. A thief moves its end before it reads this one, so one
        // of the two sees the other, and both see the last task only if they then meet in the CAS.
        const Word last = A::fetch_add_full(newest_, Word(0) - 1) - 1;
        const Word first = A::load_relaxed(oldest_);
        if (is_behind(last, first)) { // thieves have taken it
            A::store_relaxed(newest_, last + 1);
            return nullptr;
        }
        Task* task = task_at(last);
        if (last == first) {
            if (!A::cas_full(oldest_, first, first + 1))
                task = nullptr;
            A::store_relaxed(newest_, last + 1);
        }
        return task;
    }

    // ---- any thread

    // An estimate.
    Word size() const
    {
        const Word first = A::load_relaxed(oldest_), end = A::load_relaxed(newest_);
        return is_behind(end, first) ? 0 : end - first;
    }
    // Takes the oldest; null if there is none, or if another thread was faster.
    Task* steal()
    {
        if (!size())
            return nullptr;
        // Full, though it changes nothing: take() tells why.
        const Word first = A::fetch_add_full(oldest_, 0);
        const Word end = A::load_acquire(newest_); // pairs with put()
        if (first == end || is_behind(end, first))
            return nullptr;
        Task* const task = task_at(first);
        return A::cas_full(oldest_, first, first + 1) ? task : nullptr; // full: pairs with put()
    }

private:
    static bool is_behind(Word a, Word b) { return std::make_signed_t<Word>(a - b) < 0; } // the counts wrap
    Task* task_at(Word n) const { return reinterpret_cast<Task*>(A::load_relaxed(ring_[n % capacity])); }

    alignas(64) volatile Word oldest_ = 0; // writers: thieves, and its thread for the last task
    alignas(64) volatile Word newest_ = 0; // one past it; writer: its thread
    volatile Word ring_[capacity] = {};
};

} // namespace ws::group
