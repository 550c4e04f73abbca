// SPDX-License-Identifier: MIT
//
// The user wrote `ws`; GCC's OpenMP front end speaks of `omp`. Each diagnostic passes here when its text is ready
// but not yet printed: if the last pragma above its place is one of ours, the text is put into our words.
#include "ws_gcc.h"

namespace ws_gcc {

namespace {

Starter next_starter;

struct Pragma {
    int last_line;
    std::string name; // "#pragma ws for"; empty: not ours
    bool after_another; // follows a pragma without a line between
};
std::map<std::string, std::map<int, Pragma>> pragmas; // file, first line

// Messages of GCC's front ends (msgids: compared in the user's language) about a construct, but at a place other
// than its pragma and without a word that tells which construct. They get ours in front, or our own text instead
// (%s: the pragma) where GCC's speaks of what the user did not write.
struct Known {
    const char* message;
    const char* instead;
};

constexpr const char* must_be_a_loop = "'%s' must be followed by a 'for' loop";
constexpr const char* shares_its_loop = "'%s' and another directive cannot share a loop";

constexpr const char* not_here = "%<#pragma%> is not allowed here";

constexpr Known about_the_construct[] = {
    {"OpenMP constructs other than %<ordered simd%>, %<simd%>, %<loop%> or %<atomic%> may not be nested inside "
     "%<simd%> region",
     "'%s' cannot stand in a simd loop"},
    {"%<#pragma omp section%> may only be used in %<#pragma omp sections%> construct",
     "'%s' must stand in the block of '#pragma ws sections'"},
    {"for statement expected", must_be_a_loop},
    {"%<for%> statement expected", must_be_a_loop},
    {"%qs clause may not appear on non-rectangular %qs",
     "in '%s': the bounds of a collapsed loop must not depend on the variable of another"},
    {"break statement used with OpenMP for loop", "in '%s': 'break' must not leave the loop"},
    {"invalid branch to/from OpenMP structured block", "in '%s': the loop must not be left or entered by a jump"},
    {"invalid branch to/from %s structured block", "in '%s': the loop must not be left or entered by a jump"},
    {"invalid exit from OpenMP structured block", "in '%s': the loop must not be left by 'return' or 'goto'"},
    {"invalid exit from %s structured block", "in '%s': the loop must not be left by 'return' or 'goto'"},
    {"invalid entry to OpenMP structured block", "in '%s': the loop must not be entered by a jump"},
    {"invalid entry to %s structured block", "in '%s': the loop must not be entered by a jump"},
    {not_here, nullptr},
    {"expected declaration specifiers", nullptr},
    {"expected unqualified-id", nullptr},
    {"not enough perfectly nested loops", nullptr},
    {"not enough for loops to collapse", nullptr},
    {"not enough nested loops", nullptr},
    {"collapsed loops not perfectly nested", nullptr},
    {"invalid increment expression", nullptr},
    {"invalid controlling predicate", nullptr},
    {"missing controlling predicate", nullptr},
    {"missing increment expression", nullptr},
    {"invalid type for iteration variable %qE", nullptr},
    {"expected iteration declaration or initialization", nullptr},
    {"expected induction variable initialization", nullptr},
    {"initializer expression refers to iteration variable %qD", nullptr},
    {"condition expression refers to iteration variable %qD", nullptr},
    {"increment expression refers to iteration variable %qD", nullptr},
    {"iteration variable %qE should be private", nullptr},
    {"iteration variable %qE should not be reduction", nullptr},
    {"iteration variable %qE should not be firstprivate", nullptr},
    {"iteration variable %qE is predetermined linear", nullptr},
    {"increment is not constant 1 or -1 for %<!=%> condition", nullptr},
    {"difference between %qE and %qD does not have integer type", nullptr},
    {"parenthesized initialization is not allowed in OpenMP %<for%> loop", nullptr},
    {"outer iteration variable %qD used in initializer expression has type other than %qT", nullptr},
    {"outer iteration variable %qD used in condition expression has type other than %qT", nullptr},
    {"outer iteration variable %qD multiplier expression %qE is not integral", nullptr},
    {"outer iteration variable %qD addend expression %qE is not integral", nullptr},
    {"two different outer iteration variables %qD and %qD used in a single loop", nullptr},
    {"the same loop iteration variables %qD used in multiple associated loops", nullptr},
    {"threadprivate iteration variable %qD", nullptr},
    {"%<_Atomic%> iteration variable %qE", nullptr},
    {"barrier region may not be closely nested inside of work-sharing, %<loop%>, %<critical%>, %<ordered%>, "
     "%<master%>, %<masked%>, explicit %<task%> or %<taskloop%> region",
     nullptr},
    {"work-sharing region may not be closely nested inside of work-sharing, %<loop%>, %<critical%>, %<ordered%>, "
     "%<master%>, %<masked%>, explicit %<task%> or %<taskloop%> region",
     nullptr},
    {"%qE not specified in enclosing %qs", nullptr},
    {"enclosing %qs", nullptr},
};

// Translations keep these names.
constexpr const char* words[][2] = {
    {"#pragma omp parallel for", "#pragma ws for"},
    {"#pragma omp parallel sections", "#pragma ws sections"},
    {"#pragma omp declare reduction", "#pragma ws declare reduction"},
    {"pragma omp declare reduction", "pragma ws declare reduction"},
    {"#pragma omp parallel", "#pragma ws for"},
    {"#pragma omp for", "#pragma ws for"},
    {"#pragma acc loop", "#pragma ws for"},
    {"#pragma omp", "#pragma ws"},
    {"OpenMP", "ws"},
};

expanded_location place_of(location_t at)
{
    return expand_location(linemap_resolve_location(line_table, at, LRK_MACRO_EXPANSION_POINT, nullptr));
}

// The pragma that a message is about.
struct Subject {
    const Pragma* pragma;
    bool at_second_of_two; // the message is at a pragma that stands where a loop should
};

Subject subject_at(const expanded_location& place, const Known* known)
{
    auto file = pragmas.find(place.file ? place.file : "");
    if (file == pragmas.end())
        return {};
    auto next = file->second.upper_bound(place.line);
    if (next == file->second.begin())
        return {};
    auto last = std::prev(next);
    const bool at_pragma = last->first == place.line;
    if (known && at_pragma && last->second.name.empty() && last != file->second.begin())
        return {&std::prev(last)->second, true}; // somebody else's pragma after ours
    return {&last->second, at_pragma && last->second.after_another};
}

const Known* find_known(const char* format)
{
    auto it = std::find_if(std::begin(about_the_construct), std::end(about_the_construct), [&](const Known& known) {
        // GCC's C parser appends "before X" to some: the message is then the beginning.
        const char* translated = _(known.message);
        return strncmp(format, translated, strlen(translated)) == 0;
    });
    return it == std::end(about_the_construct) ? nullptr : it;
}

bool replace_all(std::string& text, const std::string& from, const std::string& to)
{
    bool found = false;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
        found = true;
    }
    return found;
}

void put_into_our_words(MessageText message, bool is_error, const Known* known, const Subject& subject,
                        bool at_the_head)
{
    const Pragma& pragma = *subject.pragma;
    if (message.size() == 0)
        return;
    const char* instead = known ? known->instead : nullptr;
    if (subject.at_second_of_two && known && (instead == must_be_a_loop || known->message == not_here))
        instead = shares_its_loop;
    if (instead) {
        std::string text = instead;
        replace_all(text, "%s", pragma.name);
        if (pragma.name == ws::full_name(ws::DirectiveKind::critical))
            replace_all(text, "the loop", "the block");
        else if (startswith(pragma.name.c_str(), ws::full_name(ws::DirectiveKind::section).c_str()))
            replace_all(text, "the loop", "the section");
        message.replace(localized_quotes(text));
        return;
    }
    bool names_ws = false;
    for (size_t part = 0; part < message.size(); part++) {
        std::string text = message.part(part);
        bool changed = false;
        for (const auto& word : words)
            changed |= replace_all(text, word[0], word[1]);
        if (changed)
            message.set(part, text);
        names_ws |= text.find("#pragma ws") != std::string::npos;
    }
    if (known && strstr(known->message, "enclosing %qs")) {
        std::string text = message.part(message.size() - 1);
        if (replace_all(text, "parallel", pragma.name))
            message.set(message.size() - 1, text);
    } else if (!names_ws && is_error && (at_the_head || known)) {
        message.prepend(localized_quotes("in '" + pragma.name + "': "));
    }
}

void starter(Output output, Diagnostic* diagnostic)
{
    const expanded_location place = place_of(diagnostic_location(diagnostic));
    const Known* known = find_known(message_id(*diagnostic));
    const Subject subject = subject_at(place, known);
    if (subject.pragma && !subject.pragma->name.empty())
        // The line after a pragma is the head of its loop.
        put_into_our_words(MessageText(printer_of(output)), is_error(*diagnostic), known, subject,
                           place.line <= subject.pragma->last_line + 1);
    next_starter(output, diagnostic);
}

void (*next_print_function)(Output, const char*, Diagnostic*);

// "In function ...": not for the function into which GCC puts a declared reduction, named in its own words.
void print_function(Output output, const char* file, Diagnostic* diagnostic)
{
    const char* name = current_function_decl && DECL_NAME(current_function_decl)
                           ? IDENTIFIER_POINTER(DECL_NAME(current_function_decl))
                           : "";
    if (!startswith(name, "omp declare reduction"))
        next_print_function(output, file, diagnostic);
}

} // namespace

std::string localized_quotes(const std::string& text)
{
    std::string out;
    bool open = false;
    for (size_t i = 0; i < text.size(); i++) {
        const bool apostrophe = i > 0 && i + 1 < text.size() && ISALPHA(text[i - 1]) && ISALPHA(text[i + 1]);
        if (text[i] != '\'' || apostrophe) {
            out += text[i];
            continue;
        }
        out += open ? close_quote : open_quote;
        open = !open;
    }
    return out;
}

void error_about(location_t at, const std::string& text) { error_at(at, "%s", localized_quotes(text).c_str()); }

void note_pragma(location_t from, location_t to, const char* name)
{
    const expanded_location first = place_of(from), last = place_of(to);
    auto& file = pragmas[first.file ? first.file : ""];
    const auto before = file.lower_bound(first.line);
    const bool after_another = before != file.begin() && std::prev(before)->second.last_line + 1 == first.line;
    file[first.line] = {std::max(first.line, last.line), name, after_another};
}

std::string last_pragma(location_t at)
{
    const Subject subject = subject_at(place_of(LOCATION_LOCUS(at)), nullptr);
    return subject.pragma ? subject.pragma->name : "";
}

void take_over_diagnostics()
{
    next_starter = starter_of_diagnostics();
    starter_of_diagnostics() = starter;
    next_print_function = lang_hooks.print_error_function;
    lang_hooks.print_error_function = print_function;
}

} // namespace ws_gcc
