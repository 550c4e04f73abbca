// SPDX-License-Identifier: MIT
//
// Where libws stands between libomp and the user's tool (tool.h): the tool is initialized with a lookup function of
// libws's, and libomp gets callbacks of libws's for all events that carry a word of a region, a task or a thread.
//
// A word of libomp's that the tool must not see has the address of `mark` in it. Words move: libomp copies those of a
// region of one thread when another one begins within. Their contents move along, so the contents tell, not the
// address. Marked are the task in which libomp takes a virtual thread to be, and the regions and tasks that libomp runs
// for libws. Number 0 runs on the identity of the thread that opened the region, whose task has the tool's own word:
// that one is known by its address, which no region within changes.
#include "openmp/tool/tool.h"

#include "openmp/library/imports.h"
#include "openmp/library/llvm_number.h"
#include "openmp/library/next.h"
#include "openmp/library/threads.h"
#include "openmp/shared/fiber.h"
#include "openmp/shared/team.h"
#include "base/atomics.h"
#include "base/environment.h"

#include <cstring>
#include <dlfcn.h>
#include <string>

namespace ws::openmp::tool {

using ompt::Data;
using ompt::Event;
using ompt::Frame;
using ompt::Function;

bool watches, is_attached;

namespace {

const char mark = 0;
bool is_marked(const Data* word) { return word && word->pointer == &mark; }

// ---- what libomp and the tool have given

ompt::Start* theirs;
bool is_named; // OMP_TOOL_LIBRARIES names it
const char* refusal;
Function callbacks[ompt::last_event + 1]; // of the tool's; written by the tool, at any time

// libomp's own answers.
struct {
    ompt::LookUp look_up;
    int (*set_callback)(int event, Function callback);
    int (*task_info)(int level, int* flags, Data** task, Frame** frame, Data** region, int* number);
    int (*region_info)(int level, Data** region, int* threads);
    int (*state)(uint64_t* wait);
    Data* (*thread_data)();
} library;

Kinds known_kinds;

// ---- the calling thread

struct Here {
    bool is_virtual;    // libomp knows it as a thread outside of any region, and the tool as a virtual thread
    bool is_new;        // libomp is about to tell of its initial task, which the tool does not see
    Data thread;        // the tool's word for it
    bool hides_next;    // hide_next_region()
    bool learns;        // learn_kinds()
    const void* caller; // next_region_is_called_from()
};
__thread Here here __attribute__((tls_model("initial-exec")));

UnitWords& words_of(const Unit& unit, Watched& watched) { return watched.units[unit.units.lo]; }

// The virtual thread of a watched region that the calling thread is; null: it is none.
Unit* watched_unit(unsigned& depth)
{
    Unit* const unit = unit_around(depth);
    return unit && watched_by(*unit->team) ? unit : nullptr;
}
Unit* watched_unit()
{
    unsigned depth;
    return watched_unit(depth);
}

// Whether that word of libomp's stands for the virtual thread's implicit task.
bool stands_for_task(const Data* word, const Unit& unit)
{
    return is_marked(word) || (unit.units.lo == 0 && word == watched_by(*unit.team)->opener);
}

Data* task_of(Data* word)
{
    const Unit* const unit = watched_unit();
    return unit && word && stands_for_task(word, *unit) ? &words_of(*unit, *watched_by(*unit->team)).task : word;
}
const Frame* frame_of(const Data* word, const Frame* frame)
{
    const Unit* const unit = watched_unit();
    return unit && word && stands_for_task(word, *unit) ? &words_of(*unit, *watched_by(*unit->team)).frame : frame;
}
// In a region of one thread within a virtual thread libomp's word is the right one.
Data* region_of(Data* word)
{
    unsigned depth;
    Unit* const unit = watched_unit(depth);
    return unit && word && depth == 0 ? &watched_by(*unit->team)->region : word;
}

// Whether the event belongs to a region that libomp runs for libws, or to a thread that the tool does not know. In a
// virtual thread, marked words stand for its own.
bool is_hidden(const Data* region, const Data* task)
{
    return (is_marked(region) || is_marked(task)) && !watched_unit();
}

// ---- libomp's events, on their way to the tool

void thread_begins(int type, Data* thread)
{
    // Its first call of libomp is the virtual thread's own: be() has made it one.
    if (current && current->fiber && current->fiber->identity()) {
        here.is_virtual = here.is_new = true;
        here.thread.value = 0;
        thread->pointer = &mark;
        type = ompt::thread_worker;
        thread = &here.thread;
    }
    if (const auto tell = callback<ompt::ThreadBegin>(ompt::thread_begin))
        tell(type, thread);
}

void thread_ends(Data* thread)
{
    if (is_marked(thread)) {
        if (!here.is_virtual) // libomp ends the threads of others, on the one that leaves the process
            return;
        here.is_virtual = false;
        thread = &here.thread;
    }
    if (const auto tell = callback<ompt::ThreadEnd>(ompt::thread_end))
        tell(thread);
}

void region_begins_in(Data* task, const Frame* frame, Data* region, unsigned threads, int flags, const void* code)
{
    if (here.hides_next) {
        here.hides_next = false;
        region->pointer = &mark;
        return;
    }
    if (here.caller) {
        code = here.caller;
        here.caller = nullptr;
    }
    if (const auto tell = callback<ompt::ParallelBegin>(ompt::parallel_begin))
        tell(task_of(task), frame_of(task, frame), region, threads, flags, code);
}

void region_ends_in(Data* region, Data* task, int flags, const void* code)
{
    if (is_marked(region))
        return;
    if (const auto tell = callback<ompt::ParallelEnd>(ompt::parallel_end))
        tell(region, task_of(task), flags, code);
}

void implicit_task(int scope, Data* region, Data* task, unsigned threads, unsigned number, int flags)
{
    if (scope == ompt::scope_begin && ((here.is_new && flags & ompt::task_initial) || is_marked(region))) {
        here.is_new = false;
        task->pointer = &mark;
    }
    if (is_marked(task))
        return;
    if (const auto tell = callback<ompt::ImplicitTask>(ompt::implicit_task))
        tell(scope, region, task, threads, number, flags);
}

void task_created(Data* task, const Frame* frame, Data* created, int flags, int has_dependences, const void* code)
{
    if (const auto tell = callback<ompt::TaskCreate>(ompt::task_create); tell && !is_hidden(nullptr, task))
        tell(task_of(task), frame_of(task, frame), created, flags, has_dependences, code);
}

void task_scheduled(Data* prior, int status, Data* next)
{
    if (const auto tell = callback<ompt::TaskSchedule>(ompt::task_schedule); tell && !is_hidden(nullptr, prior))
        tell(task_of(prior), status, task_of(next));
}

template <Event event> void synchronizes(int kind, int scope, Data* region, Data* task, const void* code)
{
    if (here.learns && event == ompt::sync_region)
        known_kinds.implicit_barrier = kind;
    if (const auto tell = callback<ompt::SyncRegion>(event); tell && !is_hidden(region, task))
        tell(kind, scope, region_of(region), task_of(task), code);
}

void works(int kind, int scope, Data* region, Data* task, uint64_t count, const void* code)
{
    if (here.learns)
        known_kinds.loop = kind;
    if (const auto tell = callback<ompt::WorkRegion>(ompt::work); tell && !is_hidden(region, task))
        tell(kind, scope, region_of(region), task_of(task), count, code);
}

void is_masked(int scope, Data* region, Data* task, const void* code)
{
    if (const auto tell = callback<ompt::Masked>(ompt::masked); tell && !is_hidden(region, task))
        tell(scope, region_of(region), task_of(task), code);
}

void dispatches(Data* region, Data* task, int kind, Data instance)
{
    if (const auto tell = callback<ompt::Dispatch>(ompt::dispatch); tell && !is_hidden(region, task))
        tell(region_of(region), task_of(task), kind, instance);
}

void cancels(Data* task, int flags, const void* code)
{
    if (const auto tell = callback<ompt::Cancel>(ompt::cancel); tell && !is_hidden(nullptr, task))
        tell(task_of(task), flags, code);
}

// What libomp is to call for an event; null: the tool itself, because nothing is to be replaced.
Function passed_on(int event)
{
    switch (event) {
    case ompt::thread_begin: return reinterpret_cast<Function>(thread_begins);
    case ompt::thread_end: return reinterpret_cast<Function>(thread_ends);
    case ompt::parallel_begin: return reinterpret_cast<Function>(region_begins_in);
    case ompt::parallel_end: return reinterpret_cast<Function>(region_ends_in);
    case ompt::implicit_task: return reinterpret_cast<Function>(implicit_task);
    case ompt::task_create: return reinterpret_cast<Function>(task_created);
    case ompt::task_schedule: return reinterpret_cast<Function>(task_scheduled);
    case ompt::sync_region: return reinterpret_cast<Function>(synchronizes<ompt::sync_region>);
    case ompt::sync_region_wait: return reinterpret_cast<Function>(synchronizes<ompt::sync_region_wait>);
    case ompt::reduction: return reinterpret_cast<Function>(synchronizes<ompt::reduction>);
    case ompt::work: return reinterpret_cast<Function>(works);
    case ompt::masked: return reinterpret_cast<Function>(is_masked);
    case ompt::dispatch: return reinterpret_cast<Function>(dispatches);
    case ompt::cancel: return reinterpret_cast<Function>(cancels);
    default: return nullptr;
    }
}

// ---- the tool's calls

int set_callback(int event, Function function)
{
    if (event < 1 || event > ompt::last_event)
        return library.set_callback(event, function);
    const Function ours = passed_on(event);
    base::store_release(callbacks[event], function); // pairs with find_callback()
    // libws needs those of its own whether the tool wants the event or not: they mark words.
    int result = library.set_callback(event, ours ? ours : function);
    if (result < ompt::set_sometimes) // what libomp never tells is not told here either
        base::store_release(callbacks[event], Function(nullptr));
    const bool only_library =
        event == ompt::dispatch || event == ompt::dependences || event == ompt::task_dependence;
    if (only_library && result == ompt::set_always)
        result = ompt::set_sometimes;
    return result;
}

int get_callback(int event, Function* function)
{
    *function = event < 1 || event > ompt::last_event ? nullptr : base::load_acquire(callbacks[event]);
    return *function != nullptr;
}

int get_task_info(int level, int* flags, Data** task, Frame** frame, Data** region, int* number)
{
    const TaskInfo info = task_info(level);
    if (!info.found)
        return 0;
    const auto give = [](auto* where, auto what) {
        if (where)
            *where = what;
    };
    give(flags, info.flags);
    give(task, info.task);
    give(frame, info.frame);
    give(region, info.region);
    give(number, info.number);
    return info.found;
}

int get_region_info(int level, Data** region, int* threads)
{
    const RegionInfo info = region_info(level);
    if (!info.found)
        return 0;
    if (region)
        *region = info.region;
    if (threads)
        *threads = info.threads;
    return info.found;
}

// libomp knows a lock for which a virtual thread waits, and nothing of its barriers.
int get_state(uint64_t* wait)
{
    const int state = library.state(wait);
    unsigned depth;
    const Unit* const unit = watched_unit(depth);
    if (!unit || (state != ompt::work_serial && state != ompt::work_parallel))
        return state;
    return depth == 0 ? words_of(*unit, *watched_by(*unit->team)).state : ompt::work_parallel;
}

Data* get_thread_data() { return here.is_virtual ? &here.thread : library.thread_data(); }

Function look_up(const char* name)
{
    const Function found = library.look_up(name);
    static const struct {
        const char* name;
        Function function;
    } ours[] = {{"ompt_set_callback", reinterpret_cast<Function>(set_callback)},
                {"ompt_get_callback", reinterpret_cast<Function>(get_callback)},
                {"ompt_get_task_info", reinterpret_cast<Function>(get_task_info)},
                {"ompt_get_parallel_info", reinterpret_cast<Function>(get_region_info)},
                {"ompt_get_state", reinterpret_cast<Function>(get_state)},
                {"ompt_get_thread_data", reinterpret_cast<Function>(get_thread_data)}};
    for (const auto& one : ours)
        if (found && std::strcmp(one.name, name) == 0)
            return one.function;
    return found;
}

template <class F> bool find(F*& function, const char* name)
{
    function = reinterpret_cast<F*>(library.look_up(name));
    return function;
}

// Why a tool that was loaded after the process had begun cannot know virtual threads: by what it, or a library that
// came with it, imports. Null: it can. early.c has looked at all others.
const char* uses_kernel_threads()
{
    struct Late {
        ws_imports imports;
        uintptr_t tool; // a place in it
        bool is_late;   // what follows was loaded with it
    } late = {{}, reinterpret_cast<uintptr_t>(theirs->initialize), false};
    late.imports.trusted = base::own_variable("WS_OPENMP_TRUST");
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t size, void* argument) {
            Late& it = *static_cast<Late*>(argument);
            for (unsigned i = 0; i < info->dlpi_phnum; i++) {
                const auto& part = info->dlpi_phdr[i];
                it.is_late |= part.p_type == PT_LOAD && it.tool - info->dlpi_addr - part.p_vaddr < part.p_memsz;
            }
            return it.is_late ? ws_look_at_imports(info, size, &it.imports) : 0;
        },
        &late);
    if (!late.imports.function)
        return nullptr;
    static char text[256];
    ws_tell_import(text, sizeof text, &late.imports, "the OMPT tool's ");
    return text;
}

int initialize(ompt::LookUp from_library, int device, Data*)
{
    library.look_up = from_library;
    const bool complete = find(library.set_callback, "ompt_set_callback") &&
                          find(library.task_info, "ompt_get_task_info") &&
                          find(library.region_info, "ompt_get_parallel_info") &&
                          find(library.state, "ompt_get_state") && find(library.thread_data, "ompt_get_thread_data");
    refusal = complete ? (is_named ? uses_kernel_threads() : nullptr)
                       : "the OpenMP library's interface for tools is not known";
    for (int event = 1; !refusal && event <= ompt::last_event; event++)
        if (const Function ours = passed_on(event))
            library.set_callback(event, ours);
    is_attached = theirs->initialize(refusal ? from_library : look_up, device, &theirs->data) != 0;
    watches = is_attached && !refusal;
    if (!is_attached) // it does not want to be one here
        refusal = nullptr;
    return is_attached;
}

// On a parked thread's identity.
void end_thread(void*)
{
    if (here.is_virtual)
        thread_ends(&here.thread);
}

void finalize(Data*)
{
    if (watches)
        for (FiberCrew* crew = all_crews(); crew; crew = crew->next)
            for (unsigned number = 0; !base::load_acquire(crew->open) && number < crew->count(); number++)
                if (const Identity* const identity = (*crew)[number].identity())
                    run_as(identity->pointer(), end_thread, nullptr);
    if (theirs->finalize)
        theirs->finalize(&theirs->data);
    for (Function& function : callbacks)
        base::store_release(function, Function(nullptr));
}

ompt::Start ours = {initialize, finalize, {0}};

// As libomp looks for tools that OMP_TOOL_LIBRARIES names: the first one that wants to be one.
ompt::Start* find_named(unsigned version, const char* runtime)
{
    const char* const names = base::own_variable("OMP_TOOL_LIBRARIES");
    for (const char* name = names; name && *name;) {
        const size_t length = std::strcspn(name, ":");
        void* const file = dlopen(std::string(name, length).c_str(), RTLD_LAZY);
        auto* const start =
            file ? reinterpret_cast<ompt::Start* (*) (unsigned, const char*)>(dlsym(file, "ompt_start_tool")) : nullptr;
        if (ompt::Start* const found = start ? start(version, runtime) : nullptr)
            return found;
        if (file)
            dlclose(file);
        name += length + (name[length] == ':');
    }
    return nullptr;
}

} // namespace

Function find_callback(Event event) { return base::load_acquire(callbacks[event]); }

ompt::Start* wrap(ompt::Start* found, unsigned version, const char* runtime)
{
    is_named = !found;
    theirs = found ? found : find_named(version, runtime);
    return theirs ? &ours : nullptr;
}

const char* why_not() { return refusal; }

void look_for_others()
{
    Dl_info ours, first;
    void* const found = dlsym(RTLD_DEFAULT, "ompt_start_tool");
    if (!found || !dladdr(found, &first) || !dladdr(&mark, &ours) || first.dli_fbase == ours.dli_fbase ||
        std::strstr(first.dli_fname, "libomp") || std::strstr(first.dli_fname, "libiomp"))
        return;
    refusal = "an OMPT tool is loaded before libws";
    is_attached = true;
}

void hide_next_region() { here.hides_next = true; }

void next_region_is_called_from(const void* caller) { here.caller = caller; }

const Kinds& kinds() { return known_kinds; }

void learn_kinds(int32_t thread)
{
    // libomp's ident_t, of a barrier at the end of a loop, and of a loop.
    constexpr int by_clang = 0x02, implicit_barrier = 0x40, loop = 0x200;
    struct {
        int32_t reserved, flags, more[2];
        const char* source;
    } barrier_here = {0, by_clang | implicit_barrier, {}, ";libws;libws;0;0;;"}, loop_here = barrier_here;
    loop_here.flags = by_clang | loop;
    Next<void(void*, int32_t)> barrier("__kmpc_barrier"), end("__kmpc_for_static_fini");
    Next<void(void*, int32_t, int32_t, int32_t*, int32_t*, int32_t*, int32_t*, int32_t, int32_t)> begin(
        "__kmpc_for_static_init_4");
    constexpr int32_t static_whole = 34;
    int32_t last = 0, lower = 0, upper = 0, stride = 1;
    here.learns = true;
    barrier(nullptr)(&barrier_here, thread);
    begin(nullptr)(&loop_here, thread, static_whole, &last, &lower, &upper, &stride, 1, 0);
    end(nullptr)(&loop_here, thread);
    here.learns = false;
    if (known_kinds.implicit_barrier == ompt::barrier_implicit_workshare)
        known_kinds.last_barrier = ompt::barrier_implicit_parallel;
}

void begin_virtual()
{
    llvm_number(nullptr); // libomp tells of the thread when it first sees it
    if (here.is_virtual)
        library_task()->pointer = &mark;
}

Data* library_task()
{
    Data* task = nullptr;
    library.task_info(0, nullptr, &task, nullptr, nullptr, nullptr);
    return task;
}

// libomp's tasks of a virtual thread end at the one that stands for its implicit task; further out are those around the
// region.
TaskInfo task_info(int level)
{
    const auto ask = [](int at) {
        TaskInfo info = {};
        info.found = library.task_info(at, &info.flags, &info.task, &info.frame, &info.region, &info.number);
        return info;
    };
    unsigned depth;
    Unit* const unit = watched_unit(depth);
    if (!unit || level < 0)
        return ask(level);
    Watched& watched = *watched_by(*unit->team);
    TaskInfo info = {};
    for (int at = 0; at <= level; at++) {
        info = ask(at);
        if (!info.found || !info.task)
            return {};
        if (!stands_for_task(info.task, *unit))
            continue;
        UnitWords& words = words_of(*unit, watched);
        if (at == level)
            return {2, ompt::task_implicit, int(unit->units.lo), &words.task, &watched.region, &words.frame};
        const int outer = level - at - 1;
        return outer < Watched::levels ? watched.tasks[outer] : TaskInfo{};
    }
    if (depth == 0) { // an explicit task
        info.region = &watched.region;
        info.number = int(unit->units.lo);
    }
    return info;
}

RegionInfo region_info(int level)
{
    unsigned depth = 0;
    Unit* const unit = watched_unit(depth);
    if (!unit || level < int(depth)) {
        RegionInfo info = {};
        info.found = library.region_info(level, &info.region, &info.threads);
        return info;
    }
    Watched& watched = *watched_by(*unit->team);
    const int outer = level - int(depth) - 1;
    if (outer < 0)
        return {2, int(watched.threads), &watched.region};
    return outer < Watched::levels ? watched.regions[outer] : RegionInfo{};
}

} // namespace ws::openmp::tool
