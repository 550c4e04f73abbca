// SPDX-License-Identifier: MIT
//
// Tasks, their data and results on their way from rank to rank.
#include "policy/tasks/letters.h"
#include "policy/tasks/pool.h"

#include "mpi/end_job.h"
#include "observe/recorder.h"
#include "base/os.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace ws::policy::tasks {

namespace {

constexpr size_t guard_bytes = 64;   // behind what a user's pack() writes
constexpr size_t most_slack = 1 << 20; // behind these: room for a pack() that writes too much
constexpr char guard = 0x5a;

} // namespace

// ---- giving

size_t Pool::give(const Gift& g, const Look& own)
{
    if (ending_.ended()) // others may have left the run
        return 0;
    const uint64_t began = ticks();
    std::vector<Task> out, kept;
    const Side from = {own.rest, g.speed, own.cores};
    double room = g.room, tried = 0;
    uint64_t not_worth = 0, no_room = 0;
    const double most = std::min(g.tasks, 1e9);
    while (double(out.size()) < most && tried < most + 64) {
        Task t;
        lock_.lock();
        const bool queued = queue_.give(t), there = queued || take_from_hands(t);
        if (queued)
            kinds_[t.kind].waiting--;
        queue_changed();
        if (there)
            store_relaxed(active_, active_ + 1); // it is neither queued nor gone
        lock_.unlock();
        if (!there)
            break;
        tried++;
        const Kind& k = kinds_[t.kind];
        const double mean = load_relaxed(k.mean_s) * own.grows;
        const size_t bytes = k.is_flat() ? t.bytes : k.c.packed(t.there, t.bytes);
        const bool is_worth = g.whatever || mean == 0 || mean >= age_min(cost_, double(bytes), most, from, g.to);
        const bool has_room = double(bytes) <= room || bytes <= Task::most_here;
        if (is_worth && has_room) {
            room -= double(bytes);
            out.push_back(t);
        } else {
            not_worth += !is_worth;
            no_room += is_worth && !has_room;
            kept.push_back(t);
        }
    }
    size_t given = out.size();
    lock_.lock();
    for (auto t = kept.rbegin(); t != kept.rend(); ++t)
        queue_.put_back(*t);
    for (const Task& t : kept)
        kinds_[t.kind].waiting++;
    queue_changed();
    store_relaxed(active_, active_ - kept.size() - given);
    counts_.kept_worth += not_worth;
    counts_.kept_room += no_room;
    if (double(given) + double(kept.size()) < most) {
        const uint64_t missing = uint64_t(most) - given - kept.size();
        (waiting() ? counts_.kept_moved : counts_.kept_none) += missing;
    }
    lock_.unlock();
    if (!given)
        return 0;
    given = send_tasks(g.address, out, false);
    // f: what this side spends, and as much on the other.
    const double took = 2 * seconds(ticks() - began) / std::ceil(double(out.size() * 64) / Wire::most) + 5e-6;
    cost_.fixed_s += 0.1 * (std::min(took, 1e-3) - cost_.fixed_s);
    return given;
}

// The oldest of the thread that has most. The pool's lock is held.
bool Pool::take_from_hands(Task& t)
{
    Hand* fullest = nullptr;
    size_t most = 0;
    for (unsigned i = 0; i < hands_; i++)
        if (const size_t n = all_hands_[i]->size(); n > most) {
            fullest = all_hands_[i].get();
            most = n;
        }
    return fullest && fullest->steal(&t, 1);
}

// A letter with tasks that is being written, and what travels beside it.
struct Pool::Parcel {
    Parcel(int to, bool are_placed) : to(to), are_placed(are_placed), text(letter(Letter::tasks, TasksHead{})) {}
    int to;
    bool are_placed;
    std::string text;
    uint32_t tasks = 0;
    uint64_t began = ticks();
    struct Apart {
        int tag;
        void* data;
        size_t bytes;
        Wire::Done done;
    };
    std::vector<Apart> apart;
};

void Pool::send(Parcel& parcel)
{
    const TasksHead head = {own_node_, parcel.tasks, nblb_.next_letter(), parcel.are_placed};
    std::memcpy(&parcel.text[8], &head, sizeof head);
    if (parcel.tasks)
        post(parcel.to, std::move(parcel.text));
    if (parcel.tasks && observe::recording)
        observe::record(observe::EventKind::tasks, parcel.began, ticks(), uint32_t(in_world_[size_t(parcel.to)]),
                        parcel.tasks, 2 * head.number);
    for (Parcel::Apart& a : parcel.apart)
        wire_->send(parcel.to, a.tag, a.data, a.bytes, std::move(a.done));
    parcel = Parcel(parcel.to, parcel.are_placed);
}

// The bytes of a task as they travel, and how many: its data, or what pack() makes of them, which is the caller's.
// Null: it cannot be packed, has failed and runs here.
char* Pool::bytes_of(Task& t, size_t& size)
{
    const Kind& k = kinds_[t.kind];
    size = t.bytes;
    if (k.is_flat())
        return static_cast<char*>(t.data());
    size = k.c.packed(t.there, t.bytes);
    auto* const bytes =
        static_cast<char*>(std::malloc(size + guard_bytes + std::clamp<size_t>(size, 4096, most_slack)));
    if (bytes) {
        std::memset(bytes + size, guard, guard_bytes);
        k.c.pack(t.there, t.bytes, bytes);
        if (std::count(bytes + size, bytes + size + guard_bytes, guard) == long(guard_bytes))
            return bytes;
    }
    fail(t, 0, bytes ? "packed more bytes than it had said" : "could not be packed: no memory");
    std::free(bytes);
    t.flags |= task_pinned;
    put_in_queue(t);
    return nullptr;
}

// The task is in the letter, or its data in `bytes` beside it, and what it had here is freed: these at the latest when
// they have gone.
void Pool::add(Parcel& parcel, Task& t, char* bytes, size_t size)
{
    const Kind& k = kinds_[t.kind];
    if ((t.flags & task_has_future) && t.origin == uint32_t(me_) && is_for_others(t.future))
        t.flags |= task_keeps_result;
    Packed p = {t.kind, t.priority, t.flags, uint8_t(std::min(t.moves + 1, 255)), size >= apart_from, 0, t.origin,
                t.future, size, t.group, {}};
    const size_t needs = sizeof p + (p.apart ? 0 : (size + 7) / 8 * 8);
    if (parcel.text.size() + needs > Wire::most)
        send(parcel);
    parcel.tasks++;
    travels_.sent_to(parcel.to);
    const uint64_t held = t.moves ? t.bytes : 0;
    const auto let_go = [this, held] { Hardware::fetch_add_full(held_, Hardware::Word(0) - held); };
    if (p.apart)
        p.tag = uint16_t(next_tag());
    parcel.text.append(reinterpret_cast<const char*>(&p), sizeof p);
    if (!p.apart) {
        parcel.text.append(bytes, size);
        parcel.text.append((8 - size % 8) % 8, '\0');
        if (!k.is_flat() || (t.flags & task_on_heap))
            std::free(bytes);
        if (t.flags & task_on_heap)
            let_go();
    }
    if (!k.is_flat())
        k.c.release(t.there, t.bytes);
    if (!p.apart)
        return;
    parcel.apart.push_back({Wire::first_tag + p.tag, bytes, size, [this, bytes, size, began = ticks(), let_go] {
                                std::free(bytes);
                                let_go();
                                if (size >= 1 << 20) {
                                    const double rate = double(size) / seconds(ticks() - began);
                                    cost_.bytes_per_s += 0.3 * (rate - cost_.bytes_per_s);
                                }
                            }});
}

uint32_t Pool::next_tag()
{
    const int tag = next_tag_;
    next_tag_ = (next_tag_ + 1) % Wire::tags;
    return uint32_t(tag);
}

// The number that have gone; what cannot be packed stays here.
size_t Pool::send_tasks(int to, std::vector<Task>& tasks, bool are_placed)
{
    size_t sent = 0, bytes_out = 0;
    Parcel parcel(to, are_placed);
    for (Task& t : tasks) {
        size_t size;
        if (char* const bytes = bytes_of(t, size)) {
            add(parcel, t, bytes, size);
            sent++;
            bytes_out += size;
        }
    }
    send(parcel);
    if (node_of_[size_t(to)] == own_node_)
        return sent;
    std::lock_guard<base::SpinLock> hold(lock_);
    counts_.moved_out += sent;
    counts_.bytes_out += bytes_out;
    return sent;
}

void Pool::put_in_queue(const Task& t)
{
    std::lock_guard<base::SpinLock> hold(lock_);
    queue_.put(t, (t.flags & task_pinned) || t.moves >= most_moves_);
    queue_changed();
    kinds_[t.kind].waiting++;
}

// ---- getting

void Pool::arrived(int from, Task t, const void* packed, size_t bytes)
{
    const Kind& k = kinds_[t.kind];
    t.flags &= uint8_t(~task_on_heap);
    if (WS_UNLIKELY((t.flags & task_has_inputs) &&
                    (!k.is_flat() || !Inputs::make_sense(static_cast<const char*>(packed), bytes)))) {
        end_by_damage(from);
        return;
    }
    if (WS_UNLIKELY(t.flags & task_lacks_inputs)) {
        if (!(t.flags & task_has_inputs) || bytes <= Task::most_here || t.origin != uint32_t(from))
            return end_by_damage(from); // only its origin sends such a one
        return gather(from, t, const_cast<void*>(packed), bytes); // its own by now
    }
    if (!k.is_flat()) {
        size_t unpacked = 0;
        t.there = k.c.unpack(packed, bytes, &unpacked);
        t.bytes = unpacked;
        t.flags |= task_on_heap;
    } else if (bytes <= Task::most_here)
        std::memcpy(t.here, packed, bytes);
    else {
        t.there = const_cast<void*>(packed); // its own by now
        t.flags |= task_on_heap;
    }
    enter(from, t, bytes);
}

// Queues a task that has all its data. `bytes`: how many of it have moved.
void Pool::enter(int from, const Task& t, size_t bytes)
{
    if (t.flags & task_on_heap)
        Hardware::fetch_add_full(held_, Hardware::Word(t.bytes));
    put_in_queue(t);
    travels_.received_by(me_);
    if (node_of_[size_t(from)] == own_node_)
        return;
    std::lock_guard<base::SpinLock> hold(lock_);
    counts_.moved_in++;
    counts_.bytes_in += bytes;
}

void Pool::receive_tasks(int from, const char* text, size_t bytes)
{
    const TasksHead head = head_in<TasksHead>(text, bytes);
    const uint64_t began = ticks();
    size_t at = 8 + sizeof head;
    uint32_t now = 0;
    const auto tell = [this, run = run_of(text), are_placed = head.are_placed](int node, uint32_t tasks) {
        if (run != run_ || are_placed) // balancers do not know of these, nor of letters of the run before
            return;
        if (balancer_) {
            Actions a;
            if (!ended_)
                balancer_->arrived(node, tasks, own_look(), a);
            act(a);
        } else {
            own_look();
            post(agents_[size_t(own_node_)], letter(Letter::changed, Came{node, tasks}));
        }
    };
    for (uint32_t i = 0; i < head.tasks; i++) {
        Packed p;
        std::memcpy(&p, text + at, sizeof p);
        at += sizeof p;
        Task t = {};
        t.kind = p.kind;
        t.priority = p.priority;
        t.flags = p.flags;
        t.moves = p.moves;
        t.origin = p.origin;
        t.future = p.future;
        t.bytes = p.bytes;
        t.group = p.group;
        const bool stays = p.bytes > Task::most_here && kinds_[t.kind].is_flat(); // else it is copied again
        void* const own = p.apart || stays ? std::malloc(p.bytes) : nullptr;
        if (!own && (p.apart || stays)) {
            std::fprintf(stderr,
                         "workshare: error: tasks: no memory for %lu bytes of a task of kind '%s' from rank %d; ending "
                         "the job\n",
                         static_cast<unsigned long>(p.bytes), kinds_[t.kind].name.c_str(), from);
            mpi::end_job();
        }
        if (p.apart) {
            wire_->receive(from, Wire::first_tag + p.tag, own, p.bytes,
                           [this, from, t, own, p, tell, node = head.node] {
                               arrived(from, t, own, p.bytes);
                               if (!kinds_[t.kind].is_flat())
                                   std::free(own);
                               tell(node, 1);
                           });
            continue;
        }
        if (own)
            std::memcpy(own, text + at, p.bytes);
        arrived(from, t, own ? own : text + at, p.bytes);
        at += (p.bytes + 7) / 8 * 8;
        now++;
    }
    if (observe::recording)
        observe::record(observe::EventKind::tasks, began, ticks(), uint32_t(in_world_[size_t(from)]), head.tasks,
                        2 * head.number + 1);
    if (now)
        tell(head.node, now);
}

// ---- what other ranks are to have: results, tasks that were put for them, and that a group is cancelled

// The wire's lock is held.
void Pool::send_out()
{
    send_results();
    send_cancels();
    send_given_up();
    if (may_give_ && !ending_.ended())
        send_placed();
}

// Tasks that were put for other ranks.
void Pool::send_placed()
{
    std::vector<Placed> out;
    lock_.lock();
    out.swap(placed_);
    store_relaxed(active_, active_ + !out.empty()); // they are neither here nor gone
    lock_.unlock();
    if (out.empty())
        return;
    std::stable_sort(out.begin(), out.end(), [](const Placed& a, const Placed& b) { return a.to < b.to; });
    std::vector<Task> tasks;
    for (size_t i = 0; i < out.size(); i++) {
        tasks.push_back(out[i].task);
        if (i + 1 < out.size() && out[i + 1].to == out[i].to)
            continue;
        send_tasks(out[i].to, tasks, true);
        tasks.clear();
    }
    std::lock_guard<base::SpinLock> hold(lock_);
    store_relaxed(active_, active_ - 1);
}

void Pool::send_cancels()
{
    std::vector<uint16_t> out;
    lock_.lock();
    out.swap(cancels_out_);
    lock_.unlock();
    for (const uint16_t group : out)
        pass_on({me_, group});
}

// Down a binary tree of the ranks, whose root is who cancelled.
void Pool::pass_on(const Cancel& c)
{
    const int place = (me_ - c.root + ranks_) % ranks_;
    for (int child = 2 * place + 1; child <= 2 * place + 2 && child < ranks_; child++)
        post((c.root + child) % ranks_, letter(Letter::cancel, c));
}

} // namespace ws::policy::tasks
