// SPDX-License-Identifier: MIT
//
// `#pragma ws ...`: the plugin registers a deferred pragma `ws` with libcpp. When it has lexed the pragma's first token
// it calls the line_change callback with that very token, before anything of the pragma reaches the parser: there all
// its tokens are read, rewritten and pushed back. This works for C, which lexes as it parses, and for C++, which lexes
// the whole file first.
#include "ws_gcc.h"

// libcpp's own, exported by the compilers but in no installed header: pushes tokens before the next ones.
extern "C" void _cpp_push_token_context(cpp_reader*, cpp_hashnode*, const cpp_token*, unsigned);

extern cpp_reader* parse_in __attribute__((weak));
extern void c_register_pragma_with_expansion(const char*, const char*, pragma_handler_1arg) __attribute__((weak));
extern c_language_kind c_language __attribute__((weak));
extern tree identifier_global_value(tree) __attribute__((weak));

namespace ws_gcc {

namespace {

void (*next_line_change)(cpp_reader*, const cpp_token*, int);
void (*next_read_pch)(cpp_reader*, const char*, int, const char*);
bool used;
std::string foreign_pch; // a precompiled header that was made without the plugin

std::vector<LoopHints> hints; // by number of the directive
bool hints_may_follow; // nothing but pragmas since the last directive

cpp_token blank_token(cpp_ttype type, location_t at)
{
    cpp_token token;
    memset(&token, 0, sizeof token);
    token.type = type;
    token.src_loc = at;
    token.flags = NO_EXPAND | PREV_WHITE;
    return token;
}

cpp_ttype punctuation_type(const std::string& text)
{
    switch (text[0]) {
    case '(': return CPP_OPEN_PAREN;
    case ')': return CPP_CLOSE_PAREN;
    case ',': return CPP_COMMA;
    case '?': return CPP_QUERY;
    case ':': return CPP_COLON;
    }
    gcc_unreachable();
}

cpp_token make_token(const ws::Token& token, location_t at)
{
    const auto* text = reinterpret_cast<const uchar*>(token.text.c_str());
    switch (token.kind) {
    case ws::TokenKind::identifier: {
        cpp_token out = blank_token(CPP_NAME, at);
        out.val.node.node = out.val.node.spelling = cpp_lookup(parse_in, text, token.text.size());
        return out;
    }
    case ws::TokenKind::number: {
        cpp_token out = blank_token(CPP_NUMBER, at);
        out.val.str.len = token.text.size();
        out.val.str.text = reinterpret_cast<const uchar*>(xstrdup(token.text.c_str()));
        return out;
    }
    case ws::TokenKind::other: {
        cpp_token out = blank_token(CPP_STRING, at);
        out.val.str.len = token.text.size();
        out.val.str.text = reinterpret_cast<const uchar*>(xstrdup(token.text.c_str()));
        return out;
    }
    default: return blank_token(punctuation_type(token.text), at);
    }
}

ws::Token to_grammar(cpp_reader* pfile, const cpp_token& token, int origin)
{
    ws::Token out;
    out.origin = origin;
    out.text = reinterpret_cast<const char*>(cpp_token_as_text(pfile, &token));
    out.kind = token.type == CPP_NAME              ? ws::TokenKind::identifier
               : token.type == CPP_NUMBER          ? ws::TokenKind::number
               : token.type <= CPP_LAST_PUNCTUATOR ? ws::TokenKind::punctuation
                                                   : ws::TokenKind::other;
    return out;
}

// All tokens up to and with the end of the pragma.
// In one of GCC's own pragmas _Pragma is a word like any other. In ours libcpp, which does not know that it is in one,
// would run the operator, and where no string follows read on beyond the line.
class PragmaOperatorOff {
public:
    explicit PragmaOperatorOff(cpp_reader* pfile)
        : node_(cpp_lookup(pfile, reinterpret_cast<const unsigned char*>("_Pragma"), strlen("_Pragma"))),
          type_(node_->type)
    {
        node_->type = NT_VOID;
    }
    ~PragmaOperatorOff() { node_->type = type_; }

private:
    cpp_hashnode* const node_;
    const node_type type_;
};

std::vector<cpp_token> read_pragma(cpp_reader* pfile)
{
    const PragmaOperatorOff off(pfile);
    std::vector<cpp_token> tokens;
    bool inner = false;
    for (;;) {
        location_t at;
        const cpp_token* token = cpp_get_token_with_location(pfile, &at);
        if (token->type == CPP_PADDING)
            continue;
        // In the text of a _Pragma another one has been run already: nothing from there on is a clause.
        if (token->type == CPP_PRAGMA) {
            error_about(at, "a pragma inside '#pragma ws'");
            inner = true;
        }
        if (inner && token->type != CPP_PRAGMA_EOL && token->type != CPP_EOF)
            continue;
        tokens.push_back(*token);
        tokens.back().src_loc = at;
        tokens.back().flags |= NO_EXPAND; // macros are expanded already
        if (token->type == CPP_PRAGMA_EOL || token->type == CPP_EOF)
            return tokens;
    }
}

bool is_name(const cpp_token& token, const char* name)
{
    return token.type == CPP_NAME && strcmp(reinterpret_cast<const char*>(NODE_NAME(token.val.node.node)), name) == 0;
}

// GCC's C++ parser knows no braces in the head of an OpenMP loop: `for (T i{x};` becomes `for (T i =
// static_cast<T>(x);`, and with auto `for (auto i = (x);`. `tokens` begin with the T and end with the last brace;
// others than these stay as they are.
void replace_braces(std::vector<cpp_token>& tokens)
{
    size_t brace = tokens.size() - 1;
    for (int depth = 0;; brace--) {
        const cpp_ttype type = tokens[brace].type;
        depth +=
            (type == CPP_CLOSE_BRACE || type == CPP_CLOSE_PAREN) - (type == CPP_OPEN_BRACE || type == CPP_OPEN_PAREN);
        if (brace == 0 || (depth == 1 && type == CPP_COMMA))
            return;
        if (depth == 0)
            break;
    }
    const size_t name = brace - (tokens[brace - 1].type == CPP_EQ ? 2 : 1);
    if (name < 1 || name > brace || tokens[name].type != CPP_NAME || brace + 2 >= tokens.size())
        return; // no type, or nothing in the braces
    bool template_arguments = false;
    for (size_t i = 0; i < name; i++) {
        template_arguments |= tokens[i].type == CPP_LESS;
        if (tokens[i].type == CPP_EQ || (tokens[i].type == CPP_COMMA && !template_arguments))
            return;
    }
    const location_t at = tokens[brace].src_loc;
    std::vector<cpp_token> out(tokens.begin(), tokens.begin() + name + 1);
    out.push_back(blank_token(CPP_EQ, at));
    if (name != 1 || !is_name(tokens[0], "auto")) {
        out.push_back(make_token({ws::TokenKind::identifier, "static_cast", 0, true}, at));
        out.push_back(blank_token(CPP_LESS, at));
        out.insert(out.end(), tokens.begin(), tokens.begin() + name);
        out.push_back(blank_token(CPP_GREATER, at));
    }
    out.push_back(blank_token(CPP_OPEN_PAREN, at));
    out.insert(out.end(), tokens.begin() + brace + 1, tokens.end() - 1);
    out.push_back(blank_token(CPP_CLOSE_PAREN, at));
    tokens = out;
}

cpp_token next_unexpanded(cpp_reader* pfile)
{
    cpp_token token = next_token(pfile);
    token.flags |= NO_EXPAND;
    return token;
}

int deeper(const cpp_token& token)
{
    return (token.type == CPP_OPEN_PAREN || token.type == CPP_OPEN_BRACE) -
           (token.type == CPP_CLOSE_PAREN || token.type == CPP_CLOSE_BRACE);
}

// Appends the next tokens, macros expanded: up to where a loop's first part ends, and true; or, if it is no loop, up to
// the first one that tells, and false. `inner`: braces may stand before it.
bool read_first_part(cpp_reader* pfile, std::vector<cpp_token>& tokens, bool inner)
{
    cpp_token token = next_unexpanded(pfile);
    for (; inner && token.type == CPP_OPEN_BRACE; token = next_unexpanded(pfile))
        tokens.push_back(token);
    tokens.push_back(token);
    if (!is_name(token, "for"))
        return false;
    tokens.push_back(token = next_unexpanded(pfile));
    if (token.type != CPP_OPEN_PAREN)
        return false;
    std::vector<cpp_token> first;
    int depth = 0;
    for (;; first.push_back(token)) {
        token = next_unexpanded(pfile);
        depth += deeper(token);
        if (token.type == CPP_PRAGMA || token.type == CPP_EOF || depth < 0 ||
            (depth == 0 && token.type == CPP_SEMICOLON))
            break;
    }
    const bool ends = token.type == CPP_SEMICOLON;
    if (ends && !first.empty() && first.back().type == CPP_CLOSE_BRACE)
        replace_braces(first);
    tokens.insert(tokens.end(), first.begin(), first.end());
    tokens.push_back(token);
    return ends;
}

// The tokens after a directive up to the end of its loop's first part, or of that of the last of its collapsed loops.
std::vector<cpp_token> read_loop_heads(cpp_reader* pfile, bool collapsed)
{
    std::vector<cpp_token> tokens;
    for (bool inner = false; read_first_part(pfile, tokens, inner) && collapsed; inner = true)
        for (int depth = 1; depth > 0;) {
            tokens.push_back(next_unexpanded(pfile));
            if (tokens.back().type == CPP_PRAGMA || tokens.back().type == CPP_EOF)
                return tokens;
            depth += deeper(tokens.back());
        }
    return tokens;
}

std::string text_of(cpp_reader* pfile, const std::vector<cpp_token>& tokens)
{
    std::string text;
    for (const cpp_token& token : tokens)
        if (token.type != CPP_PRAGMA_EOL && token.type != CPP_EOF)
            text += std::string(" ") + reinterpret_cast<const char*>(cpp_token_as_text(pfile, &token));
    return text;
}

// libcpp's line_change callback: the first token of a line. For a pragma `token` is libcpp's own result, which it
// returns to the parser next.
void on_line_change(cpp_reader* pfile, const cpp_token* token, int parsing_args)
{
    if (next_line_change)
        next_line_change(pfile, token, parsing_args);
    if (token->type != CPP_PRAGMA) {
        // A macro may become a _Pragma with a hint.
        if (token->type != CPP_NAME || !cpp_macro_p(token->val.node.node))
            hints_may_follow = false;
        return;
    }
    const location_t at = token->src_loc;
    auto* result = const_cast<cpp_token*>(token);
    const auto drop = [&] {
        result->type = CPP_PADDING;
        result->val.source = nullptr;
    };
    const unsigned pragma = token->val.pragma;
    if (pragma != raw_pragma) {
        if (hints_may_follow && (pragma == PRAGMA_IVDEP || pragma == PRAGMA_UNROLL)) {
            const char* name = pragma == PRAGMA_IVDEP ? "GCC ivdep" : "GCC unroll";
            swallow_hint(name + text_of(pfile, read_pragma(pfile)));
            drop();
        } else {
            note_pragma(at, at, "");
        }
        return;
    }
    Rewritten rewritten = read_and_rewrite(pfile, at);
    if (rewritten.nothing) {
        drop();
        return;
    }
    result->val.pragma = rewritten.pragma;
    if (c_dialect_cxx() && rewritten.loop && !parsing_args) {
        const cpp_token ours = *result; // libcpp has only one of these
        const bool collapsed = std::any_of(rewritten.tokens.begin(), rewritten.tokens.end(),
                                           [](const cpp_token& token) { return is_name(token, "collapse"); });
        const std::vector<cpp_token> head = read_loop_heads(pfile, collapsed);
        *result = ours;
        rewritten.tokens.insert(rewritten.tokens.end(), head.begin(), head.end());
    }
    push_tokens(pfile, rewritten.tokens);
}

// A precompiled header may hold inline functions with ws loops. It replaces GCC's identifiers and declarations: of one
// made without the plugin, ours and libgomp's are gone.
void on_read_pch(cpp_reader* pfile, const char* name, int fd, const char* original)
{
    next_read_pch(pfile, name, fd, original);
    if (!identifier_global_value(get_identifier(ws::mark_function)))
        foreign_pch = name;
    note_ws_used();
}

void ignore_pragma(cpp_reader*) {}

unsigned openmp_pragma(ws::DirectiveKind kind)
{
    switch (kind) {
    case ws::DirectiveKind::loop:
    case ws::DirectiveKind::sections: return PRAGMA_OMP_PARALLEL;
    case ws::DirectiveKind::section: return PRAGMA_OMP_SECTION;
    case ws::DirectiveKind::declare_reduction: return PRAGMA_OMP_DECLARE;
    case ws::DirectiveKind::atomic: return PRAGMA_OMP_ATOMIC;
    case ws::DirectiveKind::critical: return PRAGMA_OMP_CRITICAL;
    case ws::DirectiveKind::task: return PRAGMA_OMP_TASK;
    case ws::DirectiveKind::taskloop: return PRAGMA_OMP_TASKLOOP;
    case ws::DirectiveKind::taskgroup: return PRAGMA_OMP_TASKGROUP;
    case ws::DirectiveKind::taskwait: return PRAGMA_OMP_TASKWAIT;
    case ws::DirectiveKind::none: break;
    }
    gcc_unreachable();
}

} // namespace

bool swallow_hint(const std::string& text)
{
    char name[8];
    int factor = 0;
    if (!hints_may_follow || sscanf(text.c_str(), " GCC %7s %d", name, &factor) < 1)
        return false;
    if (strcmp(name, "ivdep") == 0)
        hints.back().independent = true;
    else if (strcmp(name, "unroll") == 0)
        hints.back().unroll = factor;
    else
        return false;
    return true;
}

LoopHints loop_hints(unsigned number) { return number < hints.size() ? hints[number] : LoopHints(); }

bool ws_used() { return used; }

void note_ws_used()
{
    used = true;
    // Left as the user has it until here, so that `#pragma omp` and _OPENMP stay off without -fopenmp; from here
    // on the front ends build, and the middle end lowers, the OpenMP constructs that ours have become.
    flag_openmp = 1;
}

void push_tokens(cpp_reader* pfile, const std::vector<cpp_token>& tokens)
{
    // libcpp keeps the pointer for as long as it likes; as its own _Pragma does, the array is left to it.
    cpp_token* copy = XNEWVEC(cpp_token, tokens.size());
    std::copy(tokens.begin(), tokens.end(), copy);
    _cpp_push_token_context(pfile, nullptr, copy, tokens.size());
}

Rewritten read_and_rewrite(cpp_reader* pfile, location_t at)
{
    std::vector<cpp_token> in = read_pragma(pfile);
    const cpp_token end = in.back();
    in.pop_back();

    ws::Tokens tokens;
    for (size_t i = 0; i < in.size(); i++)
        tokens.push_back(to_grammar(pfile, in[i], int(i)));
    constexpr int pragma = -1;
    const auto place = [&](int origin) { return origin == pragma ? at : in[origin].src_loc; };

    if (!foreign_pch.empty())
        fatal_error(at,
                    "%<#pragma ws%> cannot be used with the precompiled header %qs, which was made without %<-fws%>",
                    foreign_pch.c_str());
    ws::Problems problems;
    const ws::Directive directive = ws::parse(tokens, pragma, problems);
    // GCC's C parser would look for the end of the block in the lines that follow, and for ever at the end of the
    // pragma.
    for (size_t i = 1; i < tokens.size() && !c_dialect_cxx(); i++)
        if (tokens[i - 1].is("(") && tokens[i].is("{")) {
            error_about(place(int(i)), "a block is not allowed in '" + ws::full_name(directive.kind) + "'");
            return {};
        }
    note_pragma(at, in.empty() ? at : in.back().src_loc, ws::full_name(directive.kind).c_str());
    for (const ws::Problem& problem : problems)
        error_about(place(problem.origin), problem.text);

    Rewritten out;
    const bool nothing_left = directive.kind == ws::DirectiveKind::atomic ||
                              directive.kind == ws::DirectiveKind::critical ||
                              directive.kind == ws::DirectiveKind::taskwait;
    if (directive.kind == ws::DirectiveKind::none || (!problems.empty() && nothing_left))
        return out; // of a wrong atomic, critical or taskwait nothing is left that could be looked at further
    note_ws_used();
    keep_old_clauses();
    hints_may_follow = directive.kind == ws::DirectiveKind::loop;
    hints.emplace_back();
    out.nothing = false;
    out.loop = directive.kind == ws::DirectiveKind::loop || directive.kind == ws::DirectiveKind::taskloop;
    out.pragma = openmp_pragma(directive.kind);
    for (const ws::Token& token : ws::as_openmp(directive, pragma, unsigned(hints.size() - 1)))
        out.tokens.push_back(token.made ? make_token(token, place(token.origin)) : in[token.origin]);
    out.tokens.push_back(end);
    return out;
}

void register_pragma()
{
    if (flag_preprocess_only) {
        // -E and -save-temps print the pragma, with its macros expanded, for the compilation that follows.
        c_register_pragma_with_expansion(nullptr, "ws", ignore_pragma);
        return;
    }
    cpp_register_deferred_pragma(parse_in, nullptr, "ws", raw_pragma, true, false);
    cpp_callbacks* callbacks = cpp_get_callbacks(parse_in);
    next_line_change = callbacks->line_change;
    callbacks->line_change = on_line_change;
    next_read_pch = callbacks->read_pch;
    callbacks->read_pch = on_read_pch;
    take_over_pragma_operator();
}

} // namespace ws_gcc
