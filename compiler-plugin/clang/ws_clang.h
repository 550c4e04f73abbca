// SPDX-License-Identifier: MIT
//
// The parts of the clang plugin and how they meet. In the order of a compilation:
//
//   plugin.cc       start, options, registration of the front half (front.h)
//   front.cc        `#pragma ws ...`: its tokens are parsed by ../clauses and replaced by OpenMP's
//   openmp_pragma.cc, openmp_loops.cc, thread_counts.cc   -fws=openmp, -fws-report
//   diagnostics.cc  errors of clang's OpenMP front end name `ws`
//   checks.cc       what only the typed tree shows: chunk sizes, variables the loop must not change
//   calls.cc        calls of MPI in loops
//   pass.cc         the back half (back.h): an LLVM pass before any optimization
//   lower.cc        the outlined loops' forks call libws instead of libomp
//   body.cc         and so do the loops themselves
//   code.cc         what the files of the back half have in common
//   results.cc      where the results of reductions lie, for mpirun -workshare-check
//   plain.cc        a loop that nobody shares runs in its function, as it was written
//   captures.cc     which variables it gets by value
//   atomics.cc      the same for `ws atomic`: plain operations while nobody shares the loop
//   critical.cc     the same for `ws critical`
//   tasks.cc        tasks call libws instead of libomp
//   features.cc     a constructor tells libws what the file uses
#ifndef WS_CLANG_H
#define WS_CLANG_H

#include "../clauses/openmp.h"

#include <string>
#include <vector>

namespace ws_clang {

// Set from the command line (wrappers/wrapper.sh).
struct Options {
    bool compiling = false; // not only preprocessing
    bool openmp = false; // the user gave -fopenmp
    bool openmp_loops = false; // -fws=openmp
    bool report = false; // -fws-report
};
extern Options options;

// ---- what both halves use

// The `omp critical` of this name marks the `omp atomic` in it as ours.
inline constexpr const char* atomic_mark = "__ws_atomic";
// Those of such names mark the `omp taskgroup` or `omp taskloop` in them as ours. A number follows: they may be nested.
inline constexpr const char* taskgroup_mark = "__ws_taskgroup_";
// The kinds of the mark that follows an `omp taskwait`.
inline constexpr int taskwait_mark = ws::task_mark | ws::sections_mark;
// False if the file has an atomic statement about a member of a union, or an object that any pointer may lead to: the
// type of the object then does not say what else can be the same object.
extern bool typed_atomics;

// Bits in the kinds of a mark, above those of the site: the loop is an `omp parallel for`; it has a schedule clause.
inline constexpr unsigned openmp_loop = 1u << ws::countdown_shift, openmp_schedule = 2u << ws::countdown_shift;
// What the tree says against sharing the OpenMP loop at a place: it uses the number of threads, or is not rectangular.
// Empty: nothing. After look_at_openmp_loops().
std::string why_not_by_tree(const std::string& place);
// A variable of a loop's reduction clauses.
struct Reduction {
    std::string name;
    // as in runtime/abi/abi.h; 0: the user's own, or of a type that has no value to compare
    char operation;
    bool is_signed, is_complex;
};
// Those of the loop with this number, in the order of the clauses; several times for a template.
void note_reductions(unsigned directive, std::vector<Reduction> reductions);
// Prints "PLACE: remark: TEXT" for -fws-report.
void remark(const std::string& place, const std::string& text);

} // namespace ws_clang

#endif
