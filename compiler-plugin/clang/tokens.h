// SPDX-License-Identifier: MIT
//
// Tokens between the preprocessor and the parser.
#ifndef WS_CLANG_TOKENS_H
#define WS_CLANG_TOKENS_H

#include "front.h"

namespace ws_clang {

clang::Token blank_token(clang::tok::TokenKind kind, clang::SourceLocation at);

// A token that the user did not write. Clang reads spellings where tokens stand, hence a text of its own.
clang::Token made_token(clang::Preprocessor& preprocessor, clang::tok::TokenKind kind, const std::string& text,
                        clang::SourceLocation at);

// All tokens up to the end of the pragma, macros expanded; the last is that end.
std::vector<clang::Token> read_pragma(clang::Preprocessor& preprocessor);

// "path/file.c:12:9", as a literal: for the mark.
std::string place_literal(const clang::Preprocessor& preprocessor, clang::SourceLocation at);

// A number that differs in each call: it tells the directives of a line apart, in their order.
unsigned next_directive();

// Hands tokens to the parser before whatever comes next.
void enter(clang::Preprocessor& preprocessor, const std::vector<clang::Token>& tokens);

} // namespace ws_clang

#endif
