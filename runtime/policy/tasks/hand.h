// SPDX-License-Identifier: MIT
//
// The tasks that one thread has put or taken and not begun. It takes the newest itself, without meeting others; threads
// that have nothing, and nodes that get something, take the oldest. So fine tasks do not pass through one lock for all
// threads, and what lies behind a long or blocked task is not stuck. Only tasks that may move, of priority 0.
#pragma once

#include "policy/tasks/queue.h"
#include "base/spin_lock.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

namespace ws::policy::tasks {

class alignas(64) Hand {
public:
    // ---- the thread whose hand it is

    // Needs the pool's lock. Holds tasks of kinds below `kinds` only.
    void open(size_t kinds)
    {
        waiting_.resize(std::max(kinds, waiting_.size()));
        combined_.resize(waiting_.size());
        is_held = true;
    }
    void close()
    {
        is_held = is_active = false;
        stole_at = steals_from = patience = 0;
        looked_at = nullptr;
    }
    bool holds_kind(unsigned kind) const { return kind < waiting_.size(); }

    // Throws std::bad_alloc if there is no memory for one more: then nothing has changed.
    void put(const Task& t)
    {
        const std::lock_guard<base::SpinLock> hold(lock_);
        tasks_.push_newest(t);
        base::store_relaxed(size_, tasks_.size());
        base::store_relaxed(waiting_[t.kind].tasks, waiting_[t.kind].tasks + 1);
    }
    // Takes the newest task, or the oldest if there are fewer than `width`; false if there is none.
    bool take(Task& t, size_t width = 0)
    {
        if (!size()) // only this thread adds
            return false;
        lock_.lock();
        const bool there = tasks_.size();
        if (there) {
            t = tasks_.size() < width ? tasks_.pop_oldest() : tasks_.pop_newest();
            base::store_relaxed(has_begun_, has_begun_ + 1);
            gone(t);
        }
        lock_.unlock();
        return there;
    }

    // The combined results, `bytes` long and 0 at first, of this thread's tasks of a kind.
    char* combined(unsigned kind, size_t bytes)
    {
        std::string& c = combined_[kind];
        if (c.empty())
            c.assign(bytes, '\0');
        return c.data();
    }
    // Calls call(kind, result) for each, and forgets it.
    template <class Call> void take_combined(Call&& call)
    {
        for (size_t kind = 0; kind < combined_.size(); kind++)
            if (!combined_[kind].empty()) {
                call(kind, combined_[kind].data());
                combined_[kind].clear();
            }
    }

    // Tasks run and put since the pool was last told.
    uint64_t run = 0, added = 0;
    // Change under the pool's lock: a thread has this hand; that thread holds tasks or runs one.
    bool is_held = false, is_active = false;
    // Stealing: the last victim, when the last theft succeeded (0: it has been judged), how long to wait after thefts
    // that did not pay, and until when; the hand whose single task was left, and how many tasks it had begun then.
    unsigned victim = 0;
    uint64_t stole_at = 0, patience = 0, steals_from = 0;
    const Hand* looked_at = nullptr;
    uint64_t begun = 0;
    // What it runs now (Pool::Running); the waits within tasks on its stack, and how long these took since the clock
    // was last looked at, in ticks: that is no time of the tasks that waited.
    void* running = nullptr;
    unsigned waits = 0;
    uint64_t away = 0;

    // ---- any thread

    // Estimates.
    size_t size() const { return base::load_relaxed(size_); }
    uint64_t has_begun() const { return base::load_relaxed(has_begun_); }
    size_t waiting(size_t kind) const
    {
        return kind < waiting_.size() ? base::load_relaxed(waiting_[kind].tasks) : 0;
    }

    // Takes the oldest tasks: half of them, rounded up, but at most `most`.
    size_t steal(Task* out, size_t most)
    {
        lock_.lock();
        const size_t n = std::min((tasks_.size() + 1) / 2, most);
        for (size_t i = 0; i < n; i++) {
            out[i] = tasks_.pop_oldest();
            gone(out[i]);
        }
        lock_.unlock();
        return n;
    }

private:
    struct Count {
        volatile uint64_t tasks = 0;
    };
    void gone(const Task& t)
    {
        base::store_relaxed(size_, tasks_.size());
        base::store_relaxed(waiting_[t.kind].tasks, waiting_[t.kind].tasks - 1);
    }

    base::SpinLock lock_; // of what follows
    Ring tasks_;
    volatile uint64_t size_ = 0, has_begun_ = 0;
    std::vector<Count> waiting_; // of each kind; its length changes in open() alone
    std::vector<std::string> combined_; // its thread's alone
};

} // namespace ws::policy::tasks
