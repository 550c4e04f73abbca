// SPDX-License-Identifier: MIT
#include "policy/tasks/pool.h"

#include "mpi/end_job.h"
#include "observe/board.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

namespace ws::policy::tasks {

using By = Processes::By;

// How long a thread without tasks looks for those of others; and how long stolen tasks must keep it busy, or it waits
// longer and longer before it steals again. A theft costs each of the two threads some 0.2 us.
constexpr double task_hunt_us = 20, task_steal_us = 1;

void end_without_memory(const char* call)
{
    std::fprintf(stderr, "workshare: error: %s: no memory; ending the job\n", call);
    mpi::end_job();
}

// ---- kinds, results, errors

int Pool::add_kind(const ws_task_kind& c, int& number, std::string& error)
{
    const int packs = bool(c.packed) + bool(c.pack) + bool(c.unpack) + bool(c.release);
    if (!c.name || !*c.name || !c.run)
        error = "ws_pool_register: a kind needs a name and a function";
    else if (packs != 0 && packs != 4)
        error = std::string("ws_pool_register: '") + c.name +
                "': packed, pack, unpack and release must be given together";
    else if (c.combine && !c.result)
        error = std::string("ws_pool_register: '") + c.name + "': combine without a result";
    else if (c.reserved[0] | c.reserved[1] | c.reserved[2] | c.reserved[3])
        error = std::string("ws_pool_register: '") + c.name + "': reserved fields are not 0: not initialised?";
    if (!error.empty())
        return EINVAL;
    if (kinds_.size() >= 65535) {
        error = "ws_pool_register: 65535 kinds are registered already";
        return ENOSPC;
    }
    kinds_.emplace_back();
    try {
        kinds_.back().c = c;
        kinds_.back().name = c.name;
        if (c.combine)
            kinds_.back().combined.assign(c.result, '\0');
    } catch (...) {
        kinds_.pop_back();
        throw;
    }
    number = int(kinds_.size()) - 1;
    return 0;
}

int Pool::result(Running& running, const void* result, size_t bytes, std::string& error)
{
    Kind& k = kinds_[running.task->kind];
    if (bytes > k.c.result || (k.c.combine && bytes != k.c.result)) {
        running.failure = EMSGSIZE;
        error = "ws_task_set_result: " + std::to_string(bytes) + " bytes, but results of '" + k.name + "' have " +
                std::to_string(k.c.result);
        return EMSGSIZE;
    }
    if (running.has_result) {
        error = "ws_task_set_result: the task has a result already";
        return EINVAL;
    }
    running.has_result = true;
    if (k.c.combine) {
        Hand* const hand = pool_of_hand == this ? own_hand : nullptr;
        if (WS_LIKELY(hand && hand->holds_kind(running.task->kind))) {
            k.c.combine(hand->combined(running.task->kind, k.c.result), result, k.c.context);
        } else {
            std::lock_guard<base::SpinLock> hold(k.lock);
            k.c.combine(k.combined.data(), result, k.c.context);
        }
    }
    if (running.task->flags & task_has_future)
        running.result.assign(static_cast<const char*>(result), bytes);
    return 0;
}

void Pool::fail(const Task& t, int failure, const char* what)
{
    std::lock_guard<base::SpinLock> hold(lock_);
    if (first_failed_)
        return;
    first_failed_ = true;
    failure_ = "rank " + std::to_string(me_) + ": a task of kind '" + kinds_[t.kind].name + "' " +
               (what ? what : "failed with " + std::to_string(failure));
}

void Pool::drop(Task& t)
{
    if (!(t.flags & task_on_heap))
        return;
    Kind& k = kinds_[t.kind];
    if (k.is_flat())
        std::free(t.there);
    else
        k.c.release(t.there, t.bytes);
    if (t.moves)
        Hardware::fetch_add_full(held_, Hardware::Word(0) - t.bytes);
}

int Pool::reduced(int kind, void* result, size_t bytes, std::string& error)
{
    if (unsigned(kind) >= kinds_.size() || !kinds_[size_t(kind)].c.combine)
        error = "ws_pool_get_total: kind " + std::to_string(kind) + " combines nothing";
    else if (bytes != kinds_[size_t(kind)].c.result)
        error = "ws_pool_get_total: " + std::to_string(bytes) + " bytes for a result of " +
                std::to_string(kinds_[size_t(kind)].c.result);
    else if (kinds_[size_t(kind)].reduced.empty())
        error = "ws_pool_get_total: the pool has not run";
    else {
        std::memcpy(result, kinds_[size_t(kind)].reduced.data(), bytes);
        return 0;
    }
    return EINVAL;
}

int Pool::add_group(int& number, std::string& error)
{
    if (groups_.size() >= 65535) {
        error = "ws_pool_add_group: there are 65535 groups already";
        return ENOSPC;
    }
    groups_.emplace_back();
    number = int(groups_.size());
    return 0;
}

int Pool::cancel(int group, std::string& error)
{
    if (group < 1 || size_t(group) > groups_.size()) {
        error = "ws_pool_cancel: group " + std::to_string(group) + ", but there are " + std::to_string(groups_.size());
        return EINVAL;
    }
    if (!running_now_) {
        error = "ws_pool_cancel: the pool does not run";
        return EINVAL;
    }
    {
        const std::lock_guard<base::SpinLock> hold(lock_);
        Group& g = groups_[size_t(group) - 1];
        if (g.is_cancelled)
            return 0;
        if (wire_)
            cancels_out_.push_back(uint16_t(group));
        Hardware::store_relaxed(g.is_cancelled, 1);
    }
    poll(); // which sends it, unless somebody else is about to
    return 0;
}

void Pool::count(ws_pool_counts& counts)
{
    std::lock_guard<base::SpinLock> hold(lock_);
    counts = counts_;
    counts.put = put_;
    counts.letters = wire_ ? wire_->sent() : 0;
}

// ---- a run

void Pool::leave()
{
    end_pulse();
    if (wire_)
        wire_->close();
}

Pool::Pool(std::unique_ptr<Peers> peers, ws_pool* shell, Nblb& nblb)
    : nblb_(nblb), shell_(shell), ticks_per_us_(nblb.job().ticks_per_us), serial_(nblb.add(*this)),
      peers_(std::move(peers)), all_(peers_->all()), me_(all_.rank), ranks_(all_.size)
{
    const bool wants = all_.all(nblb.is_on() && job().options->tasks != option::Options::tasks_none);
    poll_every_ = uint64_t(times::task_poll_us * ticks_per_us_);
    pulse_every_ = uint64_t(times::task_pulse_us * ticks_per_us_);
    hunt_ = uint64_t(task_hunt_us * ticks_per_us_);
    worth_stealing_ = uint64_t(task_steal_us * ticks_per_us_);
    if (wants)
        open_wire();
}

Pool::~Pool()
{
    end_pulse();
    if (wire_) {
        drain();
        wire_->close();
    }
    Task t;
    while (queue_.take(t))
        drop(t);
    for (Placed& p : placed_)
        drop(p.task);
    for (auto& [number, future] : futures_)
        for (Waiter& w : future.waiters)
            if (w.held->missing) {
                w.held->missing = 0; // it may wait for several
                drop(w.held->task);
            }
    memory_.free();
    ws_pool_counts c;
    count(c);
    nblb_.remove(*this, {c.put, c.run, c.moved_out, c.moved_in, c.bytes_out, c.bytes_in, c.letters, c.kept_worth,
                         c.kept_room, c.kept_moved, c.kept_none, stepped_, worked_, pulsed_, 0});
}

// The same for the same names in the same order, with results of the same size, and nearly always another for others.
uint64_t Pool::number_of_kinds() const
{
    std::string all;
    for (const Kind& k : kinds_)
        all +=
            k.name + '\0' + std::to_string(k.c.result) + (k.is_flat() ? 'f' : 'p') + (k.c.combine ? 'c' : 'n') + '\0';
    uint64_t hash = 1469598103934665603u; // FNV-1a: nobody makes names that collide on purpose
    all += std::to_string(groups_.size());
    for (const char c : all)
        hash = (hash ^ uint8_t(c)) * 1099511628211u;
    return hash >> 1;
}

bool Pool::have_same_kinds()
{
    const int64_t mine = int64_t(number_of_kinds());
    int64_t both[2] = {mine, -mine};
    all_.combine(By::least, both, 2);
    return both[0] == -both[1];
}

void Pool::say_who_differs(std::string& error)
{
    const uint64_t mine = number_of_kinds();
    uint64_t first = mine;
    all_.broadcast(&first, sizeof first, 0);
    const int64_t differs = all_.combined(By::least, int64_t(first == mine ? ranks_ : me_));
    error = "ws_pool_run: the kinds of tasks registered on rank " + std::to_string(differs) +
            " differ from those of rank 0 (names, order, sizes of results, how data is packed, or how many groups)";
}

int Pool::run(std::string& error)
{
    if (own_pool) {
        error = "ws_pool_run: called while a pool runs, by a task?";
        return EINVAL;
    }
    running_now_ = true;
    own_pool = this;
    try {
        run_to_end();
        own_pool = nullptr;
        running_now_ = false;
        if (!kinds_differ_)
            return finish(failed_, error);
        say_who_differs(error);
        return EINVAL;
    } catch (const std::bad_alloc&) {
        end_without_memory("ws_pool_run");
    }
}

void Pool::run_to_end()
{
    for (Group& g : groups_)
        Hardware::store_relaxed(g.is_cancelled, 0);
    if (balances_)
        return run_balanced();
    kinds_differ_ = !have_same_kinds();
    if (!kinds_differ_)
        run_local();
    failed_ = uint64_t(all_.combined(By::sum, int64_t(first_failed_)));
}

// Runs one region after the other, or the tasks one by one if nobody can help. Short work is not shared.
void Pool::run_local()
{
    const uint64_t chunk = uint64_t(times::task_chunk_us * ticks_per_us_);
    open_hand(); // there are fewer threads than hands now
    bool may_be_short = true;
    while (const size_t there = waiting()) {
        may_be_short = may_be_short && double(there) * load_relaxed(mean_s_) < 1e-6 * times::task_chunk_us;
        if (!nblb_.lends())
            work(~uint64_t(0));
        else if (there == 1 || may_be_short) {
            work(chunk);
            may_be_short = false;
        } else
            share(there + load_relaxed(held_back_tasks_));
    }
    close_hand();
}

bool Pool::is_idle()
{
    std::lock_guard<base::SpinLock> hold(lock_);
    return !queue_.size() && !active_;
}

void Pool::run_balanced()
{
    // The pulse rests: no lock is needed yet.
    ended_ = false;
    lock_.lock();
    grown_put_ = put_; // these no task has put
    store_relaxed(woken_, false); // what is put from now on may come after a report
    lock_.unlock();
    ending_ = Ending(me_, ranks_);
    travels_.least_kinds = travels_.greatest_kinds = number_of_kinds();
    holds_ = same_kinds_ != kinds_.size() + groups_.size(); // nobody knows yet whether others have them, too
    may_give_ = !holds_;
    held_back_.clear();
    run_++;
    if (balancer_)
        balancer_->begin();
    look_around(); // what a node has the scheduler learns before anybody begins with a task
    handle_early();
    wait_for_kinds();
    if (ended_) // they differ
        return;
    start_pulse();
    nblb_.look_while_blocked(this);
    for (;;) {
        poll();
        run_local();
        if (!is_idle())
            continue;
        std::unique_lock<std::mutex> hold(wire_lock_);
        look_around();
        send_out();
        go_on_ending();
        if (ended_)
            break;
        if (waiting())
            continue;
        wait();
        look_around();
    }
    rest_pulse();
    nblb_.look_while_blocked(nullptr);
    if (!kinds_differ_)
        same_kinds_ = kinds_.size() + groups_.size();
    // Data that others have: it is freed. A woken rank may have sent data to one that has left this run; it travels
    // during the next run.
    while (wire_->moves_data() && !load_relaxed(woken_))
        wire_->poll();
}

// Results of all kinds go together up a binomial tree: what the user combines need not be known to MPI.
void Pool::combine_all()
{
    size_t bytes = 0;
    for (const Kind& k : kinds_)
        bytes += k.c.combine ? k.room() : 0;
    if (!bytes)
        return;
    std::string all(bytes, '\0');
    const auto gather = [&] {
        size_t at = 0;
        for (Kind& k : kinds_)
            if (k.c.combine) {
                std::memcpy(&all[at], k.combined.data(), k.c.result);
                at += k.room();
            }
    };
    const std::unique_ptr<Flight> flight = all_.flight();
    for (int step = 1; step < ranks_; step *= 2) {
        if (me_ & step) {
            gather();
            flight->send(all.data(), bytes, me_ - step, 0);
            flight->complete(true);
            break;
        }
        if (me_ + step >= ranks_)
            continue;
        flight->receive(&all[0], bytes, me_ + step, 0);
        flight->complete(true);
        const char* other = all.data();
        for (Kind& k : kinds_)
            if (k.c.combine) {
                k.c.combine(k.combined.data(), other, k.c.context);
                other += k.room();
            }
    }
    if (me_ == 0)
        gather();
    all_.broadcast(&all[0], bytes, 0);
    const char* from = all.data();
    for (Kind& k : kinds_)
        if (k.c.combine) {
            k.reduced.assign(from, k.c.result);
            from += k.room();
            k.combined.assign(k.c.result, '\0');
        }
}

// For reports, ws-top and MPI_T: what is new since the last time. There may be several pools.
void Pool::show()
{
    if (!job().board)
        return;
    ws_pool_counts now;
    lock_.lock();
    now = counts_;
    lock_.unlock();
    observe::ProcessCounters& p = job().board->process;
    store_relaxed(p.tasks_waiting, waiting());
    observe::bump(p.tasks_run, now.run - shown_.run);
    observe::bump(p.tasks_in, now.moved_in - shown_.moved_in);
    observe::bump(p.tasks_out, now.moved_out - shown_.moved_out);
    observe::bump(p.tasks_bytes_in, now.bytes_in - shown_.bytes_in);
    observe::bump(p.tasks_kept_worth, now.kept_worth - shown_.kept_worth);
    observe::bump(p.tasks_kept_room, now.kept_room - shown_.kept_room);
    observe::bump(p.tasks_kept_moved, now.kept_moved - shown_.kept_moved);
    observe::bump(p.tasks_kept_none, now.kept_none - shown_.kept_none);
    shown_ = now;
}

// `failed`: on how many ranks a task has.
int Pool::finish(uint64_t failed, std::string& error)
{
    show();
    combine_all();
    if (!failed)
        return 0;
    const int first = int(all_.combined(By::least, int64_t(first_failed_ ? me_ : ranks_)));
    size_t bytes = failure_.size();
    all_.broadcast(&bytes, sizeof bytes, first);
    failure_.resize(bytes);
    all_.broadcast(failure_.data(), bytes, first);
    error = "ws_pool_run: " + failure_;
    failure_.clear();
    first_failed_ = false;
    return ECANCELED;
}

} // namespace ws::policy::tasks
