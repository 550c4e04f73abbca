// SPDX-License-Identifier: MIT
#include "policy/tasks/pool.h"

#include "abi/abi.h"
#include "abi/pool_loop.h"
#include "observe/board.h"
#include "policy/tasks/call_task.h"
#include "base/times.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ws::policy::tasks {

using base::Hardware;
using base::load_relaxed;
using base::store_relaxed;
using base::ticks;

namespace times = base::times;

namespace {

// The pool whose run() this thread is in; the hand that it holds, as a guest too, and that hand's pool.
WS_THREAD_LOCAL Pool* own_pool;
WS_THREAD_LOCAL Pool* pool_of_hand;
WS_THREAD_LOCAL Hand* own_hand;

alignas(64) ws_site site = {"tasks", WS_SITE_KINDS(WS_DYNAMIC, WS_DYNAMIC) | WS_SITE_ANY_ORDER, {}};

constexpr size_t most_future = 32768; // bytes of a result that travels: a letter's, with room to spare
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
    t.origin = uint32_t(me_);
    t.future = 0;
    t.bytes = bytes;
    if (WS_UNLIKELY(o)) {
        if (o->priority < Queue::least_priority || o->priority > Queue::most_priority) {
            error = "ws_pool_put: priority " + std::to_string(o->priority) + " is not from -8 to 7";
            return EINVAL;
        }
        if (o->future && !k.c.result) {
            error = "ws_pool_put: a future, but tasks of kind '" + k.name + "' have no result";
            return EINVAL;
        }
        if (o->future && k.c.result > most_future) {
            error = "ws_pool_put: a future for results of up to " + std::to_string(k.c.result) +
                    " bytes: 32768 are possible";
            return EINVAL;
        }
        if (o->reserved[0] | o->reserved[1] | o->reserved[2] | o->reserved[3]) {
            error = "ws_pool_put: reserved fields of the options are not 0: not initialised?";
            return EINVAL;
        }
        t.priority = int8_t(o->priority);
        t.flags = o->pinned ? task_pinned : 0;
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
    Hand* const hand = pool_of_hand == this && !o ? own_hand : nullptr;
    if (WS_LIKELY(hand && hand->is_active && hand->holds_kind(unsigned(kind)))) {
        hand->put(t);
        hand->added++;
        return 0;
    }
    lock_.lock();
    if (WS_UNLIKELY(o && o->future)) {
        t.flags |= task_has_future;
        t.future = next_future_++;
        futures_[t.future];
        *o->future = serial_ << 32 | t.future;
    }
    if (WS_UNLIKELY(!active_ && !queue_.size())) // this rank may have reported that it has nothing to do
        store_relaxed(woken_, true);
    queue_.put(t, t.flags & task_pinned);
    queue_changed();
    put_++;
    k.waiting++;
    lock_.unlock();
    return 0;
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
            const double mean = load_relaxed(mean_s_), each = seconds(now - last) / double(timed);
            kinds_[kind].took(each, double(timed));
            store_relaxed(mean_s_, mean > 0 ? mean + (each - mean) * std::min(1.0, 0.05 * double(timed)) : each);
        }
        timed = 0;
        return last = now;
    };
    for (;;) {
        const size_t want = long_enough ? batch_size() : 1;
        Task t;
        if (WS_UNLIKELY(!next(hand, t, want))) {
            look_at_clock();
            if (last - entered >= long_enough || !hunt(hand, t, std::min(entered + long_enough, last + hunt_), polls))
                break;
            last = ticks();
            unlooked = 0;
        }
        if (WS_UNLIKELY(timed && t.kind != kind))
            look_at_clock();
        kind = t.kind;
        run_one(t);
        hand.run++;
        timed++;
        if (++unlooked < want)
            continue;
        unlooked = 0;
        if (look_at_clock() - entered >= long_enough)
            break;
        if (polls && WS_UNLIKELY(last - load_relaxed(polled_at_) >= poll_every_)) {
            lock_.lock();
            tell(hand);
            lock_.unlock();
            poll();
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
    if (hand.take(t, load_relaxed(width_)))
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

void Pool::run_one(Task& t)
{
    Kind& k = kinds_[t.kind];
    Running running = {this, &t, false, 0, {}};
    ws_task told = {
        shell_, t.data(), t.bytes, k.c.context, t.kind, int(t.origin), {&running, nullptr, nullptr, nullptr}};
    const int failure = call_task(k.c.run, &told);
    if (WS_UNLIKELY(failure || running.failure))
        fail(t, failure ? failure : running.failure,
             running.failure ? "gave a result of more bytes than its kind says" : nullptr);
    if (WS_UNLIKELY(t.flags & (task_on_heap | task_has_future))) {
        if (t.flags & task_has_future) {
            const int f = failure ? failure : running.failure;
            std::lock_guard<base::SpinLock> hold(lock_);
            if (t.origin == uint32_t(me_))
                futures_[t.future] = {true, f, std::move(running.result)};
            else
                results_out_.push_back({int(t.origin), t.future, f, std::move(running.result)});
        }
        drop(t);
    }
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
{
    const bool guest = own_pool != this;
    if (guest && !open_hand())
        return;
    const uint64_t chunk = uint64_t(times::task_chunk_us * job.ticks_per_us);
    for (long lo, hi; ws_loop_next(&lo, &hi);) {
        work(uint64_t(hi - lo) * chunk);
        if (!guest)
            wait_for_guests();
        else if (!waiting())
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
}

// run()'s thread: until there is something to do, or no guest has anything either. Guests may be in long tasks, and
// what those put others can run.
void Pool::wait_for_guests()
{
    for (unsigned turn = 0; !waiting() && load_relaxed(active_) > own_hand->is_active; turn++) {
        if (turn < 2000)
            base::cpu_relax();
        else {
            poll_if_due(ticks());
            usleep(times::task_tail_nap_us);
        }
    }
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
    number = int(kinds_.size());
    kinds_.emplace_back();
    kinds_.back().c = c;
    kinds_.back().name = c.name;
    if (c.combine)
        kinds_.back().combined.assign(c.result, '\0');
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

int Pool::future(uint64_t number, void* result, size_t capacity, size_t* bytes, std::string& error)
{
    if (number >> 32 != 0 && number >> 32 != serial_) {
        error = "ws_pool_get_result: the future is of another pool";
        return EINVAL;
    }
    std::lock_guard<base::SpinLock> hold(lock_);
    const auto it = number >> 32 ? futures_.find(uint32_t(number)) : futures_.end();
    if (it == futures_.end() || !it->second.done) {
        error = it == futures_.end() ? "ws_pool_get_result: there is no such future, or it was asked already"
                                     : "ws_pool_get_result: its task has not run";
        return EINVAL;
    }
    const Future& f = it->second;
    if (f.bytes.size() > capacity) {
        error = "ws_pool_get_result: the result has " + std::to_string(f.bytes.size()) + " bytes";
        return EMSGSIZE;
    }
    if (bytes)
        *bytes = f.bytes.size();
    if (!f.bytes.empty())
        std::memcpy(result, f.bytes.data(), f.bytes.size());
    const bool failed = f.failure;
    if (failed)
        error = "ws_pool_get_result: the task failed with " + std::to_string(f.failure);
    futures_.erase(it);
    return failed ? ECANCELED : 0;
}

void Pool::count(ws_pool_counts& counts)
{
    std::lock_guard<base::SpinLock> hold(lock_);
    counts = counts_;
    counts.put = put_;
    counts.letters = wire_.sent();
}

// ---- a run

// Pools that there are.
static base::SpinLock living_lock;
static std::vector<Pool*>& living()
{
    static auto* const all = new std::vector<Pool*>;
    return *all;
}

void Pool::leave_all()
{
    std::lock_guard<base::SpinLock> hold(living_lock);
    for (Pool* p : living())
        p->leave();
}

void Pool::leave()
{
    end_pulse();
    if (wire_comm_ != MPI_COMM_NULL)
        wire_.close();
}

Pool::Pool(MPI_Comm comm, ws_pool* shell) : shell_(shell)
{
    living_lock.lock();
    living().push_back(this);
    living_lock.unlock();
    static volatile Hardware::Word pools;
    serial_ = Hardware::fetch_add_full(pools, 1) + 1; // no future of any pool is 0
    PMPI_Comm_dup(comm, &comm_);
    PMPI_Comm_rank(comm_, &me_);
    PMPI_Comm_size(comm_, &ranks_);
    sums.unfreed++;
    int wants = job.on && job.options->tasks != option::Options::tasks_none;
    PMPI_Allreduce(MPI_IN_PLACE, &wants, 1, MPI_INT, MPI_LAND, comm_);
    poll_every_ = uint64_t(times::task_poll_us * job.ticks_per_us);
    pulse_every_ = uint64_t(times::task_pulse_us * job.ticks_per_us);
    hunt_ = uint64_t(times::task_hunt_us * job.ticks_per_us);
    worth_stealing_ = uint64_t(times::task_steal_us * job.ticks_per_us);
    if (wants)
        open_wire();
}

Pool::~Pool()
{
    living_lock.lock();
    living().erase(std::find(living().begin(), living().end(), this));
    living_lock.unlock();
    end_pulse();
    if (wire_comm_ != MPI_COMM_NULL) {
        drain();
        wire_.close();
        PMPI_Comm_free(&wire_comm_);
    }
    Task t;
    while (queue_.take(t))
        drop(t);
    if (node_ != MPI_COMM_NULL) {
        memory_.free();
        PMPI_Comm_free(&node_);
    }
    PMPI_Comm_free(&comm_);
    sums.unfreed--;
    ws_pool_counts c;
    count(c);
    sums.put += c.put;
    sums.run += c.run;
    sums.moved_out += c.moved_out;
    sums.moved_in += c.moved_in;
    sums.bytes_out += c.bytes_out;
    sums.bytes_in += c.bytes_in;
    sums.letters += c.letters;
    sums.kept_worth += c.kept_worth;
    sums.kept_room += c.kept_room;
    sums.kept_moved += c.kept_moved;
    sums.kept_none += c.kept_none;
    sums.stepped += stepped_;
    sums.worked += worked_;
    sums.pulsed += pulsed_;
}

// The same for the same names in the same order, with results of the same size, and nearly always another for others.
uint64_t Pool::number_of_kinds() const
{
    std::string all;
    for (const Kind& k : kinds_)
        all +=
            k.name + '\0' + std::to_string(k.c.result) + (k.is_flat() ? 'f' : 'p') + (k.c.combine ? 'c' : 'n') + '\0';
    uint64_t hash = 1469598103934665603u; // FNV-1a: nobody makes names that collide on purpose
    for (const char c : all)
        hash = (hash ^ uint8_t(c)) * 1099511628211u;
    return hash >> 1;
}

bool Pool::have_same_kinds()
{
    const int64_t mine = int64_t(number_of_kinds());
    int64_t both[2] = {mine, -mine};
    PMPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT64_T, MPI_MIN, comm_);
    return both[0] == -both[1];
}

void Pool::say_who_differs(std::string& error)
{
    const uint64_t mine = number_of_kinds();
    uint64_t first = mine;
    PMPI_Bcast(&first, 1, MPI_UINT64_T, 0, comm_);
    int differs = first == mine ? ranks_ : me_;
    PMPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MIN, comm_);
    error = "ws_pool_run: the kinds of tasks registered on rank " + std::to_string(differs) +
            " differ from those of rank 0 (names, order, sizes of results or how data is packed)";
}

int Pool::run(std::string& error)
{
    if (own_pool) {
        error = "ws_pool_run: called while a pool runs, by a task?";
        return EINVAL;
    }
    running_now_ = true;
    own_pool = this;
    if (balances_)
        run_balanced();
    else {
        kinds_differ_ = !have_same_kinds();
        if (!kinds_differ_)
            run_local();
        failed_ = first_failed_;
        PMPI_Allreduce(MPI_IN_PLACE, &failed_, 1, MPI_UINT64_T, MPI_SUM, comm_);
    }
    own_pool = nullptr;
    running_now_ = false;
    if (!kinds_differ_)
        return finish(failed_, error);
    say_who_differs(error);
    return EINVAL;
}

// Runs one region after the other, or the tasks one by one if nobody can help. Short work is not shared.
void Pool::run_local()
{
    const uint64_t chunk = uint64_t(times::task_chunk_us * job.ticks_per_us);
    open_hand(); // there are fewer threads than hands now
    bool may_be_short = true;
    while (const size_t there = waiting()) {
        may_be_short = may_be_short && double(there) * load_relaxed(mean_s_) < 1e-6 * times::task_chunk_us;
        if (!job.lends)
            work(~uint64_t(0));
        else if (there == 1 || may_be_short) {
            work(chunk);
            may_be_short = false;
        } else
            share(there);
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
    holds_ = same_kinds_ != kinds_.size(); // nobody knows yet whether others have them, too
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
    look_while_blocked(this);
    for (;;) {
        poll();
        run_local();
        if (!is_idle())
            continue;
        std::unique_lock<std::mutex> hold(wire_lock_);
        look_around();
        flush_results();
        go_on_ending();
        if (ended_)
            break;
        if (waiting())
            continue;
        wait();
        look_around();
    }
    rest_pulse();
    look_while_blocked(nullptr);
    if (!kinds_differ_)
        same_kinds_ = kinds_.size();
    // Data that others have: it is freed. A woken rank may have sent data to one that has left this run; it travels
    // during the next run.
    while (wire_.moves_data() && !load_relaxed(woken_))
        wire_.poll();
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
    for (int step = 1; step < ranks_; step *= 2) {
        if (me_ & step) {
            gather();
            PMPI_Send_c(all.data(), MPI_Count(bytes), MPI_BYTE, me_ - step, 0, comm_);
            break;
        }
        if (me_ + step >= ranks_)
            continue;
        PMPI_Recv_c(&all[0], MPI_Count(bytes), MPI_BYTE, me_ + step, 0, comm_, MPI_STATUS_IGNORE);
        const char* other = all.data();
        for (Kind& k : kinds_)
            if (k.c.combine) {
                k.c.combine(k.combined.data(), other, k.c.context);
                other += k.room();
            }
    }
    if (me_ == 0)
        gather();
    PMPI_Bcast_c(&all[0], MPI_Count(bytes), MPI_BYTE, 0, comm_);
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
    if (!job.board)
        return;
    ws_pool_counts now;
    lock_.lock();
    now = counts_;
    lock_.unlock();
    observe::ProcessCounters& p = job.board->process;
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
    int first = first_failed_ ? me_ : ranks_;
    PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm_);
    int bytes = int(failure_.size());
    PMPI_Bcast(&bytes, 1, MPI_INT, first, comm_);
    failure_.resize(size_t(bytes));
    PMPI_Bcast(failure_.data(), bytes, MPI_BYTE, first, comm_);
    error = "ws_pool_run: " + failure_;
    failure_.clear();
    first_failed_ = false;
    return ECANCELED;
}

} // namespace ws::policy::tasks
