// SPDX-License-Identifier: MIT
//
// Whether this process is in a parallel region of OpenMP: then its spare cores belong to OpenMP's threads, and workers
// sleep. Counted only while there are workers, as openmp.cpp describes.
#pragma once

#include "abi/abi.h"
#include "openmp/library/region_cores.h"
#include "base/atomics.h"
#include "base/os.h"

#include <cstdint>

namespace ws::openmp {

using base::Hardware;

// Parallel regions open in this process, of all its threads, nested ones too. Those of one thread do not count.
extern volatile Hardware::Flag open_regions;
inline unsigned regions_open() { return Hardware::load_relaxed(open_regions); }

// A region that is open when this changes is counted at both ends or at neither.
extern volatile Hardware::Flag is_watched;
void region_begins();
void region_ends();

// Counts a region that libws itself begins.
class CountedRegion {
public:
    CountedRegion() : counts_(Hardware::load_relaxed(is_watched))
    {
        if (WS_UNLIKELY(counts_))
            region_begins();
    }
    ~CountedRegion()
    {
        if (WS_UNLIKELY(counts_))
            region_ends();
    }
    CountedRegion(const CountedRegion&) = delete;

private:
    const bool counts_;
};

// A region that is about to open. Lives until the region is over, and tells `region_cores` of it. A region within
// another is left alone. Costs a load and two branches while no policy chooses cores.
class RegionOnCores {
public:
    RegionOnCores(unsigned asked, const void* site) : threads(asked)
    {
        if (WS_UNLIKELY(region_cores != nullptr))
            open(site);
    }
    ~RegionOnCores()
    {
        if (WS_UNLIKELY(cores_ != nullptr))
            cores_->close(this);
    }
    RegionOnCores(const RegionOnCores&) = delete;

    // The policy was asked, so it has to hear of the region's threads.
    bool is_chosen() const { return WS_UNLIKELY(cores_ != nullptr); }
    // Runs the calling thread's part of the region.
    template <class Part> void run_member(Part&& part) const
    {
        const unsigned number = own_number();
        cores_->member(number, this);
        part();
        cores_->member_done(number, this);
    }
    unsigned threads; // that the library is asked for

private:
    void open(const void* site);
    static unsigned own_number();
    RegionCores* cores_ = nullptr;
};

// What each thread of such a region runs, where the library takes a function of one argument.
struct RegionMember {
    void* reductions; // libgomp looks for task reductions at the start of a region's data
    void (*fn)(void*);
    void* data;
    const RegionOnCores* region;
    static void run(void* member);
};

// How a loop's iterations are assigned to threads: a contiguous part each; chunks round robin, as schedule(static,
// chunk); chunks in their order to the first thread that asks, as `monotonic: dynamic`; the same with many at a time
// while many are left, as `monotonic: guided`; or chunks of a part each, and then of others' parts, as libomp's
// `nonmonotonic: dynamic`.
enum class Distribution : uint8_t {
    parts,
    round_robin,
    on_demand,
    guided,
    own_part_first
};
inline bool is_guided(Distribution distribution) { return distribution == Distribution::guided; }

// A region that is about to open in one call of the library's, and what may be done with it instead
// (-workshare-openmp=share, runtime/openmp/).
class RegionCall {
public:
    using Body = void (*)(void*);
    struct Loop {
        long start, end, incr, chunk;
        Distribution distribution;
    };
    Body fn;
    void* data;
    unsigned threads;             // that the program asks for; 0: the usual number
    const void* site;             // the same each time
    const Loop* loop = nullptr;   // the region is this loop, whose bounds came with the call
    unsigned sections = 0;        // or that many sections
    uintptr_t** reductions = nullptr; // what its tasks reduce, in libgomp's form, is at the start of its data
    unsigned had = 0;             // threads, where it was shared
    // Opens it as the library does. Another function may be put before the program's.
    virtual void open(Body fn, void* data, unsigned threads) = 0;
    // Where the program calls it from; null: unknown. For tools.
    virtual const void* caller() const { return nullptr; }

protected:
    RegionCall(Body fn, void* data, unsigned threads, const void* site)
        : fn(fn), data(data), threads(threads), site(site)
    {}
    ~RegionCall() = default;
};
// Runs the region; null: the library opens all of them itself. Set before the program begins, or never.
extern void (*sharer)(RegionCall& region);
// Parallel regions of this process that were opened outside of others, and the ticks that it has spent in them and in
// those of them that have put tasks; counted where none is shared but that could be asked for (`counts_regions`).
extern volatile Hardware::Word region_count, region_ticks, task_region_ticks;
extern bool counts_regions;
extern volatile Hardware::Flag region_has_tasks; // the region that is open
inline void region_puts_task(uint64_t count = 1)
{
    if (WS_UNLIKELY(region_cores != nullptr)) {
        region_counts.tasks += count;
        if (const Hardware::Flag beat = Hardware::load_relaxed(members_wait))
            Hardware::store_relaxed(members_wait, (beat + 2) | 1);
    }
    if (WS_UNLIKELY(counts_regions))
        Hardware::store_relaxed(region_has_tasks, 1);
}
// In a run with report: core time of the threads of such regions, and what of it was lost. See region_times.h.
extern volatile Hardware::Word thread_ticks, scheduling_ticks, imbalance_ticks;
extern bool times_threads;
// Ticks that the calling thread has spent in OpenMP's library, in barriers and between pieces of loops; if timed.
extern __thread uint64_t ticks_in_library __attribute__((tls_model("initial-exec")));

// Lives as long as a region, and adds its time.
class RegionTime {
public:
    RegionTime() : began_(WS_UNLIKELY(counts_regions) ? begin() : 0) {}
    ~RegionTime()
    {
        if (WS_UNLIKELY(began_ != 0))
            add();
    }
    RegionTime(const RegionTime&) = delete;

    // Its threads are to run their parts by run_thread().
    bool times_its_threads() const { return WS_UNLIKELY(began_ != 0) && times_threads; }
    template <class Part> void run_thread(Part&& part) const
    {
        const uint64_t began = base::ticks(), before = ticks_in_library;
        part();
        add_thread(base::ticks() - began, ticks_in_library - before);
    }

private:
    static uint64_t begin();
    void add() const;
    void add_thread(uint64_t took, uint64_t in_library) const;
    const uint64_t began_;
    mutable volatile Hardware::Word threads_ = 0, useful_ = 0, most_useful_ = 0; // of its threads, when they have ended
};

inline void region_comes_to_barrier()
{
    if (WS_UNLIKELY(region_cores != nullptr)) {
        region_counts.barriers++;
        region_cores->arrives();
    }
}

// Lives as long as the calling thread is in OpenMP's library, in a barrier.
class LibraryTime {
public:
    LibraryTime() : began_(WS_UNLIKELY(times_threads) ? base::ticks() : 0) {}
    ~LibraryTime()
    {
        if (WS_UNLIKELY(began_ != 0))
            ticks_in_library += base::ticks() - began_;
    }
    LibraryTime(const LibraryTime&) = delete;

private:
    const uint64_t began_;
};
// The same, for calls that may take less than a look at the clock, and are many: one in `every` is timed.
class SampledLibraryTime {
public:
    SampledLibraryTime() : began_(WS_UNLIKELY(times_threads) ? begin() : 0) {}
    ~SampledLibraryTime()
    {
        if (WS_UNLIKELY(began_ != 0))
            add();
    }
    SampledLibraryTime(const SampledLibraryTime&) = delete;

private:
    static constexpr unsigned every = 16;
    static uint64_t begin();
    void add() const;
    const uint64_t began_;
};
// The rank's own threads, of OpenMP, run fn(data) together, as participants of one loop of [0, count), which guests may
// join. By the thread that opens a region; libws's loop calls give out the iterations.
void run_by_own_threads(void (*fn)(void*), void* data, unsigned count, ws_site* site);
// Hears of regions of one thread that libomp begins in the calling one, by __kmpc_serialized_parallel(). True: the
// thread may be another than the one whose number the caller has.
extern bool (*serializes)();

// What schedule(runtime) stands for: the program's last omp_set_schedule(), or OMP_SCHEDULE.
struct OmpSchedule {
    Distribution distribution;
    long chunk; // 0: none is said
};
OmpSchedule omp_schedule(); // any thread

// No policy chooses cores after all: from here on programs are told what OpenMP has.
void tell_usual_threads();

// Is called by the thread that opens a region where none was open, before OpenMP's threads run: to ask for lent cores.
class Watcher {
public:
    virtual void openmp_opens() = 0;

protected:
    ~Watcher() = default;
};

// From here on regions are counted; before the first worker runs. Null, or why this process can have no
// workers: it has an OpenMP library whose regions cannot be seen, or whose threads never leave their cores.
const char* watch(Watcher* watcher);
// Also ends every wait.
void stop_watching();

// Sleeps while regions are open. Their end wakes nobody, for a program may open thousands a second: the caller finds
// out by itself within 50 ms, or at once by end_wait_for_regions().
void wait_for_regions();
// Wakes those in wait_for_regions() if no region is open. One load when nobody waits.
void end_wait_for_regions();

} // namespace ws::openmp
