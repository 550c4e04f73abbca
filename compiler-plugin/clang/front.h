// SPDX-License-Identifier: MIT
//
// The half of the plugin that sees the source, by clang's headers. The other does without them: they take long to
// compile.
#ifndef WS_CLANG_FRONT_H
#define WS_CLANG_FRONT_H

#include "clang-headers.h"
#include "ws_clang.h"

#include <functional>
#include <set>
#include <string>

namespace ws_clang {

// True once a ws directive was read.
bool ws_used();

// Remembers a pragma for the messages: errors that follow one of ours name it. Others have an empty name.
void note_pragma(const clang::SourceManager& sources, clang::SourceLocation from, clang::SourceLocation to,
                 const std::string& name);
// Whether one of ours stands between the two places.
bool has_pragma_between(const clang::SourceManager& sources, clang::SourceLocation from, clang::SourceLocation to);
// Whether the pragma that stands last before a place is ours.
bool is_ours(const clang::SourceManager& sources, clang::SourceLocation at);
void take_over_diagnostics(clang::DiagnosticsEngine& diagnostics);
void error_about(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation at, const std::string& text);

// The precompiled header that was made without the plugin, or "": it lacks what a directive needs.
std::string foreign_header(clang::Preprocessor& preprocessor);
void refuse_header(clang::DiagnosticsEngine& diagnostics, clang::SourceLocation at, const std::string& name);

// Errors about calls in loops: each place once, each function looked at once.
struct CallReports {
    // `loop`: the loop that comes there, if the place is not in it.
    std::function<void(clang::SourceLocation at, const std::string& text, clang::SourceLocation loop)> report;
    std::set<const clang::FunctionDecl*> seen;
};
void check_calls(clang::ASTContext& context, const clang::OMPExecutableDirective* loop, CallReports& reports);

// Looks at the finished tree of the file.
void check_file(clang::CompilerInstance& compiler);

// Before code is generated for these.
void count_steps(clang::ASTContext& context, clang::DeclGroupRef declarations);

// Notes what the reductions of a loop are (ws_clang.h): the variables that its values are merged into.
void note_results(clang::ASTContext& context, const clang::OMPExecutableDirective* directive);

// The call of the marking function that a loop carries, if it does.
const clang::CallExpr* mark_of(const clang::OMPExecutableDirective* loop);

// -fws=openmp, -fws-report: instead of clang's own handler.
void take_over_openmp_pragma(clang::Preprocessor& preprocessor);
bool marked_openmp_loops(); // there were some that may be shared
// Looks in the tree for what keeps them from it.
void look_at_openmp_loops(clang::ASTContext& context);

} // namespace ws_clang

#endif
