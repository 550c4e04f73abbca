// SPDX-License-Identifier: MIT
#include "source.h"

#include <cctype>
#include <cstring>

namespace ws_fortran {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
char lower(char c) { return char(std::tolower(static_cast<unsigned char>(c))); }

size_t skip_blanks(const std::string& line, size_t at)
{
    while (at < line.size() && is_blank(line[at]))
        at++;
    return at;
}

bool starts_with(const std::string& line, size_t at, const char* word)
{
    for (; *word; word++, at++)
        if (at >= line.size() || lower(line[at]) != *word)
            return false;
    return true;
}

bool is_comment_mark(char c, Form form) { return c == '!' || (form == Form::fixed && (lower(c) == 'c' || c == '*')); }

} // namespace

SentinelLine classify(const std::string& line, Form form)
{
    SentinelLine out;
    const size_t start = form == Form::free ? skip_blanks(line, 0) : 0;
    if (start + 1 >= line.size() || !is_comment_mark(line[start], form) || line[start + 1] != '$')
        return out;
    out.dollar = start + 1;
    const size_t after = start + 4;
    const char next = after < line.size() ? line[after] : ' ';
    if (!starts_with(line, out.dollar, "$ws")) {
        out.kind = starts_with(line, out.dollar, "$acc") ? Sentinel::none : Sentinel::conditional;
        return out;
    }
    if (!is_blank(next) && next != '&') {
        out.kind = is_word(next) ? Sentinel::glued : Sentinel::none;
        return out;
    }
    out.kind = Sentinel::ws;
    out.body = after;
    if (form == Form::free) {
        const size_t mark = skip_blanks(line, after);
        if (mark < line.size() && line[mark] == '&') {
            out.continues = true;
            out.body = mark + 1;
        }
        return out;
    }
    // Fixed form has its continuation mark in column 6. The sentinel is one shorter than OpenMP's, so that `!$ws do`
    // has a letter there and `!$ws&` its mark in column 5: a letter is no mark, and a `&` is one in both columns.
    if (next == '&') {
        out.continues = true;
        out.body = after + 1;
    } else if (after + 1 < line.size() && next == ' ') {
        const char mark = line[after + 1];
        if (!is_blank(mark) && !std::isalpha(static_cast<unsigned char>(mark))) {
            out.continues = mark != '0' && mark != '!';
            out.body = after + (mark == '!' ? 1 : 2);
        }
    }
    return out;
}

bool is_comment_or_blank(const std::string& line, Form form)
{
    const size_t start = skip_blanks(line, 0);
    if (start == line.size() || line[start] == '!')
        return true;
    return form == Form::fixed && is_comment_mark(line[0], form);
}

std::string include_name(const std::string& line, Form form)
{
    size_t at = skip_blanks(line, 0);
    if (form == Form::fixed && at < 6 && line.find('\t') > at)
        return "";
    if (!starts_with(line, at, "include"))
        return "";
    at = skip_blanks(line, at + strlen("include"));
    if (at >= line.size() || (line[at] != '\'' && line[at] != '"'))
        return "";
    const size_t end = line.find(line[at], at + 1);
    if (end == std::string::npos)
        return "";
    const size_t rest = skip_blanks(line, end + 1);
    return rest == line.size() || line[rest] == '!' ? line.substr(at + 1, end - at - 1) : "";
}

bool lex(const std::string& line, size_t from, Form form, const Place& start, LexedTokens& out)
{
    const size_t before = out.tokens.size();
    for (size_t at = from; (at = skip_blanks(line, at)) < line.size();) {
        const char c = line[at];
        if (c == '!')
            break;
        size_t end = at + 1;
        ws::TokenKind kind = ws::TokenKind::punctuation;
        if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
            kind = ws::TokenKind::identifier;
            while (end < line.size() && is_word(line[end]))
                end++;
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            // With what may follow: a fraction, an exponent, a kind. Not the dot of `1.eq.n`.
            kind = ws::TokenKind::number;
            while (end < line.size() &&
                   (is_word(line[end]) ||
                    (line[end] == '.' &&
                     !(end + 1 < line.size() && std::isalpha(static_cast<unsigned char>(line[end + 1]))))))
                end++;
        } else if (c == '\'' || c == '"') {
            kind = ws::TokenKind::other;
            // The quote itself stands in it twice.
            do {
                end = line.find(c, end);
                end = end == std::string::npos ? line.size() : end + 1;
            } while (end < line.size() && line[end] == c && ++end);
        } else if (c == '.' && end < line.size() && std::isalpha(static_cast<unsigned char>(line[end]))) {
            // An operator: `.and.`
            while (end < line.size() && is_word(line[end]))
                end++;
            if (end < line.size() && line[end] == '.')
                end++;
        } else if (strchr("*/=<>:", c) && end < line.size()) {
            const std::string two = line.substr(at, 2);
            for (const char* known : {"**", "//", "==", "/=", "<=", ">=", "=>", "::"})
                if (two == known)
                    end = at + 2;
        }
        std::string text = line.substr(at, end - at);
        out.texts.push_back(text);
        if (kind != ws::TokenKind::other)
            for (char& letter : text)
                letter = lower(letter);
        out.tokens.push_back({kind, text, int(out.places.size())});
        out.places.push_back({start.file, start.line, int(at) + 1});
        at = end;
    }
    if (form == Form::fixed || out.tokens.size() == before || out.tokens.back().text != "&")
        return false;
    out.tokens.pop_back();
    out.texts.pop_back();
    out.places.pop_back();
    return true;
}

} // namespace ws_fortran
