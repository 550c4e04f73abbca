// SPDX-License-Identifier: MIT
//
// `#pragma ws ...`: ../clauses rewrites its tokens. They are entered again as the tokens of an OpenMP construct,
// between the two annotations that clang's own `#pragma omp` handler would put around them. _Pragma comes here as well.
#include "tokens.h"

namespace ws_clang {

using clang::Preprocessor;
using clang::SourceLocation;
using clang::Token;
namespace tok = clang::tok;

namespace {

bool used;

ws::Token to_grammar(const Preprocessor& preprocessor, const Token& token, int origin)
{
    ws::Token out;
    out.origin = origin;
    out.text = preprocessor.getSpelling(token);
    out.kind = token.getIdentifierInfo()                     ? ws::TokenKind::identifier
               : token.is(tok::numeric_constant)             ? ws::TokenKind::number
               : tok::getPunctuatorSpelling(token.getKind()) ? ws::TokenKind::punctuation
                                                             : ws::TokenKind::other;
    return out;
}

} // namespace

Token blank_token(tok::TokenKind kind, SourceLocation at)
{
    Token token;
    token.startToken();
    token.setKind(kind);
    token.setLocation(at);
    return token;
}

Token made_token(Preprocessor& preprocessor, tok::TokenKind kind, const std::string& text, SourceLocation at)
{
    Token token = blank_token(kind, at);
    preprocessor.CreateString(text, token, at, at);
    token.setKind(kind);
    if (kind == tok::identifier) {
        clang::IdentifierInfo* name = preprocessor.getIdentifierInfo(text);
        token.setIdentifierInfo(name);
        token.setKind(name->getTokenID());
    }
    token.setFlag(Token::LeadingSpace);
    return token;
}

namespace {

Token as_token(Preprocessor& preprocessor, const ws::Token& token, SourceLocation at)
{
    const tok::TokenKind kind = token.kind == ws::TokenKind::identifier ? tok::identifier
                                : token.kind == ws::TokenKind::number   ? tok::numeric_constant
                                : token.kind == ws::TokenKind::other    ? tok::string_literal
                                : token.is("(")                         ? tok::l_paren
                                : token.is(")")                         ? tok::r_paren
                                : token.is("?")                         ? tok::question
                                : token.is(":")                         ? tok::colon
                                                                        : tok::comma;
    return made_token(preprocessor, kind, token.text, at);
}

} // namespace

namespace {

// Within a pragma, _Pragma is a word like others: clang's own lexer does not survive one that is not complete.
class PragmaOperatorOff {
public:
    explicit PragmaOperatorOff(Preprocessor& preprocessor)
        : word_(preprocessor.getIdentifierInfo("_Pragma")), was_(word_->hasMacroDefinition())
    {
        word_->setHasMacroDefinition(false);
    }
    ~PragmaOperatorOff() { word_->setHasMacroDefinition(was_); }

private:
    clang::IdentifierInfo* const word_;
    const bool was_;
};

} // namespace

std::vector<Token> read_pragma(Preprocessor& preprocessor)
{
    const PragmaOperatorOff off(preprocessor);
    std::vector<Token> tokens;
    for (int inner = 0;;) {
        Token token;
        preprocessor.Lex(token);
        // A _Pragma in the line has run already and left its tokens, which are not for the parser.
        if (token.isAnnotation()) {
            if (inner == 0)
                error_about(preprocessor.getDiagnostics(), token.getLocation(), "a pragma inside a directive");
            inner += token.is(tok::annot_pragma_openmp) - token.is(tok::annot_pragma_openmp_end);
            continue;
        }
        if (inner && token.isNot(tok::eof))
            continue;
        tokens.push_back(token);
        if (token.isOneOf(tok::eod, tok::eof))
            return tokens;
    }
}

std::string place_literal(const Preprocessor& preprocessor, SourceLocation at)
{
    const clang::PresumedLoc place = preprocessor.getSourceManager().getPresumedLoc(at);
    std::string text;
    for (char c : place.isValid() ? llvm::StringRef(place.getFilename()) : "?")
        text += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    return '"' + text + ':' + std::to_string(place.isValid() ? place.getLine() : 0) + ':' +
           std::to_string(place.isValid() ? place.getColumn() : 0) + '"';
}

unsigned next_directive()
{
    static unsigned number;
    return number++;
}

void enter(Preprocessor& preprocessor, const std::vector<Token>& tokens)
{
    auto copy = std::make_unique<Token[]>(tokens.size());
    std::copy(tokens.begin(), tokens.end(), copy.get());
    preprocessor.EnterTokenStream(std::move(copy), tokens.size(), /*DisableMacroExpansion=*/true, /*IsReinject=*/false);
}

namespace {

class Handler : public clang::PragmaHandler {
public:
    Handler() : PragmaHandler("ws") {}

    void HandlePragma(Preprocessor& preprocessor, clang::PragmaIntroducer introducer, Token& first) override
    {
        std::vector<Token> in = read_pragma(preprocessor);
        const Token end = in.back();
        in.pop_back();
        if (options.compiling)
            compile(preprocessor, first, in, end);
        else
            print(preprocessor, introducer.Loc, first, in);
    }

private:
    static constexpr int pragma = -1; // as an origin: the directive itself

    // -E and -save-temps print the pragma, with its macros expanded, for the compilation that follows: as the operator,
    // which may stand anywhere in a line.
    void print(Preprocessor& preprocessor, SourceLocation at, const Token& first, const std::vector<Token>& in)
    {
        std::string text = "ws";
        for (const Token& token : in)
            text += (token.hasLeadingSpace() ? " " : "") + preprocessor.getSpelling(token);
        std::string literal;
        for (char c : text)
            literal += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
        const SourceLocation place = preprocessor.getSourceManager().getExpansionLoc(at);
        std::vector<Token> out{made_token(preprocessor, tok::identifier, "_Pragma", place),
                               made_token(preprocessor, tok::l_paren, "(", place),
                               made_token(preprocessor, tok::string_literal, '"' + literal + '"', place),
                               made_token(preprocessor, tok::r_paren, ")", place)};
        out[0].setFlagValue(Token::StartOfLine, first.getLocation().isFileID());
        enter(preprocessor, out);
    }

    void compile(Preprocessor& preprocessor, const Token& first, const std::vector<Token>& in, const Token& end)
    {
        const SourceLocation at = first.getLocation();
        const clang::SourceManager& sources = preprocessor.getSourceManager();
        ws::Tokens tokens;
        for (size_t i = 0; i < in.size(); i++)
            tokens.push_back(to_grammar(preprocessor, in[i], int(i)));
        const auto place = [&](int origin) { return origin == pragma ? at : in[origin].getLocation(); };

        if (const std::string header = foreign_header(preprocessor); !header.empty()) {
            refuse_header(preprocessor.getDiagnostics(), at, header);
            return;
        }
        ws::Problems problems;
        const ws::Directive directive = ws::parse(tokens, pragma, problems);
        note_pragma(sources, at, in.empty() ? at : in.back().getLocation(), ws::full_name(directive.kind));
        for (const ws::Problem& problem : problems)
            error_about(preprocessor.getDiagnostics(), place(problem.origin), problem.text);
        // Half a directive with clauses is worth further errors; of the others nothing would be left but confusion.
        const bool has_more =
            directive.kind == ws::DirectiveKind::loop || directive.kind == ws::DirectiveKind::sections ||
            directive.kind == ws::DirectiveKind::section || directive.kind == ws::DirectiveKind::task ||
            directive.kind == ws::DirectiveKind::taskloop || directive.kind == ws::DirectiveKind::taskgroup;
        if (directive.kind == ws::DirectiveKind::none || (!has_more && !problems.empty()))
            return;
        used = true;

        std::vector<Token> out = construct(preprocessor, directive, at, end.getLocation());
        for (Token& token : contents(preprocessor, directive, in, at))
            out.push_back(std::move(token));
        out.push_back(blank_token(tok::annot_pragma_openmp_end, end.getLocation()));
        if (directive.kind == ws::DirectiveKind::taskwait)
            for (Token& token : mark_of_taskwait(preprocessor, at))
                out.push_back(std::move(token));
        enter(preprocessor, out);
    }

    // The beginning of OpenMP's construct.
    static std::vector<Token> construct(Preprocessor& preprocessor, const ws::Directive& directive, SourceLocation at,
                                        SourceLocation end)
    {
        std::vector<Token> out{blank_token(tok::annot_pragma_openmp, at)};
        const auto add = [&](tok::TokenKind token, const char* text) {
            out.push_back(made_token(preprocessor, token, text, at));
        };
        // A construct that has no place for a mark, in a critical.
        const auto add_marked = [&](const std::string& mark, const char* text) {
            add(tok::identifier, "critical");
            add(tok::l_paren, "(");
            add(tok::identifier, mark.c_str());
            add(tok::r_paren, ")");
            out.push_back(blank_token(tok::annot_pragma_openmp_end, end));
            out.push_back(blank_token(tok::annot_pragma_openmp, at));
            add(tok::identifier, text);
        };
        const auto group_mark = [] { return taskgroup_mark + std::to_string(next_directive()); };
        switch (directive.kind) {
        case ws::DirectiveKind::loop:
        case ws::DirectiveKind::sections: add(tok::identifier, "parallel"); break;
        case ws::DirectiveKind::section: add(tok::identifier, "section"); break;
        case ws::DirectiveKind::declare_reduction: add(tok::identifier, "declare"); break;
        case ws::DirectiveKind::atomic: add_marked(atomic_mark, "atomic"); break;
        case ws::DirectiveKind::critical: add(tok::identifier, "critical"); break;
        case ws::DirectiveKind::task: add(tok::identifier, "task"); break;
        case ws::DirectiveKind::taskloop: // with a taskgroup of its own, or without
            if (has_nogroup(directive))
                add(tok::identifier, "taskloop");
            else
                add_marked(group_mark(), "taskloop");
            break;
        case ws::DirectiveKind::taskgroup: add_marked(group_mark(), "taskgroup"); break;
        case ws::DirectiveKind::taskwait: add(tok::identifier, "taskwait"); break;
        case ws::DirectiveKind::none: break;
        }
        return out;
    }

    static bool has_nogroup(const ws::Directive& directive)
    {
        int depth = 0;
        for (const ws::Token& token : directive.rest) {
            depth += token.is("(") - token.is(")");
            if (!depth && token.is("nogroup"))
                return true;
        }
        return false;
    }

    // A statement of its own.
    static std::vector<Token> mark_of_taskwait(Preprocessor& preprocessor, SourceLocation at)
    {
        const std::pair<tok::TokenKind, std::string> words[] = {
            {tok::identifier, ws::mark_function},
            {tok::l_paren, "("},
            {tok::string_literal, place_literal(preprocessor, at)},
            {tok::comma, ","},
            {tok::numeric_constant, std::to_string(taskwait_mark)},
            {tok::comma, ","},
            {tok::numeric_constant, "0"},
            {tok::comma, ","},
            {tok::numeric_constant, "0"},
            {tok::comma, ","},
            {tok::string_literal, "\"\""},
            {tok::comma, ","},
            {tok::numeric_constant, std::to_string(next_directive())},
            {tok::r_paren, ")"},
            {tok::semi, ";"}};
        std::vector<Token> out;
        for (const auto& [kind, text] : words)
            out.push_back(made_token(preprocessor, kind, text, at));
        return out;
    }

    // The rest of it, by the grammar.
    static std::vector<Token> contents(Preprocessor& preprocessor, const ws::Directive& directive,
                                       const std::vector<Token>& in, SourceLocation at)
    {
        std::vector<Token> out;
        const auto place = [&](int origin) { return origin == pragma ? at : in[origin].getLocation(); };
        const ws::Tokens openmp = ws::as_openmp(directive, pragma, 0);
        for (size_t i = 0; i < openmp.size(); i++) {
            const ws::Token& token = openmp[i];
            if (!token.made) {
                out.push_back(in[token.origin]);
            } else if (token.is(ws::chunk_function)) {
                // __ws_chunk(which, EXPR) becomes (EXPR): converted to a parameter of __ws_mark, where checks.cc sees
                // the type it had.
                out.push_back(as_token(preprocessor, openmp[i + 1], place(token.origin)));
                i += 3;
            } else if (token.is(ws::mark_function)) {
                // The number of the directive becomes its place, which also survives a precompiled header.
                out.push_back(as_token(preprocessor, token, place(token.origin)));
                out.push_back(as_token(preprocessor, openmp[i + 1], place(token.origin)));
                out.push_back(made_token(preprocessor, tok::string_literal, place_literal(preprocessor, at),
                                         place(token.origin)));
                i += 2;
            } else {
                out.push_back(as_token(preprocessor, token, place(token.origin)));
            }
            // After the name.
            if (token.made && token.kind == ws::TokenKind::other) {
                out.push_back(made_token(preprocessor, tok::comma, ",", at));
                out.push_back(made_token(preprocessor, tok::numeric_constant, std::to_string(next_directive()), at));
            }
        }
        return out;
    }
};

clang::PragmaHandlerRegistry::Add<Handler> handler("ws", "#pragma ws");

} // namespace

bool ws_used() { return used; }

std::string foreign_header(Preprocessor& preprocessor)
{
    // What the plugin declares comes out of the precompiled header, if there is one.
    const std::string& header = preprocessor.getPreprocessorOpts().ImplicitPCHInclude;
    return header.empty() || preprocessor.getIdentifierInfo(ws::mark_function)->isFromAST() ? "" : header;
}

void refuse_header(clang::DiagnosticsEngine& diagnostics, SourceLocation at, const std::string& name)
{
    diagnostics.Report(
        at, diagnostics.getCustomDiagID(
                clang::DiagnosticsEngine::Fatal,
                "'#pragma ws' cannot be used with the precompiled header '%0', which was made without '-fws'"))
        << name;
}

} // namespace ws_clang
