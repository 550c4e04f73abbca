// SPDX-License-Identifier: MIT
//
// mpicc -fws=openmp: `#pragma omp parallel for` gets the mark and the schedule of a `ws for`, if its clauses allow
// that. Whether what the loop does allows it too is seen in the finished code: openmp_loops.cc makes it one, or takes
// the mark back and has libomp schedule the loop as was written.
#include "tokens.h"

#include "../clauses/messages.h"
#include "../../runtime/abi/abi.h"

namespace ws_clang {

namespace {

using clang::Preprocessor;
using clang::SourceLocation;
using clang::Token;
namespace tok = clang::tok;

using Iterator = std::vector<Token>::const_iterator;

bool marked;

bool is_word(const Token& token, const char* word)
{
    return token.getIdentifierInfo() && token.getIdentifierInfo()->isStr(word);
}

class OpenMPHandler : public clang::PragmaHandler {
public:
    OpenMPHandler() : PragmaHandler("omp") {}

    void HandlePragma(Preprocessor& preprocessor, clang::PragmaIntroducer introducer, Token&) override
    {
        std::vector<Token> in = read_pragma(preprocessor);
        const Token end = in.back();
        in.pop_back();
        if (in.empty()) {
            preprocessor.Diag(end, preprocessor.getDiagnostics().getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                                                 "expected an OpenMP directive"));
            return;
        }
        std::vector<Token> out{blank_token(tok::annot_pragma_openmp, introducer.Loc)};
        if (is_parallel_for(in)) {
            Parts parts;
            std::string why = options.openmp_loops ? split(in, parts) : ws::reason::not_asked;
            if (why.empty() && !foreign_header(preprocessor).empty())
                why = "the precompiled header was made without '-fws'";
            if (why.empty())
                mark(preprocessor, in, parts, introducer.Loc, out);
            else
                stays(preprocessor, introducer.Loc, why);
        } else if (is_word(in[0], "for")) {
            stays(preprocessor, introducer.Loc, ws::reason::not_combined);
        }
        if (out.size() == 1)
            out.insert(out.end(), in.begin(), in.end());
        out.push_back(blank_token(tok::annot_pragma_openmp_end, end.getLocation()));
        enter(preprocessor, out);
    }

private:
    struct Parts {
        std::vector<Token> rest; // clauses that stay as they are
        std::vector<Token> chunk;
        int kind = WS_AUTO;
        bool written = false; // there is a schedule clause
    };

    static bool is_parallel_for(const std::vector<Token>& in)
    {
        return in.size() > 1 && is_word(in[0], "parallel") && is_word(in[1], "for");
    }

    static void stays(const Preprocessor& preprocessor, SourceLocation at, const std::string& why)
    {
        std::string place = place_literal(preprocessor, at);
        remark(place.substr(1, place.size() - 2), ws::stays_openmp(why));
    }

    // Takes the clauses apart; returns why the loop cannot be shared.
    static std::string split(const std::vector<Token>& in, Parts& parts)
    {
        for (size_t i = 2; i < in.size();) {
            size_t end = i + 1;
            if (end < in.size() && in[end].is(tok::l_paren)) {
                int depth = 0;
                do
                    depth += in[end].is(tok::l_paren) - in[end].is(tok::r_paren);
                while (++end < in.size() && depth);
            }
            const std::string why = of_clause(in.begin() + i, in.begin() + end, parts);
            if (!why.empty())
                return why;
            i = end;
        }
        return "";
    }

    static std::string of_clause(Iterator clause, Iterator end, Parts& parts)
    {
        if (is_word(*clause, "if") && end - clause == 4 && clause[2].is(tok::numeric_constant) &&
            llvm::StringRef(clause[2].getLiteralData(), clause[2].getLength()) == "1")
            return ""; // always
        static const std::pair<const char*, const char*> refused[] = {{"num_threads", ws::reason::num_threads},
                                                                      {"if", ws::reason::condition},
                                                                      {"copyin", ws::reason::copyin},
                                                                      {"ordered", ws::reason::ordered},
                                                                      {"linear", ws::reason::linear},
                                                                      {"allocate", ws::reason::allocate}};
        for (const auto& [name, why] : refused)
            if (is_word(*clause, name))
                return why;
        const auto has_modifier = [&](const char* word) { return end - clause > 3 && is_word(clause[2], word); };
        if (is_word(*clause, "lastprivate") && has_modifier("conditional"))
            return ws::reason::conditional;
        if (is_word(*clause, "reduction") && (has_modifier("task") || has_modifier("inscan")))
            return ws::reason::reduction_modifier;
        if (is_word(*clause, "schedule"))
            return of_schedule(clause, end, parts);
        parts.rest.insert(parts.rest.end(), clause, end);
        return "";
    }

    static std::string of_schedule(Iterator clause, Iterator end, Parts& parts)
    {
        Iterator word = clause + 2;
        for (Iterator at = word; at < end; ++at)
            if (at->is(tok::colon) && at[-1].getIdentifierInfo()) {
                for (Iterator modifier = word; modifier < at; ++modifier)
                    if (is_word(*modifier, "monotonic"))
                        return ws::reason::monotonic;
                word = at + 1;
                break;
            }
        static const std::pair<const char*, int> kinds[] = {
            {"static", WS_STATIC}, {"dynamic", WS_DYNAMIC}, {"guided", WS_GUIDED}, {"auto", WS_AUTO}};
        const auto kind = std::find_if(std::begin(kinds), std::end(kinds),
                                       [&](const auto& known) { return word < end && is_word(*word, known.first); });
        if (kind == std::end(kinds))
            return word < end && is_word(*word, "runtime") ? ws::reason::runtime_schedule
                                                           : "has a schedule that is not known";
        parts.kind = kind->second;
        parts.written = true;
        if (word + 1 < end && word[1].is(tok::comma))
            parts.chunk.assign(word + 2, end - 1);
        // It is computed once more, before the region.
        for (size_t i = 0; i < parts.chunk.size(); i++)
            if (parts.chunk[i].isOneOf(tok::plusplus, tok::minusminus, tok::equal, tok::plusequal, tok::minusequal,
                                       tok::comma) ||
                (i && parts.chunk[i].is(tok::l_paren) &&
                 parts.chunk[i - 1].isOneOf(tok::identifier, tok::r_paren, tok::r_square)))
                return ws::reason::chunk_unseen;
        return "";
    }

    // parallel for REST schedule(dynamic, CHUNK) num_threads(__ws_mark("PLACE", KINDS, (CHUNK), 0, "", NUMBER))
    static void mark(Preprocessor& preprocessor, const std::vector<Token>& in, const Parts& parts, SourceLocation at,
                     std::vector<Token>& out)
    {
        marked = true;
        out.insert(out.end(), in.begin(), in.begin() + 2);
        out.insert(out.end(), parts.rest.begin(), parts.rest.end());
        const auto add = [&](tok::TokenKind kind, const std::string& text) {
            out.push_back(made_token(preprocessor, kind, text, at));
        };
        const auto add_chunk = [&](const char* none) {
            if (parts.chunk.empty()) {
                add(tok::numeric_constant, none);
                return;
            }
            add(tok::l_paren, "(");
            out.insert(out.end(), parts.chunk.begin(), parts.chunk.end());
            add(tok::r_paren, ")");
        };
        add(tok::identifier, "schedule");
        add(tok::l_paren, "(");
        add(tok::identifier, "dynamic");
        add(tok::comma, ",");
        add_chunk("1");
        add(tok::r_paren, ")");
        add(tok::identifier, "num_threads");
        add(tok::l_paren, "(");
        add(tok::identifier, ws::mark_function);
        add(tok::l_paren, "(");
        add(tok::string_literal, place_literal(preprocessor, at));
        add(tok::comma, ",");
        const unsigned kinds = unsigned(parts.kind) | (parts.chunk.empty() ? 0 : unsigned(WS_SITE_CHUNK)) |
                               unsigned(WS_SITE_STEAL) | unsigned(WS_SITE_OPENMP) | openmp_loop |
                               (parts.written ? openmp_schedule : 0);
        add(tok::numeric_constant, std::to_string(kinds));
        add(tok::comma, ",");
        add_chunk("0");
        add(tok::comma, ",");
        add(tok::numeric_constant, "0");
        add(tok::comma, ",");
        add(tok::string_literal, "\"\"");
        add(tok::comma, ",");
        add(tok::numeric_constant, std::to_string(next_directive()));
        add(tok::r_paren, ")");
        add(tok::r_paren, ")");
    }
};

} // namespace

bool marked_openmp_loops() { return marked; }

void take_over_openmp_pragma(Preprocessor& preprocessor)
{
    // Handlers are found by name; the parser's own goes on living in the parser.
    OpenMPHandler any;
    preprocessor.RemovePragmaHandler(&any);
    preprocessor.AddPragmaHandler(new OpenMPHandler);
}

} // namespace ws_clang
