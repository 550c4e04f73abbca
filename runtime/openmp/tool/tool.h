// SPDX-License-Identifier: MIT
//
// What a tool of the user's (OMPT: Score-P, HPCToolkit, TALP) sees of regions that libws runs instead of libomp.
//
// To the tool each virtual thread is a thread: it has thread-local storage of its own, thread_begin, implicit tasks,
// and thread_end. The threads that run virtual threads, helpers among them, are not visible, as cores are not.
//
// libws stands between libomp and the tool (attach.cpp). The tool's callbacks and inquiries pass through libws, which
//
//   tells        parallel, implicit_task, work, sync_region and sync_region_wait of barriers, reduction, masked, and
//                mutex of `ordered` in shared regions (events.cpp)
//   translates   what libomp itself tells of virtual threads: explicit tasks, taskwait, taskgroup, taskloop, critical
//                sections and locks. libomp takes a virtual thread for a thread outside of any region, so the words of
//                its region and its implicit task are replaced by the virtual thread's
//   hides        what libomp tells of regions that it runs for libws
//
// dispatch and dependences are told by libomp alone: ompt_set_callback() answers ompt_set_sometimes.
#pragma once

#include "openmp/tool/ompt.h"
#include "openmp/shared/unit.h"
#include "base/os.h"

#include <cstdint>
#include <memory>

namespace ws::openmp {

class RegionCall;

namespace tool {

// A tool is attached; `watches`: and it sees shared regions. Otherwise none is shared (why_not()). Written once, when
// libomp initializes itself, before its first region. Hidden: each call of libomp's in a shared region reads it, by one
// load.
extern __attribute__((visibility("hidden"))) bool is_attached, watches;

// ---- attach.cpp

// What libomp is given instead of the tool that it found itself; null: there is none. `version`, `runtime`: what libomp
// says of itself, for the tools that OMP_TOOL_LIBRARIES names.
ompt::Start* wrap(ompt::Start* found, unsigned version, const char* runtime);

// Why regions cannot be shared with the tool that is attached; null: they can, or there is none. Known once libomp is
// initialized.
const char* why_not();
// Finds a tool for which libomp does not ask libws. Once, before the first region.
void look_for_others();

// The tool's callback; null: it does not want that event.
ompt::Function find_callback(ompt::Event event);
template <class Callback> Callback callback(ompt::Event event)
{
    return reinterpret_cast<Callback>(find_callback(event));
}

// What ompt_get_task_info() and ompt_get_parallel_info() answer.
struct TaskInfo {
    int found, flags, number;
    ompt::Data *task, *region;
    ompt::Frame* frame;
};
struct RegionInfo {
    int found, threads;
    ompt::Data* region;
};
TaskInfo task_info(int level);
RegionInfo region_info(int level);
// libomp's word of the task that the calling thread is in.
ompt::Data* library_task();

// The calling virtual thread begins its part of a region: libomp knows it from here on.
void begin_virtual();

// libomp's next parallel region of the calling thread runs for libws: the tool does not see it.
void hide_next_region();
// The call of libomp's next region comes from there, not from libws.
void next_region_is_called_from(const void* caller);

// Kinds of events by the version of OMPT that libomp has.
struct Kinds {
    int implicit_barrier = ompt::barrier_implicit, last_barrier = ompt::barrier_implicit, loop = ompt::work_loop;
};
const Kinds& kinds();
// To be called in a hidden region of one thread: sees how libomp calls a barrier and a loop in it.
void learn_kinds(int32_t thread);

// ---- events.cpp

// What a tool knows of a virtual thread, for as long as its region.
struct UnitWords {
    ompt::Data task;
    ompt::Frame frame;
    int state, work;
};
// One execution of a region.
struct Watched {
    ompt::Data region = {0};
    void (*fn)(void*);
    void* data;
    const void* caller;
    ompt::Data* opener;               // libomp's word for the task that opened the region
    static constexpr int levels = 16; // of tasks and regions around it that a tool can ask for
    TaskInfo tasks[levels];
    RegionInfo regions[levels];
    unsigned threads;
    std::unique_ptr<UnitWords[]> units;
};

// What the tool knows of the region that the team runs; null: nothing.
Watched* watched_by(const VirtualTeam& team);
// Runs the team's region, as VirtualTeam::run(), and tells the tool. `asked`: threads that the program asked for.
void run(VirtualTeam& team, RegionCall& region, unsigned asked);

// The calling virtual thread's; they do nothing in a region of which the tool knows nothing.
void begin_work(int kind, uint64_t count, const void* caller);
void end_work(const void* caller);
void tell_single(bool is_executor, const void* caller);
void tell_masked(ompt::Scope scope, const void* caller);
void tell_reduction(ompt::Scope scope, const void* caller);
void tell_ordered(ompt::Scope scope, const void* caller);
void tell_taskgroup(ompt::Scope scope, const void* caller);

// Waits in a barrier, as VirtualTeam::barrier(), and tells the tool. `location`: libomp's ident_t, or null.
void wait(Unit& unit, const void* location, const void* caller);

// The kind of a loop, or of sections. `loop`: its kind in a version of OMPT that tells schedules apart.
int work_kind(const void* location, ompt::Work loop);

} // namespace tool

// The virtual thread that the calling thread is, also in a region of one thread within; `depth`: how many of these
// regions there are. Null: it is none.
Unit* unit_around(unsigned& depth);

} // namespace ws::openmp
