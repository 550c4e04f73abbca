// SPDX-License-Identifier: MIT
//
// What a thread does with the core that it is at home on while it has nothing to do itself: one object for the rank's
// own thread (home.cpp), one for each worker (worker.cpp). Used by that thread alone.
#pragma once

#include "arbiter/cores.h"
#include "lend/hand_over.h"
#include "lend/lend.h"
#include "observe/board.h"
#include "base/os.h"
#include "window/types.h"
#include "window/window.h"

#include <vector>

namespace ws::lend {

using base::Flag;
using base::Hardware;

class Rank;

class Lender {
public:
    // `core` is the index in the core table; `nap_us` the first sleep without a lease, in microseconds, while every
    // thread has a core of its own. `seat` of the board is this thread's.
    void start(Rank& rank, unsigned core, observe::Seat& seat, bool help_own, uint64_t nap_us);

    window::Home& home() const { return *home_; }
    observe::Seat& seat() const { return *seat_; }
    observe::LendCounters& counters() { return seat_->lend; }

    // Our core was lent and its return is not yet accounted.
    bool has_lease() const { return has_lease_; }
    // Sleeps while the guest has the core, a quantum at most, and no more than `most_us`.
    static constexpr uint64_t any = ~uint64_t(0);
    void sleep_while_lent(uint64_t most_us = any);
    // Asks for the core back and goes on beside the guest, which leaves after its chunk; or accounts its return.
    void resume();

    Target choose(window::Hungry hunger, bool direct) { return chooser_.choose(hunger, direct, hand_over_.least()); }
    uint64_t little_left() const { return chooser_.little_left(); }
    // With more threads than cores an idle thread's core is not idle: another computes there. Free while fewer ranks,
    // workers and guests are at work than there are cores for them.
    bool core_is_free() const;
    // A thread of a parallel region is on it (policy/dpb): who waits here only keeps it from computing. Or the core, a
    // worker's, is another rank's now.
    bool is_taken() const
    {
        const arbiter::Core core = arbiter::Word<>(home_->use).look();
        return core.use == arbiter::Use::openmp || core.owner != home_->rank;
    }
    bool core_is_ours_alone() const { return ours_alone_; }
    // Looks whether other jobs have come or gone: at the start of a wait, by one load if none has. Now and then in a
    // long wait it also checks whether they still live.
    void look_at_neighbours(bool whether_alive);
    bool had_neighbours() const { return had_neighbours_; }
    // Tells the other jobs of the node whether the core computes from here on.
    void show_busy(bool busy)
    {
        if (shown_in_)
            shown_in_->show_busy(busy);
    }
    // Whether more threads share our cores than there are cores: then a thread that waits awake only keeps others from
    // computing.
    bool must_not_spin() const { return nap_at_once_; }

    // For the board: from `now` on (ticks) there is nothing to steal, because of `why`, until the next call.
    // Refusal::kinds: there was something to steal, or the wait is over.
    void refuse(observe::Refusal why, uint64_t now);
    observe::Refusal why_none() const; // after choose() found nothing

    // kept -> armed: from here on senders ring. The caller lets MPI poll once more.
    void arm();
    bool is_armed() const { return Hardware::load_relaxed(home_->state) == window::core_armed; }
    // Something has arrived since: armed -> kept, true.
    bool disarm_if_rung();
    void disarm() { Hardware::store_relaxed(home_->state, window::core_kept); }

    // Takes the core from its own use, claims a chunk of the target's region and lends the core for it. With
    // `one_chunk` the guest leaves after that, and a chunk takes no more than `short_ticks`. False if the core has
    // another use or nothing was claimed.
    bool lend(const Target& target, bool one_chunk = false);

    // The owner rang us, and we ring the next sleeper if there is work for more: so the owner need not ring many.
    void wake_others_for(const Target& target) const;

    // Claims without lending, for a worker that runs the chunk itself.
    bool claim(const Target& target, window::Lease& lease);

    // Armed, and nothing to help with: sleeps on the doorbell, a quantum at most, and no more than `most_us`. Returns
    // armed if that ended it, else kept.
    void sleep(uint64_t most_us = any);
    // How long a sleep may be so that what is due comes in time.
    uint64_t us_until(uint64_t due_at, uint64_t now) const;

    // Ranks that are not bound may sit on one CPU, and the kernel leaves them there, as a thief sleeps too much to look
    // like load. What such a thief lends would be the owner's own CPU. So it moves to a CPU of its mask on which no
    // thread of the node says it is, or at least none that computes, and then takes its old mask again. Rarely needed,
    // as it stays there.
    void step_aside(unsigned victim);
    // Just woken, and on the CPU of the thread that rang (see Rank::let_woken_run()): moves likewise.
    void step_aside_for_ringer();
    // Fills named_ and busy_.
    void look_who_is_where();
    void move_to_another_cpu();

private:
    void find_sharers();
    base::Flag tenant() const;
    void account_lent(uint64_t now);
    void account_return(uint64_t now);
    // A sleep of `first` microseconds in a new wait, longer after each that nobody ended.
    uint64_t sleep_us(uint64_t first) const;
    void slept_in_vain(uint64_t us, const char* waiting_for);

    bool is_busy(const window::Home& core) const;

    Rank* rank_ = nullptr;
    window::Window* window_ = nullptr;
    window::Home* home_ = nullptr;
    arbiter::Use own_use_ = arbiter::Use::home; // while it is not lent
    unsigned index_ = 0;
    Chooser chooser_;
    HandOver hand_over_;
    observe::Seat* seat_ = nullptr;
    observe::Refusal refusal_ = observe::Refusal::kinds; // the last answer in this wait
    uint64_t refused_at_ = 0;          // ticks
    bool has_lease_ = false;
    bool went_on_ = false;    // with a lease: this thread goes on beside the guest
    uint64_t lent_since_ = 0; // ticks: lent without a break since then
    bool ours_alone_ = true;     // no other thread may run on our cores
    bool bound_ = false;         // our mask holds one CPU
    unsigned own_cores_ = 1;     // of our mask
    unsigned sharers_cores_ = 1; // how many cores all who share with us have together, ours included
    enum Share : unsigned char { nothing, some, all_of_its };
    std::vector<Share> shares_;  // for each thread of the core table that shares cores with us, which
    book::Reader* shown_in_ = nullptr; // of a home thread
    book::Reader* book_ = nullptr;     // the same, where cores are not only pretended
    Flag book_changes_ = 0;
    std::vector<book::Neighbour> neighbours_; // of other jobs, on our cores
    std::vector<Share> neighbours_shares_;
    bool had_neighbours_ = false;
    unsigned pretended_cores_ = 0;
    uint64_t least_nap_us_ = 0;
    uint64_t nap_us_ = 0;        // the shortest sleep without a lease, if not woken
    bool nap_at_once_ = false;   // see must_not_spin()
    // CPUs that any thread says it is on, and those on which one computes: kept, because step_aside() is to allocate
    // nothing.
    base::CpuSet named_, busy_, own_, one_;
    unsigned quiet_quanta_ = 0;  // slept through in this wait
    uint64_t quiet_us_ = 0;      // slept since the last look at the peers
};

} // namespace ws::lend
