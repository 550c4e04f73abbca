// SPDX-License-Identifier: MIT
//
// One execution of a shared region: its virtual threads. Each is run once, as a call of the region's function with a
// thread number of its own, by whoever takes its chunk of the loop over them: the rank's own threads and guests.
//
// Virtual threads do not wait for each other: one that began may be followed on its thread by another. Where they turn
// out to wait after all (a barrier that was not met before; spinning, noticed by the watchdog) every one that has not
// begun gets a thread of its own: then all of them run at once, as OpenMP's do.
#pragma once

#include "openmp/deal.h"
#include "openmp/site.h"
#include "directive/openmp.h"
#include "window/spin_lock.h"

#include <pthread.h>
#include <vector>

namespace ws::openmp {

using directive::RegionCall;

struct Watch;
class VirtualTeam;

// What the calling thread runs: virtual threads of a shared region, or a thread of one that is watched.
struct Unit {
    VirtualTeam* team;    // of a shared region; else
    Watch* watch;         // that of a watched one
    Units units;
    // The loop that it has, as [lo, hi) in the loop variable's own values.
    bool has_part;
    uint64_t lo, hi, incr;
    bool has_last;
    unsigned sections;    // and sections, so many
    static constexpr unsigned before_first = ~0u;
    unsigned section;     // the one that it runs, from 1; 0: no more
    // A loop whose iterations have an order, counted from 0: its pieces, and the one that it runs.
    struct Turn {
        unsigned loop;    // which one of the region's
        bool runs, begun; // the loop; its piece
        bool of_doacross; // the next loop is such a one
        uint64_t n;
        Rounds rounds;
        Part piece;
    } turn;
    unsigned slot;        // its number for who asks unexpectedly, from 1; 0: none
    uint64_t began;       // watched: ticks
    void* asked_threads;  // watched: where it asked for their number, if it has not asked for its own since
};
extern __thread Unit* current __attribute__((tls_model("initial-exec")));

// Makes `unit` the calling thread's while it exists; null: it is in none.
class Current {
public:
    explicit Current(Unit* unit);
    ~Current();
    Current(const Current&) = delete;

private:
    Unit* const was_;
    void (*const asked_)(directive::Question, void*);
    const unsigned number_, numbers_;
    const int level_, depth_;
};

// A watched execution.
struct Watch {
    RegionSite& site;
    const RegionCall& region;
    void note(Flag use);
    void note_unknown(const char* name);
    void note_deal(Flag use, void* caller); // the first one must follow the region's begin
    void note_question(Unit& unit, directive::Question question, void* caller);
    void end(Unit& unit);
};
// A thread's part in it: OpenMP runs this in place of the region's function. `data` is a Watch.
void run_watched(void* watch);

class VirtualTeam {
public:
    VirtualTeam(RegionSite& site, const RegionCall& region, unsigned units);
    ~VirtualTeam(); // waits for the threads that it has begun
    VirtualTeam(const VirtualTeam&) = delete;

    // The part of a participant in the loop over the virtual threads: takes chunks until there are none. For
    // ws_parallel_loop(); `team` is a VirtualTeam.
    static void take_part(void* team);

    // A virtual thread waits for all others. Any thread.
    void barrier(Unit& unit);
    // One does what needs all of them at once: from now on the site is OpenMP's.
    void begin_all(const char* why);
    // It comes to a call that no watched execution had made. Those that need OpenMP's own team end the job.
    void meet_other(const char* name);
    // A loop of n iterations whose order matters: its pieces (pieces_of_loop()) are run one after the other, in the
    // order of the iterations. So nobody in them waits for an earlier one.
    void begin_in_turn(Unit& unit, uint64_t n, uint64_t chunk);
    // Waits until all iterations before the unit's next piece are over. False: it has no more.
    bool next_in_turn(Unit& unit, Part& piece);
    // The number by which the program may know a thread that it did not ask for before: below openmp_told(), and
    // nobody else's at the time.
    unsigned slot(Unit& unit);

    // For copyprivate.
    void* volatile copied = nullptr;

    RegionSite& site;
    const RegionCall& region;
    const unsigned units;
    uint64_t opened_at = 0; // ticks; 0: not registered with the watchdog
    uint64_t progress() const { return Hardware::load_relaxed(ended_); }
    // The watchdog's.
    VirtualTeam *next = nullptr, *previous = nullptr;
    uint64_t seen_progress = 0, seen_at = 0;

private:
    void run(unsigned lo, unsigned hi);
    uint64_t claim(unsigned word, uint64_t wanted);
    void call(unsigned lo, unsigned hi);
    void begin_thread(unsigned lo, unsigned hi);
    void release_if_all();
    static void* thread(void*);

    static constexpr unsigned words = most_units / 64;
    volatile Hardware::Word begun_[words] = {}; // a bit for each virtual thread
    volatile Hardware::Word ended_ = 0;
    volatile Flag registered_ = 0;
    volatile Flag all_begun_ = 0;
    volatile Flag slots_ = 0;
    bool whole_ = false; // one call runs all
    pthread_t owner_;
    // Cold: of threads of its own, and barriers.
    struct Cold;
    Cold* volatile cold_ = nullptr;
    Cold& cold();
    void release_if_met(Cold& c);
    template <class F> void with_turns(unsigned loop, F f);
};

// The watchdog's list. Any thread.
void watch_over(VirtualTeam& team);
void watch_no_more(VirtualTeam& team);

} // namespace ws::openmp
