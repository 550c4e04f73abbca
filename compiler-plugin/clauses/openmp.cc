// SPDX-License-Identifier: MIT
#include "openmp.h"

#include "name.h"

#include <algorithm>
#include <cctype>

namespace ws {

namespace {

class Writer {
public:
    explicit Writer(int origin) : origin_(origin) {}

    Writer& at(int origin)
    {
        origin_ = origin;
        return *this;
    }
    // Words, numbers and one-character punctuation, apart by spaces.
    Writer& write(const std::string& text)
    {
        for (size_t i = 0, end; i < text.size(); i = end + 1) {
            end = std::min(text.find(' ', i), text.size());
            out.push_back(make(text.substr(i, end - i)));
        }
        return *this;
    }
    Writer& write_literal(const std::string& text)
    {
        out.push_back({TokenKind::other, as_literal(text), origin_, true});
        return *this;
    }
    Writer& copy(const Tokens& tokens)
    {
        out.insert(out.end(), tokens.begin(), tokens.end());
        return *this;
    }

    Tokens out;

private:
    Token make(std::string word) const
    {
        const unsigned char first = word[0];
        const TokenKind kind = std::isdigit(first)                   ? TokenKind::number
                               : std::isalpha(first) || first == '_' ? TokenKind::identifier
                                                                     : TokenKind::punctuation;
        return {kind, std::move(word), origin_, true};
    }

    int origin_;
};

void write_chunk(Writer& writer, const ScheduleClause& clause, int which)
{
    writer.write(",");
    if (clause.chunk.empty()) {
        writer.write("0");
        return;
    }
    // The call stands where the expression does: errors about the chunk point there.
    writer.at(clause.chunk.front().origin);
    writer.write(chunk_function + std::string(" ( ") + std::to_string(which) + " ,");
    writer.copy(clause.chunk).write(")");
}

} // namespace

int site_kinds(const Directive& loop)
{
    // Guests take turns at tasks, in any order.
    if (is_of_tasks(loop.kind))
        return int(Schedule::dynamic) | int(Schedule::dynamic) << 8 | 1 << 18 | 1 << 19 | task_mark;
    if (loop.kind == DirectiveKind::sections)
        return int(Schedule::dynamic) | 1 << 16 | sections_mark;
    return int(loop.schedule.kind) | int(loop.steal_schedule.kind) << 8 | (loop.schedule.chunk.empty() ? 0 : 1 << 16) |
           (loop.steal_schedule.chunk.empty() ? 0 : 1 << 17) | (loop.steal_schedule.present ? 1 << 19 : 0) |
           (loop.simd ? simd_mark : 0);
}

Tokens as_openmp(const Directive& directive, int pragma, unsigned number)
{
    if (directive.kind == DirectiveKind::critical) {
        std::string name = critical_prefix + directive.name.text;
        if (directive.name.text.empty())
            name.pop_back();
        return Writer(directive.name.text.empty() ? pragma : directive.name.origin).write("( " + name + " )").out;
    }
    const bool loop = directive.kind == DirectiveKind::loop, sections = directive.kind == DirectiveKind::sections,
               task = directive.kind == DirectiveKind::task || directive.kind == DirectiveKind::taskloop;
    if (!loop && !sections && !task)
        return directive.rest;
    Writer writer(pragma);
    if (!task)
        writer.write(sections ? "sections" : directive.simd ? "for simd" : "for");
    writer.copy(directive.rest);
    if (loop)
        writer.write("schedule ( dynamic , 1 )");
    writer.write(task ? "if (" : "num_threads (");
    writer.write(mark_function + std::string(" ( ") + std::to_string(number) + " , " +
                 std::to_string(site_kinds(directive)));
    if (loop)
        write_chunk(writer, directive.schedule, 0);
    else
        writer.write(sections ? ", 1" : ", 0");
    writer.at(pragma);
    write_chunk(writer, directive.steal_schedule, 1);
    writer.at(pragma).write(",").write_literal(directive.loop_name).write(",");
    if (directive.condition.empty())
        writer.write("1");
    else
        writer.at(directive.condition_origin).write("(").copy(directive.condition).write(") ? 1 : 0").at(pragma);
    writer.write(") )");
    return writer.out;
}

static const char* const warning_names[] = {"thread-number", "thread-variable", "computed-goto"};
static Warned warned_as[std::size(warning_names)];

static std::string inside(DirectiveKind kind, const Language& language)
{
    return std::string(kind == DirectiveKind::loop ? "in the loop of '" : "in '") + full_name(kind, language) + "'; ";
}

Warning thread_number(DirectiveKind kind, const Language& language)
{
    return {warning_names[0], "'omp_get_thread_num' is the same for all helper threads " + inside(kind, language) +
                                  "use a reduction or a private variable"};
}

Warning thread_variable_written(const std::string& variable, DirectiveKind kind, const Language& language)
{
    return {warning_names[1], "each helper thread writes its own copy of thread-local '" + variable + "' " +
                                  inside(kind, language) + "use a reduction or a lastprivate variable"};
}

Warning computed_goto(DirectiveKind kind, const Language& language)
{
    return {warning_names[2], std::string(&language == &fortran_language ? "an assigned" : "a computed") +
                                  " 'goto' must not leave the " +
                                  (kind == DirectiveKind::loop ? "iteration, " : "section, ") + inside(kind, language) +
                                  "the compiler cannot see whether it does"};
}

bool set_warning(const std::string& argument)
{
    for (size_t i = 0; i < std::size(warning_names); i++)
        for (const auto& [word, how] : {std::pair("no", Warned::never), std::pair("error", Warned::as_error)})
            if (argument == std::string("warn-") + word + "-" + warning_names[i]) {
                warned_as[i] = how;
                return true;
            }
    return false;
}

static const char* const part_names[] = {"align", "alone", "plain", "captures", "registers"};
static bool is_left_out[std::size(part_names)];

bool leave_out(const std::string& argument)
{
    for (size_t i = 0; i < std::size(part_names); i++)
        if (argument == std::string("without-") + part_names[i])
            return is_left_out[i] = true;
    return false;
}

bool has(Optimization part) { return !is_left_out[size_t(part)]; }

Warned how_to_warn(const Warning& warning)
{
    for (size_t i = 0; i < std::size(warning_names); i++)
        if (warning.name == warning_names[i])
            return warned_as[i];
    return Warned::with_wall;
}

std::string shown(const Warning& warning) { return warning.text + " [-fws-warn=" + warning.name + "]"; }

} // namespace ws
