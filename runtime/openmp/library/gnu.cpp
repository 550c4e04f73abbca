// SPDX-License-Identifier: MIT
//
// libgomp's functions that distribute work inside a region, or let threads wait. libws stands before them; a thread
// that runs virtual threads gets its answers here, all others go on to libgomp, for a load and a branch more.
#include "openmp/library/next.h"
#include "openmp/library/regions.h"
#include "loop/participant.h"
#include "openmp/shared/meet.h"
#include "openmp/shared/target.h"
#include "openmp/shared/task_reductions.h"
#include "openmp/shared/team.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>

namespace ws::openmp {

using loop::count_signed;
using loop::count_unsigned;

namespace {

#define WS_GNU(name, version) asm(".symver gnu_" #name "," #name "@" version)

using Ull = unsigned long long;

// A loop, as a function that begins one is told: iterations, and the values of its variable.
template <class T> struct GompLoop {
    uint64_t n;
    T start, end, incr, chunk;
    long kind; // of its schedule, where the function is told
};

template <class T> void has_bounds(Unit& unit, const GompLoop<T>& b)
{
    unit.lo = uint64_t(b.start);
    unit.hi = uint64_t(b.end);
    unit.incr = uint64_t(b.incr);
    unit.has_part = false;
}

// The bounds of a piece of n iterations.
template <class T> void tell(const Unit& unit, const IterationRange& piece, uint64_t n, T* lo, T* hi)
{
    *lo = T(unit.lo + piece.from * unit.incr);
    *hi = piece.to == n ? T(unit.hi) : T(unit.lo + piece.to * unit.incr);
}

template <class T> bool next_round(Unit& unit, T* lo, T* hi)
{
    if (!unit.has_part)
        return false;
    tell(unit, unit.next_round(), unit.n, lo, hi);
    return true;
}

template <class T> bool next_in_turn(Unit& unit, T* lo, T* hi)
{
    IterationRange piece;
    if (!unit.team->next_in_turn(unit, piece))
        return false;
    tell(unit, piece, unit.turn.n, lo, hi);
    return true;
}

template <class T> bool next_on_demand(Unit& unit, T* lo, T* hi)
{
    IterationRange piece;
    if (!unit.team->next_on_demand(unit, piece))
        return false;
    tell(unit, piece, unit.n, lo, hi);
    return true;
}

// A virtual thread gets its part as the loop begins, or its first chunk.
template <class T> bool distribute_as(const GompLoop<T>& b, T* lo, T* hi, Distribution how, uint64_t chunk)
{
    Unit& unit = *current;
    if (how >= Distribution::on_demand) {
        has_bounds(unit, b);
        unit.team->begin_on_demand(unit, b.n, chunk, how);
        return next_on_demand(unit, lo, hi);
    }
    if (how == Distribution::round_robin) {
        has_bounds(unit, b);
        unit.has_rounds(b.n, rounds_of_loop(b.n, chunk, unit.units));
        return next_round(unit, lo, hi);
    }
    const IterationRange part = part_of_loop(b.n, chunk, unit.units);
    unit.has_part = false;
    if (part.empty())
        return false;
    *lo = T(uint64_t(b.start) + part.from * uint64_t(b.incr));
    *hi = part.to == b.n ? b.end : T(uint64_t(b.start) + part.to * uint64_t(b.incr));
    return true;
}
template <class T> uint64_t chunk_of(const GompLoop<T>& b) { return b.chunk > 0 ? uint64_t(b.chunk) : 0; }

template <class T> bool distribute_static( const GompLoop<T>& b, T* lo, T* hi)
{
    return distribute_as(b, lo, hi, chunk_of(b) ? Distribution::round_robin : Distribution::parts, chunk_of(b));
}
template <class T> bool distribute_dynamic( const GompLoop<T>& b, T* lo, T* hi)
{
    return distribute_as(b, lo, hi, Distribution::on_demand, chunk_of(b));
}
template <class T> bool distribute_guided( const GompLoop<T>& b, T* lo, T* hi)
{
    return distribute_as(b, lo, hi, Distribution::guided, chunk_of(b));
}
// schedule(runtime)
template <class T> bool distribute_runtime( const GompLoop<T>& b, T* lo, T* hi)
{
    const OmpSchedule schedule = omp_schedule();
    return distribute_as(b, lo, hi, schedule.distribution, uint64_t(schedule.chunk));
}
// As its kind says.
template <class T> bool distribute(const GompLoop<T>& b, T* lo, T* hi)
{
    enum { by_runtime, of_static, dynamic, guided };
    switch (b.kind & 0xff) { // above it a bit of the modifier monotonic
    case by_runtime: return distribute_runtime(b, lo, hi);
    case of_static: return distribute_static(b, lo, hi);
    case dynamic: return distribute_dynamic(b, lo, hi);
    case guided: return distribute_guided(b, lo, hi);
    default: return distribute_as(b, lo, hi, Distribution::parts, 0);
    }
}

// One whose iterations have an order.
template <class T> bool in_turn(const GompLoop<T>& b, T* lo, T* hi, uint64_t round)
{
    Unit& unit = *current;
    has_bounds(unit, b);
    unit.team->begin_in_turn(unit, b.n, round);
    return next_in_turn(unit, lo, hi);
}
template <class T> bool in_order(const GompLoop<T>& b, T* lo, T* hi)
{
    return in_turn(b, lo, hi, 0);
}
// schedule(static, chunk)
template <class T> bool in_order_by_chunks(const GompLoop<T>& b, T* lo, T* hi)
{
    return in_turn(b, lo, hi, b.chunk > 0 ? uint64_t(b.chunk) : 0);
}

template <class T> bool next_part(Unit& unit, T* lo, T* hi)
{
    if (WS_LIKELY(unit.way == Unit::Way::pieces))
        return next_round(unit, lo, hi);
    return unit.way == Unit::Way::in_turn ? next_in_turn(unit, lo, hi) : next_on_demand(unit, lo, hi);
}

} // namespace

// The functions that begin a loop differ in what they take: a type, parameters, arguments to hand on, bounds.
#define WS_SIGNED                                                                                                     \
    long, (long start, long end, long incr, long chunk, long* lo, long* hi), (start, end, incr, chunk, lo, hi),       \
        count_signed(start, end, incr), start, end, incr, chunk, 0
#define WS_SIGNED_RUNTIME                                                                                             \
    long, (long start, long end, long incr, long* lo, long* hi), (start, end, incr, lo, hi),                          \
        count_signed(start, end, incr), start, end, incr, 0, 0
#define WS_UNSIGNED                                                                                                   \
    Ull, (bool up, Ull start, Ull end, Ull incr, Ull chunk, Ull* lo, Ull* hi), (up, start, end, incr, chunk, lo, hi), \
        count_unsigned(up, start, end, incr), start, end, incr, chunk, 0
#define WS_UNSIGNED_RUNTIME                                                                                           \
    Ull, (bool up, Ull start, Ull end, Ull incr, Ull* lo, Ull* hi), (up, start, end, incr, lo, hi),                   \
        count_unsigned(up, start, end, incr), start, end, incr, 0, 0
#define WS_DOACROSS(type)                                                                                             \
    type, (unsigned loops, type* counts, type chunk, type* lo, type* hi), (loops, counts, chunk, lo, hi),             \
        uint64_t(counts[0]), 0, counts[0], 1, chunk, 0
#define WS_DOACROSS_RUNTIME(type) \
    type, (unsigned loops, type* counts, type* lo, type* hi), (loops, counts, lo, hi), uint64_t(counts[0]), 0, \
        counts[0], 1, 0, 0

// Where nothing is timed the call is a jump.
#define WS_GNU_START_AS(name, version, begin, type, parameters, arguments, ...)                                       \
    WS_EXPORT bool gnu_##name parameters                                                                              \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        if (WS_UNLIKELY(current != nullptr))                                                                          \
            return begin<type>({__VA_ARGS__}, lo, hi);                                                                \
        if (WS_UNLIKELY(times_threads)) {                                                                             \
            const SampledLibraryTime time;                                                                            \
            return next(__builtin_return_address(0)) arguments;                                                       \
        }                                                                                                             \
        return next(__builtin_return_address(0)) arguments;                                                           \
    }                                                                                                                 \
    WS_GNU(name, version)
#define WS_GNU_START(...) WS_GNU_START_AS(__VA_ARGS__)
#define WS_GNU_NEXT(name, version, type)                                                                             \
    WS_EXPORT bool gnu_##name(type* lo, type* hi)                                                                   \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        if (current)                                                                                                  \
            return next_part(*current, lo, hi);                                                                       \
        if (WS_UNLIKELY(times_threads)) {                                                                             \
            const SampledLibraryTime time;                                                                            \
            return next(__builtin_return_address(0))(lo, hi);                                                         \
        }                                                                                                             \
        return next(__builtin_return_address(0))(lo, hi);                                                             \
    }                                                                                                                 \
    WS_GNU(name, version)

WS_GNU_START(GOMP_loop_static_start, "GOMP_1.0", distribute_static, WS_SIGNED);
WS_GNU_START(GOMP_loop_dynamic_start, "GOMP_1.0", distribute_dynamic, WS_SIGNED);
WS_GNU_START(GOMP_loop_guided_start, "GOMP_1.0", distribute_guided, WS_SIGNED);
WS_GNU_START(GOMP_loop_nonmonotonic_dynamic_start, "GOMP_4.5", distribute_dynamic, WS_SIGNED);
WS_GNU_START(GOMP_loop_nonmonotonic_guided_start, "GOMP_4.5", distribute_guided, WS_SIGNED);
WS_GNU_START(GOMP_loop_runtime_start, "GOMP_1.0", distribute_runtime, WS_SIGNED_RUNTIME);
WS_GNU_START(GOMP_loop_nonmonotonic_runtime_start, "GOMP_5.0", distribute_runtime, WS_SIGNED_RUNTIME);
WS_GNU_START(GOMP_loop_maybe_nonmonotonic_runtime_start, "GOMP_5.0", distribute_runtime, WS_SIGNED_RUNTIME);
WS_GNU_NEXT(GOMP_loop_static_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_dynamic_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_guided_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_runtime_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_nonmonotonic_dynamic_next, "GOMP_4.5", long);
WS_GNU_NEXT(GOMP_loop_nonmonotonic_guided_next, "GOMP_4.5", long);
WS_GNU_NEXT(GOMP_loop_nonmonotonic_runtime_next, "GOMP_5.0", long);
WS_GNU_NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next, "GOMP_5.0", long);
WS_GNU_START(GOMP_loop_ull_static_start, "GOMP_2.0", distribute_static, WS_UNSIGNED);
WS_GNU_START(GOMP_loop_ull_dynamic_start, "GOMP_2.0", distribute_dynamic, WS_UNSIGNED);
WS_GNU_START(GOMP_loop_ull_guided_start, "GOMP_2.0", distribute_guided, WS_UNSIGNED);
WS_GNU_START(GOMP_loop_ull_nonmonotonic_dynamic_start, "GOMP_4.5", distribute_dynamic, WS_UNSIGNED);
WS_GNU_START(GOMP_loop_ull_nonmonotonic_guided_start, "GOMP_4.5", distribute_guided, WS_UNSIGNED);
WS_GNU_START(GOMP_loop_ull_runtime_start, "GOMP_2.0", distribute_runtime, WS_UNSIGNED_RUNTIME);
WS_GNU_START(GOMP_loop_ull_nonmonotonic_runtime_start, "GOMP_5.0", distribute_runtime, WS_UNSIGNED_RUNTIME);
WS_GNU_START(GOMP_loop_ull_maybe_nonmonotonic_runtime_start, "GOMP_5.0", distribute_runtime, WS_UNSIGNED_RUNTIME);
WS_GNU_NEXT(GOMP_loop_ull_static_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_dynamic_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_guided_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_runtime_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_nonmonotonic_dynamic_next, "GOMP_4.5", Ull);
WS_GNU_NEXT(GOMP_loop_ull_nonmonotonic_guided_next, "GOMP_4.5", Ull);
WS_GNU_NEXT(GOMP_loop_ull_nonmonotonic_runtime_next, "GOMP_5.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next, "GOMP_5.0", Ull);

// ---- loops whose iterations have an order: met only by a virtual thread whose region had none before

WS_GNU_START(GOMP_loop_ordered_static_start, "GOMP_1.0", in_order_by_chunks, WS_SIGNED);
WS_GNU_START(GOMP_loop_ordered_dynamic_start, "GOMP_1.0", in_order, WS_SIGNED);
WS_GNU_START(GOMP_loop_ordered_guided_start, "GOMP_1.0", in_order, WS_SIGNED);
WS_GNU_START(GOMP_loop_ordered_runtime_start, "GOMP_1.0", in_order, WS_SIGNED_RUNTIME);
WS_GNU_START(GOMP_loop_doacross_static_start, "GOMP_4.5", in_order_by_chunks, WS_DOACROSS(long));
WS_GNU_START(GOMP_loop_doacross_dynamic_start, "GOMP_4.5", in_order, WS_DOACROSS(long));
WS_GNU_START(GOMP_loop_doacross_guided_start, "GOMP_4.5", in_order, WS_DOACROSS(long));
WS_GNU_START(GOMP_loop_doacross_runtime_start, "GOMP_4.5", in_order, WS_DOACROSS_RUNTIME(long));
WS_GNU_NEXT(GOMP_loop_ordered_static_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_ordered_dynamic_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_ordered_guided_next, "GOMP_1.0", long);
WS_GNU_NEXT(GOMP_loop_ordered_runtime_next, "GOMP_1.0", long);
WS_GNU_START(GOMP_loop_ull_ordered_static_start, "GOMP_2.0", in_order_by_chunks, WS_UNSIGNED);
WS_GNU_START(GOMP_loop_ull_ordered_dynamic_start, "GOMP_2.0", in_order, WS_UNSIGNED);
WS_GNU_START(GOMP_loop_ull_ordered_guided_start, "GOMP_2.0", in_order, WS_UNSIGNED);
WS_GNU_START(GOMP_loop_ull_ordered_runtime_start, "GOMP_2.0", in_order, WS_UNSIGNED_RUNTIME);
WS_GNU_START(GOMP_loop_ull_doacross_static_start, "GOMP_4.5", in_order_by_chunks, WS_DOACROSS(Ull));
WS_GNU_START(GOMP_loop_ull_doacross_dynamic_start, "GOMP_4.5", in_order, WS_DOACROSS(Ull));
WS_GNU_START(GOMP_loop_ull_doacross_guided_start, "GOMP_4.5", in_order, WS_DOACROSS(Ull));
WS_GNU_START(GOMP_loop_ull_doacross_runtime_start, "GOMP_4.5", in_order, WS_DOACROSS_RUNTIME(Ull));
WS_GNU_NEXT(GOMP_loop_ull_ordered_static_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_ordered_dynamic_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_ordered_guided_next, "GOMP_2.0", Ull);
WS_GNU_NEXT(GOMP_loop_ull_ordered_runtime_next, "GOMP_2.0", Ull);

// ---- loops that also have memory in common: for conditional lastprivate, and for reductions over tasks

#define WS_SIGNED_WITH                                                                                                \
    long,                                                                                                             \
        (long start, long end, long incr, long kind, long chunk, long* lo, long* hi, uintptr_t* reductions,           \
         void** memory),                                                                                              \
        (start, end, incr, kind, chunk, lo, hi, reductions, memory), count_signed(start, end, incr), start, end,      \
        incr, chunk, kind
#define WS_UNSIGNED_WITH                                                                                              \
    Ull,                                                                                                              \
        (bool up, Ull start, Ull end, Ull incr, long kind, Ull chunk, Ull* lo, Ull* hi, uintptr_t* reductions,        \
         void** memory),                                                                                              \
        (up, start, end, incr, kind, chunk, lo, hi, reductions, memory), count_unsigned(up, start, end, incr), start, \
        end, incr, chunk, kind
#define WS_DOACROSS_WITH(type)                                                                                        \
    type,                                                                                                             \
        (unsigned loops, type* counts, long kind, type chunk, type* lo, type* hi, uintptr_t* reductions,              \
         void** memory),                                                                                              \
        (loops, counts, kind, chunk, lo, hi, reductions, memory), uint64_t(counts[0]), 0, counts[0], 1, chunk, kind

#define WS_GNU_WITH_AS(name, version, begin, type, parameters, arguments, ...)                                        \
    WS_EXPORT bool gnu_##name##_with parameters                                                                       \
    {                                                                                                                 \
        static Next<decltype(gnu_##name##_with)> next(#name, version);                                                \
        void* const caller = __builtin_return_address(0);                                                             \
        if (WS_LIKELY(current == nullptr))                                                                            \
            return next(caller) arguments;                                                                            \
        begin_common(reductions, memory);                                                                             \
        return lo ? begin<type>({__VA_ARGS__}, lo, hi) : true;                                                        \
    }                                                                                                                 \
    asm(".symver gnu_" #name "_with," #name "@" version)
#define WS_GNU_WITH(...) WS_GNU_WITH_AS(__VA_ARGS__)
WS_GNU_WITH(GOMP_loop_start, "GOMP_5.0", distribute, WS_SIGNED_WITH);
WS_GNU_WITH(GOMP_loop_ordered_start, "GOMP_5.0", in_order, WS_SIGNED_WITH);
WS_GNU_WITH(GOMP_loop_doacross_start, "GOMP_5.0", in_order, WS_DOACROSS_WITH(long));
WS_GNU_WITH(GOMP_loop_ull_start, "GOMP_5.0", distribute, WS_UNSIGNED_WITH);
WS_GNU_WITH(GOMP_loop_ull_ordered_start, "GOMP_5.0", in_order, WS_UNSIGNED_WITH);
WS_GNU_WITH(GOMP_loop_ull_doacross_start, "GOMP_5.0", in_order, WS_DOACROSS_WITH(Ull));

// The pieces of such a loop are run one after the other: nothing is left to wait for inside.
#define WS_GNU_IN_TURN(name, version)                                                                                 \
    WS_EXPORT long gnu_##name(WS_12(long, WS_NAMED))                                                                  \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        if (current)                                                                                                  \
            return 0;                                                                                                 \
        WS_RETURN(next(__builtin_return_address(0))(WS_12(, WS_NAMED)));                                              \
    }                                                                                                                 \
    WS_GNU(name, version)
WS_GNU_IN_TURN(GOMP_ordered_start, "GOMP_1.0");
WS_GNU_IN_TURN(GOMP_ordered_end, "GOMP_1.0");
WS_GNU_IN_TURN(GOMP_doacross_post, "GOMP_4.5");
WS_GNU_IN_TURN(GOMP_doacross_wait, "GOMP_4.5");
WS_GNU_IN_TURN(GOMP_doacross_ull_post, "GOMP_4.5");
WS_GNU_IN_TURN(GOMP_doacross_ull_wait, "GOMP_4.5");

// ---- sections: the first ones come with the region, or by a start of their own. Each virtual thread has its own ones,
// so that a guest can leave after one. Where that would be several, the next one is whose who comes first: one may wait
// for any other as long as not all threads are in such ones.

namespace {
void begin_sections(Unit& unit, unsigned count)
{
    unit.sections = count;
    unit.section = Unit::before_first;
    unit.sections_taken = nullptr;
    if (count > unit.team->units)
        unit.sections_taken =
            static_cast<volatile Hardware::Word*>(unit.team->common(unit, sizeof *unit.sections_taken));
}

unsigned next_section_of(Unit& unit)
{
    if (unit.sections_taken) {
        // relaxed would do: it counts, and no more
        const Hardware::Word before = unit.section ? Hardware::fetch_add_full(*unit.sections_taken, 1) : unit.sections;
        unit.section = before < unit.sections ? unsigned(before) + 1 : 0;
    } else
        unit.section = unit.section == Unit::before_first ? first_section(unit.sections, unit.units)
                       : unit.section ? next_section(unit.sections, unit.section, unit.units)
                                      : 0;
    return unit.section;
}
} // namespace

WS_EXPORT unsigned gnu_GOMP_sections_start(unsigned count)
{
    static Next<decltype(gnu_GOMP_sections_start)> next("GOMP_sections_start");
    void* const caller = __builtin_return_address(0);
    if (current) {
        begin_sections(*current, count);
        return next_section_of(*current);
    }
    return next(caller)(count);
}
WS_GNU(GOMP_sections_start, "GOMP_1.0");

WS_EXPORT unsigned gnu_GOMP_sections2_start(unsigned count, uintptr_t* reductions, void** memory)
{
    static Next<decltype(gnu_GOMP_sections2_start)> next("GOMP_sections2_start");
    void* const caller = __builtin_return_address(0);
    if (current) {
        begin_common(reductions, memory);
        return gnu_GOMP_sections_start(count);
    }
    return next(caller)(count, reductions, memory);
}
WS_GNU(GOMP_sections2_start, "GOMP_5.0");

WS_EXPORT unsigned gnu_GOMP_sections_next()
{
    static Next<decltype(gnu_GOMP_sections_next)> next("GOMP_sections_next");
    if (current) {
        Unit& unit = *current;
        if (unit.section == Unit::before_first) // those of the region
            begin_sections(unit, unit.sections);
        return next_section_of(unit);
    }
    return next(__builtin_return_address(0))();
}
WS_GNU(GOMP_sections_next, "GOMP_1.0");

// ---- single: the first to come

WS_EXPORT bool gnu_GOMP_single_start()
{
    static Next<decltype(gnu_GOMP_single_start)> next("GOMP_single_start");
    if (current)
        return current->team->takes_single(*current);
    return next(__builtin_return_address(0))();
}
WS_GNU(GOMP_single_start, "GOMP_1.0");

// copyprivate. All wait until that one has said where its variables are.
WS_EXPORT void* gnu_GOMP_single_copy_start()
{
    static Next<decltype(gnu_GOMP_single_copy_start)> next("GOMP_single_copy_start");
    if (current) {
        Unit& unit = *current; // kept, as the thread may be another after the barrier
        if (unit.team->takes_single(unit))
            return nullptr;
        unit.team->barrier(unit, __builtin_return_address(0));
        return base::load_acquire(unit.team->copied);
    }
    const LibraryTime time;
    return next(__builtin_return_address(0))();
}
WS_GNU(GOMP_single_copy_start, "GOMP_1.0");

WS_EXPORT void gnu_GOMP_single_copy_end(void* variables)
{
    static Next<decltype(gnu_GOMP_single_copy_end)> next("GOMP_single_copy_end");
    if (current) {
        base::store_release(current->team->copied, variables);
        current->team->barrier(*current, __builtin_return_address(0));
        return;
    }
    const LibraryTime time;
    next(__builtin_return_address(0))(variables);
}
WS_GNU(GOMP_single_copy_end, "GOMP_1.0");

// ---- waiting

#define WS_GNU_BARRIER(name, version, result, value)                                                                      \
    WS_EXPORT result gnu_##name()                                                                                   \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        void* const caller = __builtin_return_address(0);                                                             \
        if (current && waited_for(caller, loop::own_frame()))                                                         \
            return value;                                                                                             \
        region_comes_to_barrier();                                                                                    \
        const TaskWait wait(TaskWait::all_threads);                                                                   \
        if (WS_UNLIKELY(times_threads)) {                                                                             \
            const LibraryTime time;                                                                                   \
            return next(caller)();                                                                                    \
        }                                                                                                             \
        return next(caller)();                                                                                        \
    }                                                                                                                 \
    WS_GNU(name, version)
WS_GNU_BARRIER(GOMP_barrier, "GOMP_1.0", void, void());
WS_GNU_BARRIER(GOMP_loop_end, "GOMP_1.0", void, void());
WS_GNU_BARRIER(GOMP_sections_end, "GOMP_1.0", void, void());
WS_GNU_BARRIER(GOMP_barrier_cancel, "GOMP_4.0", bool, false);
WS_GNU_BARRIER(GOMP_loop_end_cancel, "GOMP_4.0", bool, false);
WS_GNU_BARRIER(GOMP_sections_end_cancel, "GOMP_4.0", bool, false);

#define WS_GNU_END_NOWAIT(name)                                                                                           \
    WS_EXPORT void gnu_##name()                                                                                     \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        if (!current)                                                                                                 \
            next(__builtin_return_address(0))();                                                                      \
    }                                                                                                                 \
    WS_GNU(name, "GOMP_1.0")
WS_GNU_END_NOWAIT(GOMP_loop_end_nowait);
WS_GNU_END_NOWAIT(GOMP_sections_end_nowait);

// ---- all others but critical sections, atomic operations and memory, which are the same for every thread

// They take integers and pointers, none more than 12. `in_team`: what is changed of those for a virtual thread;
// `around`: what lasts as long as the call.
#define WS_GNU_OTHER_AS(name, version, in_team, around)                                                               \
    WS_EXPORT long gnu_##name(WS_12(long, WS_NAMED))                                                                  \
    {                                                                                                                 \
        static Next<decltype(gnu_##name)> next(#name);                                                                \
        if (current) {                                                                                                \
            in_team;                                                                                                  \
        }                                                                                                             \
        around;                                                                                                       \
        WS_RETURN(next(__builtin_return_address(0))(WS_12(, WS_NAMED)));                                              \
    }                                                                                                                 \
    WS_GNU(name, version)
#define WS_GNU_OTHER(name, version) WS_GNU_OTHER_AS(name, version, , )

// A virtual thread goes on, as where OMP_CANCELLATION is not set.
WS_EXPORT bool gnu_GOMP_cancel(int which, bool now)
{
    static Next<decltype(gnu_GOMP_cancel)> next("GOMP_cancel");
    return current ? false : next(__builtin_return_address(0))(which, now);
}
WS_GNU(GOMP_cancel, "GOMP_4.0");
WS_EXPORT bool gnu_GOMP_cancellation_point(int which)
{
    static Next<decltype(gnu_GOMP_cancellation_point)> next("GOMP_cancellation_point");
    return current ? false : next(__builtin_return_address(0))(which);
}
WS_GNU(GOMP_cancellation_point, "GOMP_4.0");

// Tasks of a virtual thread run at once, as those of an if clause that is false: it may end on another thread of the
// library's, and its barriers are not the library's.
constexpr long task_flag_if = 1 << 10, task_flag_reduction = 1 << 12, task_flag_grainsize = 1 << 9;
namespace {
// What a taskloop reduces libgomp would register itself, for one thread; its data begin with the bounds and with that.
long taskloop_flags(long data, long flags)
{
    current->team->note_task();
    if (flags & task_flag_reduction)
        gnu_GOMP_taskgroup_reduction_register(reinterpret_cast<uintptr_t**>(data)[2]);
    return flags & ~(task_flag_if | task_flag_reduction);
}
// How many tasks a taskloop becomes: `said` is that number, or the iterations of each; 0: the library chooses.
uint64_t gomp_taskloop_tasks(long flags, long said, long start, long end, long step)
{
    if (said <= 0)
        return 1;
    if (!(flags & task_flag_grainsize) || step == 0)
        return uint64_t(said);
    return std::max<uint64_t>(1, uint64_t(std::abs((end - start) / step)) / uint64_t(said));
}

// A task that has no place in an order (depend, priority) and does not end elsewhere (detach). Not where libomp stands
// in for libgomp: with an if clause that is false it leaves out the function that copies the task's data.
bool is_plain_task(long if_clause, long flags)
{
    constexpr uint32_t untied_or_mergeable = 1 | 4;
    constexpr long truth = 0xff;
    static const bool is_libomp = dlsym(loaded_library(), "__kmpc_fork_call") != nullptr;
    return (if_clause & truth) && !(uint32_t(flags) & ~untied_or_mergeable) && !is_libomp;
}
} // namespace
WS_GNU_OTHER_AS(GOMP_task, "GOMP_2.0", f = false; current->team->note_task(), region_puts_task();
                const TaskAtOnce at_once([&] { return is_plain_task(f, g); }, __builtin_frame_address(0));
                if (at_once) f = false);
WS_GNU_OTHER_AS(GOMP_taskloop, "GOMP_4.5", f = taskloop_flags(b, f),
                region_puts_task(gomp_taskloop_tasks(f, g, i, j, k));
                const TaskWait wait(TaskWait::all_threads));
WS_GNU_OTHER_AS(GOMP_taskloop_ull, "GOMP_4.5", f = taskloop_flags(b, f),
                region_puts_task(gomp_taskloop_tasks(f, g, i, j, k));
                const TaskWait wait(TaskWait::all_threads));
WS_GNU_OTHER_AS(GOMP_taskwait, "GOMP_2.0", , const TaskWait wait(TaskWait::tasks));
WS_GNU_OTHER(GOMP_taskyield, "GOMP_3.0");
WS_GNU_OTHER(GOMP_taskgroup_start, "GOMP_4.0");
WS_GNU_OTHER_AS(GOMP_taskgroup_end, "GOMP_4.0", , const TaskWait wait(TaskWait::tasks));
WS_GNU_OTHER_AS(GOMP_taskwait_depend, "GOMP_5.0", , const TaskWait wait(TaskWait::tasks));
WS_GNU_OTHER_AS(GOMP_target, "GOMP_4.0", , const Target open);
WS_GNU_OTHER(GOMP_target_data, "GOMP_4.0");
WS_GNU_OTHER(GOMP_target_update, "GOMP_4.0");
WS_GNU_OTHER(GOMP_target_end_data, "GOMP_4.0");
WS_GNU_OTHER_AS(GOMP_target_ext, "GOMP_4.5", , const Target open);
WS_GNU_OTHER(GOMP_target_data_ext, "GOMP_4.5");
WS_GNU_OTHER(GOMP_target_update_ext, "GOMP_4.5");
WS_GNU_OTHER(GOMP_target_enter_exit_data, "GOMP_4.5");
WS_GNU_OTHER(GOMP_teams, "GOMP_4.0");
WS_GNU_OTHER(GOMP_teams4, "GOMP_5.1");
WS_GNU_OTHER_AS(GOMP_teams_reg, "GOMP_5.0", , const TargetOrTeams open);

} // namespace ws::openmp
