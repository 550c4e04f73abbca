// SPDX-License-Identifier: MIT
//
// grammar_fuzz LINES [SEED]: mutated directive lines through the one grammar (compiler-plugin/clauses), built with the
// address and undefined-behaviour sanitizers. Beside not crashing, each answer must be that of a second description of
// the grammar, below: a line is accepted if and only if that accepts it. So no unknown word gets through.
#include "directive.h"
#include "openmp.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>

using namespace ws;

namespace {

using Dice = std::mt19937_64;
using Words = std::set<std::string>;

size_t below(Dice &dice, size_t n) { return dice() % n; }
bool chance(Dice &dice, unsigned percent) { return dice() % 100 < percent; }

// What a line is made from: %l is the language's loop directive.
const char *const seeds[] = {"%l",
                             "%l private ( a )",
                             "%l firstprivate ( a , b ) lastprivate ( c )",
                             "%l reduction ( + : s ) , shared ( a )",
                             "%l reduction ( max : m , n ) default ( none )",
                             "%l schedule ( static )",
                             "%l schedule ( dynamic , 4 )",
                             "%l schedule ( guided , f ( n , 2 ) ) steal_schedule ( auto )",
                             "%l steal_schedule ( runtime ) schedule ( runtime )",
                             "%l collapse ( 2 ) steal_schedule ( dynamic , n / 2 )",
                             "%l reduction ( + : a [ 0 : n ] )",
                             "%l lastprivate ( conditional : x )",
                             "%l default ( shared ) private ( x ) private ( y )",
                             "%l reduction ( task , + : s )",
                             "%l name ( \"text\" )",
                             "%l name ( \"text\" ) schedule ( static )",
                             "%l if ( n > 3 )",
                             "%l simd safelen ( 8 ) aligned ( a : 16 ) simdlen ( 4 )",
                             "%l simd if ( parallel : n ) linear ( a )",
                             "sections",
                             "sections private ( a ) reduction ( + : s ) if ( n )",
                             "section",
                             "task",
                             "task depend ( in : a , b ) depend ( inout : x ) if ( n ) final ( d > 3 )",
                             "task untied mergeable , priority ( 2 ) in_reduction ( + : s ) name ( \"text\" )",
                             "taskloop grainsize ( 4 ) nogroup lastprivate ( i ) reduction ( + : s )",
                             "taskloop num_tasks ( n ) collapse ( 2 ) shared ( a ) default ( none )",
                             "taskgroup",
                             "taskgroup task_reduction ( max : m )",
                             "taskwait",
                             "atomic",
                             "atomic read",
                             "atomic write , release",
                             "atomic seq_cst update",
                             "atomic capture acq_rel",
                             "critical",
                             "critical ( name )",
                             "declare reduction ( add : int : omp_out += omp_in )",
                             ""};

const char *const words[] = {"for",         "do",          "parallel",
                             "atomic",      "critical",    "declare",
                             "reduction",   "private",     "firstprivate",
                             "lastprivate", "schedule",    "steal_schedule",
                             "collapse",    "shared",      "default",
                             "none",        "static",      "dynamic",
                             "guided",      "auto",        "runtime",
                             "read",        "write",       "update",
                             "capture",     "seq_cst",     "acq_rel",
                             "release",     "acquire",     "relaxed",
                             "hint",        "nowait",      "ordered",
                             "if",          "num_threads", "conditional",
                             "task",        "inscan",      "monotonic",
                             "simd",        "safelen",     "simdlen",
                             "aligned",     "linear",      "sections",
                             "section",     "omp",         "ws",
                             "taskloop",    "taskgroup",   "taskwait",
                             "depend",      "in",          "inout",
                             "out",         "final",       "priority",
                             "untied",      "mergeable",   "nogroup",
                             "grainsize",   "num_tasks",   "in_reduction",
                             "task_reduction",
                             "a",           "x",           "1",
                             "0",           "-",           "2.5",
                             "(",           ")",           "(",
                             ")",           ",",           ":",
                             "+",           "*",           "&&",
                             "[",           "]",           "{",
                             "}",           ";",           "#",
                             "\"text\"",    "\"\"",        "\"a\\n\"",
                             "\"\xff\"",    "\"it''s\"",   "'c'",
                             "name",        "::",          "==",
                             "?",           "__ws_mark",   "__ws_critical_",
                             "FOR",         "Schedule",    "privat",
                             "privatee",    "\xc3\xa4"};

Token token(const std::string &text, int origin) {
    const unsigned char first = static_cast<unsigned char>(text[0]);
    const TokenKind kind = std::isdigit(first)                                    ? TokenKind::number
                           : std::isalpha(first) || first == '_' || first >= 0x80 ? TokenKind::identifier
                           : first == '"' || first == '\''                        ? TokenKind::other
                                                                                  : TokenKind::punctuation;
    return {kind, text, origin, false};
}

std::vector<std::string> line(Dice &dice, const Language &language) {
    std::vector<std::string> out;
    std::string seed = seeds[below(dice, std::size(seeds))];
    for (size_t begin = 0; begin < seed.size();) {
        const size_t end = std::min(seed.find(' ', begin), seed.size());
        const std::string word = seed.substr(begin, end - begin);
        out.push_back(word == "%l" ? language.loop : word);
        begin = end + 1;
    }
    for (size_t changes = below(dice, 6); changes > 0; changes--) {
        const size_t at = below(dice, out.size() + 1);
        const auto place = out.begin() + std::ptrdiff_t(at);
        switch (below(dice, 7)) {
        case 0:
            out.insert(place, words[below(dice, std::size(words))]);
            break;
        case 1:
            if (at < out.size())
                out.erase(place);
            break;
        case 2:
            if (at < out.size())
                out[at] = words[below(dice, std::size(words))];
            break;
        case 3:
            if (at < out.size())
                std::swap(out[at], out[below(dice, out.size())]);
            break;
        case 4:
            if (at < out.size())
                out.insert(place, std::string(out[below(dice, out.size())]));
            break;
        case 5:     // one letter
            if (at < out.size() && std::isalpha(static_cast<unsigned char>(out[at][0])))
                out[at][below(dice, out[at].size())] = char('a' + below(dice, 26));
            break;
        default:
            if (chance(dice, 10))
                out.resize(at);
        }
    }
    if (chance(dice, 1) && chance(dice, 5))
        out.insert(out.end(), 500 + below(dice, 2000), chance(dice, 50) ? "(" : "private");
    return out;
}

// The second description.
class Oracle {
public:
    Oracle(const std::vector<std::string> &line, const Language &language) : line_(line), language_(language) {}

    bool accepts() {
        if (line_.empty() || std::any_of(line_.begin(), line_.end(),
                                         [](const std::string &word) { return word.compare(0, 4, "__ws") == 0; }))
            return false;
        if (!braces_close())
            return false;
        const std::string &name = line_[0];
        at_ = 1;
        if (name == language_.loop && line_.size() > 1 && line_[1] == "simd") {
            first_ = at_ = 2;
            return clauses({"lastprivate", "reduction", "schedule", "steal_schedule", "collapse", "safelen", "simdlen",
                            "aligned"});
        }
        if (name == language_.loop)
            return clauses({"lastprivate", "reduction", "schedule", "steal_schedule", "collapse"});
        if (name == "sections")
            return clauses({"lastprivate", "reduction"});
        if (name == "section" || name == "taskwait")
            return line_.size() == 1;
        if (name == "task")
            return clauses({"depend", "final", "in_reduction", "mergeable", "priority", "untied"});
        if (name == "taskloop")
            return clauses({"collapse", "final", "grainsize", "in_reduction", "lastprivate", "mergeable", "nogroup",
                            "num_tasks", "priority", "reduction", "untied"});
        if (name == "taskgroup")
            return known_clauses({"task_reduction"});
        if (name == "atomic")
            return atomic();
        if (name == "critical")
            return line_.size() == 1
                   || (line_.size() == 4 && line_[1] == "(" && token(line_[2], 0).is_identifier() && line_[3] == ")");
        return name == "declare" && line_.size() > 1 && line_[1] == "reduction";
    }

private:
    // By deleting pairs until none is left.
    bool braces_close() const {
        std::string brackets;
        for (const std::string &word : line_)
            if (word.size() == 1 && std::string("()[]{}").find(word) != std::string::npos)
                brackets += word == "[" ? "(" : word == "]" ? ")" : word;
        for (size_t at = 0; at != std::string::npos;) {
            at = std::min(brackets.find("()"), brackets.find("{}"));
            if (at != std::string::npos)
                brackets.erase(at, 2);
        }
        // A brace that closes nothing is the front end's to refuse.
        return brackets.find('{') == std::string::npos;
    }

    bool more() const { return at_ < line_.size(); }

    bool comma() {
        if (!more() || line_[at_] != ",")
            return true;
        at_++;
        return at_ > first_ + 1 && more() && line_[at_] != ",";
    }

    bool clauses(Words known) {
        known.insert({"private", "firstprivate", "shared", "default", "name", "if"});
        return known_clauses(known);
    }

    bool known_clauses(const Words &known) {
        static const Words bare = {"mergeable", "nogroup", "untied"};
        static const Words many = {"private", "firstprivate", "lastprivate", "reduction", "shared", "aligned", "depend",
                                   "in_reduction", "task_reduction"};
        Words seen;
        while (more()) {
            if (!comma())
                return false;
            const std::string name = line_[at_++];
            if (!known.count(name) || (!seen.insert(name).second && !many.count(name)) ||
                (seen.count("grainsize") && seen.count("num_tasks")))
                return false;
            if (bare.count(name)) {
                if (more() && line_[at_] == "(")
                    return false;
                continue;
            }
            if (!more() || line_[at_] != "(")
                return false;
            const size_t begin = ++at_;
            for (int depth = 1; depth > 0; at_++) {
                if (!more())
                    return false;
                depth += line_[at_] == "(" ? 1 : line_[at_] == ")" ? -1 : 0;
            }
            const std::vector<std::string> inside(line_.begin() + std::ptrdiff_t(begin),
                                                  line_.begin() + std::ptrdiff_t(at_) - 1);
            if (inside.empty() || !clause(name, inside))
                return false;
        }
        return true;
    }

    bool clause(const std::string &name, const std::vector<std::string> &inside) {
        if (name == "name")
            return loop_name(inside);
        static const Words kinds = {"static", "dynamic", "guided"}, without_chunk = {"auto", "runtime"};
        const bool word = token(inside[0], 0).is_identifier();
        if (name == "default")
            return inside.size() == 1 && (inside[0] == "shared" || inside[0] == "none");
        if (name == "schedule" || name == "steal_schedule")
            return without_chunk.count(inside[0])
                       ? inside.size() == 1
                       : kinds.count(inside[0]) && (inside.size() == 1 || (inside[1] == "," && inside.size() > 2));
        if (name == "lastprivate" || name == "if")
            return !(word && inside.size() > 1 && inside[1] == ":");
        if (name == "depend")
            return inside.size() > 2 && (inside[0] == "in" || inside[0] == "out" || inside[0] == "inout") &&
                   inside[1] == ":";
        if (name == "reduction" || name == "in_reduction" || name == "task_reduction")
            return !(word && inside.size() > 1 && inside[1] == ",") && std::count(inside.begin(), inside.end(), ":");
        return true;
    }

    // Literals among the words. C joins them; in Fortran a backslash is itself, and 'c' a literal.
    bool loop_name(const std::vector<std::string> &inside) const {
        const bool fortran = &language_ == &fortran_language;
        static const Words everywhere = {"\"text\"", "\"it''s\""};
        bool empty = true;
        for (const std::string &word : inside) {
            if (!(everywhere.count(word) || word == "\"\"" || (fortran && (word == "'c'" || word == "\"a\\n\""))))
                return false;
            empty &= word == "\"\"";
        }
        return !empty && (inside.size() == 1 || !fortran);
    }

    bool atomic() {
        static const Words kinds = {"read", "write", "update", "capture"};
        static const Words orders = {"seq_cst", "acq_rel", "release", "acquire", "relaxed"};
        static const Words refused = {"read acq_rel",  "read release",   "write acq_rel",
                                      "write acquire", "update acq_rel", "update acquire"};
        std::string kind, order;
        while (more()) {
            if (!comma())
                return false;
            const std::string &word = line_[at_++];
            std::string &place = kinds.count(word) ? kind : order;
            if ((!kinds.count(word) && !orders.count(word)) || !place.empty())
                return false;
            place = word;
        }
        return !refused.count((kind.empty() ? "update" : kind) + " " + order);
    }

    const std::vector<std::string> &line_;
    const Language &language_;
    size_t at_ = 0, first_ = 1;
};

[[noreturn]] void fail(const std::vector<std::string> &line, const Language &language, const std::string &what) {
    std::printf("FAILED %s", language.prefix);
    for (const std::string &word : line)
        std::printf(" %s", word.c_str());
    std::printf("\n  %s\n", what.c_str());
    std::exit(1);
}

bool wrong(const std::vector<std::string> &line, const Language &language) {
    Tokens tokens;
    for (size_t i = 0; i < line.size(); i++)
        tokens.push_back(token(line[i], int(i)));
    const int pragma = int(line.size());
    Problems problems;
    const Directive directive = parse(tokens, pragma, problems, language);
    const bool accepted = Oracle(line, language).accepts();
    if (accepted != problems.empty())
        fail(line, language, accepted ? "is refused: " + problems[0].text : "is accepted");
    for (const Problem &problem : problems) {
        if (problem.origin < 0 || problem.origin > pragma)
            fail(line, language, "an error stands nowhere: " + problem.text);
        if (problem.text.find(language.prefix) == std::string::npos)
            fail(line, language, "an error does not name the directive: " + problem.text);
    }
    // a wrong directive is rewritten as well, without its wrong parts
    const Tokens openmp = as_openmp(directive, pragma, 7);
    for (const Token &t : openmp) {
        if (t.origin < 0 || t.origin > pragma || t.text.empty())
            fail(line, language, "a rewritten token stands nowhere: " + t.text);
        if (!t.made && (t.origin == pragma || t.text != line[size_t(t.origin)]))
            fail(line, language, "a token is not the user's: " + t.text);
    }
    return !accepted;
}

}  // namespace

int main(int argc, char **argv) {
    const long lines = argc > 1 ? std::atol(argv[1]) : 0;
    if (lines < 1 || argc > 3) {
        std::fprintf(stderr, "usage: grammar_fuzz LINES [SEED]\n");
        return 2;
    }
    Dice dice(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
    long refused = 0;
    for (long i = 0; i < lines; i++) {
        const Language &language = i % 2 ? fortran_language : c_language;
        refused += wrong(line(dice, language), language);
    }
    std::printf("%ld lines: %ld refused, %ld accepted\n", lines, refused, lines - refused);
    return refused == 0 || refused == lines;    // lines that are all right, or all wrong, test nothing
}
