// SPDX-License-Identifier: MIT
//
// Results that are kept for who asks for them: by number after a run, by a task that waits for one, and by tasks that
// were put with some, which are held back until these have come.
#include "abi/abi.h"
#include "policy/tasks/letters.h"
#include "policy/tasks/pool.h"

#include <cerrno>
#include <cstring>
#include <new>

namespace ws::policy::tasks {

// A thread whose task waits runs other tasks on the same stack. After 100 waits on top of each other it takes only what
// it has put itself. Other threads' tasks it takes after a delay, which doubles with each further wait.
constexpr unsigned waits_at_once = 100;
constexpr double first_patience_us = 100;
constexpr unsigned most_patience = 10; // doublings
constexpr unsigned waiting_nap_us = 20;

// The pool's lock is held. Null: there is none of that number, of which `error` tells.
Pool::Future* Pool::future_of(uint64_t number, const char* call, std::string& error)
{
    if (number >> 32 != 0 && number >> 32 != serial_) {
        error = std::string(call) + ": the future is of another pool";
        return nullptr;
    }
    const auto it = number >> 32 ? futures_.find(uint32_t(number)) : futures_.end();
    if (it == futures_.end() || it->second.is_dropped) {
        error = std::string(call) + ": there is no such future, or its result was taken already";
        return nullptr;
    }
    return &it->second;
}

// The pool's lock is held, and the result is there. It is gone then, unless there is no room for it.
int Pool::take(uint32_t number, const Future& f, void* result, size_t capacity, size_t* bytes, const char* call,
               std::string& error)
{
    const size_t size = f.value ? f.value->size() : 0;
    if (bytes)
        *bytes = size;
    if (size > capacity) {
        error = std::string(call) + ": the result has " + std::to_string(size) + " bytes";
        return EMSGSIZE;
    }
    if (size)
        std::memcpy(result, f.value->data(), size);
    const int failure = f.failure;
    if (failure)
        error = std::string(call) + ": the task " +
                (failure == failure_cancelled ? "was cancelled, or one whose result it needs was, or failed"
                                              : "failed with " + std::to_string(failure));
    futures_.erase(number);
    return failure ? ECANCELED : 0;
}

int Pool::future(uint64_t number, void* result, size_t capacity, size_t* bytes, std::string& error)
{
    constexpr auto call = "ws_pool_get_result";
    const std::lock_guard<base::SpinLock> hold(lock_);
    const Future* const f = future_of(number, call, error);
    if (f && f->is_done)
        return take(uint32_t(number), *f, result, capacity, bytes, call, error);
    if (f)
        error = std::string(call) + ": its task has not run";
    return EINVAL;
}

int Pool::drop_result(uint64_t number, std::string& error)
{
    const std::lock_guard<base::SpinLock> hold(lock_);
    Future* const f = future_of(number, "ws_pool_drop_result", error);
    if (!f)
        return EINVAL;
    if (f->is_done)
        futures_.erase(uint32_t(number));
    else
        f->is_dropped = true;
    return 0;
}

// ---- tasks that wait for results

// The pool's lock is held. What `h` waits for; whether there are such futures. Changes nothing else.
bool Pool::look_up(Held& h, const ws_task_options& o, uint64_t putter, std::string& error)
{
    h.values.resize(o.inputs_count);
    h.missing = 0;
    for (size_t i = 0; i < o.inputs_count; i++) {
        const Future* const f = future_of(o.inputs[i], "ws_pool_put: inputs", error);
        if (!f)
            return false;
        // A task that waited for this one could wait for what lies below it on the same stack: see task.h.
        h.may_be_waited_for = h.may_be_waited_for && f->putter == putter && f->may_be_waited_for;
        if (!f->is_done)
            h.missing++;
        else if (f->failure)
            h.has_failed = true;
        else
            h.values[i] = f->value;
    }
    return true;
}

// As put(), for a task with inputs. Throws std::bad_alloc: then nothing has changed. So it does if it fails.
int Pool::put_held(const Task& t, const ws_task_options& o, std::string& error)
{
    const uint64_t putter = number_of_putter();
    const auto h = std::make_shared<Held>();
    h->task = t;
    h->to = o.has_rank ? o.rank : me_;
    std::unique_lock<base::SpinLock> hold(lock_);
    if (!look_up(*h, o, putter, error))
        return EINVAL;
    if (!h->missing && !h->has_failed) {
        hold.unlock();
        Task all = with_inputs(*h);
        hold.lock();
        try {
            enqueue(all, &o, h->to, putter, h->may_be_waited_for);
        } catch (...) {
            std::free(all.there);
            throw;
        }
        hold.unlock();
        drop(h->task);
        return 0;
    }
    make_future(h->task, &o, putter, h->may_be_waited_for);
    try {
        for (size_t i = 0; i < o.inputs_count; i++)
            if (Future& f = futures_[uint32_t(o.inputs[i])]; !f.is_done)
                f.waiters.push_back({h, i});
    } catch (...) {
        for (size_t i = 0; i < o.inputs_count; i++) {
            auto& waiters = futures_[uint32_t(o.inputs[i])].waiters;
            while (!waiters.empty() && waiters.back().held == h)
                waiters.pop_back();
        }
        futures_.erase(h->task.future);
        throw;
    }
    tell_future(h->task, &o);
    put_++;
    base::store_relaxed(held_back_tasks_, held_back_tasks_ + 1);
    if (!h->missing) { // one of its inputs has failed, and nothing waits for it yet
        Freed freed = {{}, {h}};
        give_up(freed);
        hold.unlock();
        drop(h->task);
    }
    return 0;
}

// The task with its own data, which stays, and its inputs in one piece. To be called once.
Task Pool::with_inputs(Held& h)
{
    Task own = h.task, t = own;
    t.flags |= task_has_inputs | task_on_heap;
    if (!h.lacks.empty()) {
        t.flags |= task_lacks_inputs;
        h.values.push_back(std::make_shared<const std::string>(reinterpret_cast<const char*>(h.lacks.data()),
                                                               h.lacks.size() * sizeof h.lacks[0]));
    }
    t.bytes = Inputs::bytes_for(own.bytes, h.values);
    t.there = std::malloc(t.bytes);
    if (!t.there)
        throw std::bad_alloc();
    Inputs::write(static_cast<char*>(t.there), own.data(), own.bytes, h.values);
    return t;
}

// The pool's lock is held. A future's result is there, or will never be. Tasks for which it was the last one that was
// missing are added to `freed`.
void Pool::settle(uint32_t number, int failure, const Inputs::Value& value, Freed& freed)
{
    const auto it = futures_.find(number);
    if (it == futures_.end() || it->second.is_done)
        return; // only a damaged letter names such a one
    Future& f = it->second;
    f.is_done = true;
    f.failure = failure;
    f.value = value;
    std::vector<Waiter> waiters;
    waiters.swap(f.waiters);
    if (f.is_dropped)
        futures_.erase(it);
    for (const Waiter& w : waiters) {
        w.held->has_failed = w.held->has_failed || failure;
        w.held->values[w.place] = value;
        if (--w.held->missing == 0)
            (w.held->has_failed ? freed.over : freed.ready).push_back(w.held);
    }
}

// The pool's lock is held. Tasks that are over never run: their futures fail, and what waits for these is over, too.
// The caller goes on without the lock, by go_on_with().
void Pool::give_up(Freed& freed)
{
    for (size_t i = 0; i < freed.over.size(); i++) {
        Held& h = *freed.over[i];
        if (h.task.flags & task_has_future)
            settle(h.task.future, failure_cancelled, nullptr, freed);
        for (const Inputs::Away& a : h.lacks)
            given_up_.push_back({h.to, uint32_t(a.future)});
    }
    base::store_relaxed(held_back_tasks_, held_back_tasks_ - freed.over.size());
    if (!freed.ready.empty())
        base::store_relaxed(active_, active_ + 1); // they are neither held nor queued
}

// The task of a future of this rank has run, or failed.
void Pool::settle(uint32_t number, int failure, std::string bytes)
{
    Freed freed;
    {
        const auto value = std::make_shared<const std::string>(std::move(bytes));
        const std::lock_guard<base::SpinLock> hold(lock_);
        settle(number, failure, value, freed);
        give_up(freed);
    }
    go_on_with(freed);
}

// Frees tasks that are over, and queues those that are ready.
void Pool::go_on_with(Freed& freed)
{
    for (const auto& h : freed.over)
        drop(h->task);
    if (freed.ready.empty())
        return;
    for (const auto& h : freed.ready) {
        const Task all = with_inputs(*h);
        drop(h->task);
        h->task = all;
    }
    const std::lock_guard<base::SpinLock> hold(lock_);
    base::store_relaxed(held_back_tasks_, held_back_tasks_ - freed.ready.size());
    for (const auto& h : freed.ready)
        if (!add_to_hand(h->task, h->to))
            add_to_queue(h->task, h->to);
    base::store_relaxed(active_, active_ - 1);
}

// ---- a task that waits for one

uint64_t Pool::number_of_putter()
{
    auto* const r = static_cast<Running*>(pool_of_hand == this ? own_hand->running : nullptr);
    if (!r)
        return 0;
    if (!r->number)
        r->number = Hardware::fetch_add_full(last_putter_, 1) + 1;
    return r->number;
}

bool Pool::is_done(uint64_t number)
{
    const std::lock_guard<base::SpinLock> hold(lock_);
    const auto it = futures_.find(uint32_t(number));
    return it == futures_.end() || it->second.is_done;
}

int Pool::input(const Running& running, size_t index, const void** data, size_t* bytes, std::string& error) const
{
    Task& t = *running.task;
    size_t count = 0;
    if (t.flags & task_has_inputs)
        count = Inputs(static_cast<const char*>(t.data()), t.bytes).count();
    if (index >= count) {
        error = "ws_task_get_input: input " + std::to_string(index) + " of a task with " + std::to_string(count);
        return EINVAL;
    }
    const Inputs in(static_cast<const char*>(t.data()), t.bytes);
    *data = in.value(index);
    *bytes = in.size_of(index);
    return 0;
}

int Pool::wait_inside(Running& running, uint64_t number, void* result, size_t capacity, size_t* bytes,
                      std::string& error)
{
    constexpr auto call = "ws_task_wait";
    if (pool_of_hand != this || own_hand->running != &running) {
        error = std::string(call) + ": called by another thread than the task's, or the task is over";
        return EINVAL;
    }
    const uint64_t me = number_of_putter();
    {
        const std::lock_guard<base::SpinLock> hold(lock_);
        const Future* const f = future_of(number, call, error);
        if (!f)
            return EINVAL;
        if (f->putter != me || !f->may_be_waited_for) {
            error = std::string(call) + (f->putter != me ? ": another task, or none, has put the future's task"
                                                         : ": the future's task has inputs that this task has not put");
            return EDEADLK;
        }
    }
    help_until_done(*own_hand, number);
    const std::lock_guard<base::SpinLock> hold(lock_);
    const Future* const f = future_of(number, call, error);
    return f ? take(uint32_t(number), *f, result, capacity, bytes, call, error) : EINVAL;
}

void Pool::help_until_done(Hand& hand, uint64_t number)
{
    const uint64_t entered = ticks(), away = hand.away;
    const bool polls = balances_ && (own_pool == this || has_pulse_);
    const unsigned beyond = hand.waits < waits_at_once ? 0 : std::min(hand.waits - waits_at_once, most_patience) + 1;
    const uint64_t patience =
        beyond ? uint64_t(first_patience_us * ticks_per_us_) << (beyond - 1) : 0;
    hand.waits++;
    for (unsigned idle = 0; !is_done(number);) {
        Task t;
        const uint64_t now = ticks();
        if (hand.take(t) || (now - entered >= patience && next(hand, t, 1))) {
            run_timed(hand, t);
            idle = 0;
        } else if (idle++ < 2000) {
            for (unsigned turn = 0; turn < 16; turn++)
                base::cpu_relax();
        } else
            usleep(waiting_nap_us);
        if (polls && WS_UNLIKELY(now - base::load_relaxed(polled_at_) >= poll_every_)) {
            tell_and_poll(hand);
        }
    }
    hand.waits--;
    hand.away = away + (ticks() - entered);
}

// One task within another's wait. Its own waits are no part of its time.
void Pool::run_timed(Hand& hand, Task& t)
{
    const uint64_t began = ticks();
    hand.away = 0;
    if (!run_one(t, hand))
        return;
    hand.run++;
    took(t.kind, seconds(ticks() - began - hand.away), 1);
}

// ---- results on their way to the rank that put the task

// The wire's lock is held.
void Pool::send_results()
{
    std::vector<ResultOut> out;
    lock_.lock();
    out.swap(results_out_);
    lock_.unlock();
    for (ResultOut& r : out) {
        const Way way = r.bytes.size() < apart_from         ? Way::here
                        : r.is_for_others && !r.failure ? Way::kept
                                                        : Way::apart;
        const ResultHead head = {r.future, r.failure, way, way == Way::apart ? next_tag() : 0, r.bytes.size()};
        std::string text = letter(Letter::result, head, way == Way::here ? r.bytes.size() : 0);
        post(r.to, way == Way::here ? text += r.bytes : std::move(text));
        travels_.sent_to(r.to);
        if (way != Way::kept)
            count_result(r.to, head.bytes, &ws_pool_counts::bytes_out);
        if (way == Way::here)
            continue;
        const auto data = std::make_shared<const std::string>(std::move(r.bytes));
        if (way == Way::kept) {
            keep(uint32_t(r.to), r.future, data);
            continue;
        }
        wire_->send(r.to, Wire::first_tag + head.tag, data->data(), data->size(), [data] {});
    }
}

// A result moves to another rank, or from there.
void Pool::count_result(int other, size_t bytes, uint64_t ws_pool_counts::*count)
{
    if (node_of_[size_t(other)] == own_node_)
        return;
    const std::lock_guard<base::SpinLock> hold(lock_);
    counts_.*count += bytes;
}

void Pool::receive_result(int from, const char* text, size_t bytes)
{
    const ResultHead head = head_in<ResultHead>(text, bytes);
    if (head.way == Way::kept) {
        deliver(from, head.future);
        travels_.received_by(me_);
        return;
    }
    count_result(from, head.way == Way::apart ? head.bytes : bytes - 8 - sizeof head, &ws_pool_counts::bytes_in);
    if (head.way == Way::here) {
        settle(head.future, head.failure, std::string(text + 8 + sizeof head, bytes - 8 - sizeof head));
        travels_.received_by(me_);
        return;
    }
    const auto data = std::make_shared<std::string>(size_t(head.bytes), '\0');
    wire_->receive(from, Wire::first_tag + head.tag, &(*data)[0], data->size(), [this, head, data] {
        settle(head.future, head.failure, std::move(*data));
        travels_.received_by(me_);
    });
}

} // namespace ws::policy::tasks
