// SPDX-License-Identifier: MIT
//
// The parts of the GCC plugin and how they meet. In the order of a compilation:
//
//   front.cc            `#pragma ws ...` is lexed: its tokens are parsed by ../clauses and replaced by OpenMP's
//   pragma_operator.cc  the same for _Pragma("ws ...")
//   checks.cc           what only the typed tree shows: chunk sizes, variables the loop must not change
//   diagnostics.cc      errors of GCC's OpenMP front end name `ws`
//   early.cc            a pass before OpenMP is lowered:
//   openmp_loops.cc       -fws=openmp: OpenMP's loops become ours; -fws-report
//   sections.cc           sections become a loop
//   steps.cc              loops whose last step may leave the type of their variable
//   atomics.cc            atomics are plain while nobody shares the loop
//   tasks.cc              what the next pass is to know of tasks
//   lower.cc            a pass after it: the outlined loops and the criticals call libws instead of libgomp
//   names.cc            what a loop is called
//   plain.cc            a pass before inlining: a loop that nobody shares runs in its function, as it was written
//   alone.cc            a pass after inlining: a loop with atomics becomes a plain one and one with atomics
//   registers.cc        around register allocation: which registers such code takes last
//   align.cc            the last passes: where the loops of such code begin
//   fortran.cc          gfortran: directives come rewritten; a pass before early.cc's
//   calls.cc            what a loop does through the functions of its file
//   plugin.cc           start, options, registration
#ifndef WS_GCC_H
#define WS_GCC_H

#include "gcc-headers.h"

#include "../clauses/openmp.h"

namespace ws_gcc {

// The id under which libcpp hands us `#pragma ws`. It must be one of GCC's own (the C++ parser keeps 8 bits, and
// ids past the last are indices into GCC's table of handlers); OpenACC's are free, as -fopenacc is refused.
constexpr unsigned raw_pragma = PRAGMA_OACC_LOOP;

// What the parser gets instead of the raw pragma.
struct Rewritten {
    bool nothing = true; // the directive was not understood: there is no pragma any more
    bool loop = false; // it is `ws for` or `ws taskloop`
    unsigned pragma = 0; // enum pragma_kind
    std::vector<cpp_token> tokens; // ends with CPP_PRAGMA_EOL
};

// Reads the rest of a pragma, macros expanded, and rewrites it. `at` is where the pragma stands.
Rewritten read_and_rewrite(cpp_reader* pfile, location_t at);

// Hands tokens to the parser before whatever libcpp has next.
void push_tokens(cpp_reader* pfile, const std::vector<cpp_token>& tokens);

// Hints between a directive and its `for` (ivdep, unroll), which the parser would not accept there.
struct LoopHints {
    bool independent = false;
    int unroll = 0;
};
// Takes the text of a _Pragma if it is such a hint and stands there.
bool swallow_hint(const std::string& text);
// The hints of the loop whose mark has this number.
LoopHints loop_hints(unsigned number);

// PLUGIN_PRAGMAS: registers the pragma and, when compiling, takes over its tokens.
void register_pragma();
void take_over_pragma_operator();
// Reads the next token that is not padding. Its src_loc is where it stands in the source.
cpp_token next_token(cpp_reader* pfile);

// True once a ws directive was read. Set through note_ws_used, which also turns OpenMP lowering on.
bool ws_used();
void note_ws_used();

// Whether the user asked for OpenMP: flag_openmp tells no more once we have set it.
bool users_openmp();

// Remembers a pragma for the messages: errors that follow one of ours name it. Others have an empty name.
void note_pragma(location_t from, location_t to, const char* name);
void take_over_diagnostics();
// The name of the last pragma at or above a place; empty if it is not ours.
std::string last_pragma(location_t at);

// `text` with its 'quotes' as the user's locale has them.
std::string localized_quotes(const std::string& text);
void error_about(location_t at, const std::string& text);

void declare_markers(); // __ws_mark, __ws_chunk: PLUGIN_START_UNIT
void check_function(tree function); // PLUGIN_PRE_GENERICIZE
void register_early_pass(const char* plugin_name);
// A variable for the code in `scope`: in an OpenMP region it must be declared inside.
tree declare_temporary(gbind* scope, tree type);
void register_lowering_pass(const char* plugin_name);

// -fws=openmp and -fws-report.
void set_openmp_loops(bool conversion, bool remarks_wanted);
bool shares_openmp_loops();
bool reports_loops();
// Makes an `omp parallel for` ours if it can be, and reports. `nested`: it stands in a construct with threads.
void share_openmp_loop(gimple_stmt_iterator* at, gbind* scope, bool nested);
void report_openmp_loop(gomp_for* loop);
// The mark of a parallel region, null if it has none.
gcall* region_mark(gimple_stmt_iterator parallel);
// Makes a loop of the `ws sections` that a region is, if it is one.
void loop_over_sections(gimple_stmt_iterator parallel);
// The first loop in a sequence, through blocks, and where it stands.
gomp_for* first_loop(gimple_seq* body, gimple_stmt_iterator* at);
// What is to be done about a region's loop whose last step may leave the type of its variable.
struct Quotient {
    gimple_stmt_iterator at;
    gbind* scope;
};
// gfortran's variables with a quotient, which may be a number of iterations
using Quotients = std::map<tree, Quotient>;
void look_at_steps(gimple_stmt_iterator parallel, const Quotients& quotients);
// In a function that was outlined of sections: takes back what that makes GCC think of lastprivate variables.
void note_sections_child(function* child);
// Tells the mark of a region, if it has one, that nothing depends on the last iteration.
void note_order(gimple_stmt_iterator parallel);

// Notes the reductions of a region that has a mark.
void note_results(gimple_stmt_iterator parallel);
// Where its results lie, as abi.h writes it, by the mark and what the region gets; empty if it has none. `addresses`:
// of static ones.
std::string results_text(gcall* mark, tree data, std::vector<tree>& addresses);

// Whether an atomic is a `ws atomic`; without -fopenmp all are. Where the front end sees no directive of ours, its
// places are told by note_atomic.
void note_atomic(const std::string& file, int line);
bool is_our_atomic(location_t at);
bool atomics_lowered(); // whether there were any
void lower_atomic(gimple_stmt_iterator at, gbind* scope);
void register_atomics(const char* plugin_name);
void register_alone_pass(const char* plugin_name);
void register_plain_pass(const char* plugin_name);
void register_register_passes(const char* plugin_name);
void register_align_passes(const char* plugin_name);
// Whether a function, in machine code, is a loop's outlined one, or has its plain version in it.
bool runs_iterations(function* fn);

// Whether the file sets a variable, parameter or member from OpenMP's number of threads.
bool holds_thread_count(tree decl);

// What code does that look_through is shown.
struct Found {
    // function: named, perhaps called elsewhere
    enum FoundKind { call, indirect_call, function, variable, construct } kind;
    tree decl; // the function, or the variable (those that are not local, or hold a number of threads)
    location_t at;
    tree inside; // the function it stands in; null for the code itself
    const char* name; // OpenMP's, of a construct
    gimple* statement; // of a call, where the body is in GIMPLE
};
// Reports what a statement sequence, or a function, does itself and in the functions of this file that it calls, or
// whose address it takes. Functions in `seen` (their DECL_UIDs) are left out and those looked at are added to it.
void look_through(gimple_seq body, const std::function<void(const Found&)>& report, std::set<unsigned>* seen = nullptr);
void look_through_function(tree function, const std::function<void(const Found&)>& report,
                           std::set<unsigned>* seen = nullptr);

// The language of the file as messages speak of it.
const ws::Language& language();

// gfortran: whether the source was rewritten (../fortran); reads what the rewriter says about it.
bool read_rewritten_fortran();
// Whether a directive of ours of this kind stands there.
bool is_written(ws::DirectiveKind kind, location_t at);
void take_over_fortran_diagnostics();
void register_fortran_pass(const char* plugin_name);

// For symbols of C++; "" for any other symbol.
std::string readable_name(const std::string& symbol);

// What the loop with this mark, in this function, is called. The first call for each loop must come in the order of the
// source.
std::string loop_name(gcall* mark, tree function);
// A mark for a construct without a directive of ours. Without a condition it is always shared.
gcall* build_mark(HOST_WIDE_INT kinds, tree chunk, tree steal_chunk, const std::string& name,
                  tree condition = integer_one_node);

// Marks a `ws taskgroup` for the pass that follows: the call that begins it comes next.
constexpr HOST_WIDE_INT taskgroup_mark = HOST_WIDE_INT(ws::task_mark) | ws::sections_mark,
                        reducing_taskgroup_mark = taskgroup_mark | ws::simd_mark;
void mark_taskgroup(gimple_stmt_iterator at);
// Whether a call of GOMP_taskwait that stands there is a `ws taskwait`.
bool is_our_taskwait(location_t at);

// The function a call expression or statement calls, if it is one of ours.
bool is_marker(tree function, const char* name);
// With -Wall: what is correct, and OpenMP's, and hardly meant.
void warn(location_t at, const ws::Warning& warning);

void check_chunk_argument(location_t at, tree which, tree chunk);

} // namespace ws_gcc

#endif
