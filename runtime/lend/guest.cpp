// SPDX-License-Identifier: MIT
//
// The guests of this process: one thread per core of the node that was ever offered, created on demand, pinned to
// that core, asleep while the core is not lent to us.
#include "lend/guest.h"

#include "lend/body_stack.h"
#include "lend/rank.h"
#include "loop/chaos.h"
#include "loop/left.h"
#include "loop/signals.h"
#include "observe/recorder.h"
#include "base/os.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace ws::lend {

using loop::chaos;
using loop::Descriptor;
using loop::Sizing;
using observe::EventKind;
using observe::own_seat;
using observe::record;
using observe::Seated;
using observe::SeatKind;
using observe::show;
using base::CpuMask;
using base::CpuSet;
using base::Flag;
using base::Hardware;
using window::guest_away;
using window::guest_ready;
using window::guest_refused;
using window::GuestSlot;
using window::Home;
using window::Lease;
using window::long_hungry;
using base::ticks;
using window::Window;

// A guest without a core is woken by who lends it one, and looks itself after this.
constexpr uint64_t guest_nap_us = 1000000;

namespace {

// Lingers on a lent core for the owner's next region: a hand-over inside a process costs a tenth of one by a futex.
// True if it has claimed a chunk.
bool next_lease(const Rank& rank, const Home& core, Lease& lease)
{
    Window& w = rank.window;
    window::Row& own = w.mine();
    uint64_t until = ticks() + rank.times.linger_ticks;
    for (;;) {
        if (Hardware::load_relaxed(core.recall) || rank.is_blocked() || ticks() > until)
            return false;
        const Flag open = w.open_slots(w.me());
        if (!open && Hardware::load_relaxed(own.hunger.hungry) != long_hungry)
            Hardware::store_relaxed(own.hunger.hungry, long_hungry);
        for (Flag rest = open; rest; rest &= rest - 1) {
            lease.slot = unsigned(__builtin_ctz(rest));
            Descriptor& loop = own.loops[lease.slot];
            Descriptor::Look look = loop.look();
            if (!look.remaining || look.full)
                continue;
            Sizing sizing = Sizing::unpack(look.sizing);
            if (loop.claim_and_join(
                    [&](uint64_t remaining, unsigned joiners) {
                        return sizing.units(remaining, joiners + 2, w.cores());
                    },
                    lease.chunk) == loop::Claim::taken)
                return true;
        }
        base::cpu_relax();
    }
}

// Whether a guest should stay for its owner's next region: not where that never comes in time, as with one region a
// time step. A guest that leaves at once lets its thief go on a few microseconds earlier.
class Lingering {
public:
    bool pays() { return in_vain_ < enough || ++turn_ % try_again == 0; }
    void was(bool useful) { in_vain_ = useful ? 0 : in_vain_ + (in_vain_ < enough); }

private:
    static constexpr unsigned enough = 4, try_again = 16;
    unsigned in_vain_ = 0, turn_ = 0;
};

// False if this process may not use these CPUs: they are of another cpuset. A guest there would run beside its owner,
// while the lent core idles. (Where affinities may not be set at all, the scheduler finds the core.)
bool move_to(CpuMask mask) { return mask.bind() || errno != EINVAL || mask.empty(); }

// Follows the thief to the CPU it lent: left to the scheduler, an unbound guest often wakes on its owner's CPU.
// Costs nothing while the thief stays where it was. `one`: room for any CPU of the node.
bool move_to(int cpu, CpuSet& one)
{
    if (!one.mask().has_room(cpu) || sched_getcpu() == cpu)
        return true;
    one.clear();
    one.add(cpu);
    return move_to(one);
}

// The visit of this thread, if it is a guest.
struct Visit {
    const Rank* rank = nullptr;
    Home* core = nullptr; // the core it runs on; null when it has given it back
    GuestSlot* slot = nullptr;
};
WS_THREAD_LOCAL Visit visit;

void give_back(Home& core)
{
    Hardware::store_relaxed(core.returned_at, ticks());
    Hardware::store_full(core.state, window::core_kept); // the last touch of the core: the thief takes it from here
    base::futex_wake(&core.state);
}

// Gives the calling thread its seat on the board, and makes it the rank's guest on core `index`.
void take_seat(Rank& rank, unsigned index)
{
    loop::join(rank.loops);
    pthread_setname_np(pthread_self(), "ws guest");
    watch_stack("helper", rank.window.own_home().world_rank);
    loop::watch_thread(true);
    own_seat = &rank.loops.board->guest_seat(index);
    Hardware::store_relaxed(own_seat->core, index);
    Hardware::store_relaxed(own_seat->call, observe::no_row);
    show(*own_seat, Seated::away, ticks());
    Hardware::store_release(own_seat->kind, Flag(SeatKind::guest));
    observe::record_as(SeatKind::guest, index);
}

// Runs the lease that a thief has left in `core`, and takes more from the owner's next regions while lingering for them
// pays. Bodies are called from this frame, so it has no destructor: see Guests::live().
void visit_regions(const Rank& rank, Home& core, Lease& lease, bool may_stay, Lingering& lingering)
{
    uint64_t latency = ticks() - core.lent_at;
    Hardware::store_relaxed(core.came_ticks, Flag(std::min<uint64_t>(latency, ~Flag(0))));
    observe::count_latency(own_seat->steal_latency, latency, rank.loops.ticks_per_us);
    bool stayed = false;
    do {
        const bool stays = may_stay && lingering.pays();
        const uint64_t begin = ticks();
        show(*own_seat, Seated::visiting, begin, Flag(core.world_rank));
        const uint64_t way_home = stays ? 0 : Hardware::load_relaxed(core.return_ticks);
        const uint64_t ended = loop::run_as_guest(lease, &core.recall, way_home, stayed).ended;
        if (WS_UNLIKELY(observe::recording))
            record(EventKind::visit, begin, ended, Flag(core.world_rank), Hardware::load_relaxed(own_seat->loop),
                   latency);
        latency = 0;
        stayed = visit.core && stays && !rank.is_blocked() && next_lease(rank, core, lease);
        lingering.was(stayed);
    } while (stayed);
    show(*own_seat, Seated::away, ticks());
}

} // namespace

void* Guests::run(void* place)
{
    const GuestStart& p = *static_cast<const GuestStart*>(place);
    p.all->live(p.core);
    return nullptr;
}

void Guests::live(const unsigned index)
{
    Window& w = rank_.window;
    Home& core = w.home(index);
    GuestSlot& slot = w.guest(w.me(), index);

    take_seat(rank_, index);
    chaos.delay();
    bool allowed = move_to(w.mask(index));
    // Freed by hand, because there must be no destructor in the frames from which bodies are called, this one and that
    // of visit_regions(): a thread that a body ends (pthread_exit) is unwound by libgcc_s, which our own copy of the
    // unwinder does not work with: it would abort.
    CpuSet* const one = new CpuSet(w.mask_size());
    Lingering lingering;
    Flag knocks = Hardware::load_acquire(slot.knock);
    if (allowed)
        Hardware::store_release(slot.state, guest_ready); // pairs with the thief's load before it claims

    while (allowed) {
        Flag now;
        while ((now = Hardware::load_acquire(slot.knock)) == knocks && !Hardware::load_acquire(stopping_))
            base::futex_wait(&slot.knock, knocks, guest_nap_us);
        if (Hardware::load_acquire(stopping_)) // nobody lends any more: this knock was stop()'s
            break;
        knocks = now;
        chaos.delay();
        Lease lease = core.lease; // written before the knock
        if (WS_UNLIKELY(lease.slot >= window::max_slots)) {
            std::fprintf(stderr,
                         "workshare: error: the shared memory of this node's ranks is damaged (core %u lends itself to "
                         "region %u of %u); ending the job\n",
                         index, lease.slot, window::max_slots);
            rank_.loops.end_job();
            return;
        }
        allowed = move_to(int(Hardware::load_relaxed(core.running_on)), *one); // written before the knock
        visit = {&rank_, &core, &slot};
        visit_regions(rank_, core, lease, allowed, lingering);
        // The guest lingers no longer for a short region, so the flag of hunger is lowered. Thieves that still wait
        // raise it again.
        if (Hardware::load_relaxed(w.mine().hunger.hungry) == long_hungry)
            Hardware::store_relaxed(w.mine().hunger.hungry, window::not_hungry);
        chaos.delay();
        if (!allowed)
            Hardware::store_release(slot.state, guest_refused); // before the core: its thief must not lend to us again
        if (visit.core)
            give_back(core);
        else if (allowed)
            Hardware::store_release(slot.state, guest_ready); // it listens again
        visit = {};
        loop::rest_signals(); // after the core is back: its thief does not wait for this
    }
    if (!allowed) {
        observe::add(rank_.loops.board->process.guests_barred, 1);
        show(*own_seat, Seated::away, ticks());
        Hardware::store_release(slot.state, guest_refused);
    }
    delete one;
    loop::forget_thread();
    unwatch_stack();
}

void guest_blocked(unsigned polls)
{
    if (!visit.core) {
        sched_yield();
        return;
    }
    if (polls < 200) { // a few microseconds: most calls end soon
        base::cpu_relax();
        return;
    }
    // What this call waits for may be the very rank whose core it runs on, so that rank goes on; and until this visit
    // ends no chunk may be brought to this thread. The visit ends after this chunk.
    Home& core = *visit.core;
    visit.core = nullptr;
    Hardware::store_release(visit.slot->state, guest_away); // before the core: its thief must not lend to us then
    loop::leave_after_chunk();
    const Window& w = visit.rank->window;
    w.mask(w.me()).bind();
    give_back(core);
}

void Guests::make()
{
    Window& w = rank_.window;
    // the owner waits while guests are made, so more of them are made with the next regions
    constexpr unsigned at_once = 4;
    unsigned made = 0;
    making_.lock();
    if (places_.empty()) // the guests keep their addresses
        for (unsigned core = 0; core < w.cores(); core++)
            places_.push_back({this, core});
    for (unsigned core = 0; core < w.cores(); core++) {
        GuestSlot& slot = w.guest(w.me(), core);
        if (Hardware::load_acquire(slot.state) != window::guest_wanted)
            continue;
        if (made++ == at_once) {
            Hardware::store_relaxed(w.mine().hunger.wanted, 1);
            break;
        }
        // Stored before the thread runs: another thief's wish may bring us here again before this guest is ready, and
        // two guests in one slot would both run its lease.
        Hardware::store_relaxed(slot.state, window::guest_starting);
        pthread_t thread;
        if (rank_.start_body_thread(thread, w.mask(core), run, &places_[core])) {
            observe::add(rank_.loops.board->process.guests_refused, 1);
            Hardware::store_release(slot.state, guest_refused);
        } else
            threads_.push_back(thread);
    }
    making_.unlock();
}

void Guests::stop()
{
    Hardware::store_full(stopping_, 1); // full: seen before the wake below is
    Window& w = rank_.window;
    for (unsigned core = 0; core < w.cores(); core++) {
        // The word that the guest sleeps on must change: it may be between its look at `stopping_` and its sleep.
        volatile Flag& knock = w.guest(w.me(), core).knock;
        Hardware::fetch_add_full(knock, 1);
        base::futex_wake(&knock);
    }
    for (pthread_t t : threads_)
        pthread_join(t, nullptr);
    threads_.clear();
    stop_watching_stacks();
}

} // namespace ws::lend
