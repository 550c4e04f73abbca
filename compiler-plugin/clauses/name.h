// SPDX-License-Identifier: MIT
//
// What a loop is called in the verdict, the report and all else that speaks of it at run time (ws_site::where): the
// text of its name clause, or "file:line:function". In any case one line of UTF-8 without control characters and of at
// most longest_name bytes, whatever the source or its path may hold.
#ifndef WS_CLAUSES_NAME_H
#define WS_CLAUSES_NAME_H

#include "directive.h"

#include <cstdint>
#include <map>

namespace ws {

inline constexpr size_t longest_name = 191; // WS_NAME_MAX of runtime/abi/abi.h, which a test checks

// Puts what a string literal means behind `text`; false if the token is none of char.
bool read_literal(const Token& token, const Language& language, std::string& text);

// What is wrong with a text as a name; nothing if it is a good one.
std::string why_no_name(const std::string& text);

// A literal of C that means the text, in ASCII: the compiler's character sets leave it as it is.
std::string as_literal(const std::string& text);

// Names the loops of a file that have no name clause. Those of one line and function are told apart by numbers from the
// second on, "app.c:12:main#2", in the order in which they come here first.
class LoopNames {
public:
    // `function` as a demangler gives it, without its parameters. `directive`: any number that no other directive of
    // the line has.
    std::string operator()(const std::string& file, int line, const std::string& function, uint64_t directive);

private:
    std::map<std::string, std::vector<std::pair<uint64_t, std::string>>> known_; // by name: directives and functions
};

// A function's name as all compilers' demanglers should give it: lambdas without numbers and parameters, enclosing
// functions without parameters.
std::string plain_function(const std::string& demangled);

} // namespace ws

#endif
