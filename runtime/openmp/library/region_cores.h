// SPDX-License-Identifier: MIT
//
// Which cores the program's parallel regions run on: what OpenMP's entries (openmp.cpp, openmp_fork.cpp,
// openmp_loops.cpp) tell the policy that chooses, and what that policy may ask.
#pragma once

#include "openmp/library/short_tasks.h"
#include "base/atomics.h"
#include "base/os.h"

#include <cstdint>

namespace ws::openmp {

// Hears of each region that is one call of the OpenMP library and lies in no other region. Any thread of the program
// calls, several at once. `region` is the address of no other region as long as this one is open.
class RegionCores {
public:
    // The region opens. Returns how many threads the library is asked for. `asked`: how many the program asks for, 0:
    // the usual number. `site` is the same each time. Called by the thread that opens the region.
    virtual unsigned open(unsigned asked, const void* site, const void* region) = 0;
    // Each of its threads calls these: when it begins, and when it has done its part. It may still wait for other
    // threads, and run tasks.
    virtual void member(unsigned number, const void* region) = 0;
    virtual void member_done(unsigned number, const void* region) = 0;
    // A thread of a region comes to a barrier.
    virtual void arrives() = 0;
    // The region is over. Called by the thread that opened it.
    virtual void close(const void* region) = 0;

protected:
    ~RegionCores() = default;
};

// Null: regions get what they ask for. Hidden: one instruction reads it, where each region begins.
extern RegionCores* volatile region_cores __attribute__((visibility("hidden")));
void set_region_cores(RegionCores* cores);

// Tasks that the calling thread has put, and barriers that it has come to; counted while a policy chooses cores.
struct RegionCounts {
    uint64_t tasks, barriers;
};
extern __thread RegionCounts region_counts __attribute__((tls_model("initial-exec")));
// 0: no thread of a region waits outside of it for a core. Else it changes with each task that is put, or with one of
// those that several threads put at once.
extern volatile base::Flag members_wait;
// Set while a region has borrowed cores: its threads' tasks that are shorter than that run at once. Null: as they are
// put.
extern const ShortTasks::Limits* volatile short_tasks __attribute__((visibility("hidden")));
extern __thread ShortTasks own_short_tasks __attribute__((tls_model("initial-exec")));

// Lives as long as a call that waits for tasks, or for all threads of the region.
class TaskWait {
public:
    enum For { tasks, all_threads };
    explicit TaskWait(For what)
    {
        if (const ShortTasks::Limits* const limits = short_tasks; WS_UNLIKELY(limits != nullptr))
            waits_ = what == tasks ? own_short_tasks.waits_for_tasks(base::ticks, *limits)
                                   : own_short_tasks.waits(base::ticks, *limits);
    }
    ~TaskWait()
    {
        if (WS_UNLIKELY(waits_))
            own_short_tasks.has_waited();
    }
    TaskWait(const TaskWait&) = delete;

private:
    bool waits_ = false;
};

// Lives as long as a call that puts a task, at the caller's stack frame `frame`. `is_plain()`: the task may run within
// that call.
class TaskAtOnce {
public:
    template <class IsPlain> TaskAtOnce(IsPlain&& is_plain, void* frame)
    {
        const ShortTasks::Limits* const limits = short_tasks;
        if (WS_LIKELY(!limits))
            return;
        if (!is_plain()) {
            own_short_tasks.gives();
            return;
        }
        runs_ = own_short_tasks.runs_at_once(base::ticks, uintptr_t(frame), *limits);
        if (WS_UNLIKELY(own_short_tasks.wants_stack()))
            find_stack();
        if (runs_)
            began_ = own_short_tasks.begins();
    }
    ~TaskAtOnce()
    {
        if (WS_UNLIKELY(runs_))
            own_short_tasks.ends(began_);
    }
    TaskAtOnce(const TaskAtOnce&) = delete;
    explicit operator bool() const { return WS_UNLIKELY(runs_); }

private:
    static void find_stack();
    bool runs_ = false;
    uint64_t began_ = 0;
};

// ---- the program's OpenMP library, for such a policy

// What keeps a policy from choosing threads, for a message; null: nothing does. Called in MPI_Init.
const char* why_threads_are_fixed();
// The threads of a region that asks for none, of the calling thread; at least 1.
unsigned openmp_usual();
// OMP_CANCELLATION is true.
bool has_cancellation();
// The calling thread's number of threads is one that the program has said, and not what it was told.
bool threads_set_here();
// The most threads that omp_get_max_threads() and omp_get_num_procs() speak of: WS_OPENMP. 0: no more than there are.
// The program may have arrays of that length.
unsigned most_threads();

} // namespace ws::openmp
