// SPDX-License-Identifier: MIT
//
// What the rewriter tells the plugin: comments behind the first two lines of the rewritten file, one per directive,
//
//     !ws-mark KIND FIRST LAST KINDS NAME FILE
//
// KIND is `loop`, `sections`, `section`, `atomic`, `critical`, `task`, `taskloop`, `taskgroup`, `taskwait`, `other` or
// `omp` (one of OpenMP's own). It stands in the
// lines FIRST to LAST of FILE; gfortran places loops and sections at FIRST and the others at LAST. KINDS is that of the
// mark (0 except those). NAME is that of a name clause, its bytes as hexadecimal digits, or `-`.
#ifndef WS_FORTRAN_MARKS_H
#define WS_FORTRAN_MARKS_H

namespace ws {

inline constexpr const char* fortran_mark = "!ws-mark ";

// A critical section needs no mark: its name for gfortran, which allows no leading underscore, is critical_prefix
// (../clauses/openmp.h) with that of the user, except its first two characters. This is how all such names begin.
inline constexpr const char* fortran_critical = "ws_critical";

// A task and a taskloop have this priority, and more by the number of their mark, from 0.
inline constexpr int fortran_task_priority = 1 << 28;

} // namespace ws

#endif
