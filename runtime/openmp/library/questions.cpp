// SPDX-License-Identifier: MIT
//
// omp_get_thread_num() and the other functions by which a program tells OpenMP's threads apart and counts them. libws
// has them, too, and stands before libgomp and libomp, as openmp.cpp describes. They answer virtual threads;
// elsewhere the program's library answers. And what threads say of their regions, as by omp_set_num_threads(): a
// virtual thread says it of its own.
#include "openmp/library/threads.h"

#include "openmp/library/next.h"
#include "openmp/library/regions.h"
#include "base/atomics.h"
#include "base/cpus.h"
#include "base/environment.h"
#include "base/text.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <type_traits>
#include <unistd.h>

namespace ws::openmp {

using base::Flag;

namespace {

// ---- how many threads there are

// WS_OPENMP and WS_CORES, which MPI_Init checks; the program may ask before.
unsigned read_number(const char* name)
{
    const char* text = base::own_variable(name);
    if (!base::is_turned_on() || !text)
        return 0;
    const std::optional<uint64_t> number = base::whole_number(text);
    return number && *number < loop::Descriptor::max_joiners ? unsigned(*number) : 0;
}
bool is_mode(const char* mode)
{
    const char* text = base::own_variable("WS_OPENMP");
    return base::is_turned_on() && text && std::strcmp(text, mode) == 0;
}

bool is_share_mode(const char* mode)
{
    return std::strcmp(mode, "share") == 0 || std::strncmp(mode, "share:", 6) == 0;
}

unsigned read_most()
{
    const char* text = base::own_variable("WS_OPENMP");
    if (!base::is_turned_on() || !text || !*text || is_mode("off") || is_mode("hint") || is_share_mode(text) ||
        why_threads_are_fixed())
        return 0;
    const unsigned pretended = read_number("WS_CORES");
    return pretended ? pretended : unsigned(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}
// More threads than the library speaks of.
unsigned more_than(unsigned threads)
{
    const unsigned most = most_threads();
    return most > threads ? most - threads : 0;
}

volatile Hardware::Flag tells_usual; // tell_usual_threads()
volatile Hardware::Flag own_count_set; // and not to what it was told
volatile Hardware::Flag told, told_more; // the latest answer that had guests in it: without them, and they
// OpenMP keeps such a number for each thread, and so is this.
enum class SetBy : uint8_t { nothing, own_count, what_was_told };
WS_THREAD_LOCAL SetBy set_here;

// What the program has said itself stays as it is.
bool tells_more()
{
    return set_here == SetBy::what_was_told || (set_here == SetBy::nothing && !Hardware::load_relaxed(own_count_set));
}

int with_guests(int threads)
{
    const unsigned more = tells_more() ? more_than(unsigned(threads)) : 0;
    if (more) {
        Hardware::store_relaxed(told, Flag(threads));
        Hardware::store_relaxed(told_more, more);
    }
    return threads + int(more);
}

// What is set. A program that sets what it was told wants what it has: OpenMP is not to get threads for the guests'
// sake.
int64_t set(int64_t wanted)
{
    const Flag threads = Hardware::load_relaxed(told);
    const bool back = threads && wanted == int64_t(threads) + Hardware::load_relaxed(told_more);
    if (!back)
        Hardware::store_relaxed(own_count_set, 1);
    set_here = back ? SetBy::what_was_told : SetBy::own_count;
    return back ? threads : wanted;
}

// omp_set_dynamic(): then the library knows the answer for its threads. 0: not called, else 1 + what was set last.
volatile Hardware::Flag dynamic_set;
bool has_guests() { return most_threads() != 0; }
int dynamic_of_guest()
{
    const Flag set = Hardware::load_relaxed(dynamic_set);
    return set ? int(set) - 1 : has_guests();
}
int dynamic_of(int library) { return library || (!Hardware::load_relaxed(dynamic_set) && has_guests()); }

int at_least_most(int processors) { return std::max(processors, int(most_threads())); }

} // namespace

bool is_share_asked()
{
    const char* const mode = base::own_variable("WS_OPENMP");
    return base::is_turned_on() && mode && is_share_mode(mode);
}

bool threads_set_here() { return set_here == SetBy::own_count; }

unsigned most_threads()
{
    static const unsigned read = read_most();
    return Hardware::load_relaxed(tells_usual) ? 0 : read;
}

void tell_usual_threads() { Hardware::store_relaxed(tells_usual, 1); }

__thread ThreadSettings* thread_settings __attribute__((tls_model("initial-exec")));

namespace {
unsigned read_own()
{
    // early.c: what the library has been told counts virtual threads
    const char* const own = base::own_variable("WS_OPENMP_OWN");
    if (!own || !sharer)
        return unsigned(std::max(1, openmp(nullptr).max_threads()));
    const long said = std::atol(own); // of a list the first counts
    return said > 0 ? unsigned(std::min(said, long(loop::Descriptor::max_joiners)))
                    : std::max(1u, unsigned(base::own_cpus().mask().count()));
}
} // namespace

unsigned own_threads()
{
    static const unsigned own = read_own();
    return own;
}

// ---- the functions, by libgomp's names and libomp's, hidden as those of openmp.cpp

// `inside`: in a virtual thread, of its settings `mine`; `outside`: of the next library's, `next`; `none`: where
// there is none.
#define WS_QUESTION(function, name, version, parameters, inside, outside, none)                                       \
    extern "C" __attribute__((visibility("default"))) int function parameters                                         \
    {                                                                                                                 \
        static Next<int parameters> found(name, version);                                                             \
        if (const ThreadSettings* const mine = own_settings())                                                        \
            return inside;                                                                                            \
        auto* const next = found.find(__builtin_return_address(0));                                                   \
        return WS_LIKELY(next != nullptr) ? outside : none;                                                           \
    }                                                                                                                 \
    asm(".symver " #function "," name "@" version)

// For C and Fortran, libgomp and libomp.
#define WS_QUESTIONS(name, version, inside, outside, none)                                                            \
    WS_QUESTION(openmp_##name, #name, version, (), inside, outside, none);                                            \
    WS_QUESTION(openmp_##name##_fortran, #name "_", version, (), inside, outside, none);                              \
    WS_QUESTION(openmp_##name##_llvm, #name, "VERSION", (), inside, outside, none);                                   \
    WS_QUESTION(openmp_##name##_llvm_fortran, #name "_", "VERSION", (), inside, outside, none)

namespace {
// How many levels of regions may be active, as a virtual thread, or its library, has it.
int levels_of(const ThreadSettings& its)
{
    if (its.levels >= 0)
        return its.levels;
    const auto library = openmp(nullptr).max_active_levels;
    return library ? library() : 1;
}
} // namespace

WS_QUESTIONS(omp_get_thread_num, "OMP_1.0", int(mine->number), next(), 0);
WS_QUESTIONS(omp_get_num_threads, "OMP_1.0", int(mine->size), next(), 1);
WS_QUESTIONS(omp_get_max_threads, "OMP_1.0", mine->threads, with_guests(next()), 1);
WS_QUESTIONS(omp_get_num_procs, "OMP_1.0", at_least_most(openmp(nullptr).num_procs()), at_least_most(next()),
             at_least_most(1));
WS_QUESTIONS(omp_get_dynamic, "OMP_1.0",
             mine->dynamic >= 0 ? mine->dynamic : dynamic_of_guest(),
             dynamic_of(next()), 0);
WS_QUESTIONS(omp_in_parallel, "OMP_1.0", mine->active > 0, next(), 0);
WS_QUESTIONS(omp_get_level, "OMP_3.0", mine->depth, next(), 0);
WS_QUESTIONS(omp_get_active_level, "OMP_3.0", mine->active, next(), 0);
WS_QUESTIONS(omp_get_max_active_levels, "OMP_3.0", levels_of(*mine), next(), 1);
WS_QUESTIONS(omp_get_nested, "OMP_1.0", levels_of(*mine) > 1, next(), 0);

namespace {

// Returns the settings of the region at `level` around a virtual thread; null if libws does not know that region.
const ThreadSettings* settings_at(const ThreadSettings& its, int64_t level)
{
    const ThreadSettings* at = &its;
    while (at && at->depth > level)
        at = at->outer;
    return at && at->depth == level ? at : nullptr;
}
int ancestor(const ThreadSettings& its, int64_t level)
{
    if (const ThreadSettings* const at = settings_at(its, level))
        return int(at->number);
    return level >= 0 && level < its.depth ? 0 : -1;
}
int team_size(const ThreadSettings& its, int64_t level)
{
    if (const ThreadSettings* const at = settings_at(its, level))
        return int(at->size);
    return level >= 0 && level < its.depth ? 1 : -1;
}

} // namespace

#define WS_QUESTIONS_OF_LEVEL(name, inside, none)                                                                         \
    WS_QUESTION(openmp_##name, #name, "OMP_3.0", (int of), inside(*mine, of), next(of), none);                            \
    WS_QUESTION(openmp_##name##_fortran, #name "_", "OMP_3.0", (const int* of), inside(*mine, *of), next(of), none);      \
    WS_QUESTION(openmp_##name##_fortran_8, #name "_8_", "OMP_3.0", (const int64_t* of), inside(*mine, *of), next(of), none); \
    WS_QUESTION(openmp_##name##_llvm, #name, "VERSION", (int of), inside(*mine, of), next(of), none);                     \
    WS_QUESTION(openmp_##name##_llvm_fortran, #name "_", "VERSION", (const int* of), inside(*mine, *of), next(of), none)

WS_QUESTIONS_OF_LEVEL(omp_get_ancestor_thread_num, ancestor, 0);
WS_QUESTIONS_OF_LEVEL(omp_get_team_size, team_size, 1);

// What a thread says of its own regions. A virtual thread says it for as long as its region lasts.
namespace {
// Guests' threads do not know what the rank's has said: 0: not asked yet, else an OmpSchedule.
volatile Hardware::Word schedule_set;
OmpSchedule to_schedule(int kind, long chunk)
{
    enum { of_static = 1, dynamic, guided, automatic };   // omp_sched_t; above it a bit of the modifier monotonic
    const int plain = kind & 0xff;
    const long said = plain == automatic || chunk < 0 ? 0 : chunk;
    const Distribution distribution = plain == of_static && said ? Distribution::round_robin
                      : plain == dynamic         ? Distribution::on_demand
                      : plain == guided          ? Distribution::guided
                                                 : Distribution::parts;
    return {distribution, said};
}
Hardware::Word set_schedule(int kind, long chunk)
{
    const OmpSchedule schedule = to_schedule(kind, chunk);
    const Hardware::Word set = Hardware::Word(schedule.chunk) << 3 | Hardware::Word(schedule.distribution) << 1 | 1;
    static_assert(unsigned(Distribution::guided) < 4);
    Hardware::store_relaxed(schedule_set, set); // relaxed, as for dynamic_set: the program's own order is enough
    return set;
}
void say_schedule(int kind, long chunk)
{
    if (ThreadSettings* const mine = own_settings()) {
        mine->schedule = to_schedule(kind, chunk);
        mine->kind = kind;
        mine->chunk = int(chunk);
    } else
        set_schedule(kind, chunk);
}
void set_dynamic(bool value)
{
    if (ThreadSettings* const mine = own_settings())
        mine->dynamic = value;
    else
        Hardware::store_relaxed(dynamic_set, 1 + Flag(value));
}
void set_levels(int64_t levels)
{
    if (ThreadSettings* const mine = own_settings())
        mine->levels = int(std::clamp<int64_t>(levels, 0, INT_MAX));
}
} // namespace

OmpSchedule omp_schedule()
{
    if (const ThreadSettings* const mine = own_settings())
        return mine->schedule;
    Hardware::Word set = Hardware::load_relaxed(schedule_set);
    if (WS_UNLIKELY(set == 0)) {
        static Next<void(int*, int*)> library("omp_get_schedule");
        int kind = 0, chunk = 0;
        if (auto* const ask = library.of_all())
            ask(&kind, &chunk);
        set = set_schedule(kind, chunk);
    }
    return {Distribution(set >> 1 & 3), long(set >> 3)};
}

#define WS_SET_THREADS(function, name, type, version, value, pass)                                                    \
    extern "C" __attribute__((visibility("default"))) void function(type number)                                      \
    {                                                                                                                 \
        static Next<void(type)> found(name, version);                                                                 \
        if (ThreadSettings* const mine = own_settings()) {                                                            \
            mine->threads = int(std::max<int64_t>(1, value));                                                         \
            return;                                                                                                   \
        }                                                                                                             \
        const auto wanted = std::remove_const_t<std::remove_pointer_t<type>>(set(value));                             \
        if (auto* const next = found.find(__builtin_return_address(0)))                                               \
            next(pass);                                                                                               \
    }                                                                                                                 \
    asm(".symver " #function "," name "@" version)

WS_SET_THREADS(openmp_set_threads, "omp_set_num_threads", int, "OMP_1.0", number, wanted);
WS_SET_THREADS(openmp_set_threads_fortran, "omp_set_num_threads_", const int*, "OMP_1.0", *number, &wanted);
WS_SET_THREADS(openmp_set_threads_fortran_8, "omp_set_num_threads_8_", const int64_t*, "OMP_1.0", *number, &wanted);
WS_SET_THREADS(openmp_set_threads_llvm, "omp_set_num_threads", int, "VERSION", number, wanted);
WS_SET_THREADS(openmp_set_threads_llvm_fortran, "omp_set_num_threads_", const int*, "VERSION", *number, &wanted);

// They take integers or, of Fortran, where they are. `note`: what is remembered of them.
#define WS_SETTING(function, name, version, note)                                                                     \
    extern "C" __attribute__((visibility("default"))) void function(long first, long second)                          \
    {                                                                                                                 \
        static Next<void(long, long)> found(name, version);                                                           \
        note;                                                                                                         \
        if (own_settings())                                                                                           \
            return;                                                                                                   \
        if (auto* const next = found.find(__builtin_return_address(0)))                                               \
            next(first, second);                                                                                      \
    }                                                                                                                 \
    asm(".symver " #function "," name "@" version)
#define WS_SETTINGS(name, version, of_c, of_fortran, of_fortran_8)                                                    \
    WS_SETTING(openmp_##name, #name, version, of_c);                                                                  \
    WS_SETTING(openmp_##name##_fortran, #name "_", version, of_fortran);                                              \
    WS_SETTING(openmp_##name##_fortran_8, #name "_8_", version, of_fortran_8);                                        \
    WS_SETTING(openmp_##name##_llvm, #name, "VERSION", of_c);                                                         \
    WS_SETTING(openmp_##name##_llvm_fortran, #name "_", "VERSION", of_fortran)

WS_SETTINGS(omp_set_dynamic, "OMP_1.0", set_dynamic(int(first)), set_dynamic(*reinterpret_cast<const int*>(first)),
            set_dynamic(*reinterpret_cast<const int64_t*>(first)));
WS_SETTINGS(omp_set_nested, "OMP_1.0", set_levels(int(first) ? INT_MAX : 1),
            set_levels(*reinterpret_cast<const int*>(first) ? INT_MAX : 1),
            set_levels(*reinterpret_cast<const int64_t*>(first) ? INT_MAX : 1));
WS_SETTINGS(omp_set_max_active_levels, "OMP_3.0", set_levels(int(first)),
            set_levels(*reinterpret_cast<const int*>(first)), set_levels(*reinterpret_cast<const int64_t*>(first)));
WS_SETTINGS(omp_set_schedule, "OMP_3.0", say_schedule(int(first), int(second)),
            say_schedule(*reinterpret_cast<const int*>(first), *reinterpret_cast<const int*>(second)),
            say_schedule(*reinterpret_cast<const int*>(first), long(*reinterpret_cast<const int64_t*>(second))));

// Fortran's integers of 8 bytes ask in the same way, as no program is compiled with them by default.
#define WS_GET_SCHEDULE(function, name, version)                                                                      \
    extern "C" __attribute__((visibility("default"))) void function(int* kind, int* chunk)                            \
    {                                                                                                                 \
        static Next<void(int*, int*)> found(name, version);                                                           \
        const ThreadSettings* const mine = own_settings();                                                            \
        if (mine && mine->kind >= 0) {                                                                                \
            *kind = mine->kind;                                                                                       \
            *chunk = mine->chunk;                                                                                     \
        } else if (auto* const next = found.find(__builtin_return_address(0)))                                        \
            next(kind, chunk);                                                                                        \
    }                                                                                                                 \
    asm(".symver " #function "," name "@" version)
WS_GET_SCHEDULE(openmp_get_schedule, "omp_get_schedule", "OMP_3.0");
WS_GET_SCHEDULE(openmp_get_schedule_fortran, "omp_get_schedule_", "OMP_3.0");
WS_GET_SCHEDULE(openmp_get_schedule_llvm, "omp_get_schedule", "VERSION");
WS_GET_SCHEDULE(openmp_get_schedule_llvm_fortran, "omp_get_schedule_", "VERSION");

} // namespace ws::openmp
