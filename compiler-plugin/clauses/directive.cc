// SPDX-License-Identifier: MIT
#include "directive.h"

#include <algorithm>
#include <array>
#include <set>

namespace ws {

namespace {

constexpr const char *known_directives = "known are 'for' and 'declare reduction'";

// A clause `name ( arguments )`; the tokens between the parentheses.
struct Clause {
    Token name;
    Tokens arguments;
    Tokens whole;
};

using ClauseParser = void (*)(const Clause &, Directive &, Problems &);

void complain(Problems &problems, int origin, std::string text) {
    problems.push_back({std::move(text), origin});
}

std::string quoted(const std::string &text) { return "'" + text + "'"; }

std::string in_clause(const Clause &clause) { return " in the " + quoted(clause.name.text) + " clause of '#pragma ws for'"; }

void pass_through(const Clause &clause, Directive &out, Problems &) {
    out.rest.insert(out.rest.end(), clause.whole.begin(), clause.whole.end());
}

// `name modifier : list` where no modifier is supported. A `:` further on may belong to an array section.
void parse_lastprivate(const Clause &clause, Directive &out, Problems &problems) {
    const Tokens &args = clause.arguments;
    if (args.size() > 1 && args[0].is_identifier() && args[1].is(":")) {
        complain(problems, args[0].origin, "modifier " + quoted(args[0].text) + " is not supported" + in_clause(clause));
        return;
    }
    pass_through(clause, out, problems);
}

void parse_reduction(const Clause &clause, Directive &out, Problems &problems) {
    const Tokens &args = clause.arguments;
    if (args.size() > 1 && args[0].is_identifier() && args[1].is(",")) {
        complain(problems, args[0].origin, "modifier " + quoted(args[0].text) + " is not supported" + in_clause(clause));
        return;
    }
    pass_through(clause, out, problems);
}

void parse_default(const Clause &clause, Directive &out, Problems &problems) {
    const Tokens &args = clause.arguments;
    if (args.size() != 1 || !(args[0].is("shared") || args[0].is("none"))) {
        complain(problems, args.empty() ? clause.name.origin : args[0].origin,
                 "expected 'shared' or 'none'" + in_clause(clause));
        return;
    }
    pass_through(clause, out, problems);
}

bool schedule_named(const std::string &word, Schedule &kind) {
    static const std::pair<const char *, Schedule> kinds[] = {
        {"auto", Schedule::time_sized}, {"static", Schedule::static_},
        {"dynamic", Schedule::dynamic}, {"guided", Schedule::guided}};
    for (const auto &[name, value] : kinds)
        if (word == name) {
            kind = value;
            return true;
        }
    return false;
}

void parse_schedule(const Clause &clause, ScheduleClause &out, Problems &problems) {
    const Tokens &args = clause.arguments;
    if (out.present) {
        complain(problems, clause.name.origin, "more than one " + quoted(clause.name.text) + " clause on '#pragma ws for'");
        return;
    }
    out.present = true;
    out.origin = clause.name.origin;
    if (args.size() > 1 && args[0].is_identifier() && (args[1].is(":") || args[1].is(","))
        && !schedule_named(args[0].text, out.kind)) {
        complain(problems, args[0].origin, (args[1].is(":") ? "modifier " : "schedule ") + quoted(args[0].text)
                 + " is not supported" + in_clause(clause));
        return;
    }
    if (args.empty() || !schedule_named(args[0].text, out.kind)) {
        complain(problems, args.empty() ? clause.name.origin : args[0].origin,
                 "expected 'static', 'dynamic', 'guided' or 'auto'" + in_clause(clause));
        return;
    }
    if (args.size() == 1)
        return;
    if (!args[1].is(",")) {
        complain(problems, args[1].origin, "expected ',' or ')' after " + quoted(args[0].text) + in_clause(clause));
        return;
    }
    if (args.size() == 2) {
        complain(problems, args[1].origin, "expected a chunk size after ','" + in_clause(clause));
        return;
    }
    out.chunk.assign(args.begin() + 2, args.end());
}

void parse_owner_schedule(const Clause &clause, Directive &out, Problems &problems) {
    parse_schedule(clause, out.schedule, problems);
}

void parse_steal_schedule(const Clause &clause, Directive &out, Problems &problems) {
    parse_schedule(clause, out.steal_schedule, problems);
}

struct KnownClause {
    const char *name;
    ClauseParser parser;
};

constexpr std::array<KnownClause, 9> loop_clauses = {{
    {"private", pass_through},
    {"firstprivate", pass_through},
    {"lastprivate", parse_lastprivate},
    {"reduction", parse_reduction},
    {"schedule", parse_owner_schedule},
    {"steal_schedule", parse_steal_schedule},
    {"collapse", pass_through},
    {"shared", pass_through},
    {"default", parse_default},
}};

const KnownClause *find_clause(const Token &name) {
    auto it = std::find_if(loop_clauses.begin(), loop_clauses.end(),
                           [&](const KnownClause &known) { return name.is_identifier() && name.is(known.name); });
    return it == loop_clauses.end() ? nullptr : it;
}

// The index after the parenthesis that closes tokens[open], or 0 if nothing does.
size_t after_closing(const Tokens &tokens, size_t open) {
    int depth = 0;
    for (size_t i = open; i < tokens.size(); i++) {
        if (tokens[i].is("("))
            depth++;
        else if (tokens[i].is(")") && --depth == 0)
            return i + 1;
    }
    return 0;
}

void parse_loop(const Tokens &tokens, Directive &out, Problems &problems) {
    std::set<std::string> single;   // clauses that may stand once and that the front end would not count
    for (size_t i = 0; i < tokens.size();) {
        if (tokens[i].is(",")) {
            // One comma between two clauses, as OpenMP has it.
            if (i == 0 || i + 1 == tokens.size() || tokens[i + 1].is(","))
                complain(problems, tokens[i].origin, "expected a clause " + std::string(i ? "after" : "before")
                         + " ',' on '#pragma ws for'");
            i++;
            continue;
        }
        const Token &name = tokens[i];
        const KnownClause *known = find_clause(name);
        size_t end = i + 1;
        const bool has_arguments = end < tokens.size() && tokens[end].is("(");
        if (has_arguments) {
            end = after_closing(tokens, end);
            if (!end) {
                complain(problems, tokens[i + 1].origin, "this '(' is not closed, on '#pragma ws for'");
                return;
            }
        }
        if (!known) {
            complain(problems, name.origin, name.is_identifier()
                     ? "unknown clause " + quoted(name.text) + " on '#pragma ws for'"
                     : "expected a clause before " + quoted(name.text) + " on '#pragma ws for'");
            if (!name.is_identifier())
                return;     // what follows is not made of clauses: one error is enough
        } else if (!has_arguments) {
            complain(problems, name.origin, "expected '(' after " + quoted(name.text) + " on '#pragma ws for'");
            return;
        } else if ((name.is("default") || name.is("collapse")) && !single.insert(name.text).second) {
            complain(problems, name.origin, "more than one " + quoted(name.text) + " clause on '#pragma ws for'");
        } else {
            Clause clause{name, Tokens(tokens.begin() + i + 2, tokens.begin() + end - 1),
                          Tokens(tokens.begin() + i, tokens.begin() + end)};
            if (clause.arguments.empty())
                complain(problems, tokens[i + 1].origin, "nothing between the parentheses" + in_clause(clause));
            else
                known->parser(clause, out, problems);
        }
        i = end;
    }
}

}  // namespace

Directive parse(const Tokens &tokens, int pragma, Problems &problems) {
    Directive out;
    if (tokens.empty()) {
        complain(problems, pragma, std::string("'#pragma ws' names no directive; ") + known_directives);
    } else if (tokens[0].is("for")) {
        out.kind = DirectiveKind::loop;
        parse_loop(Tokens(tokens.begin() + 1, tokens.end()), out, problems);
    } else if (tokens[0].is("declare") && tokens.size() > 1 && tokens[1].is("reduction")) {
        out.kind = DirectiveKind::declare_reduction;
        out.rest.assign(tokens.begin() + 1, tokens.end());
    } else {
        std::string name = tokens[0].text;
        if (tokens[0].is("declare") && tokens.size() > 1)
            name += " " + tokens[1].text;
        complain(problems, tokens[0].origin, "unknown directive '#pragma ws " + name + "'; " + known_directives);
    }
    return out;
}

}  // namespace ws
