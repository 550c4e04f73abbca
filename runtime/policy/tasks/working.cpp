// SPDX-License-Identifier: MIT
//
// How a thread puts, takes and runs tasks: the short way of a pool. A task that is put goes to its thread's hand, and
// from there to its body, without a lock that others want; who has none takes a batch of the queue, steals the oldest
// of another thread's hand, or hunts for them.
#include "abi/abi.h"
#include "abi/pool_loop.h"
#include "policy/tasks/call_task.h"
#include "policy/tasks/pool.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <sched.h>

namespace ws::policy::tasks {

// An owner without tasks, while guests are in theirs: it spins, and then it naps. Where tasks wait for results it spins
// for as long as two tasks take, within these bounds, as what they free is to begin at once.
constexpr double task_tail_least_s = 1e-4, task_tail_most_s = 2e-3;
constexpr unsigned task_tail_nap_us = 20;
// Where tasks wait for results, a thread that holds fewer than this runs the oldest first: what came first stands
// earliest in the graph, and most waits for it. A thread with more would need ever more memory that way.
constexpr size_t graph_width = 64;

__thread Pool* own_pool;
__thread Pool* pool_of_hand;
__thread Hand* own_hand;

namespace {

alignas(64) ws_site site = {"tasks", WS_SITE_KINDS(WS_DYNAMIC, WS_DYNAMIC) | WS_SITE_ANY_ORDER, {}};

constexpr size_t batch = 64; // tasks that a thread takes at once

void run_region_part(void* pool) { static_cast<Pool*>(pool)->region_part(); }

} // namespace

// ---- put and run: the short way

int Pool::put(int kind, const void* data, size_t bytes, const ws_task_options* o, std::string& error)
{
    if (WS_UNLIKELY(unsigned(kind) >= kinds_.size())) {
        error = "ws_pool_put: kind " + std::to_string(kind) + ", but " + std::to_string(kinds_.size()) +
                " are registered";
        return EINVAL;
    }
    Kind& k = kinds_[size_t(kind)];
    if (WS_UNLIKELY(!data && bytes)) {
        error = "ws_pool_put: " + std::to_string(bytes) + " bytes of data at NULL";
        return EINVAL;
    }
    Task t;
    t.kind = uint16_t(kind);
    t.priority = 0;
    t.flags = 0;
    t.moves = 0;
    t.group = 0;
    t.origin = uint32_t(me_);
    t.future = 0;
    t.bytes = bytes;
    if (WS_UNLIKELY(o)) {
        if (!are_right(*o, k, error))
            return EINVAL;
        t.priority = int8_t(o->priority);
        t.flags = o->pinned ? task_pinned : 0;
        t.group = uint16_t(o->group);
    }
    if (WS_UNLIKELY(!k.is_flat() || (o && o->takes && bytes))) {
        t.flags |= task_on_heap;
        t.there = const_cast<void*>(data);
    } else if (bytes <= Task::most_here)
        std::memcpy(t.here, data ? data : t.here, bytes);
    else {
        t.flags |= task_on_heap;
        t.there = std::malloc(bytes);
        if (!t.there) {
            error = "ws_pool_put: no memory for " + std::to_string(bytes) + " bytes";
            return ENOMEM;
        }
        std::memcpy(t.there, data, bytes);
    }
    int failed = ENOMEM;
    try {
        if (WS_UNLIKELY(o && o->inputs_count))
            failed = put_held(t, *o, error);
        else {
            put(t, o);
            return 0;
        }
    } catch (const std::bad_alloc&) {
        error = "ws_pool_put: no memory for one more task";
    }
    if (failed && (t.flags & task_on_heap) && t.there != data)
        std::free(t.there);
    return failed;
}

bool Pool::are_right(const ws_task_options& o, const Kind& k, std::string& error) const
{
    std::string wrong;
    if (o.reserved)
        wrong = "ws_pool_put: reserved fields of the options are not 0: not initialised?";
    else if (o.priority < Queue::least_priority || o.priority > Queue::most_priority)
        wrong = "ws_pool_put: priority " + std::to_string(o.priority) + " is not from -8 to 7";
    else if (o.future && !k.c.result)
        wrong = "ws_pool_put: a future, but tasks of kind '" + k.name + "' have no result";
    else if (o.group < 0 || size_t(o.group) > groups_.size())
        wrong = "ws_pool_put: group " + std::to_string(o.group) + ", but there are " + std::to_string(groups_.size());
    else if (o.has_rank && (o.rank < 0 || o.rank >= ranks_))
        wrong = "ws_pool_put: rank " + std::to_string(o.rank) + " of a pool of " + std::to_string(ranks_);
    else if (o.inputs_count && !o.inputs)
        wrong = "ws_pool_put: " + std::to_string(o.inputs_count) + " inputs at NULL";
    else if (o.inputs_count && !k.is_flat())
        wrong = "ws_pool_put: inputs, but the data of tasks of kind '" + k.name + "' is packed";
    if (wrong.empty())
        return true;
    error = std::move(wrong);
    return false;
}

// Throws std::bad_alloc: then nothing has changed.
void Pool::put(Task& t, const ws_task_options* o)
{
    Hand* const hand = pool_of_hand == this && !o ? own_hand : nullptr;
    if (WS_LIKELY(hand && hand->is_active && hand->holds_kind(t.kind))) {
        hand->put(t);
        hand->added++;
        return;
    }
    const uint64_t putter = WS_UNLIKELY(o && o->future) ? number_of_putter() : 0;
    const std::lock_guard<base::SpinLock> hold(lock_);
    if (WS_UNLIKELY(o))
        return enqueue(t, o, o->has_rank ? o->rank : me_, putter, true);
    const bool is_first = !active_ && !queue_.size(); // this rank may have reported that it has nothing to do
    queue_up(t);
    put_++;
    if (WS_UNLIKELY(is_first))
        store_relaxed(woken_, true);
}

// The pool's lock is held.
inline void Pool::queue_up(const Task& t)
{
    queue_.put(t, t.flags & task_pinned);
    queue_changed();
    kinds_[t.kind].waiting++;
}

// The pool's lock is held. Until *o->future is set, the future counts for nothing.
void Pool::make_future(Task& t, const ws_task_options* o, uint64_t putter, bool may_be_waited_for)
{
    if (WS_LIKELY(!o || !o->future))
        return;
    t.flags |= task_has_future;
    t.future = next_future_;
    Future& f = futures_[t.future] = {};
    f.putter = putter;
    f.may_be_waited_for = may_be_waited_for;
}

// The pool's lock is held. Throws std::bad_alloc: then nothing has changed.
void Pool::enqueue(Task& t, const ws_task_options* o, int to, uint64_t putter, bool may_be_waited_for)
{
    const bool is_first = !active_ && !queue_.size(); // as in put()
    make_future(t, o, putter, may_be_waited_for);
    try {
        if (add_to_hand(t, to))
            own_hand->added++;
        else {
            add_to_queue(t, to);
            put_++;
        }
    } catch (...) {
        futures_.erase(t.future);
        throw;
    }
    if (WS_UNLIKELY(is_first))
        store_relaxed(woken_, true);
    tell_future(t, o);
}

// The pool's lock is held. The task is put: its future counts.
void Pool::tell_future(const Task& t, const ws_task_options* o)
{
    if (WS_LIKELY(!(t.flags & task_has_future)))
        return;
    next_future_++;
    *o->future = serial_ << 32 | t.future;
}

// The calling thread's, which takes first what it has put last: what it waits for is not below other tasks then, and
// its stack stays low. False: it has none, or the task has to pass through the queue.
bool Pool::add_to_hand(const Task& t, int to)
{
    Hand* const hand = pool_of_hand == this ? own_hand : nullptr;
    if (!hand || !hand->is_active || !hand->holds_kind(t.kind) || t.priority != 0 || (t.flags & task_pinned) ||
        to != me_)
        return false;
    hand->put(t);
    return true;
}

// The pool's lock is held.
void Pool::add_to_queue(const Task& t, int to)
{
    if (to != me_ && wire_)
        return placed_.push_back({to, t});
    queue_up(t);
}

// Runs tasks on the calling thread until that has taken so long; one at least, if there is any, and all if there are
// not enough.
void Pool::work(uint64_t long_enough)
{
    Hand& hand = *own_hand;
    const uint64_t entered = ticks();
    // Threads of other cores, too, so that those of a worker spare the rank's own core the pulse.
    const bool polls = balances_ && (own_pool == this || has_pulse_);
    uint64_t last = entered;
    size_t unlooked = 0, timed = 0; // tasks since the clock was last looked at, and of these those of `kind`
    unsigned kind = 0;
    const auto look_at_clock = [&] {
        const uint64_t now = ticks();
        if (timed) {
            took(kind, seconds(now - last - hand.away) / double(timed), double(timed));
        }
        timed = 0;
        hand.away = 0;
        return last = now;
    };
    for (;;) {
        const size_t want = long_enough ? batch_size() : 1;
        Task t;
        if (WS_UNLIKELY(!next(hand, t, want))) {
            look_at_clock();
            // Between the steps of a graph of tasks there may be none for a moment.
            const uint64_t patience = load_relaxed(held_back_tasks_) ? long_enough : hunt_;
            if (last - entered >= long_enough ||
                !hunt(hand, t, std::min(entered + long_enough, last + patience), polls))
                break;
            last = ticks();
            unlooked = 0;
        }
        if (WS_UNLIKELY(timed && t.kind != kind))
            look_at_clock();
        kind = t.kind;
        const bool has_run = run_one(t, hand);
        hand.run += has_run;
        timed += has_run;
        if (++unlooked < want)
            continue;
        unlooked = 0;
        if (look_at_clock() - entered >= long_enough)
            break;
        if (polls && WS_UNLIKELY(last - load_relaxed(polled_at_) >= poll_every_)) {
            tell_and_poll(hand);
            last = ticks();
        }
    }
    if (!hand.is_active)
        return;
    lock_.lock();
    tell(hand);
    if (!hand.size()) { // else this thread goes on with it, or gives it back
        hand.is_active = false;
        store_relaxed(active_, active_ - 1);
    }
    lock_.unlock();
}

// The number of tasks that take about times::task_batch_us.
size_t Pool::batch_size() const
{
    const double mean = load_relaxed(mean_s_);
    return mean > 0 ? std::clamp(size_t(times::task_batch_us * 1e-6 / mean), size_t(1), batch) : 1;
}

// The next task for the calling thread, which takes up to `want` tasks at a time from others. False if there is none;
// a thread that was active remains so.
bool Pool::next(Hand& hand, Task& t, size_t want)
{
    const int first = load_relaxed(first_priority_);
    if (WS_UNLIKELY(first > 0) && take_queued(hand, t, want))
        return true;
    if (hand.take(t, load_relaxed(held_back_tasks_) ? graph_width : load_relaxed(width_)))
        return true;
    if (first >= 0 && take_queued(hand, t, want))
        return true;
    return steal(hand, t, want) || (first > nothing_queued && take_queued(hand, t, want));
}

bool Pool::take_queued(Hand& hand, Task& t, size_t want)
{
    Task more[batch];
    std::lock_guard<base::SpinLock> hold(lock_);
    if (!queue_.take(t))
        return false;
    kinds_[t.kind].waiting--;
    size_t n = 0;
    // At most half of them, because other threads are about to come.
    // A kind registered since the hand was opened does not go into it.
    const size_t some = hand.holds_kind(unsigned(kinds_.size() - 1)) ? std::min(want - 1, queue_.movable() / 2) : 0;
    for (; n < some && queue_.take_ordinary(more[n]); n++)
        kinds_[more[n].kind].waiting--;
    if (!hand.is_active) {
        hand.is_active = true;
        store_relaxed(active_, active_ + 1);
    }
    while (n) // in the order in which they were put
        hand.put(more[--n]);
    queue_changed();
    tell(hand);
    return true;
}

// Takes the oldest tasks of another thread; in a tree these are the largest.
bool Pool::steal(Hand& hand, Task& t, size_t want)
{
    const unsigned hands = Hardware::load_acquire(hands_); // pairs with open_hand()
    if (hands < 2)
        return false;
    const uint64_t now = ticks();
    if (hand.stole_at) { // did the last theft pay?
        hand.patience =
            now - hand.stole_at < worth_stealing_ ? std::min(2 * hand.patience + worth_stealing_, hunt_) : 0;
        hand.stole_at = 0;
        hand.steals_from = now + hand.patience;
    }
    if (now < hand.steals_from)
        return false;
    for (unsigned i = 0; i < hands; i++) {
        Hand& victim = *all_hands_[(hand.victim + i) % hands];
        const size_t there = victim.size();
        if (!there || &victim == &hand)
            continue;
        // A single task is taken only if its thread has begun none since the last look: it is in a long one.
        if (there == 1 && (hand.looked_at != &victim || hand.begun != victim.has_begun())) {
            hand.looked_at = &victim;
            hand.begun = victim.has_begun();
            hand.steals_from = now + worth_stealing_;
            continue;
        }
        if (!hand.is_active) {
            std::lock_guard<base::SpinLock> hold(lock_);
            // Stealing never raises this from 0: all hands are empty then, and the rank may have reported so.
            if (!active_)
                return false;
            hand.is_active = true;
            store_relaxed(active_, active_ + 1);
        }
        Task some[batch];
        size_t n = victim.steal(some, want);
        if (!n)
            continue;
        hand.victim = (hand.victim + i) % hands;
        hand.stole_at = now;
        t = some[--n];
        for (size_t k = 0; k < n; k++)
            hand.holds_kind(some[k].kind) ? hand.put(some[k]) : put_in_queue(some[k]);
        return true;
    }
    return false;
}

// Looks for tasks of other threads, until the clock reads `until`.
bool Pool::hunt(Hand& hand, Task& t, uint64_t until, bool polls)
{
    for (uint64_t now; (now = ticks()) < until && load_relaxed(active_) > hand.is_active;) {
        for (unsigned turn = 0; turn < 16; turn++)
            base::cpu_relax();
        if (next(hand, t, batch_size()))
            return true;
        if (polls)
            poll_if_due(now);
    }
    return false;
}

void Pool::tell_and_poll(Hand& hand)
{
    lock_.lock();
    tell(hand);
    lock_.unlock();
    poll();
}

// Notes how long tasks of a kind took: `each_s` seconds each.
void Pool::took(unsigned kind, double each_s, double tasks)
{
    const double mean = load_relaxed(mean_s_);
    kinds_[kind].took(each_s, tasks);
    store_relaxed(mean_s_, mean > 0 ? mean + (each_s - mean) * std::min(1.0, 0.05 * tasks) : each_s);
}

// The pool's lock is held.
void Pool::tell(Hand& hand)
{
    counts_.run += hand.run;
    put_ += hand.added;
    hand.run = hand.added = 0;
}

void Pool::queue_changed()
{
    store_relaxed(queued_, queue_.size());
    store_relaxed(first_priority_, queue_.size() ? queue_.first_priority() : nothing_queued);
}

// The number of tasks that wait; an estimate while other threads run tasks.
size_t Pool::waiting() const
{
    size_t all = load_relaxed(queued_);
    for (unsigned i = Hardware::load_acquire(hands_); i-- > 0;) // pairs with open_hand()
        all += all_hands_[i]->size();
    return all;
}

// False if there are too many threads.
bool Pool::open_hand()
{
    std::lock_guard<base::SpinLock> hold(lock_);
    unsigned i = 0;
    while (i < hands_ && all_hands_[i]->is_held)
        i++;
    if (i == most_hands)
        return false;
    if (i == hands_) {
        all_hands_[i].reset(new Hand);
        Hardware::store_release(hands_, i + 1); // pairs with those who look at all hands
    }
    own_hand = all_hands_[i].get();
    own_hand->open(kinds_.size());
    pool_of_hand = this;
    return true;
}

// Leaves its tasks to other threads.
void Pool::close_hand()
{
    Hand& hand = *own_hand;
    hand.take_combined([this](size_t kind, const char* combined) {
        Kind& k = kinds_[kind];
        std::lock_guard<base::SpinLock> hold(k.lock);
        k.c.combine(k.combined.data(), combined, k.c.context);
    });
    Task t;
    std::lock_guard<base::SpinLock> hold(lock_);
    while (hand.steal(&t, 1)) {
        queue_.put(t, false);
        kinds_[t.kind].waiting++;
    }
    queue_changed();
    tell(hand);
    if (hand.is_active)
        store_relaxed(active_, active_ - 1);
    hand.close();
    own_hand = nullptr;
    pool_of_hand = nullptr;
}

void Pool::Kind::took(double seconds, double tasks)
{
    lock.lock();
    pending_s += seconds * tasks;
    pending += tasks;
    // Short ones together: to predict costs more than they take.
    if (pending_s > 1e-6 * times::task_poll_us || pending >= 1000 || !prediction.is_known()) {
        prediction.add(pending_s / pending, pending);
        pending_s = pending = 0;
        store_relaxed(mean_s, prediction.mean_s());
        store_relaxed(tail_s, prediction.tail_s());
        store_relaxed(this->tasks, prediction.tasks());
    }
    lock.unlock();
}

// False: its group is cancelled, and it is dropped.
bool Pool::run_one(Task& t, Hand& hand)
{
    Running running = {this, &t, false, 0, {}, 0};
    if (WS_UNLIKELY(is_cancelled(t))) {
        ended(running, failure_cancelled);
        return false;
    }
    Kind& k = kinds_[t.kind];
    ws_task told = {
        shell_, t.data(), t.bytes, k.c.context, t.kind, int(t.origin), {&running, nullptr, nullptr, nullptr}};
    if (WS_UNLIKELY(t.flags & task_has_inputs))
        told.bytes = Inputs(static_cast<const char*>(t.data()), t.bytes).own_bytes();
    void* const outer = hand.running;
    hand.running = &running;
    const int failure = call_task(k.c.run, &told);
    hand.running = outer;
    if (WS_UNLIKELY((t.flags & (task_on_heap | task_has_future)) || failure || running.failure))
        ended(running, failure);
    return true;
}

// What is left to do when a task has run, or never will: `failure` is then failure_cancelled.
void Pool::ended(Running& running, int failure)
{
    Task& t = *running.task;
    const int f = failure ? failure : running.failure;
    if (f && f != failure_cancelled)
        fail(t, f, running.failure ? "gave a result of more bytes than its kind says" : nullptr);
    if (t.flags & task_has_future) {
        if (t.origin == uint32_t(me_))
            settle(t.future, f, std::move(running.result));
        else {
            std::lock_guard<base::SpinLock> hold(lock_);
            results_out_.push_back({int(t.origin), t.future, f, std::move(running.result),
                                    (t.flags & task_keeps_result) != 0});
        }
    }
    drop(t);
}

// ---- what several threads of the process run

// The queue as a loop: an iteration runs whichever tasks there are then, for as long as a chunk. There are more
// iterations than it takes for what is there now, for what those tasks will put; what is left of them costs little.
void Pool::share(size_t tasks)
{
    constexpr double least_iterations = 256; // so that a tree of fine tasks is not interrupted more often than each ms
    const double mean = load_relaxed(mean_s_), some = double(tasks);
    // Other processes can write there.
    const double grows =
        0.01 * double(std::clamp<Hardware::Word>(Hardware::load_relaxed(rows_[node_me_].grows), 100, 1000000));
    const double wanted = mean > 0 ? 4 * grows * mean * some / (1e-6 * times::task_chunk_us) : some + 1000;
    const long iterations = long(std::max(least_iterations, std::min(wanted, 4 * grows * some)));
    abi::forget_turns(site);
    ws_parallel_loop(run_region_part, this, 0, iterations, 1, &site, 0, 0);
}

void Pool::region_part()
try {
    const bool guest = own_pool != this;
    if (guest && !open_hand())
        return;
    const uint64_t chunk = uint64_t(times::task_chunk_us * ticks_per_us_);
    for (long lo, hi; ws_loop_next(&lo, &hi);) {
        work(uint64_t(hi - lo) * chunk);
        if (!guest) {
            wait_for_guests();
            if (!waiting() && load_relaxed(active_) <= own_hand->is_active)
                abi::end_turns(); // what guests in their last turns put is run below
        } else if (!waiting() && !load_relaxed(held_back_tasks_))
            abi::leave_after_turn(); // this core may have other things to do
    }
    if (guest) {
        close_hand();
        return;
    }
    while (load_relaxed(active_) > own_hand->is_active) {
        work(0);
        wait_for_guests();
    }
} catch (const std::bad_alloc&) {
    end_without_memory("ws_pool_run");
}

// run()'s thread: until there is something to do, or no guest has anything either. Guests may be in long tasks, and
// what those put others can run.
void Pool::wait_for_guests()
{
    const uint64_t began = ticks();
    const double spin_s = load_relaxed(held_back_tasks_)
                              ? std::clamp(2 * load_relaxed(mean_s_), task_tail_least_s, task_tail_most_s)
                              : task_tail_least_s;
    while (!waiting() && load_relaxed(active_) > own_hand->is_active) {
        const uint64_t now = ticks();
        poll_if_due(now);
        const double waited_s = seconds(now - began);
        if (waited_s > spin_s)
            usleep(task_tail_nap_us);
        else if (waited_s > task_tail_least_s)
            sched_yield(); // a guest may be on this core, too
        else
            base::cpu_relax();
    }
}

} // namespace ws::policy::tasks
