// SPDX-License-Identifier: MIT
//
// The grammar of `#pragma ws` (compiler-plugin/clauses), without any compiler.
#include "directive.h"
#include "mpi_calls.h"
#include "name.h"
#include "openmp.h"

#include "../../../runtime/abi/abi.h"

#include <catch2/catch.hpp>

#include <cctype>
#include <string>
#include <vector>

using namespace ws;

namespace {

// Words, numbers, "literals" and one-character punctuation; a token's origin is its place in the text.
Tokens lex(const std::string &text) {
    Tokens tokens;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (size_t i = 0; i < text.size();) {
        size_t end = i + 1;
        if (text[i] == ' ') {
            i = end;
            continue;
        }
        if (text[i] == '"' || text[i] == '\'') {
            for (; end < text.size() && text[end] != text[i]; end++)
                end += text[end] == '\\';
            tokens.push_back({TokenKind::other, text.substr(i, ++end - i), int(i), false});
            i = end;
            continue;
        }
        if (is_word(text[i]))
            while (end < text.size() && is_word(text[end]))
                end++;
        const bool digit = std::isdigit(static_cast<unsigned char>(text[i]));
        tokens.push_back({digit                ? TokenKind::number
                          : is_word(text[i]) ? TokenKind::identifier
                                               : TokenKind::punctuation,
                          text.substr(i, end - i), int(i), false});
        i = end;
    }
    return tokens;
}

std::string print(const Tokens &tokens) {
    std::string text;
    for (const Token &token : tokens)
        text += (text.empty() ? "" : " ") + token.text;
    return text;
}

struct Parsed {
    Directive directive;
    Problems problems;
};

Parsed parsed(const std::string &text) {
    Parsed out;
    out.directive = parse(lex(text), -1, out.problems);
    return out;
}

// "place: text" of the only problem; what else there is instead.
std::string problem(const std::string &text) {
    const Problems problems = parsed(text).problems;
    return problems.size() == 1 ? std::to_string(problems[0].origin) + ": " + problems[0].text
                                : std::to_string(problems.size()) + " problems";
}

}  // namespace

TEST_CASE("a loop without clauses") {
    const Parsed p = parsed("for");
    CHECK(p.problems.empty());
    CHECK(p.directive.kind == DirectiveKind::loop);
    CHECK(p.directive.rest.empty());
    CHECK_FALSE(p.directive.schedule.present);
    CHECK_FALSE(p.directive.steal_schedule.present);
}

TEST_CASE("data clauses are handed on as they stand, with or without commas") {
    const std::string clauses[] = {"private ( a , b )",   "firstprivate ( c )", "lastprivate ( d )",
                                   "reduction ( + : e )", "collapse ( 2 )",     "shared ( f )",
                                   "default ( none )"};
    std::string with_commas = "for", with_spaces = "for", expected;
    for (const std::string &clause : clauses) {
        with_commas += (expected.empty() ? " " : ", ") + clause;
        with_spaces += " " + clause;
        expected += (expected.empty() ? "" : " ") + clause;
    }
    CHECK(print(parsed(with_spaces).directive.rest) == expected);
    CHECK(print(parsed(with_commas).directive.rest) == expected);
    CHECK(parsed(with_commas).problems.empty());
}

TEST_CASE("schedules are taken out") {
    const Parsed p = parsed("for schedule(dynamic, n + 1) private(x) steal_schedule(guided)");
    CHECK(p.problems.empty());
    CHECK(p.directive.schedule.kind == Schedule::dynamic);
    CHECK(print(p.directive.schedule.chunk) == "n + 1");
    CHECK(p.directive.steal_schedule.kind == Schedule::guided);
    CHECK(p.directive.steal_schedule.present);
    CHECK(p.directive.steal_schedule.chunk.empty());
    CHECK(print(p.directive.rest) == "private ( x )");
    CHECK(parsed("for schedule(static)").directive.schedule.kind == Schedule::static_);
    CHECK(parsed("for schedule(auto)").directive.schedule.kind == Schedule::time_sized);
    CHECK(parsed("for schedule(auto)").directive.schedule.present);
    CHECK(parsed("for steal_schedule(runtime)").directive.steal_schedule.kind == Schedule::runtime);
}

TEST_CASE("a chunk may hold commas, colons and parentheses") {
    CHECK(print(parsed("for schedule(static, f(a, b) ? (c) : d)").directive.schedule.chunk) ==
          "f ( a , b ) ? ( c ) : d");
    CHECK(parsed("for schedule(static, p < 1 , 2 > ( 3 ))").problems.empty());
}

TEST_CASE("schedule kinds have the numbers of the binary interface") {
    CHECK(int(Schedule::time_sized) == WS_AUTO);
    CHECK(int(Schedule::static_) == WS_STATIC);
    CHECK(int(Schedule::dynamic) == WS_DYNAMIC);
    CHECK(int(Schedule::guided) == WS_GUIDED);
    CHECK(int(Schedule::runtime) == WS_RUNTIME);
}

TEST_CASE("a name is the text that its literals mean") {
    const auto name = [](const std::string &literals) {
        const Parsed p = parsed("for name(" + literals + ") private(x)");
        CHECK(p.problems.empty());
        CHECK(print(p.directive.rest) == "private ( x )");
        return p.directive.loop_name;
    };
    CHECK(name("\"smooth\"") == "smooth");
    CHECK(name("\"a\" \" b\"") == "a b");
    CHECK(name(R"("a \"quoted\" \\ \'name\' \?")") == "a \"quoted\" \\ 'name' ?");
    CHECK(name(R"("\x41\102\1030 \303\244\u00e4\U0001F600")") == "ABC0 \u00e4\u00e4\U0001F600");
    CHECK(name("\"" + std::string(longest_name, 'x') + "\"").size() == longest_name);
    CHECK(parsed("for").directive.loop_name.empty());
    CHECK(longest_name == WS_NAME_MAX);
}

TEST_CASE("a name that is none") {
    const std::string in = " in the 'name' clause of '#pragma ws for'";
    for (const std::string no_literal :
         {"mine", "1", "'a'", "\"a\", \"b\"", "\"a\" + 1", "( \"a\" )", R"("\q")", R"("\U00110000")"})
        CHECK(problem("for name(" + no_literal + ")").find("expected a string literal" + in) != std::string::npos);
    for (const std::string empty : {"\"\"", "\"\" \"\"", "\"   \""})
        CHECK(problem("for name(" + empty + ")") == "9: an empty name" + in);
    for (const std::string control :
         {R"("a\nb")", R"("\033[2J")", R"("\0")", R"("a\x7f")", R"("\u0085")", R"("\u2028")", R"("\u202E")"})
        CHECK(problem("for name(" + control + ")") == "9: a control character" + in);
    for (const std::string bytes : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\x80"})
        CHECK(problem("for name(\"" + bytes + "\")") == "9: a name that is not UTF-8" + in);
    CHECK(problem("for name(\"" + std::string(4000, 'x') + "\")") == "9: a name of more than 191 bytes" + in);
    CHECK(problem("for name()") == "8: nothing between the parentheses" + in);
    CHECK(problem("for name") == "4: expected '(' after 'name' on '#pragma ws for'");
    CHECK(problem("for name(\"a\") name(\"b\")") == "14: more than one 'name' clause on '#pragma ws for'");
}

TEST_CASE("a name in Fortran's quotes") {
    const auto name = [](const std::string &spelling) {
        Problems problems;
        const Directive loop = parse({{TokenKind::identifier, "do", 0, false},
                                      {TokenKind::identifier, "name", 1, false},
                                      {TokenKind::punctuation, "(", 2, false},
                                      {TokenKind::other, spelling, 3, false},
                                      {TokenKind::punctuation, ")", 4, false}},
                                     -1, problems, fortran_language);
        return problems.empty() ? loop.loop_name : problems[0].text;
    };
    CHECK(name("'it''s \"mine\"'") == "it's \"mine\"");
    CHECK(name("\"a \"\"b\"\" 'c' \\n\"") == "a \"b\" 'c' \\n");
    for (const std::string wrong : {"'a", "a", "'", "'a''", "'a'b'", "''''x'"})
        CHECK(name(wrong) == "expected a string literal in the 'name' clause of '!$ws do'");
    CHECK(name("''") == "an empty name in the 'name' clause of '!$ws do'");
    CHECK(name("''''") == "'");
}

TEST_CASE("a name as a literal is ASCII and means the same") {
    const std::string text = "a \"b\" \\ ?\?/ \u00e4 'c' %s 1";
    const std::string literal = as_literal(text);
    std::string back;
    CHECK(read_literal({TokenKind::other, literal, 0, false}, c_language, back));
    CHECK(back == text);
    for (unsigned char c : literal)
        CHECK((c >= 0x20 && c < 0x7f));
    CHECK(literal.find("??") == std::string::npos);
    const Tokens openmp = as_openmp(parsed("for name(\"one\")").directive, -1, 3);
    CHECK(print(openmp) == "for schedule ( dynamic , 1 ) num_threads ( __ws_mark ( 3 , 0 , 0 , 0 , \"one\" , 1 ) )");
}

TEST_CASE("loops without a name are called by their place") {
    LoopNames names;
    CHECK(names("a.c", 1, "f", 0) == "a.c:1:f");
    CHECK(names("a.c", 1, "f", 7) == "a.c:1:f#2");
    CHECK(names("a.c", 1, "g", 8) == "a.c:1:g");
    CHECK(names("a.c", 1, "f", 0) == "a.c:1:f");
    CHECK(names("a.c", 1, "f", 7) == "a.c:1:f#2");
    CHECK(names("a.c", 2, "f", 0) == "a.c:2:f");
    CHECK(names("./a.c", 3, "f", 0) == "a.c:3:f");
    CHECK(names("../../b/a.c", 3, "f", 0) == "b/a.c:3:f");
    CHECK(names("b/../../c/./a.c", 3, "f", 0) == "c/a.c:3:f");
    CHECK(names("/b//c/../a.c", 3, "f", 0) == "/b/a.c:3:f");
    CHECK(names("..a.c", 3, "f", 0) == "..a.c:3:f");
    CHECK(names("", 0, "", 0) == "?:0:");
    CHECK(names("a\nb\033.c", 3, "f", 0) == "a?b?.c:3:f");
    CHECK(names("\xe4.c", 3, "f", 0) == "?.c:3:f");
    for (size_t file : {10, 190, 4000})
        for (size_t function : {10, 190, 4000}) {
            const std::string name =
                LoopNames()(std::string(file, '/') + "end.c", 1234567, "begin" + std::string(function, 'x') + "end", 1);
            CHECK(name.size() <= longest_name);
            CHECK(name.find("end.c:1234567:begin") != std::string::npos);
            CHECK(name.substr(name.size() - 3) == "end");
        }
    // Nothing is cut within a character.
    for (size_t length = 90; length < 100; length++) {
        std::string umlauts;
        for (size_t i = 0; i < length; i++)
            umlauts += "\u00e4";
        CHECK(why_no_name(names(umlauts + "x", 1, umlauts + "xyz", 1)).empty());
    }
}

TEST_CASE("functions have the same names by all demanglers") {
    const std::pair<const char *, const char *> known[] = {
        {"main", "main"},
        {"a::b<int>::c", "a::b<int>::c"},
        {"tagged[abi:cxx11]", "tagged"},
        {"main::{lambda()#1}::operator()", "main::{lambda}"},
        {"main::'lambda'()::operator()", "main::{lambda}"},
        {"main::$_1::operator()", "main::{lambda}"},
        {"f(int)::'lambda0'(g(int), char)::operator()<int>", "f::{lambda}<int>"},
        {"a::(anonymous namespace)::f(int, b<char>) const::{lambda(auto:1)#2}::operator()<int>",
         "a::(anonymous namespace)::f::{lambda}<int>"},
        {"a::f(int) const::In::go", "a::f::In::go"},
        {"a::operator()", "a::operator()"},
        {"a::operator()<void (int)>", "a::operator()<void (int)>"},
        {"f<(Kind)1>", "f<(Kind)1>"},
        {"f<{unnamed type#1}>", "f<{unnamed}>"},
        {"f<'unnamed'>", "f<{unnamed}>"},
        {"f<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >", "f<std::string>"},
        {"f<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>>", "f<std::string>"},
        {"f<a<b<int>>>", "f<a<b<int> > >"},
        {"a::operator>><int>", "a::operator>><int>"},
        {"", ""},
        {"(", "("},
        {"{lambda", "{lambda}"},
        {"'lambda", "'lambda"},
        {"[abi:", ""}};
    for (const auto &[demangled, name] : known)
        CHECK(plain_function(demangled) == name);
}

TEST_CASE("declare reduction is handed on whole") {
    const Parsed p = parsed("declare reduction(m : int : omp_out = 1) initializer(omp_priv = 0)");
    CHECK(p.problems.empty());
    CHECK(p.directive.kind == DirectiveKind::declare_reduction);
    CHECK(print(as_openmp(p.directive, -1, 0))
          == "reduction ( m : int : omp_out = 1 ) initializer ( omp_priv = 0 )");
}

TEST_CASE("unknown directives list the known ones") {
    const std::string known = "; known are 'for', 'sections', 'section', 'atomic', 'critical', 'task', 'taskloop', "
                              "'taskgroup', 'taskwait' and 'declare reduction'";
    for (const std::string name : {"frobnicate", "do", "declare simd", "parallel"})
        CHECK(problem(name) == "0: unknown directive '#pragma ws " + name + "'" + known);
    CHECK(problem("") == "-1: '#pragma ws' names no directive" + known);
    CHECK(parsed("foo").directive.kind == DirectiveKind::none);
}

TEST_CASE("misspelt words name the one that was meant") {
    for (const auto &[wrong, right] : {std::pair("fro", "for"),
                                       {"FOR", "for"},
                                       {"secton", "section"},
                                       {"Critical", "critical"},
                                       {"atomci", "atomic"},
                                       {"declare reducton", "declare reduction"}})
        CHECK(problem(wrong) == "0: unknown directive '#pragma ws " + std::string(wrong) + "'; did you mean '" + right
                                    + "'?");
    for (const auto &[wrong, right] : {std::pair("privat", "private"),
                                       {"schedul", "schedule"},
                                       {"steal_shedule", "steal_schedule"},
                                       {"Shared", "shared"},
                                       {"fistprivate", "firstprivate"},
                                       {"of", "if"}})
        CHECK(problem("for " + std::string(wrong) + "(x)")
              == "4: unknown clause '" + std::string(wrong) + "' on '#pragma ws for'; did you mean '" + right + "'?");
    // What cannot stand there is not meant.
    CHECK(problem("sections schedul(static)") == "9: unknown clause 'schedul' on '#pragma ws sections'");
    CHECK(problem("for safelne(2)") == "4: unknown clause 'safelne' on '#pragma ws for'");
    CHECK(problem("for simd safelne(2)") == "9: unknown clause 'safelne' on '#pragma ws for'; did you mean 'safelen'?");
}

TEST_CASE("atomic: one kind and one memory order, in any order") {
    for (const std::string words : {"", "read", "write", "update", "capture", "seq_cst", "relaxed , write",
                                    "capture acq_rel", "acquire read", "write , release"}) {
        const Parsed p = parsed("atomic " + words);
        CHECK(p.problems.empty());
        CHECK(p.directive.kind == DirectiveKind::atomic);
        std::string plain = words;
        if (const size_t comma = plain.find(" ,"); comma != std::string::npos)
            plain.erase(comma, 2);
        CHECK(print(as_openmp(p.directive, -1, 0)) == plain);
    }
}

TEST_CASE("atomic: wrong words") {
    CHECK(problem("atomic hint") ==
          "7: unknown word 'hint' on '#pragma ws atomic'; known are read, write, update, capture "
          "and the memory orders seq_cst, acq_rel, release, acquire, relaxed");
    CHECK(problem("atomic (read)") == "7: expected a word before '(' on '#pragma ws atomic'");
    CHECK(problem("atomic read write") == "12: both 'read' and 'write' on '#pragma ws atomic'");
    CHECK(problem("atomic acquire read seq_cst") == "20: both 'acquire' and 'seq_cst' on '#pragma ws atomic'");
    CHECK(problem("atomic read,, seq_cst") == "11: expected a word after ',' on '#pragma ws atomic'");
    CHECK(problem("atomic , read") == "7: expected a word before ',' on '#pragma ws atomic'");
    CHECK(problem("atomic read release") ==
          "12: memory order 'release' is not valid with 'read' on '#pragma ws atomic'");
    CHECK(problem("atomic write acquire") ==
          "13: memory order 'acquire' is not valid with 'write' on '#pragma ws atomic'");
    CHECK(problem("atomic acq_rel") == "7: memory order 'acq_rel' is not valid with 'update' on '#pragma ws atomic'");
}

TEST_CASE("critical: perhaps a name") {
    CHECK(print(as_openmp(parsed("critical").directive, -1, 0)) == "( __ws_critical )");
    CHECK(print(as_openmp(parsed("critical (hash)").directive, -1, 0)) == "( __ws_critical_hash )");
    CHECK(parsed("critical(hash)").problems.empty());
    CHECK(problem("critical hash") == "9: expected '(name)' or nothing on '#pragma ws critical'");
    CHECK(problem("critical ()") == "10: expected a name in the parentheses on '#pragma ws critical'");
    CHECK(problem("critical (") == "9: expected a name in the parentheses on '#pragma ws critical'");
    CHECK(problem("critical (a b)") == "12: expected ')' after 'a' on '#pragma ws critical'");
    CHECK(problem("critical (a") == "9: expected ')' after 'a' on '#pragma ws critical'");
    CHECK(problem("critical (a) hint(2)") == "13: expected nothing after '(a)' on '#pragma ws critical'");
}

TEST_CASE("messages in Fortran's words") {
    Problems problems;
    parse(lex("for"), -1, problems, fortran_language);
    parse(lex("do nowait"), -1, problems, fortran_language);
    REQUIRE(problems.size() == 2);
    CHECK(problems[0].text == "unknown directive '!$ws for'; known are 'do', 'sections', 'section', 'atomic', "
                              "'critical', 'task', 'taskloop', 'taskgroup', 'taskwait' and 'declare reduction'");
    CHECK(problems[1].text == "unknown clause 'nowait' on '!$ws do'");
}

TEST_CASE("errors point to the word they are about") {
    CHECK(problem("for bogus(n)") == "4: unknown clause 'bogus' on '#pragma ws for'");
    CHECK(problem("for nowait") == "4: unknown clause 'nowait' on '#pragma ws for'");
    CHECK(problem("for private a") == "4: expected '(' after 'private' on '#pragma ws for'");
    CHECK(problem("for private") == "4: expected '(' after 'private' on '#pragma ws for'");
    CHECK(problem("for private(a") == "11: this '(' is not closed, on '#pragma ws for'");
    CHECK(problem("for private()") ==
          "11: nothing between the parentheses in the 'private' clause of '#pragma ws for'");
    CHECK(problem("for private(a))") == "14: expected a clause before ')' on '#pragma ws for'");
    CHECK(problem("for private(a),, shared(b)") == "14: expected a clause after ',' on '#pragma ws for'");
    CHECK(
        problem("for schedule(fast)") ==
        "13: expected 'static', 'dynamic', 'guided', 'auto' or 'runtime' in the 'schedule' clause of '#pragma ws for'");
    CHECK(problem("for schedule(auto, 4)") ==
          "19: 'auto' takes no chunk size in the 'schedule' clause of '#pragma ws for'");
    CHECK(problem("for steal_schedule(runtime, n)")
          == "28: 'runtime' takes no chunk size in the 'steal_schedule' clause of '#pragma ws for'");
    CHECK(problem("for schedule(static 4)")
          == "20: expected ',' or ')' after 'static' in the 'schedule' clause of '#pragma ws for'");
    CHECK(problem("for schedule(static,)")
          == "19: expected a chunk size after ',' in the 'schedule' clause of '#pragma ws for'");
    CHECK(problem("for steal_schedule(monotonic: static)")
          == "19: modifier 'monotonic' is not supported in the 'steal_schedule' clause of '#pragma ws for'");
    CHECK(problem("for schedule(static) schedule(static)") ==
          "21: more than one 'schedule' clause on '#pragma ws for'");
    CHECK(problem("for default(private)") ==
          "12: expected 'shared' or 'none' in the 'default' clause of '#pragma ws for'");
    CHECK(problem("for default(none) default(none)") == "18: more than one 'default' clause on '#pragma ws for'");
    CHECK(problem("for lastprivate(conditional: x)")
          == "16: modifier 'conditional' is not supported in the 'lastprivate' clause of '#pragma ws for'");
    CHECK(problem("for reduction(task, + : x)")
          == "14: modifier 'task' is not supported in the 'reduction' clause of '#pragma ws for'");
}

TEST_CASE("a wrong clause is left out, the others stay") {
    const Parsed p = parsed("for private(a) bogus(b) schedule(nonsense) shared(c)");
    CHECK(p.problems.size() == 2);
    CHECK(print(p.directive.rest) == "private ( a ) shared ( c )");
    CHECK(p.directive.kind == DirectiveKind::loop);
}

TEST_CASE("a loop becomes a marked OpenMP loop") {
    CHECK(print(as_openmp(parsed("for").directive, -1, 7))
          == "for schedule ( dynamic , 1 ) num_threads ( __ws_mark ( 7 , 0 , 0 , 0 , \"\" , 1 ) )");
    CHECK(site_kinds(parsed("for steal_schedule(auto)").directive) == int(WS_SITE_STEAL));
    CHECK(site_kinds(parsed("for schedule(runtime) steal_schedule(runtime)").directive)
          == int(WS_RUNTIME | WS_RUNTIME << 8 | WS_SITE_STEAL));
    const int kinds = int(WS_DYNAMIC | WS_GUIDED << 8 | WS_SITE_CHUNK | WS_SITE_STEAL_CHUNK | WS_SITE_STEAL);
    CHECK(print(as_openmp(parsed("for private(a) schedule(dynamic, n) steal_schedule(guided, m)").directive, -1, 0))
          == "for private ( a ) schedule ( dynamic , 1 ) num_threads ( __ws_mark ( 0 , " + std::to_string(kinds)
                 + " , __ws_chunk ( 0 , n ) , __ws_chunk ( 1 , m ) , \"\" , 1 ) )");
}

TEST_CASE("simd, with clauses of its own") {
    const Parsed p = parsed("for simd safelen(8), simdlen(4) aligned(a : 16) collapse(2) private(x)");
    CHECK(p.problems.empty());
    CHECK(p.directive.kind == DirectiveKind::loop);
    CHECK(p.directive.simd);
    CHECK(
        print(as_openmp(p.directive, -1, 0)) ==
        "for simd safelen ( 8 ) simdlen ( 4 ) aligned ( a : 16 ) collapse ( 2 ) private ( x ) schedule ( dynamic , 1 ) "
        "num_threads ( __ws_mark ( 0 , " +
            std::to_string(simd_mark) + " , 0 , 0 , \"\" , 1 ) )");
    CHECK_FALSE(parsed("for").directive.simd);
    CHECK(problem("for safelen(8)") == "4: clause 'safelen' on '#pragma ws for' needs 'simd', which follows 'for'");
    CHECK(problem("for simd linear(i)") ==
          "9: 'linear' is not supported on '#pragma ws for': compute it from the loop's variable");
    CHECK(problem("for private(x) simd") == "15: unknown clause 'simd' on '#pragma ws for'");
    CHECK(problem("for simd safelen(2) safelen(2)") == "20: more than one 'safelen' clause on '#pragma ws for'");
    CHECK(problem("for simd simd") == "9: unknown clause 'simd' on '#pragma ws for'");
    CHECK(problem("for simd ordered") == "9: unknown clause 'ordered' on '#pragma ws for'");
}

TEST_CASE("a condition") {
    const Parsed p = parsed("for if(n > 3 ? a : b) private(x)");
    CHECK(p.problems.empty());
    CHECK(print(p.directive.condition) == "n > 3 ? a : b");
    CHECK(print(as_openmp(p.directive, -1, 0)) == "for private ( x ) schedule ( dynamic , 1 ) num_threads ( __ws_mark "
                                                  "( 0 , 0 , 0 , 0 , \"\" , ( n > 3 ? a : b ) ? 1 : 0 ) )");
    CHECK(parsed("sections if(n)").problems.empty());
    CHECK(problem("for if(parallel: n)") ==
          "7: modifier 'parallel' is not supported in the 'if' clause of '#pragma ws for'");
    CHECK(problem("for if(n) if(m)") == "10: more than one 'if' clause on '#pragma ws for'");
    CHECK(problem("for if()") == "6: nothing between the parentheses in the 'if' clause of '#pragma ws for'");
}

TEST_CASE("tasks") {
    const Parsed p =
        parsed("task untied depend(in : a[i]), shared(x) if(n > 3) final(n) in_reduction(+ : s) name(\"t\")");
    CHECK(p.problems.empty());
    CHECK(p.directive.kind == DirectiveKind::task);
    const std::string kinds =
        std::to_string(task_mark | int(WS_DYNAMIC | WS_DYNAMIC << 8 | WS_SITE_ANY_ORDER | WS_SITE_STEAL));
    CHECK(print(as_openmp(p.directive, -1, 5)) ==
          "depend ( in : a [ i ] ) shared ( x ) final ( n ) in_reduction ( + : s ) if ( __ws_mark ( 5 , " +
              kinds + " , 0 , 0 , \"t\" , ( n > 3 ) ? 1 : 0 ) )");
    CHECK(print(as_openmp(parsed("taskloop nogroup grainsize(4)").directive, -1, 0)) ==
          "nogroup grainsize ( 4 ) if ( __ws_mark ( 0 , " + kinds + " , 0 , 0 , \"\" , 1 ) )");
    CHECK(as_openmp(parsed("taskwait").directive, -1, 0).empty());
    CHECK(print(as_openmp(parsed("taskgroup task_reduction(+ : s)").directive, -1, 0)) == "task_reduction ( + : s )");
    CHECK(problem("task depend(inoutset : a)") ==
          "12: expected 'in:', 'out:' or 'inout:' and variables in the 'depend' "
          "clause of '#pragma ws task'");
    CHECK(problem("task nogroup") == "5: unknown clause 'nogroup' on '#pragma ws task'");
    CHECK(problem("taskloop nogroup(1)") ==
          "16: clause 'nogroup' takes no arguments on '#pragma ws taskloop'");
    CHECK(problem("taskloop num_tasks(3) grainsize(2)") ==
          "22: both 'grainsize' and 'num_tasks' on '#pragma ws taskloop'");
    CHECK(problem("taskwait nowait") == "9: expected nothing after 'taskwait' on '#pragma ws taskwait'");
    for (const std::string name : {"task", "taskloop", "taskgroup", "taskwait"})
        CHECK(parsed(name).problems.empty());
}

TEST_CASE("sections") {
    const Parsed p = parsed("sections private(a), lastprivate(b) reduction(+ : c) name(\"parts\")");
    CHECK(p.problems.empty());
    CHECK(p.directive.kind == DirectiveKind::sections);
    CHECK(print(as_openmp(p.directive, -1, 5))
          == "sections private ( a ) lastprivate ( b ) reduction ( + : c ) num_threads ( __ws_mark ( 5 , "
                 + std::to_string(sections_mark | int(WS_DYNAMIC | WS_SITE_CHUNK)) + " , 1 , 0 , \"parts\" , 1 ) )");
    for (const std::string clause :
         {"schedule", "steal_schedule", "collapse", "safelen", "simdlen", "aligned", "linear"})
        CHECK(problem("sections " + clause + "(1)") == "9: unknown clause '" + clause + "' on '#pragma ws sections'");
    CHECK(problem("sections nowait") == "9: unknown clause 'nowait' on '#pragma ws sections'");
    CHECK(parsed("section").directive.kind == DirectiveKind::section);
    CHECK(parsed("section").problems.empty());
    CHECK(as_openmp(parsed("section").directive, -1, 0).empty());
    CHECK(problem("section private(a)") == "8: expected nothing after 'section' on '#pragma ws section'");
}

TEST_CASE("bits of a mark do not meet those of a site") {
    const int site =
        int(WS_SITE_KINDS(255, 255) | WS_SITE_CHUNK | WS_SITE_STEAL_CHUNK | WS_SITE_ANY_ORDER | WS_SITE_STEAL) &
        ((1 << 24) - 1);
    CHECK(((sections_mark | simd_mark) & (site | 63 << countdown_shift)) == 0);
}

TEST_CASE("what is made up stands at a place of the source") {
    const Tokens tokens = as_openmp(parsed("for schedule(dynamic, n)").directive, -1, 0);
    for (const Token &token : tokens) {
        if (token.is(chunk_function))
            CHECK(token.origin == 22);
        if (token.is(mark_function))
            CHECK(token.origin == -1);
        CHECK(token.made != token.is("n"));
    }
}

TEST_CASE("what MPI functions are in a loop") {
    const std::pair<MpiCall, std::vector<const char *>> kinds[] = {
        {MpiCall::none,
         {"main", "mpi", "MPI", "PMPI", "MPI_", "MPI_T_init_thread", "ompi_send", "_MPI_Send", "xmpi_send_", ""}},
        {MpiCall::communicates,
         {"MPI_Send",       "PMPI_Send",        "mpi_send_",         "pmpi_send_",     "mpi_send",
          "mpi_isend_f08_", "pmpi_recv_f08ts_", "MPI_Send_c",        "MPI_Irecv",      "MPI_Waitall",
          "MPI_Test",       "MPI_Sendrecv",     "MPI_Probe",         "MPI_Imrecv",     "MPI_Send_init",
          "MPI_Start",      "MPI_File_write",   "MPI_File_write_at", "MPI_File_iread", "MPI_File_write_all",
          "MPI_File_close", "MPI_Cancel"}},
        {MpiCall::harmless,
         {"MPI_Comm_rank", "mpi_comm_rank_", "MPI_Wtime", "MPI_Abort", "MPI_Get_count", "MPI_Type_commit",
          "MPI_Win_get_attr", "MPI_Comm_c2f"}},
        {MpiCall::collective,
         {"MPI_Barrier", "PMPI_Barrier", "mpi_barrier_", "mpi_barrier_f08_", "MPI_Ibarrier", "MPI_Bcast", "MPI_Ibcast",
          "MPI_Iallreduce", "MPI_Allreduce_init", "MPI_Alltoallw_c", "MPI_Neighbor_allgather",
          "MPI_Ineighbor_alltoallw", "MPI_Neighbor_alltoall_init", "MPI_Comm_split", "MPI_Comm_dup", "MPI_Comm_free",
          "MPI_Cart_create", "MPI_Reduce_scatter_block", "MPI_Scan"}},
        {MpiCall::one_sided,
         {"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Rget_accumulate", "MPI_Win_fence", "MPI_Win_lock",
          "MPI_Win_create", "mpi_win_free_", "MPI_Compare_and_swap", "MPI_Put_c"}},
        {MpiCall::whole_program, {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "mpi_init_"}},
        {MpiCall::opens_file, {"MPI_File_open", "mpi_file_open_"}}};
    for (const auto &[kind, names] : kinds)
        for (const char *name : names) {
            INFO(name);
            CHECK(mpi_call(name) == kind);
        }
    for (const MpiCall kind : {MpiCall::collective, MpiCall::one_sided, MpiCall::whole_program})
        CHECK((is_refused(kind) && *why_refused(kind)));
    CHECK(mpi_name("pmpi_reduce_scatter_block_") == "MPI_Reduce_scatter_block");
    CHECK(mpi_name("MPI_Send_c") == "MPI_Send");
}
