// SPDX-License-Identifier: MIT
#include "name.h"

#include "../../runtime/abi/name_text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

namespace ws {

namespace {

bool starts(const std::string& text, size_t at, const char* with) { return text.compare(at, strlen(with), with) == 0; }

void add_utf8(unsigned long code, std::string& text)
{
    const auto add = [&](unsigned long byte) { text += char(byte); };
    if (code < 0x80) {
        add(code);
    } else if (code < 0x800) {
        add(0xC0 | code >> 6);
        add(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        add(0xE0 | code >> 12);
        add(0x80 | (code >> 6 & 0x3F));
        add(0x80 | (code & 0x3F));
    } else {
        add(0xF0 | (code >> 18 & 7));
        add(0x80 | (code >> 12 & 0x3F));
        add(0x80 | (code >> 6 & 0x3F));
        add(0x80 | (code & 0x3F));
    }
}

bool read_escape(const std::string& literal, size_t& at, std::string& text)
{
    const char letter = literal[at++];
    const auto number = [&](int base, size_t most) {
        const size_t begin = at;
        unsigned long value = 0;
        for (; at < literal.size() && at - begin < most && std::isxdigit(static_cast<unsigned char>(literal[at]));
             at++) {
            const int digit = std::isdigit(static_cast<unsigned char>(literal[at]))
                                  ? literal[at] - '0'
                                  : std::tolower(literal[at]) - 'a' + 10;
            if (digit >= base)
                break;
            value = value * unsigned(base) + unsigned(digit);
        }
        return value;
    };
    static constexpr char letters[] = "abfnrtv", meanings[] = "\a\b\f\n\r\t\v";
    if (const char* known = letter ? strchr(letters, letter) : nullptr) {
        text += meanings[known - letters];
    } else if (letter >= '0' && letter <= '7') {
        at--;
        text += char(number(8, 3));
    } else if (letter == 'x') {
        text += char(number(16, 2));
    } else if (letter == 'u' || letter == 'U') {
        const unsigned long code = number(16, letter == 'u' ? 4 : 8);
        if (code >= 0x110000)
            return false;
        add_utf8(code, text);
    } else if (strchr("\"'\\?", letter)) {
        text += letter;
    } else {
        return false;
    }
    return true;
}

bool read_c_literal(const std::string& literal, std::string& text)
{
    size_t at = starts(literal, 0, "u8") ? 2 : 0;
    if (starts(literal, at, "R\"")) {
        const size_t open = literal.find('(', at);
        if (open == std::string::npos)
            return false;
        const std::string end = ")" + literal.substr(at + 2, open - at - 2) + "\"";
        if (literal.size() < open + 1 + end.size() ||
            literal.compare(literal.size() - end.size(), end.size(), end) != 0)
            return false;
        text += literal.substr(open + 1, literal.size() - end.size() - open - 1);
        return true;
    }
    if (literal.size() < at + 2 || literal[at] != '"' || literal.back() != '"')
        return false;
    for (at++; at + 1 < literal.size();) {
        if (literal[at] != '\\')
            text += literal[at++];
        else if (++at + 1 >= literal.size() || !read_escape(literal, at, text))
            return false;
    }
    return true;
}

// The quote itself is written twice.
bool read_fortran_literal(const std::string& literal, std::string& text)
{
    const char quote = literal.empty() ? 0 : literal[0];
    if (literal.size() < 2 || !(quote == '"' || quote == '\'') || literal.back() != quote)
        return false;
    for (size_t at = 1; at + 1 < literal.size(); at++) {
        if (literal[at] == quote && literal[++at] != quote)
            return false;
        if (at + 1 < literal.size())
            text += literal[at];
        else
            return false;
    }
    return true;
}

size_t after_parentheses(const std::string& text, size_t open)
{
    int depth = 0;
    for (size_t at = open; at < text.size(); at++) {
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
        if (depth == 0)
            return at + 1;
    }
    return text.size();
}

size_t after_digits(const std::string& text, size_t at)
{
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])))
        at++;
    return at;
}

// Where a lambda or an unnamed type, in one of the demanglers' ways to write them, that begins at `at` ends; at: none
// does.
size_t after_nameless(const std::string& text, size_t at, bool& lambda)
{
    lambda = starts(text, at, "{lambda") || starts(text, at, "'lambda");
    if (lambda || starts(text, at, "{unnamed") || starts(text, at, "'unnamed")) {
        if (text[at] == '{') {
            for (size_t i = at + 1; i < text.size(); i++)
                if (text[i] == '(')
                    i = after_parentheses(text, i) - 1;
                else if (text[i] == '}')
                    return i + 1;
            return text.size();
        }
        const size_t quote = text.find('\'', at + 1);
        if (quote == std::string::npos)
            return at;
        return lambda && quote + 1 < text.size() && text[quote + 1] == '(' ? after_parentheses(text, quote + 1)
                                                                           : quote + 1;
    }
    if (starts(text, at, "$_")) {
        const size_t end = after_digits(text, at + 2);
        lambda = starts(text, end, "::operator()");
        return end;
    }
    return at;
}

} // namespace

bool read_literal(const Token& token, const Language& language, std::string& text)
{
    return token.kind == TokenKind::other &&
           (&language == &fortran_language ? read_fortran_literal : read_c_literal)(token.text, text);
}

std::string why_no_name(const std::string& text)
{
    if (text.find_first_not_of(' ') == std::string::npos)
        return "an empty name";
    if (text.size() > longest_name)
        return "a name of more than " + std::to_string(longest_name) + " bytes";
    for (size_t at = 0; at < text.size();) {
        unsigned long code;
        const size_t length = abi::read_utf8(text, at, code);
        if (!length)
            return "a name that is not UTF-8";
        if (abi::is_control(code))
            return "a control character";
        at += length;
    }
    return "";
}

std::string as_literal(const std::string& text)
{
    std::string out = "\"";
    for (unsigned char c : text) {
        char octal[8];
        snprintf(octal, sizeof octal, "\\%03o", c);
        if (c < 0x20 || c > 0x7E || strchr("\"\\?", c))
            out += octal;
        else
            out += char(c);
    }
    return out + '"';
}

std::string LoopNames::operator()(const std::string& file, int line, const std::string& function, uint64_t directive)
{
    constexpr size_t longest_number = 8, longest_function = 120;
    const std::string full = abi::one_line(plain_function(function));
    const std::string end = ":" + std::to_string(line) + ":" + abi::shortened(full, longest_function, true);
    const std::string path = abi::plain_path(file);
    const std::string name =
        abi::shortened(abi::one_line(path.empty() ? "?" : path), longest_name - longest_number - end.size(), false) +
        end;
    auto& same = known_[name];
    const auto me = std::make_pair(directive, full);
    const size_t before = size_t(std::find(same.begin(), same.end(), me) - same.begin());
    if (before == same.size())
        same.push_back(me);
    return before ? name + "#" + std::to_string(before + 1) : name;
}

std::string plain_function(const std::string& demangled)
{
    std::string out;
    for (size_t at = 0; at < demangled.size();) {
        bool lambda;
        if (const size_t end = after_nameless(demangled, at, lambda); end > at) {
            out += lambda ? "{lambda}" : "{unnamed}";
            at = end;
            if (lambda && starts(demangled, at, "::operator()"))
                at += strlen("::operator()");
        } else if (starts(demangled, at, "[abi:")) {
            at = std::min(demangled.find(']', at), demangled.size() - 1) + 1;
        } else if (demangled[at] == '(' && !starts(demangled, at, "(anonymous") &&
                   !(at >= 8 && starts(demangled, at - 8, "operator"))) {
            // Parameters, if a name follows; else part of a type or of a value.
            size_t end = after_parentheses(demangled, at), name = end;
            for (const char* more : {" const", " volatile", " &&", " &"})
                if (starts(demangled, name, more))
                    name += strlen(more);
            if (starts(demangled, name, "::"))
                end = name;
            else
                out += demangled.substr(at, end - at);
            at = end;
        } else {
            // Newer demanglers write ">>" where templates end.
            if (demangled[at] == '>' && !out.empty() && out.back() == '>' &&
                (out.size() < 9 || out.compare(out.size() - 9, 9, "operator>") != 0))
                out += ' ';
            out += demangled[at++];
        }
    }
    static const std::string long_string =
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    for (size_t at; (at = out.find(long_string)) != std::string::npos;)
        out.replace(at, long_string.size() + starts(out, at + long_string.size(), " >"), "std::string");
    return out;
}

} // namespace ws
