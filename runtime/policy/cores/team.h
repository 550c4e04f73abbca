// SPDX-License-Identifier: MIT
//
// The threads of the region that a rank has open: which processors they are on, and which of them are lent.
#pragma once

#include "policy/cores/table.h"

#include <vector>

namespace ws::policy::cores {

// Borrowing, placing and giving back are steps of one region, over the same lists of processors.
class Team {
public:
    // `me`'s, whose threads may use `cpus` while they have no processor of their own. Where the user has said where
    // threads are (`placed`), each stays on one CPU. `stays`: the rank's own threads are left where they are.
    void attach(Table& table, window::Window& window, unsigned me, double ticks_per_us, bool placed, bool stays);

    // Between two regions: hands over what is promised to others, and looks at what is its own. The number of its
    // processors.
    unsigned settle();
    unsigned own() const { return own_; }
    // The same, when nobody hands over any more: with those that it was given since it looked.
    unsigned own_at_end() const;
    // Some of its processors have workers.
    bool has_workers() const { return !with_worker_.empty(); }
    // It has not the processors that it began with.
    bool has_moved() const { return moved_; }

    // ---- the thread that opens a region

    // Processors of ranks that wait, and have waited for `patience_us` of their row; and of those it takes, `most` at
    // most; the number.
    unsigned could_borrow(uint64_t now);
    // Some of those ranks have not waited for long enough.
    bool passes_over() const { return passes_over_; }
    // The region is over: of those who have waited on until now, for twice as long as they have to, half of that will
    // do the next time. Else a region that opens when others have just begun to wait would never have the core of a
    // rank that once came back too early.
    void forgive(uint64_t now);
    unsigned borrow(unsigned most, uint64_t now);
    // Takes those of its own from its workers, and has guests there leave after their chunk.
    void take_own(uint64_t now);
    // Where its threads are to be: on those, and on CPUs of other jobs besides.
    void place(const std::vector<int>& foreign);
    // Gives all back. `recalled`: processors whose owners had come back before, `left` of them: given back before this
    // by their threads; `late`: processor ticks beside owners. `beside`: how often a worker or a guest was still in its
    // last chunk, for how many ticks, and for how many at most.
    struct Lent {
        uint64_t used, late;
        unsigned recalled, left;
        unsigned beside;
        uint64_t beside_ticks, beside_longest;
    };
    Lent give_back(uint64_t now);

    // ---- each thread of the region

    // When it begins.
    void member(unsigned number);
    // Called when a thread has done its part, and only waits for the others or runs tasks. If its processor is lent and
    // the owner has come back to stay, gives the processor back; the thread then waits on processors of its own rank.
    // Costs threads on lent processors 50 ns.
    void member_done(unsigned number);
    // Processors of the node that the region has; threads of higher numbers are on CPUs of other jobs.
    size_t processors() const { return own_cpus_.size() + borrowed_.size(); }
    // The calling thread waits on the CPUs of its own rank from here on.
    void leave();

private:
    void look_beside(unsigned p, bool guest);
    bool is_lendable(unsigned rank, uint64_t now, uint64_t* since) const;
    struct Return {
        bool came;       // it is not in the wait any more in which its processors were taken
        bool waits;      // but in another one, to which it was on its way: as ranks that leave a barrier together
        uint64_t beside; // ticks of its own thread outside of waits since then
    };
    Return owner_returned(unsigned rank, uint64_t now) const;
    void bind(int want);

    struct Borrowed {
        unsigned processor, from;
        // Its thread, when it has done its part; read when the region is over.
        uint64_t done_at = 0; // 0: nobody came there
        uint64_t late = 0;    // ticks beside the owner until then
        bool left = false;    // and it has given the processor back
    };
    Table* table_ = nullptr;
    window::Window* window_ = nullptr;
    unsigned me_ = 0, own_ = 0;
    double ticks_per_us_ = 1000;
    std::vector<unsigned> nearest_;    // all processors, by distance to this rank's home processor
    std::vector<uint16_t> owner_;      // of each; seen last
    std::vector<int> own_cpus_, cpus_; // home first; of the region's threads
    std::vector<Borrowed> borrowed_;
    std::vector<unsigned> with_worker_, taken_; // processors of its own
    struct Beside {
        unsigned core;
        bool guest; // else the worker itself
    };
    std::vector<Beside> beside_;
    // Per rank: since when it waits and may be taken, or waits and must do so for longer; otherwise 0.
    std::vector<uint64_t> waits_since_, passed_over_;
    bool passes_over_ = false;
    uint64_t taken_at_ = 0;
    base::CpuSet all_; // this rank's mask as it was
    bool placed_ = false, stays_ = false, places_ = false, moved_ = false, placed_before_ = false;
};

} // namespace ws::policy::cores
