// SPDX-License-Identifier: MIT
//
// How a directive is told to a compiler that already knows OpenMP: as the tokens of an OpenMP construct that the
// compiler's own front end checks and outlines, with a call that marks it as ours for the pass that follows.
//
//     omp parallel for <data clauses> schedule(dynamic, 1)
//         num_threads(__ws_mark(NUMBER, KINDS, __ws_chunk(0, expr), __ws_chunk(1, expr), "name", (condition) ? 1 : 0))
//     omp parallel sections <data clauses> num_threads(...)
//     omp task <clauses> if(__ws_mark(...))     also taskloop
//
// num_threads is the one clause whose expression is evaluated once, by the encountering function, just before the
// region is forked: where the runtime needs the chunk sizes. A chunk that was not given is a plain 0. KINDS is the low
// part of ws_site::kinds (runtime/abi/abi.h); NUMBER tells the directives of a file apart; the name is that of a
// name clause, or empty; the condition is the if clause's, or a plain 1. Sections are units of one: schedule(dynamic,
// 1).
#ifndef WS_CLAUSES_OPENMP_H
#define WS_CLAUSES_OPENMP_H

#include "directive.h"

namespace ws {

inline constexpr const char* mark_function = "__ws_mark";
inline constexpr const char* chunk_function = "__ws_chunk";

// Bits above those of the site's kinds belong to a compiler's own passes.
inline constexpr int countdown_shift = 22;
// It is `ws sections`; it is `ws for simd`. Above the six bits of a countdown.
inline constexpr int sections_mark = 1 << 28, simd_mark = 1 << 29;
// It is `ws task` or `ws taskloop`.
inline constexpr int task_mark = 1 << 30;
// Eight bits: those of the type of a variable whose last step may leave it (less than 0: unsigned). 0: none can.
inline constexpr int step_shift = 32;

// Which clause a __ws_chunk belongs to: its first argument.
inline constexpr const char* chunk_clauses[] = {"schedule", "steal_schedule"};

// The `omp critical` of this name is the `ws critical` of the name that follows the prefix; the bare prefix without its
// last character is the unnamed one.
inline constexpr const char* critical_prefix = "__ws_critical_";

// The tokens after `#pragma omp parallel` (a loop, sections), `#pragma omp section`, `#pragma omp declare` (a
// reduction), `#pragma omp atomic`, `#pragma omp critical`, `#pragma omp task`, taskloop, taskgroup or taskwait.
// Nothing in them marks an atomic, a taskgroup or a taskwait: the compiler's half knows it by its place.
Tokens as_openmp(const Directive& directive, int pragma, unsigned number);

// KINDS of a loop, of sections, a task or a taskloop.
int site_kinds(const Directive& directive);

// A warning under -Wall, about a loop or sections. `name`: -Wno-ws-NAME turns it off.
struct Warning {
    const char* name;
    std::string text;
};
Warning thread_number(DirectiveKind kind, const Language& language = c_language);
Warning computed_goto(DirectiveKind kind, const Language& language = c_language); // Fortran: an assigned one
Warning thread_variable_written(const std::string& variable, DirectiveKind kind, const Language& language = c_language);

// What becomes of a warning. The plugin's arguments "warn-no-NAME" and "warn-error-NAME" say it; false if it is
// another, or there is no such warning.
enum class Warned { with_wall, never, as_error };
bool set_warning(const std::string& argument);
Warned how_to_warn(const Warning& warning);

// Parts of a plugin that only make loops faster. `without-PART` among its arguments leaves one out, so that what it
// brings can be measured (benchmarks: placement). False if the argument is another.
enum class Optimization { align, alone, plain, captures, registers };
bool leave_out(const std::string& argument);
bool has(Optimization part);

// The warning's text and its name, as compilers show theirs.
std::string shown(const Warning& warning);

} // namespace ws

#endif
