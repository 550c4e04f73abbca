// SPDX-License-Identifier: MIT
#include "name.h"
#include "options/letters.h"

#include <algorithm>
#include <array>
#include <set>

namespace ws {

namespace {

// A clause `name ( arguments )`; the tokens between the parentheses.
struct Clause {
    Token name;
    Tokens arguments;
    Tokens whole;
};

std::string quoted(const std::string& text) { return "'" + text + "'"; }

// Collects what is wrong with one directive, and names it as its language does.
class Complaints {
public:
    Complaints(DirectiveKind kind, const Language& language, Problems& problems)
        : name_(quoted(full_name(kind, language))), language_(language), problems_(problems)
    {}

    const Language& language() const { return language_; }

    void add(int origin, std::string text) { problems_.push_back({std::move(text), origin}); }
    std::string on_directive() const { return " on " + name_; }
    std::string in(const Clause& clause) const { return " in the " + quoted(clause.name.text) + " clause of " + name_; }

private:
    std::string name_;
    const Language& language_;
    Problems& problems_;
};

using ClauseParser = void (*)(const Clause&, Directive&, Complaints&);

void pass_through(const Clause& clause, Directive& out, Complaints&)
{
    out.rest.insert(out.rest.end(), clause.whole.begin(), clause.whole.end());
}

// `name modifier : list` where no modifier is supported. A `:` further on may belong to an array section.
void parse_lastprivate(const Clause& clause, Directive& out, Complaints& problems)
{
    const Tokens& args = clause.arguments;
    if (args.size() > 1 && args[0].is_identifier() && args[1].is(":")) {
        problems.add(args[0].origin, "modifier " + quoted(args[0].text) + " is not supported" + problems.in(clause));
        return;
    }
    pass_through(clause, out, problems);
}

void parse_reduction(const Clause& clause, Directive& out, Complaints& problems)
{
    const Tokens& args = clause.arguments;
    if (args.size() > 1 && args[0].is_identifier() && args[1].is(",")) {
        problems.add(args[0].origin, "modifier " + quoted(args[0].text) + " is not supported" + problems.in(clause));
        return;
    }
    // Some front ends only warn of what follows an operator without its ':'.
    if (std::none_of(args.begin(), args.end(), [](const Token& token) { return token.is(":"); })) {
        problems.add(args[args.size() > 1].origin, "expected ':' after the operator" + problems.in(clause));
        return;
    }
    pass_through(clause, out, problems);
}

void parse_default(const Clause& clause, Directive& out, Complaints& problems)
{
    const Tokens& args = clause.arguments;
    if (args.size() != 1 || !(args[0].is("shared") || args[0].is("none"))) {
        problems.add(args.empty() ? clause.name.origin : args[0].origin,
                     "expected 'shared' or 'none'" + problems.in(clause));
        return;
    }
    pass_through(clause, out, problems);
}

bool schedule_named(const std::string& word, Schedule& kind)
{
    static const std::pair<const char*, Schedule> kinds[] = {{"auto", Schedule::time_sized},
                                                             {"static", Schedule::static_},
                                                             {"dynamic", Schedule::dynamic},
                                                             {"guided", Schedule::guided},
                                                             {"runtime", Schedule::runtime}};
    for (const auto& [name, value] : kinds)
        if (word == name) {
            kind = value;
            return true;
        }
    return false;
}

void parse_schedule(const Clause& clause, ScheduleClause& out, Complaints& problems)
{
    const Tokens& args = clause.arguments;
    if (out.present) {
        problems.add(clause.name.origin,
                     "more than one " + quoted(clause.name.text) + " clause" + problems.on_directive());
        return;
    }
    out.present = true;
    out.origin = clause.name.origin;
    if (args.size() > 1 && args[0].is_identifier() && (args[1].is(":") || args[1].is(",")) &&
        !schedule_named(args[0].text, out.kind)) {
        problems.add(args[0].origin, (args[1].is(":") ? "modifier " : "schedule ") + quoted(args[0].text) +
                                         " is not supported" + problems.in(clause));
        return;
    }
    if (args.empty() || !schedule_named(args[0].text, out.kind)) {
        problems.add(args.empty() ? clause.name.origin : args[0].origin,
                     "expected 'static', 'dynamic', 'guided', 'auto' or 'runtime'" + problems.in(clause));
        return;
    }
    if (args.size() == 1)
        return;
    if (!args[1].is(",")) {
        problems.add(args[1].origin, "expected ',' or ')' after " + quoted(args[0].text) + problems.in(clause));
        return;
    }
    if (out.kind == Schedule::time_sized || out.kind == Schedule::runtime) {
        problems.add(args[args.size() > 2 ? 2 : 1].origin,
                     quoted(args[0].text) + " takes no chunk size" + problems.in(clause));
        return;
    }
    if (args.size() == 2) {
        problems.add(args[1].origin, "expected a chunk size after ','" + problems.in(clause));
        return;
    }
    out.chunk.assign(args.begin() + 2, args.end());
}

void parse_owner_schedule(const Clause& clause, Directive& out, Complaints& problems)
{
    parse_schedule(clause, out.schedule, problems);
}

void parse_steal_schedule(const Clause& clause, Directive& out, Complaints& problems)
{
    parse_schedule(clause, out.steal_schedule, problems);
}

// Literals that stand side by side are one in C.
void parse_name(const Clause& clause, Directive& out, Complaints& problems)
{
    std::string text;
    for (const Token& token : clause.arguments)
        if ((&token != &clause.arguments[0] && &problems.language() == &fortran_language) ||
            !read_literal(token, problems.language(), text)) {
            problems.add(token.origin, "expected a string literal" + problems.in(clause));
            return;
        }
    const std::string wrong = why_no_name(text);
    if (!wrong.empty())
        problems.add(clause.arguments[0].origin, wrong + problems.in(clause));
    else
        out.loop_name = text;
}

void parse_if(const Clause& clause, Directive& out, Complaints& problems)
{
    const Tokens& args = clause.arguments;
    if (args.size() > 1 && args[0].is_identifier() && args[1].is(":"))
        problems.add(args[0].origin, "modifier " + quoted(args[0].text) + " is not supported" + problems.in(clause));
    else {
        out.condition = args;
        out.condition_origin = clause.name.origin;
    }
}

// Chunks of a simd loop begin anywhere: what OpenMP makes of the variable before one is not known.
void parse_linear(const Clause& clause, Directive&, Complaints& problems)
{
    problems.add(clause.name.origin,
                 "'linear' is not supported" + problems.on_directive() + ": compute it from the loop's variable");
}

// A task stays on the thread that began it, as OpenMP allows. Clang would cut an untied one into parts.
void leave_out_clause(const Clause&, Directive&, Complaints&) {}

void parse_depend(const Clause& clause, Directive& out, Complaints& problems)
{
    const Tokens& args = clause.arguments;
    if (args.size() < 3 || !(args[0].is("in") || args[0].is("out") || args[0].is("inout")) || !args[1].is(":"))
        problems.add(args[0].origin, "expected 'in:', 'out:' or 'inout:' and variables" + problems.in(clause));
    else
        pass_through(clause, out, problems);
}

// Where a clause may stand.
enum {
    in_loop = 1,
    in_sections = 2,
    in_simd = 4,
    in_task = 8,
    in_taskloop = 16,
    in_taskgroup = 32,
    in_regions = in_loop | in_sections | in_simd,
    in_tasks = in_task | in_taskloop,
    anywhere = in_regions | in_tasks,
};

struct KnownClause {
    const char* name;
    ClauseParser parser;
    int where;
    bool once; // at most, which the front end does not check
    bool bare = false; // without arguments
};

constexpr std::array<KnownClause, 25> clauses = {{
    {"private", pass_through, anywhere, false},
    {"firstprivate", pass_through, anywhere, false},
    {"lastprivate", parse_lastprivate, in_regions | in_taskloop, false},
    {"reduction", parse_reduction, in_regions | in_taskloop, false},
    {"schedule", parse_owner_schedule, in_loop | in_simd, false},
    {"steal_schedule", parse_steal_schedule, in_loop | in_simd, false},
    {"collapse", pass_through, in_loop | in_simd | in_taskloop, true},
    {"shared", pass_through, anywhere, false},
    {"default", parse_default, anywhere, true},
    {"name", parse_name, anywhere, true},
    {"if", parse_if, anywhere, true},
    {"safelen", pass_through, in_simd, true},
    {"simdlen", pass_through, in_simd, true},
    {"aligned", pass_through, in_simd, false},
    {"linear", parse_linear, in_simd, false},
    {"final", pass_through, in_tasks, true},
    {"priority", pass_through, in_tasks, true},
    {"depend", parse_depend, in_task, false},
    {"in_reduction", parse_reduction, in_tasks, false},
    {"task_reduction", parse_reduction, in_taskgroup, false},
    {"grainsize", pass_through, in_taskloop, true},
    {"num_tasks", pass_through, in_taskloop, true},
    {"nogroup", pass_through, in_taskloop, true, true},
    {"untied", leave_out_clause, in_tasks, true, true},
    {"mergeable", pass_through, in_tasks, true, true},
}};

const KnownClause* find_clause(const Token& name)
{
    auto it = std::find_if(clauses.begin(), clauses.end(),
                           [&](const KnownClause& known) { return name.is_identifier() && name.is(known.name); });
    return it == clauses.end() ? nullptr : it;
}

// The names of the clauses that may stand in `where`.
std::vector<std::string> clauses_of(int where)
{
    std::vector<std::string> names;
    for (const KnownClause& known : clauses)
        if (known.where & where)
            names.push_back(known.name);
    return names;
}

// The index after the parenthesis that closes tokens[open], or 0 if nothing does.
size_t after_closing(const Tokens& tokens, size_t open)
{
    int depth = 0;
    for (size_t i = open; i < tokens.size(); i++) {
        if (tokens[i].is("("))
            depth++;
        else if (tokens[i].is(")") && --depth == 0)
            return i + 1;
    }
    return 0;
}

// Directives of a loop or of sections.
void parse_clauses(const Tokens& tokens, int where, Directive& out, Complaints& problems)
{
    std::set<std::string> single; // clauses that were there and may stand once
    for (size_t i = 0; i < tokens.size();) {
        if (tokens[i].is(",")) {
            // One comma between two clauses, as OpenMP has it.
            if (i == 0 || i + 1 == tokens.size() || tokens[i + 1].is(","))
                problems.add(tokens[i].origin, "expected a clause " + std::string(i ? "after" : "before") + " ','" +
                                                   problems.on_directive());
            i++;
            continue;
        }
        const Token& name = tokens[i];
        const KnownClause* known = find_clause(name);
        size_t end = i + 1;
        const bool has_arguments = end < tokens.size() && tokens[end].is("(");
        if (has_arguments) {
            end = after_closing(tokens, end);
            if (!end) {
                problems.add(tokens[i + 1].origin, "this '(' is not closed," + problems.on_directive());
                return;
            }
        }
        if (!known) {
            problems.add(name.origin, name.is_identifier()
                                          ? "unknown clause " + quoted(name.text) + problems.on_directive() +
                                                did_you_mean(name.text, clauses_of(where))
                                          : "expected a clause before " + quoted(name.text) + problems.on_directive());
            if (!name.is_identifier())
                return; // what follows is not made of clauses: one error is enough
        } else if (!(known->where & where)) {
            problems.add(name.origin, known->where == in_simd && where == in_loop
                                          ? "clause " + quoted(name.text) + problems.on_directive() +
                                                " needs 'simd', which follows " + quoted(problems.language().loop)
                                          : "unknown clause " + quoted(name.text) + problems.on_directive());
        } else if (known->bare && has_arguments) {
            problems.add(tokens[i + 1].origin, "clause " + quoted(name.text) + " takes no arguments" +
                                                   problems.on_directive());
        } else if (!known->bare && !has_arguments) {
            problems.add(name.origin, "expected '(' after " + quoted(name.text) + problems.on_directive());
            return;
        } else if ((name.is("grainsize") && single.count("num_tasks")) ||
                   (name.is("num_tasks") && single.count("grainsize"))) {
            problems.add(name.origin, "both 'grainsize' and 'num_tasks'" + problems.on_directive());
        } else if (known->once && !single.insert(name.text).second) {
            problems.add(name.origin, "more than one " + quoted(name.text) + " clause" + problems.on_directive());
        } else {
            Clause clause{name, {}, Tokens(tokens.begin() + i, tokens.begin() + end)};
            if (has_arguments)
                clause.arguments.assign(tokens.begin() + i + 2, tokens.begin() + end - 1);
            if (has_arguments && clause.arguments.empty())
                problems.add(tokens[i + 1].origin, "nothing between the parentheses" + problems.in(clause));
            else
                known->parser(clause, out, problems);
        }
        i = end;
    }
}

// `ws atomic`: words in any order, a comma between them or not. Which go together is OpenMP 5.0's rule.
void parse_atomic(const Tokens& tokens, Directive& out, Complaints& problems)
{
    static const std::set<std::string> kinds = {"read", "write", "update", "capture"};
    static const std::set<std::string> orders = {"seq_cst", "acq_rel", "release", "acquire", "relaxed"};
    static const std::set<std::pair<std::string, std::string>> senseless = {
        {"read", "acq_rel"},  {"read", "release"},   {"write", "acq_rel"},
        {"write", "acquire"}, {"update", "acq_rel"}, {"update", "acquire"}};
    const Token *kind = nullptr, *order = nullptr;
    for (size_t i = 0; i < tokens.size(); i++) {
        const Token& word = tokens[i];
        if (word.is(",")) {
            if (i == 0 || i + 1 == tokens.size() || tokens[i + 1].is(","))
                problems.add(word.origin, "expected a word " + std::string(i ? "after" : "before") + " ','" +
                                              problems.on_directive());
            continue;
        }
        const bool is_kind = kinds.count(word.text), is_order = orders.count(word.text);
        const Token*& place = is_kind ? kind : order;
        if (!is_kind && !is_order) {
            problems.add(
                word.origin,
                word.is_identifier()
                    ? "unknown word " + quoted(word.text) + problems.on_directive() +
                          "; known are read, write, update, capture and the memory orders seq_cst, acq_rel, release, "
                          "acquire, relaxed"
                    : "expected a word before " + quoted(word.text) + problems.on_directive());
            return;
        }
        if (place) {
            problems.add(word.origin,
                         "both " + quoted(place->text) + " and " + quoted(word.text) + problems.on_directive());
            return;
        }
        place = &word;
        out.rest.push_back(word);
    }
    const std::string what = kind ? kind->text : "update";
    if (order && senseless.count({what, order->text}))
        problems.add(order->origin, "memory order " + quoted(order->text) + " is not valid with " + quoted(what) +
                                        problems.on_directive());
}

// `ws critical`: nothing, or a name in parentheses.
void parse_critical(const Tokens& tokens, Directive& out, Complaints& problems)
{
    if (tokens.empty())
        return;
    if (!tokens[0].is("("))
        problems.add(tokens[0].origin, "expected '(name)' or nothing" + problems.on_directive());
    else if (tokens.size() < 2 || !tokens[1].is_identifier())
        problems.add(tokens[tokens.size() > 1].origin, "expected a name in the parentheses" + problems.on_directive());
    else if (tokens.size() < 3 || !tokens[2].is(")"))
        problems.add(tokens[tokens.size() > 2 ? 2 : 0].origin,
                     "expected ')' after " + quoted(tokens[1].text) + problems.on_directive());
    else if (tokens.size() > 3)
        problems.add(tokens[3].origin, "expected nothing after '(" + tokens[1].text + ")'" + problems.on_directive());
    else
        out.name = tokens[1];
}

// The first `{` that is not closed within the parentheses it stands in; null if there is none. The front ends would
// look for its end beyond the line, some for ever.
const Token* open_brace(const Tokens& tokens)
{
    std::vector<const Token*> open;
    for (const Token& token : tokens) {
        if (token.is("(") || token.is("[") || token.is("{")) {
            open.push_back(&token);
        } else if (token.is(")") || token.is("]") || token.is("}")) {
            const bool matches = !open.empty() && open.back()->is("{") == token.is("}");
            if (!matches && !open.empty() && open.back()->is("{"))
                return open.back();
            if (matches)
                open.pop_back();
        }
    }
    for (const Token* token : open)
        if (token->is("{"))
            return token;
    return nullptr;
}

DirectiveKind kind_of(const Tokens& tokens, const Language& language)
{
    return tokens[0].is(language.loop) ? DirectiveKind::loop
           : tokens[0].is("atomic")    ? DirectiveKind::atomic
           : tokens[0].is("critical")  ? DirectiveKind::critical
           : tokens[0].is("sections")  ? DirectiveKind::sections
           : tokens[0].is("section")   ? DirectiveKind::section
           : tokens[0].is("task")      ? DirectiveKind::task
           : tokens[0].is("taskloop")  ? DirectiveKind::taskloop
           : tokens[0].is("taskgroup") ? DirectiveKind::taskgroup
           : tokens[0].is("taskwait")  ? DirectiveKind::taskwait
           : tokens[0].is("declare") && tokens.size() > 1 && tokens[1].is("reduction")
               ? DirectiveKind::declare_reduction
               : DirectiveKind::none;
}

} // namespace

std::string full_name(DirectiveKind kind, const Language& language)
{
    const char* const names[] = {"",        language.loop, "declare reduction", "atomic",    "critical", "sections",
                                 "section", "task",        "taskloop",          "taskgroup", "taskwait"};
    const std::string prefix = language.prefix;
    return kind == DirectiveKind::none ? prefix : prefix + " " + names[int(kind)];
}

bool is_of_tasks(DirectiveKind kind) { return kind >= DirectiveKind::task; }

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known)
{
    const std::string* nearest = nullptr;
    int least = std::max(1, int(word.size()) / 3) + 1;
    for (const std::string& one : known)
        if (const int apart = option::letters_apart(word, one); word.size() > 1 && apart < least) {
            least = apart;
            nearest = &one;
        }
    return nearest ? "; did you mean " + quoted(*nearest) + "?" : "";
}

std::string cannot_stand_in_simd(DirectiveKind kind, const Language& language)
{
    return quoted(full_name(kind, language)) + " is not allowed in a simd loop";
}

Directive parse(const Tokens& tokens, int pragma, Problems& list, const Language& language)
{
    Directive out;
    if (!tokens.empty())
        out.kind = kind_of(tokens, language);
    Complaints problems(out.kind, language, list);
    for (const Token& token : tokens)
        if (token.is_identifier() && token.text.compare(0, 4, "__ws") == 0) {
            problems.add(token.origin, quoted(token.text) + " is a reserved name" + problems.on_directive());
            out.kind = DirectiveKind::none;
            return out;
        }
    if (const Token* brace = open_brace(tokens)) {
        problems.add(brace->origin, "this '{' is not closed," + problems.on_directive());
        out.kind = DirectiveKind::none;
        return out;
    }
    const Tokens after(tokens.begin() + !tokens.empty(), tokens.end());
    switch (out.kind) {
    case DirectiveKind::loop:
        out.simd = !after.empty() && after[0].is("simd");
        parse_clauses(Tokens(after.begin() + out.simd, after.end()), out.simd ? in_simd : in_loop, out, problems);
        break;
    case DirectiveKind::sections: parse_clauses(after, in_sections, out, problems); break;
    case DirectiveKind::section:
        if (!after.empty())
            problems.add(after[0].origin, "expected nothing after 'section'" + problems.on_directive());
        break;
    case DirectiveKind::declare_reduction: out.rest = after; break;
    case DirectiveKind::atomic: parse_atomic(after, out, problems); break;
    case DirectiveKind::critical: parse_critical(after, out, problems); break;
    case DirectiveKind::task: parse_clauses(after, in_task, out, problems); break;
    case DirectiveKind::taskloop: parse_clauses(after, in_taskloop, out, problems); break;
    case DirectiveKind::taskgroup: parse_clauses(after, in_taskgroup, out, problems); break;
    case DirectiveKind::taskwait:
        if (!after.empty())
            problems.add(after[0].origin, "expected nothing after 'taskwait'" + problems.on_directive());
        break;
    case DirectiveKind::none:
        std::string known = "; known are " + quoted(language.loop) +
                            ", 'sections', 'section', 'atomic', 'critical', 'task', 'taskloop', 'taskgroup', "
                            "'taskwait' and 'declare reduction'";
        if (tokens.empty()) {
            problems.add(pragma, quoted(language.prefix) + " names no directive" + known);
        } else {
            std::string name = tokens[0].text;
            if (tokens[0].is("declare") && tokens.size() > 1)
                name += " " + tokens[1].text;
            const std::string meant =
                did_you_mean(name, {language.loop, "sections", "section", "atomic", "critical", "declare reduction",
                                    "task", "taskloop", "taskgroup", "taskwait"});
            if (!meant.empty())
                known = meant;
            problems.add(tokens[0].origin,
                         "unknown directive " + quoted(std::string(language.prefix) + " " + name) + known);
        }
        break;
    }
    return out;
}

} // namespace ws
