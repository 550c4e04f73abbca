// SPDX-License-Identifier: MIT
//
// How parallel regions of OpenMP are counted.
//
// GCC's libgomp tells nobody of its regions. So libws has functions of the names that GCC calls for them, which count
// and call libgomp's. They are found first as libws stands before libgomp in the order in which the program is linked;
// they are hidden versions (GOMP_parallel@GOMP_4.0), which a linker does not take for the library that -fopenmp is
// about. Where libgomp comes first (a program that was not linked with -fws, or with -lgomp before it) nothing is
// counted, and watch() says so.
//
// clang's libomp has an interface for tools, OMPT: libws is one, if workers are wanted and the user has no tool of his
// own. Where a policy chooses threads its entry is called, as libgomp's are: openmp_fork.cpp.
#include "openmp/library/regions.h"

#include "openmp/library/next.h"
#include "openmp/library/region_times.h"
#include "openmp/library/threads.h"
#include "openmp/shared/share.h"
#include "openmp/tool/tool.h"
#include "base/environment.h"
#include "base/os.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <strings.h>
#include <sys/stat.h>

namespace ws::openmp {

// The end of a region wakes who waits for it, who looks itself after this.
constexpr unsigned openmp_nap_us = 50000;

volatile Hardware::Flag open_regions, is_watched;
void (*sharer)(RegionCall& region);
bool (*serializes)();
volatile Hardware::Word region_count, region_ticks, task_region_ticks;
bool counts_regions;
volatile Hardware::Flag region_has_tasks, members_wait;
__thread RegionCounts region_counts;
volatile Hardware::Word thread_ticks, scheduling_ticks, imbalance_ticks;
bool times_threads;
__thread uint64_t ticks_in_library;

uint64_t RegionTime::begin() { return nesting_level() == 0 ? base::ticks() : 0; }

// Relaxed would do: it counts.
void RegionTime::add() const
{
    const uint64_t took = base::ticks() - began_;
    Hardware::fetch_add_full(region_count, 1);
    Hardware::fetch_add_full(region_ticks, took);
    if (Hardware::load_relaxed(region_has_tasks)) // which run in barriers
        Hardware::fetch_add_full(task_region_ticks, took);
    else if (const uint64_t threads = Hardware::load_relaxed(threads_)) { // they have passed the region's last barrier
        const RegionTimes t = region_times(took, threads, Hardware::load_relaxed(useful_),
                                           Hardware::load_relaxed(most_useful_));
        Hardware::fetch_add_full(thread_ticks, t.all);
        Hardware::fetch_add_full(scheduling_ticks, t.scheduling);
        Hardware::fetch_add_full(imbalance_ticks, t.imbalance);
    }
    Hardware::store_relaxed(region_has_tasks, 0);
}

// Relaxed would do: the region's last barrier comes before add().
void RegionTime::add_thread(uint64_t took, uint64_t in_library) const
{
    const uint64_t useful = took - std::min(took, in_library);
    Hardware::fetch_add_full(threads_, 1);
    Hardware::fetch_add_full(useful_, useful);
    uint64_t most;
    do
        most = Hardware::load_relaxed(most_useful_);
    while (most < useful && !Hardware::cas_full(most_useful_, most, useful));
}

namespace {
WS_THREAD_LOCAL unsigned sampled_calls;
}

uint64_t SampledLibraryTime::begin()
{
    return ++sampled_calls % every == 0 ? base::ticks() : 0;
}

// A thread that had no CPU meanwhile would count for all calls that were not timed.
void SampledLibraryTime::add() const
{
    constexpr uint64_t longest = 100000; // ticks, some 30 us
    ticks_in_library += every * std::min(base::ticks() - began_, longest);
}

namespace {

Watcher* watcher;
volatile Hardware::Flag waiting;  // threads in wait_for_regions()
volatile Hardware::Flag woken;    // what they sleep on: changes when they are to look
bool tool_is_on;

} // namespace

void region_begins()
{
    if (Hardware::fetch_add_full(open_regions, 1) == 0 && watcher)
        watcher->openmp_opens();
}

void region_ends() { Hardware::fetch_add_full(open_regions, Hardware::Flag(-1)); }

namespace {

// ---- libgomp

// How many threads a region gets that asks for 0, the default.
unsigned usual_threads(void* caller)
{
    static Next<int()> next("omp_get_max_threads");
    return unsigned(next(caller)());
}

class CountedCall {
public:
    CountedCall(unsigned threads, void* caller)
        : counts_(Hardware::load_relaxed(is_watched) && threads != 1 && (threads || usual_threads(caller) > 1))
    {
        if (counts_)
            region_begins();
    }
    ~CountedCall()
    {
        if (counts_)
            region_ends();
    }

private:
    const bool counts_;
};

using Body = void (*)(void*);

// What each thread of a region runs whose threads are timed; as RegionMember.
struct TimedMember {
    void* reductions;
    Body fn;
    void* data;
    const RegionTime* time;
    static void run(void* argument)
    {
        const TimedMember member = *static_cast<TimedMember*>(argument);
        member.time->run_thread([&] { member.fn(member.data); });
    }
};

#define WS_VERSIONED(ours, name, version) asm(".symver openmp_" #ours "," #name "@" version)

// A region in one call: it returns when the region is over.
#define WS_REGION_AS(ours, name, version, has_reductions, result, parameters, arguments, share)                       \
    extern "C" __attribute__((visibility("default"))) result openmp_##ours parameters                                 \
    {                                                                                                                 \
        static Next<decltype(openmp_##ours)> next(#name);                                                             \
        void* const caller = __builtin_return_address(0);                                                             \
        share                                                                                                         \
        const RegionOnCores on_cores(threads, reinterpret_cast<void*>(fn));                                           \
        threads = on_cores.threads;                                                                                   \
        const CountedCall counted(threads, caller);                                                                   \
        const RegionTime time;                                                                                        \
        RegionMember member;                                                                                          \
        if (on_cores.is_chosen()) {                                                                                   \
            member = {has_reductions ? *static_cast<void**>(data) : nullptr, fn, data, &on_cores};                    \
            fn = RegionMember::run;                                                                                   \
            data = &member;                                                                                           \
        }                                                                                                             \
        TimedMember timed;                                                                                            \
        if (time.times_its_threads()) {                                                                               \
            timed = {has_reductions ? *static_cast<void**>(data) : nullptr, fn, data, &time};                         \
            fn = TimedMember::run;                                                                                    \
            data = &timed;                                                                                            \
        }                                                                                                             \
        return next(caller) arguments;                                                                                \
    }                                                                                                                 \
    WS_VERSIONED(ours, name, version)
// What GCC compiled may be linked with libomp, which has the same functions in a version of its own. Nobody else runs
// such a region: its inner calls are not seen (openmp/library/gnu.cpp).
#define WS_REGION_UNSHARED(name, version, has_reductions, result, parameters, arguments, share)                       \
    WS_REGION_AS(name, name, version, has_reductions, result, parameters, arguments, share);                          \
    WS_REGION_AS(name##_of_llvm, name, "VERSION", has_reductions, result, parameters, arguments, )

// Calls a function object that is not to be inlined. An attribute of a lambda would do, but GCC and clang want it in
// different places.
template <class Function> __attribute__((noinline)) void call_apart(Function function) { function(); }

// The same, and somebody else may run it.
template <class Open> class GnuRegion final : public RegionCall {
public:
    GnuRegion(Body fn, void* data, unsigned threads, Open& open)
        : RegionCall(fn, data, threads, reinterpret_cast<void*>(fn)), open_(open)
    {
    }
    void open(Body fn, void* data, unsigned threads) override { open_(fn, data, threads); }
    void is_loop(long start, long end, long incr, long chunk, Distribution distribution)
    {
        bounds_ = {start, end, incr, chunk, distribution};
        loop = &bounds_;
    }
    void is_runtime_loop(long start, long end, long incr)
    {
        const OmpSchedule schedule = omp_schedule();
        is_loop(start, end, incr, schedule.chunk, schedule.distribution);
    }

private:
    Open& open_;
    Loop bounds_;
};
#define WS_REGION(name, version, parameters, arguments, what)                                                         \
    WS_REGION_UNSHARED(                                                                                               \
        name, version, false, void, parameters, arguments,                                                            \
        if (WS_UNLIKELY(sharer != nullptr)) {                                                                         \
            call_apart([=]() mutable { /* by value: else the others' arguments went through memory */                 \
                auto open = [&](Body its_fn, void* its_data, unsigned its_threads) {                                  \
                    fn = its_fn;                                                                                      \
                    data = its_data;                                                                                  \
                    threads = its_threads;                                                                            \
                    const CountedCall counted(threads, caller);                                                       \
                    next(caller) arguments;                                                                           \
                };                                                                                                    \
                GnuRegion region(fn, data, threads, open);                                                            \
                what sharer(region);                                                                                  \
            });                                                                                                       \
            return;                                                                                                   \
        })

// Up to GCC 4.8: start, the caller's own call of the region's function, GOMP_parallel_end. Always counted, since the
// two must agree.
#define WS_REGION_START(name, parameters, arguments)                                                                  \
    extern "C" __attribute__((visibility("default"))) void openmp_##name parameters                                   \
    {                                                                                                                 \
        static Next<decltype(openmp_##name)> next(#name);                                                             \
        region_begins();                                                                                              \
        next(__builtin_return_address(0)) arguments;                                                                  \
    }                                                                                                                 \
    WS_VERSIONED(name, name, "GOMP_1.0")

} // namespace

WS_REGION(GOMP_parallel, "GOMP_4.0", (Body fn, void* data, unsigned threads, unsigned flags),
          (fn, data, threads, flags), );
// Returns how many threads it had.
WS_REGION_UNSHARED(GOMP_parallel_reductions, "GOMP_5.0", true, unsigned,
                   (Body fn, void* data, unsigned threads, unsigned flags), (fn, data, threads, flags),
                   if (WS_UNLIKELY(sharer != nullptr)) {
                       unsigned had = 1;
                       auto open = [&](Body its_fn, void* its_data, unsigned its_threads) {
                           had = next(caller)(its_fn, its_data, its_threads, flags);
                       };
                       GnuRegion region(fn, data, threads, open);
                       region.reductions = static_cast<uintptr_t**>(data);
                       sharer(region);
                       return region.had ? region.had : had;
                   });
WS_REGION(GOMP_parallel_sections, "GOMP_4.0", (Body fn, void* data, unsigned threads, unsigned count, unsigned flags),
          (fn, data, threads, count, flags), region.sections = count;);

#define WS_LOOP(name, version, distribution) \
    WS_REGION(name, version, \
              (Body fn, void* data, unsigned threads, long start, long end, long incr, long chunk, unsigned flags), \
              (fn, data, threads, start, end, incr, chunk, flags), \
              region.is_loop(start, end, incr, chunk, distribution);)
WS_LOOP(GOMP_parallel_loop_static, "GOMP_4.0", chunk > 0 ? Distribution::round_robin : Distribution::parts);
WS_LOOP(GOMP_parallel_loop_dynamic, "GOMP_4.0", Distribution::on_demand);
WS_LOOP(GOMP_parallel_loop_guided, "GOMP_4.0", Distribution::guided);
WS_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, "GOMP_4.5", Distribution::on_demand);
WS_LOOP(GOMP_parallel_loop_nonmonotonic_guided, "GOMP_4.5", Distribution::guided);

#define WS_RUNTIME_LOOP(name, version)                                                                                \
    WS_REGION(name, version,                                                                                          \
              (Body fn, void* data, unsigned threads, long start, long end, long incr, unsigned flags),               \
              (fn, data, threads, start, end, incr, flags), region.is_runtime_loop(start, end, incr);)
WS_RUNTIME_LOOP(GOMP_parallel_loop_runtime, "GOMP_4.0");
WS_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime, "GOMP_5.0");
WS_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime, "GOMP_5.0");

WS_REGION_START(GOMP_parallel_start, (Body fn, void* data, unsigned threads), (fn, data, threads));
WS_REGION_START(GOMP_parallel_sections_start, (Body fn, void* data, unsigned threads, unsigned count),
                (fn, data, threads, count));
#define WS_LOOP_START(name)                                                                                           \
    WS_REGION_START(name, (Body fn, void* data, unsigned threads, long start, long end, long incr, long chunk),       \
                    (fn, data, threads, start, end, incr, chunk))
WS_LOOP_START(GOMP_parallel_loop_static_start);
WS_LOOP_START(GOMP_parallel_loop_dynamic_start);
WS_LOOP_START(GOMP_parallel_loop_guided_start);
WS_REGION_START(GOMP_parallel_loop_runtime_start,
                (Body fn, void* data, unsigned threads, long start, long end, long incr),
                (fn, data, threads, start, end, incr));

extern "C" __attribute__((visibility("default"))) void openmp_GOMP_parallel_end()
{
    static Next<void()> next("GOMP_parallel_end");
    next(__builtin_return_address(0))();
    region_ends();
}
WS_VERSIONED(GOMP_parallel_end, GOMP_parallel_end, "GOMP_1.0");

// ---- OMPT, as OpenMP 5.0 lays it down

namespace {

void parallel_begins(ompt::Data*, const ompt::Frame*, ompt::Data* region, unsigned threads, int, const void*)
{
    region->value = Hardware::load_relaxed(is_watched) && threads != 1;
    if (region->value)
        region_begins();
}

void parallel_ends(ompt::Data* region, ompt::Data*, int, const void*)
{
    if (region->value)
        region_ends();
}

int initialize_tool(ompt::LookUp look_up, int, ompt::Data*)
{
    auto set = reinterpret_cast<int (*)(int, ompt::Function)>(look_up("ompt_set_callback"));
    tool_is_on =
        set && set(ompt::parallel_begin, reinterpret_cast<ompt::Function>(parallel_begins)) == ompt::set_always &&
        set(ompt::parallel_end, reinterpret_cast<ompt::Function>(parallel_ends)) == ompt::set_always;
    return tool_is_on;
}

void finalize_tool(ompt::Data*) {}

ompt::Start own_tool = {initialize_tool, finalize_tool, {0}};

bool given(const char* name)
{
    const char* value = base::own_variable(name);
    return value && *value;
}

bool workers_wanted()
{
    return base::is_turned_on() && given("WS_WORKERS") && std::strcmp(base::own_variable("WS_WORKERS"), "0") != 0;
}

} // namespace

// libomp asks the first function of this name at its start. The user's tool comes first, wherever it stands. If regions
// are shared, libws stands between the two (tool/tool.h).
extern "C" __attribute__((visibility("default"))) ompt::Start* ompt_start_tool(unsigned version, const char* runtime)
{
    static Next<ompt::Start*(unsigned, const char*)> next("ompt_start_tool"); // in the end libomp's own: it gives none
    auto* const start = next.of_all();
    ompt::Start* theirs = start ? start(version, runtime) : nullptr;
    if (shares_regions())
        theirs = tool::wrap(theirs, version, runtime);
    if (theirs)
        return theirs;
    return workers_wanted() && !given("OMP_TOOL_LIBRARIES") ? &own_tool : nullptr;
}

// ---- for the runtime

namespace {

// Between regions OpenMP's threads wait on their cores for the next one: libgomp's 7 ms, libomp's 200 ms. mpirun
// -workshare-workers makes that a millisecond (GOMP_SPINCOUNT, KMP_BLOCKTIME: they count for more than OMP_WAIT_POLICY)
// unless the user has said something.
bool threads_never_sleep()
{
    const char* policy = std::getenv("OMP_WAIT_POLICY");
    const char* limit = std::getenv(dlsym(RTLD_DEFAULT, "__kmpc_fork_call") ? "KMP_BLOCKTIME" : "GOMP_SPINCOUNT");
    return policy && strcasecmp(policy, "active") == 0 && (!limit || !*limit || strncasecmp(limit, "inf", 3) == 0);
}

bool sees_libgomp()
{
    void* found = dlvsym(RTLD_DEFAULT, "GOMP_parallel", "GOMP_4.0");
    return !found || found == reinterpret_cast<void*>(openmp_GOMP_parallel);
}

bool sees_libomp()
{
    if (!dlsym(RTLD_DEFAULT, "__kmpc_fork_call"))
        return true;
    // It looks for tools when it is first asked for anything.
    if (auto* most = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "omp_get_max_threads")))
        most();
    return tool_is_on;
}

// The file that has this function or variable.
std::string file_of(const void* what)
{
    Dl_info in;
    return what && dladdr(what, &in) && in.dli_fname ? in.dli_fname : "";
}

// `loaded` is the libws that mpirun loads, `mpi` the program's MPI library.
std::string of_two_installations(const std::string& loaded, const std::string& mpi)
{
    return "mpirun loads " + loaded + ", but the program's MPI library" + (mpi.empty() ? "" : " is " + mpi + ",") +
           " of another installation";
}

// What is wrong with the program's MPI library, if it will not load this libws. It loads the one beside it, and else
// the first that the search path has (open_libws() in mpir_workshare.c): then this one, as it is there already.
std::string of_other_mpi(bool& knows_workshare)
{
    const std::string mpi = file_of(dlsym(RTLD_DEFAULT, "PMPI_Init")); // not MPI_Init: tools have one, too
    knows_workshare = dlsym(RTLD_DEFAULT, "MPIX_Load_active"); // of workshare/mpix.h
    if (mpi.empty()) // not loaded yet, or a part of the program
        return "";
    if (!knows_workshare)
        return "the program's MPI library is not Workshare's but " + mpi;
    struct stat beside, own;
    const std::string path = mpi.substr(0, mpi.rfind('/') + 1) + "libws.so.1",
                      here = file_of(reinterpret_cast<void*>(why_threads_are_fixed));
    if (stat(path.c_str(), &beside) != 0 || stat(here.c_str(), &own) != 0 ||
        (beside.st_dev == own.st_dev && beside.st_ino == own.st_ino))
        return "";
    return of_two_installations(here, mpi);
}

__attribute__((constructor)) void count_regions()
{
    const char* mode = std::getenv("WS_OPENMP");
    counts_regions = base::is_turned_on() && mode && std::strcmp(mode, "hint") == 0;
}

// With an MPI library that knows nothing of Workshare nobody else would say so.
__attribute__((constructor)) void look_at_mpi()
{
    const char *mode = std::getenv("WS_OPENMP"), *rank = std::getenv("PMI_RANK");
    bool knows;
    if (!base::is_turned_on() || !mode || !*mode || !std::strcmp(mode, "off") || !std::strcmp(mode, "hint") || !rank ||
        std::strcmp(rank, "0") != 0)
        return;
    if (const std::string why = of_other_mpi(knows); !why.empty() && !knows)
        std::fprintf(stderr, "workshare: warning: -workshare-openmp has no effect: %s\n", why.c_str());
}

} // namespace

const char* why_threads_are_fixed()
{
    bool knows;
    static const std::string other_mpi = of_other_mpi(knows);
    if (!other_mpi.empty())
        return other_mpi.c_str();
    const auto loaded = [](const char* library) {
        void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        if (handle)
            dlclose(handle);
        return handle; // the same for two names of one library
    };
    void *const gnu = loaded("libgomp.so.1"), *const omp = loaded("libomp.so.5"),
                *const llvm = omp ? omp : loaded("libiomp5.so");
    if (!gnu && !llvm)
        return "the program has no OpenMP library, or one that is linked statically";
    if (gnu && llvm && gnu != llvm) // libomp has libgomp's functions, and may stand in for it
        return "the program has two OpenMP libraries, libgomp and libomp";
    if (!sees_libgomp() || !sees_forks()) {
        // Or the libws of a mpirun that loads another one first.
        static std::string first;
        first = file_of(gnu ? dlvsym(RTLD_DEFAULT, "GOMP_parallel", "GOMP_4.0")
                            : dlvsym(RTLD_DEFAULT, "__kmpc_fork_call", "VERSION"));
        if (first.find("/libws.so") != first.npos) {
            first = of_two_installations(first, file_of(dlsym(RTLD_DEFAULT, "PMPI_Init")));
            return first.c_str();
        }
        return "the program's OpenMP library is loaded before libws";
    }
    return nullptr;
}

bool has_cancellation()
{
    auto* const cancels = reinterpret_cast<int (*)()>(dlsym(loaded_library(), "omp_get_cancellation"));
    return cancels && cancels();
}

const char* watch(Watcher* to_tell)
{
    if (!sees_libgomp())
        return "libgomp is loaded before libws in this program";
    if (!sees_libomp())
        return "libomp has another tool, or OMP_TOOL=disabled is set";
    if (dlsym(RTLD_NEXT, "omp_get_max_threads") && threads_never_sleep())
        return "OMP_WAIT_POLICY=active lets OpenMP keep the cores";
    watcher = to_tell;
    Hardware::store_release(is_watched, 1);
    return nullptr;
}

namespace {
void end_waits()
{
    Hardware::fetch_add_full(woken, 1);
    syscall(SYS_futex, &woken, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}
} // namespace

void stop_watching()
{
    watcher = nullptr;
    Hardware::store_release(is_watched, 0);
    end_waits();
}

void wait_for_regions()
{
    Hardware::fetch_add_full(waiting, 1);
    Hardware::Flag seen = Hardware::load_acquire(woken); // pairs with end_wait_for_regions()
    while (regions_open() && Hardware::load_relaxed(is_watched) && Hardware::load_acquire(woken) == seen)
        base::futex_wait(&woken, seen, openmp_nap_us);
    Hardware::fetch_add_full(waiting, Hardware::Flag(-1));
}

void end_wait_for_regions()
{
    if (WS_UNLIKELY(Hardware::load_relaxed(waiting)) && !regions_open())
        end_waits();
}

} // namespace ws::openmp
