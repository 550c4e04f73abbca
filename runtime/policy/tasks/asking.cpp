// SPDX-License-Identifier: MIT
//
// A pool among others: what it tells them of itself, what its balancer wants done, and when all are done.
#include "policy/tasks/letters.h"
#include "policy/tasks/pool.h"
#include "policy/node_objects.h"

#include "mpi/end_job.h"
#include "base/os.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>

namespace ws::policy::tasks {

constexpr uint64_t task_rest_us = 1000000; // of the pulse between runs, unless somebody wakes it before
// The unit of time by which C is counted, at least: some ten times what it takes to get tasks.
constexpr double task_unit_us = 500;

namespace {

// Bytes that the node can still use.
uint64_t available_memory()
{
    uint64_t kib = 0;
    if (std::FILE* f = std::fopen("/proc/meminfo", "re")) {
        char line[128];
        while (std::fgets(line, sizeof line, f))
            if (std::sscanf(line, "MemAvailable: %lu", &kib) == 1)
                break;
        std::fclose(f);
    }
    return kib * 1024;
}

// What a row says: tasks, or nanoseconds, hundredths and bytes. Other processes can write there, and sums of these and
// counts down from them must stay exact.
constexpr uint64_t most_tasks = uint64_t(1) << 40, most_of_others = uint64_t(1) << 48;
uint64_t told(const volatile Hardware::Word& word, uint64_t most = most_of_others)
{
    return std::min<uint64_t>(Hardware::load_relaxed(word), most);
}

} // namespace

struct Pool::Shared {
    Shared(NodeObjects::Manager* manager, size_t ranks) : rows(ranks, manager) {}
    NodeHead head = {};
    NodeObjects::Array<PoolRow> rows;
};

// Collective over the node. False on all its ranks: there is no memory.
bool Pool::share_rows(MPI_Comm node, size_t ranks)
{
    const size_t bytes = NodeObjects::root_bytes<Shared>() + NodeObjects::array_bytes<PoolRow>(ranks);
    void* const memory = memory_.allocate(node, bytes);
    if (!memory)
        return false;
    NodeObjects objects(memory, bytes);
    Shared* const shared =
        objects.root<Shared>(memory_.from_first(node, node_me_ == 0 ? objects.construct<Shared>(ranks) : -1));
    PoolRow* const rows = shared ? objects.elements(shared->rows, ranks) : nullptr;
    if (!memory_.all(node, rows != nullptr)) {
        memory_.free();
        return false;
    }
    head_ = &shared->head;
    rows_ = rows;
    return true;
}

void Pool::open_wire()
{
    Places places = peers_->places();
    node_me_ = places.node_me;
    node_ranks_ = std::move(places.node_ranks);
    in_world_ = std::move(places.in_world);
    const std::vector<int>& first = places.first;
    const size_t ranks = node_ranks_.size();
    agents_ = first;
    std::sort(agents_.begin(), agents_.end());
    agents_.erase(std::unique(agents_.begin(), agents_.end()), agents_.end());
    for (const int f : first)
        node_of_.push_back(int(std::lower_bound(agents_.begin(), agents_.end(), f) - agents_.begin()));
    own_node_ = node_of_[size_t(me_)];
    if (!all_.all(ranks == 1 || share_rows(places.node, ranks))) { // some node has no room in /dev/shm
        if (me_ == 0)
            std::fprintf(
                stderr,
                "workshare: warning: tasks do not move, because a node has no shared memory for their states\n");
        return;
    }
    const unsigned limit = job().options->tasks_memory;
    memory_limit_ = limit ? uint64_t(limit) << 20 : available_memory() / 2 / unsigned(ranks);
    random_ = job().options->chaos ? job().options->chaos * 0x9E3779B97F4A7C15ull + unsigned(me_) + 1 : 0;
    Rules rules;
    rules.seed = job().options->chaos + 1;
    rules.horizon = job().options->tasks_horizon;
    const Algorithm algorithm = job().options->tasks == option::Options::tasks_neighbours ? Algorithm::neighbours
                                : job().options->tasks == option::Options::tasks_random   ? Algorithm::random
                                : job().options->tasks == option::Options::tasks_lifeline ? Algorithm::lifeline
                                                                                        : Algorithm::central;
    if (node_me_ == 0)
        balancer_ = make_balancer(algorithm, own_node_, int(agents_.size()), rules);
    most_moves_ = make_balancer(algorithm, 0, 1, rules)->most_moves();
    wire_ = peers_->open_wire([this](int from, const char* text, size_t bytes) { handle(from, text, bytes); }, meets());
    balances_ = true;
}

// Those that write to each other in each run: up and down the tree of the end, and agents with rank 0.
std::vector<int> Pool::meets() const
{
    std::vector<int> meets;
    const Ending tree(me_, ranks_);
    for (int c = 0; c < tree.children(); c++)
        meets.push_back(tree.child(c));
    if (me_ != 0)
        meets.push_back(tree.parent());
    for (const int agent : agents_)
        if (agent > tree.child(tree.children() - 1) && me_ == 0)
            meets.push_back(agent);
        else if (agent == me_ && tree.parent() != 0)
            meets.push_back(0);
    return meets;
}

// ---- when

void Pool::poll_if_due(uint64_t now)
{
    if (WS_LIKELY(now - load_relaxed(polled_at_) < poll_every_))
        return;
    poll();
}

// False if somebody else has the wire, who then looks.
bool Pool::poll()
{
    if (!balances_)
        return false;
    std::unique_lock<std::mutex> hold(wire_lock_, std::try_to_lock);
    if (!hold)
        return false;
    look_at_letters();
    return true;
}

// The wire's lock is held.
void Pool::look_at_letters()
{
    store_relaxed(polled_at_, ticks());
    wire_->poll();
    send_out();
    look_around();
    const bool expects = balancer_ && !ended_ && balancer_->expects(seconds(ticks()));
    if (expects == bool(Hardware::load_relaxed(expects_))) // relaxed: with the wire's lock
        return;
    Hardware::store_relaxed(expects_, expects);
    if (expects && has_pulse_)
        base::futex_wake(&beat_); // its nap may be long
}

// Blocked in a task's MPI call. In the pool's own wait a letter ends that, and is looked at then.
void Pool::step() { stepped_ += poll_beside(); }

// In the middle of what is not a call of the pool's.
bool Pool::poll_beside()
try {
    return poll();
} catch (const std::bad_alloc&) {
    end_without_memory("ws_pool_run");
}

// One at a time. Returns when nobody may have looked for too long, in ticks.
uint64_t Pool::worker_step(uint64_t now)
{
    const auto late = [this] { return Hardware::load_relaxed(expects_) ? poll_every_ : pulse_every_ / 2; };
    if (load_relaxed(polled_at_) + late() <= now) {
        if (!poll_beside()) // run()'s thread holds the wire while it waits for letters itself
            return now + uint64_t(times::task_longest_pulse_us * ticks_per_us_);
        worked_++;
    }
    return std::max(now, load_relaxed(polled_at_)) + late();
}

// The wire's lock is held.
void Pool::wait()
{
    nblb_.look_while_blocked(nullptr);
    wire_->wait();
    nblb_.look_while_blocked(this);
}

void Pool::start_pulse()
{
    store_relaxed(polled_at_, ticks());
    if (has_pulse_) {
        nblb_.look_on_workers(this);
        Hardware::store_full(beat_, pulse_beats);
        base::futex_wake(&beat_);
        return;
    }
    if (agents_.size() < 2 || !peers_->lets_threads_in())
        return;
    has_pulse_ = true; // before the thread is there, which reads it
    Hardware::store_relaxed(beat_, pulse_beats);
    const int failed = pthread_create(&pulse_thread_, nullptr,
                                      [](void* pool) -> void* {
                                          static_cast<Pool*>(pool)->pulse();
                                          return nullptr;
                                      },
                                      this);
    if (failed)
        has_pulse_ = false;
    nblb_.look_on_workers(this);
}

// When this returns neither workers nor the pulse look at letters any more. That one may still run: to wait until it
// sleeps would take until the kernel has given it a CPU.
void Pool::rest_pulse()
{
    nblb_.look_on_workers(nullptr);
    std::lock_guard<std::mutex> hold(wire_lock_);
    Hardware::store_full(beat_, pulse_rests);
}

void Pool::end_pulse()
{
    if (!has_pulse_)
        return;
    Hardware::store_full(beat_, pulse_ends);
    base::futex_wake(&beat_);
    pthread_join(pulse_thread_, nullptr);
    has_pulse_ = false;
}

// While nothing asks for it, it looks less and less often: idle workers look before it does (worker_step()). It is on
// their cores, so that it takes no time of tasks while these are idle; where there are none, on the rank's own.
void Pool::pulse()
{
    pthread_setname_np(pthread_self(), "ws pulse");
    if (window::Window* const w = job().window) {
        base::CpuSet cpus(w->mask_size());
        for (unsigned c = w->ranks(); c < w->cores(); c++)
            if (w->home(c).rank == w->me())
                cpus.add(w->mask(c));
        if (!cpus.mask().empty())
            cpus.mask().bind();
    }
    uint64_t nap_us = uint64_t(times::task_pulse_us);
    for (base::Flag beat; (beat = Hardware::load_acquire(beat_)) != pulse_ends;) { // pairs with end_pulse()
        if (beat == pulse_rests) {
            base::futex_wait(&beat_, beat, task_rest_us);
            nap_us = uint64_t(times::task_pulse_us);
            continue;
        }
        const bool moves_data = wire_->moves_data(), expects = Hardware::load_relaxed(expects_);
        if (moves_data)
            sched_yield(); // it moves while somebody looks
        else
            base::futex_wait(&beat_, beat, expects ? uint64_t(times::task_poll_us) : nap_us);
        const uint64_t late = Hardware::load_relaxed(expects_) ? poll_every_ : pulse_every_;
        const bool is_late = moves_data || ticks() - load_relaxed(polled_at_) >= late;
        // run()'s thread holds the lock while it waits for letters itself
        std::unique_lock<std::mutex> hold(wire_lock_, std::defer_lock);
        // Acquire: what run() has changed before it told the pulse to beat, which it did without the lock, is seen
        // here.
        if (is_late && hold.try_lock() && Hardware::load_acquire(beat_) == pulse_beats) {
            pulsed_++;
            try {
                look_at_letters();
            } catch (const std::bad_alloc&) {
                end_without_memory("ws_pool_run");
            }
            nap_us = uint64_t(times::task_pulse_us);
        } else
            nap_us = std::min(2 * nap_us, uint64_t(times::task_longest_pulse_us));
    }
}

// ---- what there is

uint64_t Pool::room() const
{
    const uint64_t held = Hardware::load_relaxed(held_);
    return memory_limit_ > held ? memory_limit_ - held : 0;
}

Look Pool::own_look()
{
    double rest = 0, waiting = 0, work_s = 0, tail_s = 0, known = 0;
    Pace pace;
    std::unique_lock<base::SpinLock> hold(lock_);
    const unsigned hands = hands_;
    for (size_t i = 0; i < kinds_.size(); i++) {
        const Kind& k = kinds_[i];
        size_t of_kind = k.waiting;
        for (unsigned h = 0; h < hands; h++)
            of_kind += all_hands_[h]->waiting(i);
        const double mean = load_relaxed(k.mean_s), n = double(of_kind);
        if (mean > 0) {
            pace.add({uint16_t(i), float(mean), float(load_relaxed(k.tasks))});
            work_s += n * mean;
            known += n;
            tail_s = n > 0 ? std::max(tail_s, double(load_relaxed(k.tail_s))) : tail_s;
        }
    }
    const size_t all = Pool::waiting();
    rest = double(all + active_);
    waiting = double(all) - double(queue_.size() - queue_.movable());
    growth_.add(double(counts_.run - grown_run_), double(put_ - grown_put_));
    grown_run_ = counts_.run;
    grown_put_ = put_;
    hold.unlock();
    const double mean_s = known > 0 ? work_s / known : load_relaxed(mean_s_);
    PoolRow& own = rows_[node_me_];
    Hardware::store_relaxed(own.rest, uint64_t(rest));
    Hardware::store_relaxed(own.waiting, uint64_t(waiting));
    Hardware::store_relaxed(own.mean_ns, uint64_t(1e9 * mean_s));
    Hardware::store_relaxed(own.grows, uint64_t(100 * growth_.tasks()));
    Hardware::store_relaxed(own.room, room());
    for (int i = 0; i < Pace::most; i++)
        Hardware::store_relaxed(own.pace[i], packed(pace.kinds[i]));

    Look l;
    l.now_s = seconds(ticks());
    l.cores = double(node_ranks_.size());
    uint64_t least = ~uint64_t(0);
    double all_s = 0, grown_s = 0;
    known = 0;
    for (size_t r = 0; r < node_ranks_.size(); r++) {
        const PoolRow& row = rows_[r];
        const uint64_t here = told(row.rest, most_tasks);
        const double mean = 1e-9 * double(told(row.mean_ns));
        l.rest += double(here);
        l.waiting += double(told(row.waiting, most_tasks));
        if (mean > 0) {
            all_s += mean * (double(here) + 1e-3);
            grown_s += 0.01 * double(told(row.grows)) * mean * (double(here) + 1e-3);
            known += double(here) + 1e-3;
        }
        for (const volatile Hardware::Word& word : row.pace)
            if (const uint64_t w = Hardware::load_relaxed(word))
                l.pace.add(unpacked(w));
        if (here < least) {
            least = here;
            l.address = node_ranks_[r];
            l.room = double(told(row.room));
        }
    }
    l.mean_s = known > 0 ? all_s / known : 0;
    l.grows = all_s > 0 ? grown_s / all_s : 1;
    // A rank answers between two tasks, or by its pulse if it has one.
    l.unit_s = unit_of_time(1e-6 * task_unit_us, cost_.fixed_s,
                            has_pulse_ ? std::min(tail_s, 1e-6 * times::task_pulse_us) : tail_s);
    constexpr double most_width = 512; // tasks, of 64 bytes
    const double width = 4 * l.capacity() / double(node_ranks_.size());
    store_relaxed(width_, agents_.size() > 1 && growth_.tasks() > 1 ? uint64_t(std::min(width, most_width)) : 0);
    return l;
}

// What has changed here, told to whom it matters.
void Pool::look_around()
{
    if (ended_)
        return;
    show();
    Look own = own_look();
    if (balancer_) {
        for (base::Flag state = state_of(own), before = 0; state != before; state = state_of(own)) {
            Actions a;
            balancer_->look(own, a);
            const bool is_new = Hardware::load_relaxed(head_->state) != state;
            if (!is_new && a.letters.empty() && a.gifts.empty())
                break;
            act(a);
            before = state;
            // Full, before another look at the rows: pairs with the compare-and-swap below.
            if (is_new)
                Hardware::store_full(head_->state, state);
            own = own_look();
        }
        if (random_ && may_give_ && own.waiting >= 1) { // chaos: somebody gets something
            random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
            const int node = int((random_ >> 33) % agents_.size());
            if (node != own_node_ && (random_ >> 20) % 4 == 0) {
                Actions some;
                some.gifts.push_back({node, agents_[size_t(node)], double(1 + (random_ >> 40) % 16), HUGE_VAL,
                                      {0, 1, 1}, true});
                for (const Gift& g : some.gifts)
                    if (const int giver = choose_giver(); giver == me_)
                        give(g, own);
            }
        }
        return;
    }
    // One of the node's ranks tells the agent, unless that has seen it itself. Full: this rank's row has been written
    // before. A rank at work tells it only now and then.
    const base::Flag state = state_of(own);
    while (!Hardware::cas_full(head_->state, state, state)) {
        const base::Flag seen = Hardware::load_relaxed(head_->state);
        if (seen != state && waiting() && own.now_s - nudged_s_ < own.unit_s)
            break;
        if (seen != state && Hardware::cas_full(head_->state, seen, state)) {
            nudged_s_ = own.now_s;
            post(agents_[size_t(own_node_)], letter(Letter::changed, Came{own_node_, 0}));
            break;
        }
    }
}

// What the node's agent should see of a change: the class, whether nothing is left, and the size of what is.
base::Flag Pool::state_of(const Look& own)
{
    const Class cls = classify(own.rest, own.capacity());
    const int size = cls == Class::heavy ? std::ilogb(own.rest) : own.rest >= 1;
    return base::Flag(cls) + 1 + (base::Flag(size) << 2);
}

int Pool::choose_giver() const
{
    size_t best = size_t(node_me_);
    uint64_t most = 0;
    for (size_t r = 0; r < node_ranks_.size(); r++)
        if (const uint64_t n = Hardware::load_relaxed(rows_[r].waiting); n > most) {
            most = n;
            best = r;
        }
    return node_ranks_[best];
}

// ---- what is to be done

void Pool::act(Actions& a)
{
    for (size_t i = 0; i < a.gifts.size(); i++) {
        const Gift g = a.gifts[i];
        if (may_give_)
            gift(g, a);
        else
            held_back_.push_back(g);
    }
    for (const Actions::Letter& l : a.letters)
        post(agents_[size_t(l.node)], letter(Letter::note, l.note));
}

void Pool::gift(const Gift& g, Actions& actions)
{
    if (const int giver = choose_giver(); giver != me_) {
        post(giver, letter(Letter::give, g));
        return;
    }
    const size_t given = give(g, own_look());
    balancer_->gave(g, double(given), own_look(), actions);
}

void Pool::post(int to, std::string text)
{
    text[1] = char(run_);
    text[2] = char(load_relaxed(woken_));
    wire_->post(to, std::move(text));
}

void Pool::end_by_damage(int from) const
{
    std::fprintf(stderr, "workshare: error: a message about tasks from rank %d is damaged; ending the job\n",
                 in_world_[size_t(from)]);
    mpi::end_job();
}

void Pool::handle_early()
{
    const auto early = std::move(early_);
    early_.clear();
    for (const auto& [from, text] : early)
        handle(from, text.data(), text.size());
}

void Pool::handle(int from, const char* text, size_t bytes)
{
    const bool has_head = bytes >= 8; // else it is refused below
    const Letter what = has_head ? Letter(text[0]) : Letter();
    const bool carries = has_head && is_counted(what);
    if (WS_UNLIKELY(has_head && run_of(text) != run_)) {
        if (run_of(text) == uint8_t(run_ + 1)) {
            early_.emplace_back(from, std::string(text, bytes));
            return;
        }
        if (!carries) // the run that it is about has ended
            return;
    } else if (WS_UNLIKELY(carries && is_of_woken(text))) {
        std::lock_guard<base::SpinLock> hold(lock_);
        store_relaxed(woken_, true);
    }
    const LetterLimits bounds = {ranks_, int(agents_.size()), kinds_.size(), groups_.size(), Wire::tags,
                                 Queue::least_priority, Queue::most_priority};
    if (WS_UNLIKELY(!makes_sense(text, bytes, bounds))) {
        end_by_damage(from);
        return;
    }
    if (carries)
        return receive(what, from, text, bytes);
    const int node = node_of_[size_t(from)];
    Actions a;
    switch (what) {
    case Letter::note:
        if (balancer_ && !ended_)
            balancer_->note(node, head_in<Note>(text, bytes), own_look(), a);
        break;
    case Letter::give:
        if (!ended_) {
            const Gift g = head_in<Gift>(text, bytes);
            post(from, letter(Letter::gave, Gave{g, double(give(g, own_look()))}));
            own_look();
        }
        break;
    case Letter::gave:
        if (balancer_ && !ended_) {
            const Gave g = head_in<Gave>(text, bytes);
            balancer_->gave(g.gift, g.tasks, own_look(), a);
        }
        break;
    case Letter::cancel: {
        const Cancel c = head_in<Cancel>(text, bytes);
        Hardware::store_relaxed(groups_[c.group - 1].is_cancelled, 1);
        pass_on(c);
        break;
    }
    case Letter::changed:
        if (balancer_ && !ended_) {
            const Came came = head_in<Came>(text, bytes);
            if (came.tasks)
                balancer_->arrived(came.node, came.tasks, own_look(), a);
        }
        break; // look_around() comes after each poll
    case Letter::ask:
        ending_.ask();
        break;
    case Letter::answer:
        ending_.answer(from, head_in<Counts>(text, bytes));
        break;
    case Letter::begin:
        begin();
        break;
    case Letter::end: {
        const End end = head_in<End>(text, bytes);
        failed_ = end.failed;
        kinds_differ_ = end.kinds_differ;
        ending_.end();
        break;
    }
    default: // receive() has them
        break;
    }
    act(a);
}

void Pool::receive(Letter what, int from, const char* text, size_t bytes)
{
    if (what == Letter::tasks)
        receive_tasks(from, text, bytes);
    else if (what == Letter::result)
        receive_result(from, text, bytes);
    else if (what == Letter::deliver)
        receive_deliver(from, text, bytes);
    else if (what == Letter::value)
        receive_value(from, text, bytes);
    else
        receive_given_up(from, text, bytes);
}

// ---- the end

void Pool::wait_for_kinds()
{
    std::lock_guard<std::mutex> hold(wire_lock_);
    while (holds_) {
        go_on_ending();
        if (ended_)
            return;
        if (holds_)
            wire_->wait();
    }
    Actions first;
    first.gifts.swap(held_back_);
    act(first);
}

// All ranks have the same kinds.
void Pool::begin()
{
    holds_ = false;
    may_give_ = true;
    for (int c = 0; c < ending_.children(); c++)
        post(ending_.child(c), letter(Letter::begin));
}

// The wire's lock is held, and this rank has nothing to do, or holds.
void Pool::go_on_ending()
{
    while (!ending_.ended()) {
        Counts own = travels_;
        own.holding = holds_;
        {
            std::lock_guard<base::SpinLock> hold(lock_);
            if (!holds_ &&
                (queue_.size() || active_ || !results_out_.empty() || !placed_.empty() || !given_up_.empty()))
                return;
            own.failed = first_failed_;
            own.woken = woken_;
        }
        const Ending::Do d = ending_.idle(own);
        if (d.say == Ending::Say::nothing)
            break;
        if (d.say == Ending::Say::end) {
            failed_ = d.sum.failed;
            kinds_differ_ = d.sum.kinds_differ();
        } else if (d.say == Ending::Say::answer)
            post(ending_.parent(), letter(Letter::answer, d.sum));
        else if (d.say == Ending::Say::begin)
            begin();
        else
            for (int c = 0; c < ending_.children(); c++)
                post(ending_.child(c), letter(Letter::ask));
    }
    if (ending_.ended() && !ended_) {
        ended_ = true;
        for (int c = 0; c < ending_.children(); c++)
            post(ending_.child(c), letter(Letter::end, End{failed_, kinds_differ_}));
    }
}

// Collective, after the last run: until all letters that were posted have come, and data. Those are of no use any more.
void Pool::drain()
{
    int64_t all[2];
    do {
        while (wire_->poll()) {
        }
        all[0] = int64_t(wire_->sent());
        all[1] = int64_t(wire_->received());
        all_.combine(Processes::By::sum, all, 2);
    } while (all[0] != all[1]);
    while (wire_->sends())
        wire_->poll();
}

} // namespace ws::policy::tasks
