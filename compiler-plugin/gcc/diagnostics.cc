// SPDX-License-Identifier: MIT
//
// The user wrote `ws`; GCC's OpenMP front end speaks of `omp`. Each diagnostic passes here when its text is ready
// but not yet printed: if the last pragma above its place is one of ours, the text is put into our words.
#include "ws_gcc.h"

#include "../clauses/messages.h"

namespace ws_gcc {

namespace {

namespace message = ws::message;

Starter next_starter;

using Pragmas = ws::Pragmas<std::string>; // by the file's name
Pragmas pragmas;

// Messages of GCC's front ends (msgids: compared in the user's language) about a construct, but at a place other
// than its pragma and without a word that tells which construct. They get ours in front, or our own text instead
// (%s: the pragma) where GCC's speaks of what the user did not write.
struct KnownMessage {
    const char* message;
    const char* instead;
};

constexpr const char* not_here = "%<#pragma%> is not allowed here";

constexpr KnownMessage about_the_construct[] = {
    {"OpenMP constructs other than %<ordered simd%>, %<simd%>, %<loop%> or %<atomic%> may not be nested inside "
     "%<simd%> region",
     message::not_in_simd},
    {"%<#pragma omp section%> may only be used in %<#pragma omp sections%> construct",
     message::outside_of_sections},
    {"for statement expected", message::must_be_a_loop},
    {"%<for%> statement expected", message::must_be_a_loop},
    {"%qs clause may not appear on non-rectangular %qs",
     message::not_rectangular},
    {"break statement used with OpenMP for loop", message::break_of_loop},
    {"invalid branch to/from OpenMP structured block", message::left_or_entered},
    {"invalid branch to/from %s structured block", message::left_or_entered},
    {"invalid exit from OpenMP structured block", message::left},
    {"invalid exit from %s structured block", message::left},
    {"invalid entry to OpenMP structured block", message::entered},
    {"invalid entry to %s structured block", message::entered},
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

expanded_location place_of(location_t at)
{
    return expand_location(linemap_resolve_location(line_table, at, LRK_MACRO_EXPANSION_POINT, nullptr));
}

// The pragma that a message is about.
struct Subject {
    const Pragmas::Pragma* pragma;
    bool at_second_of_two; // the message is at a pragma that stands where a loop should
};

Subject subject_at(const expanded_location& place, const KnownMessage* known)
{
    const std::string file = place.file ? place.file : "";
    const Pragmas::Pragma* last = pragmas.above(file, place.line);
    if (!last)
        return {};
    const bool at_pragma = last->first_line == place.line;
    if (known && at_pragma && last->name.empty())
        if (const Pragmas::Pragma* before = pragmas.above(file, place.line - 1))
            return {before, true}; // somebody else's pragma after ours
    return {last, at_pragma && last->after_another};
}

const KnownMessage* find_known(const char* format)
{
    auto it =
        std::find_if(std::begin(about_the_construct), std::end(about_the_construct), [&](const KnownMessage& known) {
            // GCC's C parser appends "before X" to some: the message is then the beginning.
            const char* translated = _(known.message);
            return strncmp(format, translated, strlen(translated)) == 0;
        });
    return it == std::end(about_the_construct) ? nullptr : it;
}

void put_into_our_words(MessageText printed, bool is_error, const KnownMessage* known, const Subject& subject,
                        bool at_the_head)
{
    const Pragmas::Pragma& pragma = *subject.pragma;
    if (printed.size() == 0)
        return;
    const char* instead = known ? known->instead : nullptr;
    if (subject.at_second_of_two && known && (instead == message::must_be_a_loop || known->message == not_here))
        instead = message::shares_its_loop;
    if (instead) {
        printed.replace(localized_quotes(ws::about(instead, pragma.name)));
        return;
    }
    bool names_ws = false;
    for (size_t part = 0; part < printed.size(); part++) {
        std::string text = printed.part(part);
        if (ws::rename_constructs(text))
            printed.set(part, text);
        names_ws |= text.find("#pragma ws") != std::string::npos || text.find("ws task") == 0;
    }
    if (known && strstr(known->message, "enclosing %qs")) {
        std::string text = printed.part(printed.size() - 1);
        if (ws::replace_all(text, "parallel", pragma.name))
            printed.set(printed.size() - 1, text);
    } else if (!names_ws && is_error && (at_the_head || known)) {
        printed.prepend(localized_quotes("in '" + pragma.name + "': "));
    }
}

void starter(Output output, Diagnostic* diagnostic)
{
    const expanded_location place = place_of(diagnostic_location(diagnostic));
    const KnownMessage* known = find_known(message_id(*diagnostic));
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
    pragmas.note(first.file ? first.file : "", first.line, last.line, name);
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
