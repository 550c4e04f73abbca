// SPDX-License-Identifier: MIT
//
// libomp's functions that distribute work inside a region, or let threads wait: as gnu.cpp for libgomp. clang's code
// asks for the bounds of static loops, too, so that one call of a region's function may be given those of several
// virtual threads.
#include "openmp/library/llvm_number.h"
#include "openmp/library/next.h"
#include "openmp/library/regions.h"
#include "loop/participant.h"
#include "openmp/shared/meet.h"
#include "openmp/shared/team.h"
#include "openmp/tool/tool.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace ws::openmp {


namespace {

#define WS_LLVM(name) asm(".symver llvm_" #name "," #name "@VERSION")

// Kinds of schedules, as clang passes them; above them bits for the modifiers.
constexpr int32_t first_plain = 32, static_chunked = 33, static_whole = 34, static_balanced_chunked = 45,
                  first_ordered = 64, ordered_static_chunked = 65, dynamic_chunked = 35, static_steal = 44,
                  by_runtime = 37, by_runtime_simd = 47, monotonic = 1 << 29, nonmonotonic = 1 << 30,
                  modifiers = 3 << 29;

// Iterations of a loop whose last value is `last`, as a number of 64 bits.
template <class T, class Step> uint64_t count_to(T first, T last, Step step)
{
    if (step > 0 ? last < first : first < last)
        return 0;
    const uint64_t distance = step > 0 ? uint64_t(last) - uint64_t(first) : uint64_t(first) - uint64_t(last);
    const uint64_t by = step > 0 ? uint64_t(step) : uint64_t(0) - uint64_t(step);
    return distance / by + 1;
}

// False: the library's.
template <class T>
bool distribute_static(int32_t kind, int32_t* has_last, T* lower, T* upper, std::make_signed_t<T>* stride,
                       std::make_signed_t<T> step, std::make_signed_t<T> chunk)
{
    if (WS_LIKELY(current == nullptr))
        return false;
    Unit& unit = *current;
    kind &= ~modifiers;
    const bool chunked = kind == static_chunked || kind == static_balanced_chunked;
    if (!chunked && kind != static_whole) // of `distribute`
        return false;
    const uint64_t n = count_to(*lower, *upper, step);
    const T first = *lower;
    const auto at = [&](uint64_t i) { return T(uint64_t(first) + i * uint64_t(step)); };
    IterationRange part;
    uint64_t further = n;
    bool last;
    if (unit.turn.of_doacross) { // its end is __kmpc_doacross_fini()
        unit.turn.of_doacross = false;
        unit.team->begin_in_turn(unit, n, 0);
        part = {n, n};
        unit.team->next_in_turn(unit, part);
        last = !part.empty() && part.to == n;
    } else if (chunked) {
        const Rounds r = rounds_of_loop(n, chunk > 0 ? uint64_t(chunk) : 1, unit.units);
        part = {r.first, r.first + r.size};
        further = r.stride;
        last = r.has_last;
        if (r.first >= n)
            part = {n, n};
    } else {
        part = part_of_loop(n, 0, unit.units);
        last = !part.empty() && part.to == n;
    }
    if (has_last)
        *has_last = last;
    *stride = std::make_signed_t<T>(further * uint64_t(step));
    if (part.empty()) { // a loop from behind the end: none of its iterations is run
        *lower = n ? at(n) : first;
        *upper = n ? at(n - 1) : *upper;
        if (n && (step > 0 ? *lower <= *upper : *lower >= *upper)) { // the value behind the end is not one of the type
            *lower = first;
            *upper = T(uint64_t(first) - uint64_t(step));
        }
        return true;
    }
    *lower = at(part.from);
    *upper = at(part.to - 1);
    return true;
}

// A loop that is handed out piece by piece: here in one, if no iteration waits for a later one.
template <class T>
bool begin_dispatch(int32_t kind, T lower, T upper, std::make_signed_t<T> step, std::make_signed_t<T> chunk)
{
    if (WS_LIKELY(current == nullptr))
        return false;
    Unit& unit = *current;
    const bool ordered = (kind & ~modifiers) >= first_ordered && (kind & ~modifiers) < 2 * first_ordered;
    const uint64_t n = count_to(lower, upper, step);
    unit.lo = uint64_t(lower);
    unit.incr = uint64_t(std::make_signed_t<T>(step));
    unit.has_part = false;
    if (ordered || unit.turn.of_doacross) {
        unit.turn.of_doacross = false;
        const bool by_chunks = (kind & ~modifiers) == ordered_static_chunked && chunk > 0;
        unit.team->begin_in_turn(unit, n, by_chunks ? uint64_t(chunk) : 0);
        return true;
    }
    uint64_t whole = chunk > 0 ? uint64_t(chunk) : 0;
    const int32_t plain = kind & ~modifiers;
    const bool is_static = plain == static_chunked || plain == static_whole || plain == static_balanced_chunked;
    Distribution distribution = is_static                  ? Distribution::parts
                : plain == static_steal    ? Distribution::own_part_first
                : plain != dynamic_chunked ? Distribution::guided
                : kind & nonmonotonic      ? Distribution::own_part_first
                                           : Distribution::on_demand;
    if (plain == by_runtime || plain == by_runtime_simd) {
        const OmpSchedule schedule = omp_schedule();
        const uint64_t said = uint64_t(schedule.chunk);
        // Each chunk of a simd loop has `said` vectors; `whole` is a vector's length.
        whole = plain == by_runtime ? said : std::max<uint64_t>(said, 1) * std::max<uint64_t>(whole, 1);
        distribution = schedule.distribution;
    }
    unit.team->begin_loop(unit, n, whole, distribution);
    return true;
}

// The kind of such a loop for a tool, as libomp 19 names it. `kind`: without modifiers.
ompt::Work kind_for_tool(int32_t kind)
{
    const int32_t plain = kind >= first_ordered && kind < 2 * first_ordered ? kind - first_ordered + first_plain : kind;
    const bool by_program = plain == by_runtime || plain == by_runtime_simd;
    const Distribution its = by_program ? omp_schedule().distribution
                             : plain == static_chunked || plain == static_whole || plain == static_balanced_chunked
                                 ? Distribution::parts
                             : plain == dynamic_chunked || plain == static_steal ? Distribution::on_demand
                                                                                : Distribution::guided;
    return its < Distribution::on_demand ? ompt::work_loop_static
           : is_guided(its)              ? ompt::work_loop_guided
                                         : ompt::work_loop_dynamic;
}

// The same two if a tool watches. Apart, because they have more to keep.
template <class T>
__attribute__((cold, noinline)) bool distribute_told(void* location, void* caller, int32_t kind, int32_t* has_last,
                                                     T* lower, T* upper, std::make_signed_t<T>* stride,
                                                     std::make_signed_t<T> step, std::make_signed_t<T> chunk)
{
    const uint64_t n = count_to(*lower, *upper, step);
    const bool is_ours = distribute_static(kind, has_last, lower, upper, stride, step, chunk);
    if (is_ours)
        tool::begin_work(tool::work_kind(location, ompt::work_loop_static), n, caller);
    return is_ours;
}
template <class T>
__attribute__((cold, noinline)) bool begin_told(void* location, void* caller, int32_t kind, T lower, T upper,
                                                std::make_signed_t<T> step, std::make_signed_t<T> chunk)
{
    if (current)
        tool::begin_work(tool::work_kind(location, kind_for_tool(kind & ~modifiers)), count_to(lower, upper, step),
                         caller);
    return begin_dispatch(kind, lower, upper, step, chunk);
}

// It is over for the calling virtual thread.
bool end_dispatch(void* caller)
{
    if (WS_UNLIKELY(tool::watches))
        tool::end_work(caller);
    return false;
}

template <class T>
bool next_dispatch(void* caller, int32_t* has_last, T* lower, T* upper, std::make_signed_t<T>* stride)
{
    Unit& unit = *current;
    IterationRange piece;
    uint64_t n = unit.n;
    if (WS_LIKELY(unit.way == Unit::Way::pieces)) {
        if (!unit.has_part)
            return end_dispatch(caller);
        piece = unit.next_round();
    } else if (unit.way == Unit::Way::in_turn) {
        n = unit.turn.n;
        if (!unit.team->next_in_turn(unit, piece))
            return end_dispatch(caller);
    } else if (!unit.team->next_on_demand(unit, piece))
        return end_dispatch(caller);
    unit.has_last = piece.to == n;
    *lower = T(unit.lo + piece.from * unit.incr);
    *upper = T(unit.lo + (piece.to - 1) * unit.incr);
    if (has_last)
        *has_last = unit.has_last;
    if (stride)
        *stride = std::make_signed_t<T>(unit.incr);
    return true;
}

} // namespace

#define WS_LLVM_LOOPS(suffix, type)                                                                                        \
    WS_EXPORT void llvm___kmpc_for_static_init_##suffix(                                                            \
        void* location, int32_t thread, int32_t kind, int32_t* has_last, type* lower, type* upper,                    \
        std::make_signed_t<type>* stride, std::make_signed_t<type> step, std::make_signed_t<type> chunk)              \
    {                                                                                                                 \
        static Next<decltype(llvm___kmpc_for_static_init_##suffix)> next("__kmpc_for_static_init_" #suffix);          \
        void* const caller = __builtin_return_address(0);                                                             \
        if (!(WS_UNLIKELY(tool::watches)                                                                              \
                  ? distribute_told(location, caller, kind, has_last, lower, upper, stride, step, chunk)              \
                  : distribute_static(kind, has_last, lower, upper, stride, step, chunk)))                            \
            next(caller)(location, thread, kind, has_last, lower, upper, stride, step, chunk);                        \
    }                                                                                                                 \
    WS_LLVM(__kmpc_for_static_init_##suffix);                                                                         \
    WS_EXPORT void llvm___kmpc_dispatch_init_##suffix(void* location, int32_t thread, int32_t kind, type lower,       \
                                                        type upper, std::make_signed_t<type> step,                    \
                                                        std::make_signed_t<type> chunk)                               \
    {                                                                                                                 \
        static Next<decltype(llvm___kmpc_dispatch_init_##suffix)> next("__kmpc_dispatch_init_" #suffix);              \
        void* const caller = __builtin_return_address(0);                                                             \
        if (!(WS_UNLIKELY(tool::watches) ? begin_told(location, caller, kind, lower, upper, step, chunk)              \
                                         : begin_dispatch(kind, lower, upper, step, chunk)))                          \
            next(caller)(location, thread, kind, lower, upper, step, chunk);                                          \
    }                                                                                                                 \
    WS_LLVM(__kmpc_dispatch_init_##suffix);                                                                           \
    WS_EXPORT int llvm___kmpc_dispatch_next_##suffix(void* location, int32_t thread, int32_t* has_last, type* lower, \
                                                       type* upper, std::make_signed_t<type>* stride)                 \
    {                                                                                                                 \
        static Next<decltype(llvm___kmpc_dispatch_next_##suffix)> next("__kmpc_dispatch_next_" #suffix);              \
        if (current)                                                                                                  \
            return next_dispatch(__builtin_return_address(0), has_last, lower, upper, stride);                        \
        const SampledLibraryTime time;                                                                                \
        return next(__builtin_return_address(0))(location, thread, has_last, lower, upper, stride);                   \
    }                                                                                                                 \
    WS_LLVM(__kmpc_dispatch_next_##suffix);                                                                           \
    WS_EXPORT void llvm___kmpc_dispatch_fini_##suffix(void* location, int32_t thread)                                 \
    {                                                                                                                 \
        static Next<decltype(llvm___kmpc_dispatch_fini_##suffix)> next("__kmpc_dispatch_fini_" #suffix);              \
        if (!current)                                                                                                 \
            next(__builtin_return_address(0))(location, thread);                                                      \
    }                                                                                                                 \
    WS_LLVM(__kmpc_dispatch_fini_##suffix)
WS_LLVM_LOOPS(4, int32_t);
WS_LLVM_LOOPS(4u, uint32_t);
WS_LLVM_LOOPS(8, int64_t);
WS_LLVM_LOOPS(8u, uint64_t);

WS_EXPORT void llvm___kmpc_for_static_fini(void* location, int32_t thread)
{
    static Next<decltype(llvm___kmpc_for_static_fini)> next("__kmpc_for_static_fini");
    if (!current)
        next(__builtin_return_address(0))(location, thread);
    else if (WS_UNLIKELY(tool::watches))
        tool::end_work(__builtin_return_address(0));
}
WS_LLVM(__kmpc_for_static_fini);

// ---- reductions: one virtual thread after another

namespace {
std::mutex merging;
}

WS_EXPORT int32_t llvm___kmpc_reduce_nowait(void* location, int32_t thread, int32_t count, size_t size, void* data,
                                              void (*merge)(void*, void*), void* lock)
{
    static Next<decltype(llvm___kmpc_reduce_nowait)> next("__kmpc_reduce_nowait");
    if (current) {
        if (WS_UNLIKELY(tool::watches))
            tool::tell_reduction(ompt::scope_begin, __builtin_return_address(0));
        merging.lock();
        return 1; // the caller merges, and says when it has
    }
    const LibraryTime time; // of several ways to reduce, some wait
    return next(__builtin_return_address(0))(location, thread, count, size, data, merge, lock);
}
WS_LLVM(__kmpc_reduce_nowait);

WS_EXPORT void llvm___kmpc_end_reduce_nowait(void* location, int32_t thread, void* lock)
{
    static Next<decltype(llvm___kmpc_end_reduce_nowait)> next("__kmpc_end_reduce_nowait");
    if (current) {
        merging.unlock();
        if (WS_UNLIKELY(tool::watches))
            tool::tell_reduction(ompt::scope_end, __builtin_return_address(0));
    } else
        next(__builtin_return_address(0))(location, thread, lock);
}
WS_LLVM(__kmpc_end_reduce_nowait);

// The same with a barrier behind it.
WS_EXPORT int32_t llvm___kmpc_reduce(void* location, int32_t thread, int32_t count, size_t size, void* data,
                                       void (*merge)(void*, void*), void* lock)
{
    static Next<decltype(llvm___kmpc_reduce)> next("__kmpc_reduce");
    if (current) {
        if (WS_UNLIKELY(tool::watches))
            tool::tell_reduction(ompt::scope_begin, __builtin_return_address(0));
        merging.lock();
        return 1;
    }
    const LibraryTime time;
    return next(__builtin_return_address(0))(location, thread, count, size, data, merge, lock);
}
WS_LLVM(__kmpc_reduce);

WS_EXPORT void llvm___kmpc_end_reduce(void* location, int32_t thread, void* lock)
{
    static Next<decltype(llvm___kmpc_end_reduce)> next("__kmpc_end_reduce");
    if (current) {
        merging.unlock();
        void* const caller = __builtin_return_address(0);
        if (WS_UNLIKELY(tool::watches))
            tool::tell_reduction(ompt::scope_end, caller);
        waited_for(caller, loop::own_frame(), location);
        return;
    }
    const LibraryTime time;
    next(__builtin_return_address(0))(location, thread, lock);
}
WS_LLVM(__kmpc_end_reduce);

// ---- single: the first to come; master: the first virtual thread's

// `told`, `end_told`: what a tool hears, with `is_this_one` and `caller`.
#define WS_LLVM_ONE(name, end, is_it, told, end_told)                                                                 \
    WS_EXPORT int32_t llvm_##name(void* location, int32_t thread)                                                     \
    {                                                                                                                 \
        static Next<decltype(llvm_##name)> next(#name);                                                               \
        void* const caller = __builtin_return_address(0);                                                             \
        if (current) {                                                                                                \
            const bool is_this_one = is_it;                                                                           \
            if (WS_UNLIKELY(tool::watches))                                                                           \
                told;                                                                                                 \
            return is_this_one;                                                                                       \
        }                                                                                                             \
        return next(caller)(location, thread);                                                                        \
    }                                                                                                                 \
    WS_LLVM(name);                                                                                                    \
    WS_EXPORT void llvm_##end(void* location, int32_t thread)                                                         \
    {                                                                                                                 \
        static Next<decltype(llvm_##end)> next(#end);                                                                 \
        void* const caller = __builtin_return_address(0);                                                             \
        if (!current)                                                                                                 \
            next(caller)(location, thread);                                                                           \
        else if (WS_UNLIKELY(tool::watches))                                                                          \
            end_told;                                                                                                 \
    }                                                                                                                 \
    WS_LLVM(end)
WS_LLVM_ONE(__kmpc_single, __kmpc_end_single, current->team->takes_single(*current),
            tool::tell_single(is_this_one, caller), tool::end_work(caller));
WS_LLVM_ONE(__kmpc_master, __kmpc_end_master, current->units.lo == 0,
            is_this_one ? tool::tell_masked(ompt::scope_begin, caller) : void(),
            tool::tell_masked(ompt::scope_end, caller));

WS_EXPORT int32_t llvm___kmpc_masked(void* location, int32_t thread, int32_t filter)
{
    static Next<decltype(llvm___kmpc_masked)> next("__kmpc_masked");
    if (current) {
        const bool is_this_one = unsigned(filter) >= current->units.lo && unsigned(filter) < current->units.hi;
        if (WS_UNLIKELY(tool::watches) && is_this_one)
            tool::tell_masked(ompt::scope_begin, __builtin_return_address(0));
        return is_this_one;
    }
    return next(__builtin_return_address(0))(location, thread, filter);
}
WS_LLVM(__kmpc_masked);
WS_EXPORT void llvm___kmpc_end_masked(void* location, int32_t thread)
{
    static Next<decltype(llvm___kmpc_end_masked)> next("__kmpc_end_masked");
    if (!current)
        next(__builtin_return_address(0))(location, thread);
    else if (WS_UNLIKELY(tool::watches))
        tool::tell_masked(ompt::scope_end, __builtin_return_address(0));
}
WS_LLVM(__kmpc_end_masked);

// All wait until that one has said where its variables are, and until all have them.
WS_EXPORT void llvm___kmpc_copyprivate(void* location, int32_t thread, size_t size, void* variables,
                                         void (*copy)(void*, void*), int32_t did_it)
{
    static Next<decltype(llvm___kmpc_copyprivate)> next("__kmpc_copyprivate");
    if (current) {
        Unit& unit = *current; // kept, as the thread may be another after a barrier
        VirtualTeam& team = *unit.team;
        void* const caller = __builtin_return_address(0);
        const auto wait = [&] {
            if (WS_UNLIKELY(tool::watches))
                tool::wait(unit, location, caller);
            else
                team.barrier(unit, caller);
        };
        if (did_it)
            base::store_release(team.copied, variables);
        wait();
        if (!did_it)
            copy(variables, base::load_acquire(team.copied));
        wait();
        return;
    }
    const LibraryTime time;
    next(__builtin_return_address(0))(location, thread, size, variables, copy, did_it);
}
WS_LLVM(__kmpc_copyprivate);

// ---- waiting

WS_EXPORT void llvm___kmpc_barrier(void* location, int32_t thread)
{
    static Next<decltype(llvm___kmpc_barrier)> next("__kmpc_barrier");
    void* const caller = __builtin_return_address(0);
    if (current && waited_for(caller, loop::own_frame(), location))
        return;
    region_comes_to_barrier();
    const TaskWait wait(TaskWait::all_threads);
    const LibraryTime time;
    next(caller)(location, thread);
}
WS_LLVM(__kmpc_barrier);

WS_EXPORT int32_t llvm___kmpc_cancel_barrier(void* location, int32_t thread)
{
    static Next<decltype(llvm___kmpc_cancel_barrier)> next("__kmpc_cancel_barrier");
    void* const caller = __builtin_return_address(0);
    if (current && waited_for(caller, loop::own_frame(), location))
        return 0;
    region_comes_to_barrier();
    const TaskWait wait(TaskWait::all_threads);
    const LibraryTime time;
    return next(caller)(location, thread);
}
WS_LLVM(__kmpc_cancel_barrier);

// A virtual thread goes on, as where OMP_CANCELLATION is not set.
#define WS_LLVM_CANCEL(name)                                                                                               \
    WS_EXPORT int32_t llvm_##name(void* location, int32_t thread, int32_t kind)                                     \
    {                                                                                                                 \
        static Next<decltype(llvm_##name)> next(#name);                                                               \
        return current ? 0 : next(__builtin_return_address(0))(location, thread, kind);                               \
    }                                                                                                                 \
    WS_LLVM(name)
WS_LLVM_CANCEL(__kmpc_cancel);
WS_LLVM_CANCEL(__kmpc_cancellationpoint);

// ---- a region of one thread, by its if clause: what is within it is that thread's alone

namespace {
__thread struct {
    Unit* unit;
    Settings* settings;
    unsigned depth;
} outside __attribute__((tls_model("initial-exec")));

bool begin_serialized()
{
    if (!current && !outside.depth)
        return loop::self.in_region;
    if (outside.depth++ != 0)
        return true;
    outside.unit = current;
    outside.settings = thread_settings;
    current = nullptr;
    thread_settings = nullptr;
    return true;
}
__attribute__((constructor)) void hear_of_serialized() { serializes = begin_serialized; }
} // namespace

Unit* unit_around(unsigned& depth)
{
    depth = outside.depth;
    return depth ? outside.unit : current;
}

WS_EXPORT void llvm___kmpc_end_serialized_parallel(void* location, int32_t thread)
{
    static Next<decltype(llvm___kmpc_end_serialized_parallel)> next("__kmpc_end_serialized_parallel");
    if (WS_UNLIKELY(outside.depth != 0))
        thread = llvm_number(location);
    next(__builtin_return_address(0))(location, thread);
    if (WS_UNLIKELY(outside.depth != 0) && --outside.depth == 0) {
        current = outside.unit;
        thread_settings = outside.settings;
    }
}
WS_LLVM(__kmpc_end_serialized_parallel);

// ---- in loops whose iterations have an order. The pieces of such a loop are run one after the other: nothing is left
// to wait for inside.

#define WS_LLVM_IN_TURN(name, in_team)                                                                                \
    WS_EXPORT long llvm_##name(WS_6(long, WS_NAMED))                                                                  \
    {                                                                                                                 \
        static Next<decltype(llvm_##name)> next(#name);                                                               \
        if (WS_LIKELY(!current))                                                                                      \
            return next(__builtin_return_address(0))(WS_6(, WS_NAMED));                                               \
        [[maybe_unused]] Unit& unit = *current;                                                                       \
        in_team;                                                                                                      \
        return 0;                                                                                                     \
    }                                                                                                                 \
    WS_LLVM(name)
#define WS_TELL_ORDERED(scope)                                                                                        \
    if (WS_UNLIKELY(tool::watches))                                                                                   \
    tool::tell_ordered(ompt::scope, __builtin_return_address(0))
WS_LLVM_IN_TURN(__kmpc_ordered, WS_TELL_ORDERED(scope_begin));
WS_LLVM_IN_TURN(__kmpc_end_ordered, WS_TELL_ORDERED(scope_end));
WS_LLVM_IN_TURN(__kmpc_doacross_init, unit.turn.of_doacross = true);
WS_LLVM_IN_TURN(__kmpc_doacross_post, );
WS_LLVM_IN_TURN(__kmpc_doacross_wait, );
WS_LLVM_IN_TURN(__kmpc_doacross_fini,
                if (unit.way == Unit::Way::in_turn) unit.team->next_in_turn(unit, unit.turn.piece));

// ---- what takes the calling thread's number, and is the same for every thread otherwise

#define WS_LLVM_OWN_NUMBER(name)                                                                                      \
    WS_EXPORT long llvm_##name(WS_6(long, WS_NAMED))                                                                  \
    {                                                                                                                 \
        static Next<decltype(llvm_##name)> next(#name);                                                               \
        if (WS_UNLIKELY(current != nullptr))                                                                          \
            b = llvm_number(reinterpret_cast<void*>(a));                                                              \
        return next(__builtin_return_address(0))(WS_6(, WS_NAMED));                                                   \
    }                                                                                                                 \
    WS_LLVM(name)
WS_LLVM_OWN_NUMBER(__kmpc_critical);
WS_LLVM_OWN_NUMBER(__kmpc_critical_with_hint);
WS_LLVM_OWN_NUMBER(__kmpc_end_critical);
WS_LLVM_OWN_NUMBER(__kmpc_push_proc_bind);
WS_LLVM_OWN_NUMBER(__kmpc_push_num_teams);
WS_LLVM_OWN_NUMBER(__kmpc_push_num_teams_51);
WS_LLVM_OWN_NUMBER(__kmpc_omp_task_complete_if0);

// ---- all others but critical sections, atomic operations, locks and memory, which are the same for every thread

// They take integers and pointers, none more than 12, and most no more than 6, for which a call in a region of OpenMP's
// is a jump. `in_team`: what is done instead, or before, for a virtual thread.
#define WS_LLVM_OTHER_OF(name, arguments, give, in_team) WS_LLVM_OTHER_TOLD(name, arguments, give, in_team, )
#define WS_LLVM_OTHER_TOLD(name, arguments, give, in_team, always)                                                    \
    WS_EXPORT long llvm_##name(arguments(long, WS_NAMED))                                                             \
    {                                                                                                                 \
        static Next<decltype(llvm_##name)> next(#name);                                                               \
        always;                                                                                                       \
        if (WS_LIKELY(!current)) { /* by itself: nothing is to be kept over a call */                                 \
            give(next(__builtin_return_address(0))(arguments(, WS_NAMED)));                                           \
        }                                                                                                             \
        in_team;                                                                                                      \
        give(next(__builtin_return_address(0))(arguments(, WS_NAMED)));                                               \
    }                                                                                                                 \
    WS_LLVM(name)
#define WS_LLVM_OTHER_AS(name, in_team) WS_LLVM_OTHER_OF(name, WS_6, return, in_team)
#define WS_LLVM_LONG_AS(name, in_team) WS_LLVM_OTHER_OF(name, WS_12, WS_RETURN, in_team)
// The calling thread's number is the second argument, most often.
#define WS_LLVM_OTHER(name) WS_LLVM_OTHER_AS(name, b = llvm_number(nullptr))
#define WS_LLVM_LONG(name) WS_LLVM_LONG_AS(name, b = llvm_number(nullptr))

// Tasks of a virtual thread run at once, as those of an if clause that is false: it may end on another thread of the
// library's, and its barriers are not the library's.
namespace {
struct LlvmTask { // as libomp's begins
    void* shared;
    int32_t (*run)(int32_t thread, void* task);
};
long run_task(void* location, void* task, void* caller = nullptr)
{
    static Next<void(void*, int32_t, void*)> begin("__kmpc_omp_task_begin_if0"), end("__kmpc_omp_task_complete_if0");
    const int32_t thread = llvm_number(location, caller);
    begin(caller)(location, thread, task);
    static_cast<const LlvmTask*>(task)->run(thread, task);
    end(caller)(location, thread, task);
    return 0;
}
// Location, thread, task, dependences.
long run_task_after(void* location, void* task, long count, void* of, long count_more, void* of_more)
{
    static Next<void(void*, int32_t, int32_t, void*, int32_t, void*)> wait("__kmpc_omp_wait_deps");
    wait(nullptr)(location, llvm_number(location), int32_t(count), of, int32_t(count_more), of_more);
    return run_task(location, task);
}
void* pointer(long argument) { return reinterpret_cast<void*>(argument); }
// The task that the thread has allocated last and not put yet, if it may run at once: it has no priority, does not end
// elsewhere (detach), is no target construct's, and is tied. An untied one puts itself again and again, until its last
// part has run.
WS_THREAD_LOCAL const void* plain_task;

long note_plain(long flags, long task)
{
    constexpr long tied = 1, priority = 1 << 5, detachable = 1 << 6, hidden_helper = 1 << 7;
    plain_task = (flags & (tied | priority | detachable | hidden_helper)) == tied ? pointer(task) : nullptr;
    return task;
}
bool takes_plain(long task)
{
    const bool is_plain = !current && pointer(task) == plain_task;
    plain_task = nullptr;
    return is_plain;
}
} // namespace
WS_LLVM_OTHER_TOLD(__kmpc_omp_task, WS_6, return, return run_task(pointer(a), pointer(c)),
                   const bool is_plain = takes_plain(c);
                   const TaskAtOnce at_once([&] { return is_plain; }, __builtin_frame_address(0));
                   if (at_once) return run_task(pointer(a), pointer(c), __builtin_return_address(0)));
WS_LLVM_OTHER_TOLD(__kmpc_omp_task_with_deps, WS_12, WS_RETURN,
                   return run_task_after(pointer(a), pointer(c), d, pointer(e), f, pointer(g)), plain_task = nullptr);
namespace {
// How many tasks a taskloop becomes, if the program says that: its bounds, step, and what `said` is.
uint64_t kmpc_taskloop_tasks(long first, long last, long step, long what, long said)
{
    enum { nothing, iterations, tasks };
    if (int32_t(what) == tasks)
        return uint64_t(std::max(1L, said));
    if (int32_t(what) != iterations || said <= 0)
        return 1;
    const auto bound = [](long at) { return *static_cast<const int64_t*>(pointer(at)); };
    return 1 + count_to(bound(first), bound(last), step) / uint64_t(said);
}
} // namespace
WS_LLVM_OTHER_TOLD(__kmpc_taskloop, WS_12, WS_RETURN, b = llvm_number(nullptr); d = 0,
                   plain_task = nullptr; region_puts_task(kmpc_taskloop_tasks(e, f, g, i, j));
                   const TaskWait wait(TaskWait::all_threads));
WS_LLVM_OTHER_TOLD(__kmpc_taskloop_5, WS_12, WS_RETURN, b = llvm_number(nullptr); d = 0,
                   plain_task = nullptr; region_puts_task(kmpc_taskloop_tasks(e, f, g, i, j));
                   const TaskWait wait(TaskWait::all_threads));
// So what they reduce over all threads is their virtual thread's own copy, which it adds to the others itself. libomp
// has a taskgroup around them.
#define WS_TELL_TASKGROUP(scope)                                                                                      \
    if (WS_UNLIKELY(tool::watches))                                                                                   \
        tool::tell_taskgroup(ompt::scope, __builtin_return_address(0));                                               \
    return 0
WS_LLVM_OTHER_AS(__kmpc_task_reduction_modifier_init, WS_TELL_TASKGROUP(scope_begin));
WS_LLVM_OTHER_AS(__kmpc_taskred_modifier_init, WS_TELL_TASKGROUP(scope_begin));
WS_LLVM_OTHER_AS(__kmpc_task_reduction_modifier_fini, WS_TELL_TASKGROUP(scope_end));
WS_LLVM_OTHER_AS(__kmpc_task_reduction_get_th_data, return c);

WS_LLVM_OTHER(__kmpc_barrier_master);
WS_LLVM_OTHER(__kmpc_barrier_master_nowait);
WS_LLVM_LONG(__kmpc_dist_dispatch_init_4);
WS_LLVM_LONG(__kmpc_dist_dispatch_init_4u);
WS_LLVM_LONG(__kmpc_dist_dispatch_init_8);
WS_LLVM_LONG(__kmpc_dist_dispatch_init_8u);
WS_LLVM_LONG(__kmpc_dist_for_static_init_4);
WS_LLVM_LONG(__kmpc_dist_for_static_init_4u);
WS_LLVM_LONG(__kmpc_dist_for_static_init_8);
WS_LLVM_LONG(__kmpc_dist_for_static_init_8u);
WS_LLVM_LONG(__kmpc_team_static_init_4);
WS_LLVM_LONG(__kmpc_team_static_init_4u);
WS_LLVM_LONG(__kmpc_team_static_init_8);
WS_LLVM_LONG(__kmpc_team_static_init_8u);
#define WS_NOTE_PLAIN(task) return note_plain(c, task)
WS_LLVM_OTHER_TOLD(__kmpc_omp_task_alloc, WS_6, WS_NOTE_PLAIN, b = llvm_number(nullptr); current->team->note_task(),
                   region_puts_task());
WS_LLVM_OTHER_TOLD(__kmpc_omp_target_task_alloc, WS_12, WS_RETURN, b = llvm_number(nullptr), plain_task = nullptr);
WS_LLVM_OTHER_TOLD(__kmpc_omp_task_begin_if0, WS_6, return, b = llvm_number(nullptr), plain_task = nullptr);
WS_LLVM_OTHER(__kmpc_omp_task_parts);
WS_LLVM_OTHER_TOLD(__kmpc_omp_taskwait, WS_6, return, b = llvm_number(nullptr), const TaskWait wait(TaskWait::tasks));
WS_LLVM_OTHER_TOLD(__kmpc_end_taskgroup, WS_6, return, b = llvm_number(pointer(a)),
                   const TaskWait wait(TaskWait::tasks));
WS_LLVM_OTHER(__kmpc_omp_taskyield);
WS_LLVM_OTHER_TOLD(__kmpc_omp_wait_deps, WS_6, return, b = llvm_number(nullptr), const TaskWait wait(TaskWait::tasks));
WS_LLVM_OTHER(__kmpc_taskgroup);
WS_LLVM_OTHER_AS(__kmpc_task_reduction_init, a = llvm_number(nullptr));
WS_LLVM_OTHER_AS(__kmpc_taskred_init, a = llvm_number(nullptr));
WS_LLVM_OTHER(__kmpc_threadprivate);
WS_LLVM_OTHER(__kmpc_threadprivate_cached);
WS_LLVM_OTHER(__kmpc_scope);

} // namespace ws::openmp
