// SPDX-License-Identifier: MIT
//
// Large results that tasks of other ranks need. Such a result goes from the rank that made it, its keeper, to those
// that need it, and passes through its home, the rank that put its task, only if that needs it, too:
//
//   home to keeper    tasks: the task, with task_keeps_result, since others are held back for it that go to other ranks
//   keeper to home    result: only its size
//   home to keeper    deliver: all ranks that need it, and how many of their tasks
//   keeper to each    value: the bytes, as separate data
//   home to each      tasks: those that need it, with task_lacks_inputs: they carry its number, and are queued when the
//                     value is there
//
// Values and tasks come in any order. A rank drops a value when as many tasks have taken it as the keeper said. If the
// home gives a task up, because another of its results failed, it tells the rank that expects the task.
//
// All of these letters are counted as tasks and results are (ending.h), so a run does not end before its values have
// arrived. Nothing here waits for a letter.
#include "policy/tasks/letters.h"
#include "policy/tasks/pool.h"

#include <cstring>
#include <map>
#include <new>

namespace ws::policy::tasks {

namespace {

uint64_t key_of(uint32_t home, uint32_t future) { return uint64_t(home) << 32 | future; }

} // namespace

// A task that has arrived and waits for inputs.
struct Pool::Gathering {
    int from;
    Task task;
    uint64_t bytes; // that it came with
    std::string own;
    std::vector<Inputs::Value> values;
    size_t missing = 0;
};

// Whether tasks for other ranks wait for the result. They are known before the task leaves its home if they were put
// before: a result for which nobody waits yet goes home at once, and costs no further letter.
bool Pool::is_for_others(uint32_t future)
{
    const std::lock_guard<base::SpinLock> hold(lock_);
    const auto it = futures_.find(future);
    if (it == futures_.end())
        return false;
    for (const Waiter& w : it->second.waiters)
        if (w.held->to != me_)
            return true;
    return false;
}

// Keeps `value` until the home says which ranks need it. It counts against the rank's memory until nobody here needs
// it any more, nor MPI, which may still be sending it. The wire's lock is held, here and below.
void Pool::keep(uint32_t home, uint32_t future, const Inputs::Value& value)
{
    Hardware::fetch_add_full(held_, Hardware::Word(value->size()));
    kept_[key_of(home, future)].value = Inputs::Value(value.get(), [this, value](const std::string*) {
        Hardware::fetch_add_full(held_, Hardware::Word(0) - value->size());
    });
}

void Pool::forget_if_taken(uint64_t key)
{
    const auto it = kept_.find(key);
    if (it == kept_.end() || !it->second.value || !it->second.is_use_known || it->second.taken < it->second.uses)
        return;
    kept_.erase(it);
}

// Tells the keeper which ranks need the result, and lets tasks for other ranks go without it.
void Pool::deliver(int keeper, uint32_t number)
{
    std::map<int, uint32_t> users; // of each rank, how many tasks
    const auto nothing = std::make_shared<const std::string>();
    Freed freed;
    {
        const std::lock_guard<base::SpinLock> hold(lock_);
        const auto it = futures_.find(number);
        if (it == futures_.end() || it->second.is_done)
            return; // only a damaged letter names such a one
        Future& f = it->second;
        std::vector<Waiter> rest;
        for (const Waiter& w : f.waiters) {
            Held& h = *w.held;
            const bool has_room = users.size() < Deliver::most_users || users.count(h.to);
            if (h.to == me_ || !has_room) { // the latter gets it from here
                rest.push_back(w);
                continue;
            }
            if (!h.has_failed) { // else it will be given up
                users[h.to]++;
                h.lacks.push_back({w.place, number});
            }
            h.values[w.place] = nothing;
            if (--h.missing == 0)
                (h.has_failed ? freed.over : freed.ready).push_back(w.held);
        }
        f.waiters.swap(rest);
        if (!f.is_dropped || !f.waiters.empty())
            users[me_] = 1;
        else
            futures_.erase(it);
        give_up(freed);
    }
    std::string text = letter(Letter::deliver, Deliver{number, uint32_t(users.size())}, users.size() * sizeof(User));
    for (const auto& [rank, tasks] : users) {
        const User user = {rank, tasks};
        text.append(reinterpret_cast<const char*>(&user), sizeof user);
    }
    post(keeper, std::move(text));
    travels_.sent_to(keeper);
    go_on_with(freed);
}

// Sends a kept result to each rank that needs it.
void Pool::receive_deliver(int home, const char* text, size_t bytes)
{
    const Deliver head = head_in<Deliver>(text, bytes);
    const uint64_t key = key_of(uint32_t(home), head.future);
    const auto it = kept_.find(key);
    if (it == kept_.end() || !it->second.value || it->second.is_use_known)
        return end_by_damage(home);
    travels_.received_by(me_);
    it->second.is_use_known = true;
    for (uint32_t i = 0; i < head.users; i++) {
        User user;
        std::memcpy(&user, text + 8 + sizeof head + i * sizeof user, sizeof user);
        if (user.rank == me_) {
            it->second.uses = user.tasks;
            continue;
        }
        const Inputs::Value value = it->second.value;
        const ValueHead v = {home, head.future, user.tasks, next_tag(), value->size()};
        post(user.rank, letter(Letter::value, v));
        wire_->send(user.rank, Wire::first_tag + int(v.tag), value->data(), value->size(), [value] {});
        travels_.sent_to(user.rank);
        count_result(user.rank, value->size(), &ws_pool_counts::bytes_out);
    }
    forget_if_taken(key);
}

// Receives a result that tasks here, or this home, need.
void Pool::receive_value(int from, const char* text, size_t bytes)
{
    const ValueHead head = head_in<ValueHead>(text, bytes);
    const auto value = std::make_shared<std::string>(size_t(head.bytes), '\0');
    wire_->receive(from, Wire::first_tag + int(head.tag), &(*value)[0], value->size(), [this, from, head, value] {
        count_result(from, value->size(), &ws_pool_counts::bytes_in);
        if (head.home == me_)
            settle(head.future, 0, std::move(*value));
        else
            take_value(from, head, value);
        travels_.received_by(me_);
    });
}

void Pool::take_value(int from, const ValueHead& head, const Inputs::Value& value)
{
    const uint64_t key = key_of(uint32_t(head.home), head.future);
    Kept& k = kept_[key];
    if (k.value || head.tasks == 0 || head.tasks < k.taken)
        return end_by_damage(from);
    keep(uint32_t(head.home), head.future, value);
    k.is_use_known = true;
    k.uses = head.tasks;
    std::vector<Lack> lacks;
    lacks.swap(k.lacks);
    for (const Lack& l : lacks) {
        l.task->values[l.place] = value;
        if (--l.task->missing == 0)
            complete(*l.task);
    }
    forget_if_taken(key);
}

// A task has come that lacks inputs. `data` is freed.
void Pool::gather(int from, const Task& t, void* data, size_t bytes)
{
    const std::unique_ptr<void, void (*)(void*)> freed(data, std::free);
    const auto* const text = static_cast<const char*>(data);
    if (!Inputs::lacks_make_sense(text, bytes))
        return end_by_damage(from);
    const Inputs in(text, bytes);
    const auto g = std::make_shared<Gathering>(Gathering{from, t, bytes, {text, in.own_bytes()}, {}, 0});
    for (size_t i = 0; i + 1 < in.count(); i++) // the last one says what is missing
        g->values.push_back(std::make_shared<const std::string>(in.value(i), in.size_of(i)));
    for (const Inputs::Away& a : in.lacks()) {
        const uint64_t key = key_of(t.origin, a.future);
        Kept& k = kept_[key];
        k.taken++;
        if (k.value)
            g->values[a.place] = k.value;
        else {
            k.lacks.push_back({g, a.place});
            g->missing++;
        }
        forget_if_taken(key);
    }
    if (!g->missing)
        complete(*g);
}

void Pool::complete(Gathering& g)
{
    Task t = g.task;
    t.bytes = Inputs::bytes_for(g.own.size(), g.values);
    t.flags = uint8_t((t.flags & ~task_lacks_inputs) | task_on_heap);
    t.there = std::malloc(t.bytes);
    if (!t.there)
        throw std::bad_alloc();
    Inputs::write(static_cast<char*>(t.there), g.own.data(), g.own.size(), g.values);
    enter(g.from, t, g.bytes);
}

// Tells ranks that a task that they expect will not come.
void Pool::send_given_up()
{
    std::vector<GivenUp> out;
    lock_.lock();
    out.swap(given_up_);
    lock_.unlock();
    for (const GivenUp& g : out) {
        post(g.to, letter(Letter::given_up, GaveUp{g.future}));
        travels_.sent_to(g.to);
    }
}

void Pool::receive_given_up(int home, const char* text, size_t bytes)
{
    const uint64_t key = key_of(uint32_t(home), head_in<GaveUp>(text, bytes).future);
    kept_[key].taken++;
    forget_if_taken(key);
    travels_.received_by(me_);
}

} // namespace ws::policy::tasks
