// SPDX-License-Identifier: MIT
//
// What the grammar sees of a directive: a list of tokens that no longer knows which compiler lexed it.
#ifndef WS_CLAUSES_TOKEN_H
#define WS_CLAUSES_TOKEN_H

#include <string>
#include <vector>

namespace ws {

enum class TokenKind {
    identifier, // keywords too: `for`, `default`, `private`
    number,
    punctuation,
    other, // strings, characters, whatever a compiler adds
};

// `origin` is the compiler's own number for the token (its index in what was lexed), so that the token can be
// handed back unchanged. A token made here has the origin of a token that stands for its place, and made = true.
struct Token {
    TokenKind kind = TokenKind::other;
    std::string text;
    int origin = 0;
    bool made = false;

    bool is(const char* spelling) const { return text == spelling; }
    bool is_identifier() const { return kind == TokenKind::identifier; }
};

using Tokens = std::vector<Token>;

// An error: its text, with 'quotes' around what is quoted, and the token it is about.
struct Problem {
    std::string text;
    int origin;
};

using Problems = std::vector<Problem>;

} // namespace ws

#endif
