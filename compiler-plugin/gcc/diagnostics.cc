// SPDX-License-Identifier: MIT
//
// The user wrote `ws`; GCC's OpenMP front end speaks of `omp`. Each diagnostic passes here when its text is ready
// but not yet printed: if the last pragma above its place is one of ours, the text is put into our words.
#include "ws_gcc.h"

#include <algorithm>

namespace ws_gcc {

namespace {

diagnostic_starter_fn next_starter;

struct Pragma {
    int last_line;
    bool is_ws;
};
std::map<std::string, std::map<int, Pragma>> pragmas;   // file, first line

// Messages of GCC's front ends (msgids: compared in the user's language) about a construct, but at a place other
// than its pragma and without a word that tells which construct: these get ours in front.
const char *const about_the_construct[] = {
    "%<for%> statement expected",
    "for statement expected",
    "not enough perfectly nested loops",
    "not enough for loops to collapse",
    "collapsed loops not perfectly nested",
    "invalid increment expression",
    "invalid controlling predicate",
    "missing controlling predicate",
    "missing increment expression",
    "invalid type for iteration variable %qE",
    "expected iteration declaration or initialization",
    "initializer expression refers to iteration variable %qD",
    "condition expression refers to iteration variable %qD",
    "increment expression refers to iteration variable %qD",
    "iteration variable %qE should be private",
    "iteration variable %qE is predetermined linear",
    "increment is not constant 1 or -1 for %<!=%> condition",
    "condition expression refers to outer iteration variable",
    "outer iteration variable %qD used in initializer expression has type other than %qT",
    "outer iteration variable %qD used in condition expression has type other than %qT",
    "outer iteration variable %qD multiplier expression %qE is not integral",
    "outer iteration variable %qD addend expression %qE is not integral",
    "two different outer iteration variables %qD and %qD used in a single loop",
    "the same loop iteration variables %qD used in multiple associated loops",
    "range-based %<for%> loop not allowed in %<#pragma ws%>",
    "barrier region may not be closely nested inside of work-sharing, %<loop%>, %<critical%>, %<ordered%>, %<master%>, "
    "%<masked%>, explicit %<task%> or %<taskloop%> region",
    "work-sharing region may not be closely nested inside of work-sharing, %<loop%>, %<critical%>, %<ordered%>, "
    "%<master%>, %<masked%>, explicit %<task%> or %<taskloop%> region",
    "%<ordered%> region must be closely nested inside a loop region with an %<ordered%> clause",
    "%qE not specified in enclosing %qs",
    "enclosing %qs",
    "%<#pragma%> is not allowed here",
    "expected declaration specifiers",
    "expected unqualified-id",
    "threadprivate iteration variable %qD",
    "difference between %qE and %qD does not have integer type",
    "no match for %<operator%s%> (operand types are %qT and %qT)",
};

// Translations keep these names.
constexpr const char *words[][2] = {
    {"#pragma omp parallel for", "#pragma ws for"},
    {"#pragma omp declare reduction", "#pragma ws declare reduction"},
    {"pragma omp declare reduction", "pragma ws declare reduction"},
    {"#pragma omp parallel", "#pragma ws for"},
    {"#pragma omp for", "#pragma ws for"},
    {"#pragma acc loop", "#pragma ws for"},
    {"#pragma omp", "#pragma ws"},
    {"OpenMP", "ws"},
};

expanded_location place_of(location_t at) {
    return expand_location(linemap_resolve_location(line_table, at, LRK_MACRO_EXPANSION_POINT, nullptr));
}

const Pragma *last_pragma_before(const expanded_location &place) {
    auto file = pragmas.find(place.file ? place.file : "");
    if (file == pragmas.end())
        return nullptr;
    auto next = file->second.upper_bound(place.line);
    return next == file->second.begin() ? nullptr : &std::prev(next)->second;
}

bool is_about_construct(const char *format) {
    return std::any_of(std::begin(about_the_construct), std::end(about_the_construct), [&](const char *message) {
        // GCC's C parser appends "before X" to some: the message is then the beginning.
        const char *translated = _(message);
        return strncmp(format, translated, strlen(translated)) == 0;
    });
}

bool replace_all(std::string &text, const std::string &from, const std::string &to) {
    bool found = false;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
        found = true;
    }
    return found;
}

void put_into_our_words(diagnostic_context *context, const diagnostic_info &diagnostic, bool on_the_pragma) {
    chunk_info *formatted = pp_buffer(context->printer)->cur_chunk_array;
    if (!formatted || !formatted->args[0])
        return;
    bool names_ws = false;
    for (const char **part = formatted->args; *part; part++) {
        std::string text = *part;
        bool changed = false;
        for (const auto &word : words)
            changed |= replace_all(text, word[0], word[1]);
        if (replace_all(text, std::string(open_quote) + "parallel" + close_quote,
                        std::string(open_quote) + "#pragma ws for" + close_quote))
            changed = true;
        if (changed)
            *part = ggc_strdup(text.c_str());
        names_ws |= text.find("ws ") != std::string::npos;
    }
    const bool is_error = diagnostic.kind == DK_ERROR || diagnostic.kind == DK_PERMERROR || diagnostic.kind == DK_SORRY;
    if (!names_ws && is_error && (on_the_pragma || is_about_construct(diagnostic.message.format_spec)))
        formatted->args[0] = ggc_strdup((localized_quotes("in '#pragma ws': ") + formatted->args[0]).c_str());
}

void starter(diagnostic_context *context, diagnostic_info *diagnostic) {
    const expanded_location place = place_of(diagnostic_location(diagnostic));
    const Pragma *pragma = last_pragma_before(place);
    if (pragma && pragma->is_ws)
        put_into_our_words(context, *diagnostic, place.line <= pragma->last_line);
    next_starter(context, diagnostic);
}

}  // namespace

std::string localized_quotes(const std::string &text) {
    std::string out;
    bool open = false;
    for (char c : text) {
        if (c != '\'') {
            out += c;
            continue;
        }
        out += open ? close_quote : open_quote;
        open = !open;
    }
    return out;
}

void error_about(location_t at, const std::string &text) { error_at(at, "%s", localized_quotes(text).c_str()); }

void note_pragma(location_t from, location_t to, bool is_ws) {
    const expanded_location first = place_of(from), last = place_of(to);
    pragmas[first.file ? first.file : ""][first.line] = {std::max(first.line, last.line), is_ws};
}

void take_over_diagnostics() {
    next_starter = diagnostic_starter(global_dc);
    diagnostic_starter(global_dc) = starter;
}

}  // namespace ws_gcc
