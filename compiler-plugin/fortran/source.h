// SPDX-License-Identifier: MIT
//
// Fortran source as the rewriter sees it: physical lines, and which of them are directives of ours.
#ifndef WS_FORTRAN_SOURCE_H
#define WS_FORTRAN_SOURCE_H

#include "token.h"

#include <string>
#include <vector>

namespace ws_fortran {

enum class Form { free, fixed };

struct Options {
    Form form = Form::free;
    bool openmp = false; // the user gave -fopenmp: `!$omp` and `!$ ` stay what they are
    bool openmp_simd = false; // -fopenmp-simd: `!$omp simd` and `!$omp declare simd` do
    size_t length = 132; // of a line, as the compiler's options have it; 0: no limit
    std::vector<std::string> include_folders;
};

// Where something stands in the user's source. Columns count bytes from 1.
struct Place {
    std::string file;
    int line = 0;
    int column = 0;
};

// A `!$` line, by what follows.
enum class Sentinel {
    none,
    ws, // a directive, or the continuation of one
    glued, // `!$wsdo`: a comment, and surely a mistake
    conditional, // `!$ `, `!$omp`: OpenMP's
};

struct SentinelLine {
    Sentinel kind = Sentinel::none;
    size_t dollar = 0; // index of the `$`
    size_t body = 0; // ws: index of what follows the sentinel and its continuation mark
    bool continues = false; // ws: the line is a continuation line
};

SentinelLine classify(const std::string& line, Form form);
bool is_comment_or_blank(const std::string& line, Form form);

// The file name of an `include 'name'` line, or nothing.
std::string include_name(const std::string& line, Form form);

// Puts the tokens of line[from..] behind `tokens` and their places behind `places`; a token's origin is the index of
// its place. Identifiers are folded to lower case in the token, as written in `texts`. True if the line is continued:
// free form's `&` at the end, which is no token; any other is one, and an error.
struct LexedTokens {
    ws::Tokens tokens;
    std::vector<std::string> texts;
    std::vector<Place> places;
};
bool lex(const std::string& line, size_t from, Form form, const Place& start, LexedTokens& out);

} // namespace ws_fortran

#endif
