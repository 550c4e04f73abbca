// SPDX-License-Identifier: MIT
//
// The one grammar of `#pragma ws`: from tokens to a directive. It knows no compiler; expressions and variables
// are checked later, by the compiler's own front end.
//
//     ws for [simd] [clause[[,] clause]...]          Fortran: ws do
//     ws sections [clause[[,] clause]...]
//     ws section
//     ws atomic [read | write | update | capture] [memory order]
//     ws critical [(name)]
//     ws declare reduction (...)
//     ws task | ws taskloop | ws taskgroup [clause[[,] clause]...]
//     ws taskwait
#ifndef WS_CLAUSES_DIRECTIVE_H
#define WS_CLAUSES_DIRECTIVE_H

#include "token.h"

namespace ws {

enum class DirectiveKind {
    none,
    loop,
    declare_reduction,
    atomic,
    critical,
    sections,
    section,
    task,
    taskloop,
    taskgroup,
    taskwait,
};

// How a language writes directives, for the grammar and its messages. Fortran's words are lower case here: the
// caller folds what the user wrote.
struct Language {
    const char* prefix; // before the directive's name
    const char* loop; // the name of the loop directive
};
inline constexpr Language c_language = {"#pragma ws", "for"};
inline constexpr Language fortran_language = {"!$ws", "do"};

// As in runtime/abi/abi.h (WS_AUTO ...), which a test checks.
enum class Schedule { time_sized = 0, static_ = 1, dynamic = 2, guided = 3, runtime = 4 };

struct ScheduleClause {
    bool present = false;
    Schedule kind = Schedule::time_sized;
    Tokens chunk; // the chunk expression's tokens, empty if none was given
    int origin = 0; // the word `schedule` itself
};

struct Directive {
    DirectiveKind kind = DirectiveKind::none;
    bool simd = false; // a loop: `for simd`
    ScheduleClause schedule; // the owner's chunks
    ScheduleClause steal_schedule; // the thieves' chunks
    Tokens rest; // what the front end shall read as it stands: the data clauses, collapse,
        // all after `declare`, the words after `atomic`
    std::string loop_name; // the text of the name clause; empty: none
    Tokens condition; // the if clause's expression, empty if there is none
    int condition_origin = 0; // the word `if` itself
    Token name; // critical: its name; no text if it has none
};

// Parses what follows `#pragma ws`. On an error in a clause that clause is left out and the rest is still parsed;
// kind is none if it is not even known which directive was meant. `pragma` is the origin for errors that have no
// token of their own (an empty directive, a clause that is not closed).
Directive parse(const Tokens& tokens, int pragma, Problems& problems, const Language& language = c_language);

// The directive as messages name it: "#pragma ws for".
std::string full_name(DirectiveKind kind, const Language& language = c_language);

// Whether it is `task` or one of its kin.
bool is_of_tasks(DirectiveKind kind);

// Returns "; did you mean 'X'?" for the one of `known` that `word` is misspelt of, or nothing if none is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

// What is wrong with a directive in the body of a `for simd`.
std::string cannot_stand_in_simd(DirectiveKind kind, const Language& language = c_language);

} // namespace ws

#endif
