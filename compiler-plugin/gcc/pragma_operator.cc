// SPDX-License-Identifier: MIT
//
// _Pragma("ws ..."): libcpp runs the operator inside a macro expansion, where line_change is not called. But a
// macro whose node is `conditional` is first shown to the macro_to_expand callback, and _Pragma is a (builtin)
// macro. There we let libcpp run the operator, read what comes out (the raw pragma and its tokens, macros
// expanded), push the rewritten tokens instead and have libcpp expand a macro that is empty.
#include "ws_gcc.h"

extern cpp_reader* parse_in __attribute__((weak));

namespace ws_gcc {

namespace {

cpp_hashnode* (*next_macro_to_expand)(cpp_reader*, const cpp_token*);
bool running; // libcpp is running the operator for us

constexpr const char* empty_macro = "__ws_nothing";

cpp_hashnode* node_named(const char* name)
{
    return cpp_lookup(parse_in, reinterpret_cast<const uchar*>(name), strlen(name));
}

bool is_string(const cpp_token& token)
{
    return token.type == CPP_STRING || token.type == CPP_WSTRING || token.type == CPP_STRING16 ||
           token.type == CPP_STRING32 || token.type == CPP_UTF8STRING;
}

// What is between the quotes, without any prefix.
std::string text_of(const cpp_token& token)
{
    const std::string literal(reinterpret_cast<const char*>(token.val.str.text), token.val.str.len);
    const size_t open = literal.find('"'), close = literal.rfind('"');
    return open < close ? literal.substr(open + 1, close - open - 1) : "";
}

bool is_ws_text(const std::string& text)
{
    const size_t word = text.find_first_not_of(" \t");
    if (word == std::string::npos || text.compare(word, 2, "ws") != 0)
        return false;
    return word + 2 == text.size() || text[word + 2] == ' ' || text[word + 2] == '\t';
}

// The tokens `( "..." )` after _Pragma, or as many of them as are there.
std::vector<cpp_token> read_operand(cpp_reader* pfile)
{
    std::vector<cpp_token> tokens{next_token(pfile)};
    if (tokens[0].type == CPP_OPEN_PAREN) {
        tokens.push_back(next_token(pfile));
        if (is_string(tokens[1]))
            tokens.push_back(next_token(pfile));
    }
    return tokens;
}

// libcpp is about to expand `token`; returns the macro to expand instead.
cpp_hashnode* on_macro_to_expand(cpp_reader* pfile, const cpp_token* token)
{
    cpp_hashnode* node = token->val.node.node;
    // By name: a precompiled header replaces the nodes.
    if (strcmp(reinterpret_cast<const char*>(NODE_NAME(node)), "_Pragma") != 0)
        return next_macro_to_expand ? next_macro_to_expand(pfile, token) : node;
    if (running)
        return node;

    cpp_token again = *token;
    std::vector<cpp_token> tokens = read_operand(pfile);
    // The token itself says where it is spelled; what follows it in a macro, where that macro is used. There the
    // user looks for the pragma, as its text mostly comes from the macro's arguments.
    if (linemap_location_from_macro_expansion_p(line_table, tokens[0].src_loc))
        again.src_loc = linemap_resolve_location(line_table, tokens[0].src_loc, LRK_MACRO_EXPANSION_POINT, nullptr);
    if (tokens.size() == 3 && tokens[2].type == CPP_CLOSE_PAREN && swallow_hint(text_of(tokens[1])))
        return node_named(empty_macro);
    if (tokens.size() < 3 || !is_ws_text(text_of(tokens[1]))) {
        push_tokens(pfile, tokens);
        return node;
    }
    tokens.insert(tokens.begin(), again);
    push_tokens(pfile, tokens);
    running = true;
    cpp_token result = next_token(pfile);
    running = false;
    if (result.type != CPP_PRAGMA || result.val.pragma != raw_pragma)
        return node; // libcpp does not run the operator here, in an argument of a macro: it will come back later
    Rewritten rewritten = read_and_rewrite(pfile, result.src_loc);
    if (!rewritten.nothing) {
        result.val.pragma = rewritten.pragma;
        rewritten.tokens.insert(rewritten.tokens.begin(), result);
        push_tokens(pfile, rewritten.tokens);
    }
    return node_named(empty_macro);
}

// By hand: cpp_define would lex, and in a preprocessed file libcpp has looked ahead already.
void define_empty_macro()
{
    auto* macro = static_cast<cpp_macro*>(ggc_internal_cleared_alloc(sizeof(cpp_macro)));
    macro->kind = cmk_macro;
    macro->line = BUILTINS_LOCATION;
    macro->used = true;
    cpp_hashnode* node = node_named(empty_macro);
    node->type = NT_USER_MACRO;
    node->flags |= NODE_USED;
    node->value.macro = macro;
}

} // namespace

cpp_token next_token(cpp_reader* pfile)
{
    for (;;) {
        location_t at;
        const cpp_token* token = cpp_get_token_with_location(pfile, &at);
        if (token->type == CPP_PADDING)
            continue;
        cpp_token copy = *token;
        copy.src_loc = at;
        return copy;
    }
}

void take_over_pragma_operator()
{
    cpp_callbacks* callbacks = cpp_get_callbacks(parse_in);
    define_empty_macro();
    node_named("_Pragma")->flags |= NODE_CONDITIONAL;
    next_macro_to_expand = callbacks->macro_to_expand;
    callbacks->macro_to_expand = on_macro_to_expand;
}

} // namespace ws_gcc
