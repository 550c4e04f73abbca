// SPDX-License-Identifier: MIT
//
// The parts of the clang plugin and how they meet. In the order of a compilation:
//
//   plugin.cc       start, options, registration
//   front.cc        `#pragma ws ...`: its tokens are parsed by ../clauses and replaced by OpenMP's
//   openmp_pragma.cc, openmp_loops.cc, thread_counts.cc   -fws=openmp, -fws-report
//   diagnostics.cc  errors of clang's OpenMP front end name `ws`
//   checks.cc       what only the typed tree shows: chunk sizes, variables the loop must not change
//   calls.cc        calls of MPI in loops
//   lower.cc        LLVM pass, before any optimization: the outlined loops call libws instead of libomp
//   captures.cc     which variables it gets by value
//   atomics.cc      the same for `ws atomic`: plain operations while nobody shares the loop
//   critical.cc     the same for `ws critical`
//   features.cc     a constructor tells libws what the file uses
#ifndef WS_CLANG_H
#define WS_CLANG_H

#include "clang-headers.h"

#include "../clauses/openmp.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace ws_clang {

// Set from the command line (wrappers/wrapper.sh).
struct Options {
    bool compiling = false;     // not only preprocessing
    bool openmp = false;        // the user gave -fopenmp
    bool openmp_loops = false;  // -fws=openmp
    bool report = false;        // -fws-report
};
extern Options options;

// ---- front half

// The `omp critical` of this name marks the `omp atomic` in it as ours.
inline constexpr const char *atomic_mark = "__ws_atomic";

// True once a ws directive was read.
bool ws_used();

// Remembers a pragma for the messages: errors that follow one of ours name it. Others have an empty name.
void note_pragma(const clang::SourceManager &sources, clang::SourceLocation from, clang::SourceLocation to,
                 const std::string &name);
// Whether one of ours stands between the two places.
bool has_pragma_between(const clang::SourceManager &sources, clang::SourceLocation from, clang::SourceLocation to);
// Whether the pragma that stands last before a place is ours.
bool is_ours(const clang::SourceManager &sources, clang::SourceLocation at);
void take_over_diagnostics(clang::DiagnosticsEngine &diagnostics);
void error_about(clang::DiagnosticsEngine &diagnostics, clang::SourceLocation at, const std::string &text);

// Errors about calls in loops: each place once, each function looked at once.
struct CallReports {
    // `loop`: the loop that comes there, if the place is not in it.
    std::function<void(clang::SourceLocation at, const std::string &text, clang::SourceLocation loop)> report;
    std::set<const clang::FunctionDecl *> seen;
};
void check_calls(clang::ASTContext &context, const clang::OMPLoopDirective *loop, CallReports &reports);

// Looks at the finished tree of the file.
void check_file(clang::CompilerInstance &compiler);

// The call of the marking function that a loop carries, if it does.
const clang::CallExpr *mark_of(const clang::OMPLoopDirective *loop);

// -fws=openmp, -fws-report: instead of clang's own handler.
void take_over_openmp_pragma(clang::Preprocessor &preprocessor);
// Bits in the kinds of a mark, above those of the site: the loop is an `omp parallel for`; it has a schedule clause.
inline constexpr unsigned openmp_loop = 1u << ws::countdown_shift, openmp_schedule = 2u << ws::countdown_shift;
// Looks in the tree for loops that use the number of threads; then: why the loop at a place must stay OpenMP, or nothing.
void find_thread_counts(clang::ASTContext &context);
std::string use_of_thread_count(const std::string &place);
// Prints "PLACE: remark: TEXT" for -fws-report.
void remark(const std::string &place, const std::string &text);

// ---- back half

void lower_atomics(llvm::Module &module);
// These two return what of libws is used: WS_USES_... of abi.h.
unsigned lower_criticals(llvm::Module &module);
unsigned lower_loops(llvm::Module &module);
unsigned features_of_loops(llvm::Module &module, llvm::ArrayRef<llvm::Function *> loops);
void announce(llvm::Module &module, unsigned features);

// Whether an `omp parallel for` may become ours; says so, or why not.
bool judge_openmp_loop(const llvm::Function *body, const llvm::Function *host, const std::string &place, const std::string &name);
// Has libomp schedule a loop that was marked as was written.
void restore_openmp_schedule(llvm::Function *body, unsigned kinds);
// A symbol as the user knows it, without parameters.
std::string readable_name(const std::string &symbol);

// The type of a variable that a fork gets by its address and that can be given by its value; null if it cannot.
llvm::Type *captured_value(const llvm::CallBase *fork, unsigned operand);

// The function called, through casts; null if it is not known.
llvm::Function *callee(const llvm::Instruction &instruction);
bool calls(const llvm::Instruction &instruction, llvm::StringRef name);
// Takes a call away; an invoke leaves a jump to where it went on.
void remove_call(llvm::CallBase *call);

}  // namespace ws_clang

#endif
