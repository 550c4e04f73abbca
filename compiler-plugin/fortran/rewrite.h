// SPDX-License-Identifier: MIT
//
// Rewrites one Fortran source: each `!$ws` directive becomes the OpenMP directive that gfortran's own front end checks
// and outlines, every other line stays. `# line "file"` lines keep messages and debug information at the user's lines;
// what the user wrote in a directive keeps its columns too.
//
//     !$ws do schedule(dynamic, n) reduction(+:s)  &   !$omp parallel do &
//     !$ws    private(t)                               !$omp&                      reduction(+:s) &
//                                                      !$omp&   private(t) &
//                                                      !$omp& schedule(dynamic, &
//                                                      !$omp&                  n &
//                                                      !$omp& ) proc_bind(close &
//                                                      !$omp&)
//     do i = 1, n                                      do i = 1, n
//
// The thieves' chunk is in num_threads. The last line stands for the directive's first: there gfortran places the
// construct. Which constructs are ours the plugin reads from the comments at the head of the result (see marks.h).
#ifndef WS_FORTRAN_REWRITE_H
#define WS_FORTRAN_REWRITE_H

#include "source.h"

#include <set>

namespace ws_fortran {

// An error in a directive.
struct Message {
    Place place;
    std::string text;
    std::string source_line;
    bool warning = false;
};

struct Result {
    bool any = false; // there is a directive: otherwise `text` is the text, ready for -fpreprocessed
    std::string text;
    std::vector<Message> messages;
};

// `text` is the content of the file to which messages refer as `name`, perhaps with line markers of a preprocessor.
Result rewrite(const std::string& text, const std::string& name, const Options& options);

} // namespace ws_fortran

#endif
